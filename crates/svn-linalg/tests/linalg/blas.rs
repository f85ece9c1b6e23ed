//! OpenBLAS in this process: its threads, its description, and LAPACK as a reference for the decompositions.

use ndarray::{Array2, s};
use ndarray_linalg::{Cholesky as _, Eigh, Solve, UPLO};
use svn_linalg::threads::{blas_config, blas_threads, set_blas_threads};
use svn_linalg::{Cholesky, CholeskyParams, SymmetricEigen, SymmetricIndefinite, gram};

use crate::reference::*;

#[test]
fn threads_are_set_and_read_back_and_products_do_not_depend_on_them() {
    let before = blas_threads();
    let mut rng = rng(80);
    let (a, b) = (random(&mut rng, 200, 150), random(&mut rng, 150, 90));
    let expected = product(a.view(), b.view());
    for n in [1, 2] {
        set_blas_threads(n);
        assert_eq!(blas_threads(), Some(n));
        assert_close(a.dot(&b).view(), expected.view(), rounding(150), "product");
    }
    set_blas_threads(0);
    assert_eq!(blas_threads(), Some(1), "at least one");
    set_blas_threads(before.unwrap());
}

#[test]
fn description_names_openblas_and_its_version() {
    let config = blas_config().unwrap();
    assert!(
        config.starts_with("OpenBLAS ") && config.contains(|c: char| c.is_ascii_digit()),
        "{config}"
    );
}

/// Sizes on both sides of every block of the decompositions.
const SIZES: [usize; 9] = [1, 2, 7, 31, 64, 65, 129, 200, 301];

/// Symmetric, with `n` eigenvalues of both signs.
fn symmetric(n: usize) -> Array2<f64> {
    let a = random(&mut rng(81 + n as u64), n, n);
    &a + &a.t()
}

#[test]
fn eigenvalues_are_those_of_lapack() {
    for n in SIZES {
        let a = symmetric(n);
        let found = SymmetricEigen::factorize(a.view()).unwrap();
        let (values, _) = a.eigh(UPLO::Lower).unwrap();
        assert_close(
            found.values().insert_axis(ndarray::Axis(0)),
            values.view().insert_axis(ndarray::Axis(0)),
            rounding(n),
            "eigenvalues",
        );
        // Vectors are unique up to sign, so they are asked for what they must do.
        let scaled = &found.vectors() * &found.values();
        let again = product(scaled.view(), found.vectors().t());
        assert_close(again.view(), a.view(), rounding(n), "U diag(θ) Uᵀ");
        let unit = product(found.vectors().t(), found.vectors());
        assert_close(unit.view(), Array2::eye(n).view(), rounding(n), "Uᵀ U");
    }
}

#[test]
fn cholesky_factors_are_those_of_lapack_and_only_the_lower_triangle_is_read() {
    for n in SIZES {
        let mut a = gram(1.0, random(&mut rng(82), n, n + 3).view());
        a.diag_mut().mapv_inplace(|x| x + 1.0);
        let expected = a.cholesky(UPLO::Lower).unwrap();
        let found = Cholesky::factorize(a.view(), &CholeskyParams::strict()).unwrap();
        // The condition of `A` is below n².
        assert_close(found.lower(), expected.view(), rounding(n), "L");
        for i in 0..n {
            a.slice_mut(s![i, i + 1..]).fill(f64::NAN);
        }
        let owned = Cholesky::factorize_owned(a).unwrap();
        assert_eq!(owned.lower(), found.lower());
    }
}

#[test]
fn indefinite_systems_are_solved_as_by_lapack() {
    for n in SIZES {
        let mut a = symmetric(n);
        // Away from singular, half the eigenvalues on each side.
        for i in 0..n {
            a[[i, i]] += if i % 2 == 0 { 3.0 } else { -3.0 } * n as f64;
        }
        let b = random(&mut rng(83), n, 1).column(0).to_owned();
        let found = SymmetricIndefinite::factorize(a.view()).unwrap();
        let found = found.solve_vec(b.view()).unwrap();
        let expected = a.solve(&b).unwrap();
        assert_close(
            found.view().insert_axis(ndarray::Axis(0)),
            expected.view().insert_axis(ndarray::Axis(0)),
            rounding(n),
            "x",
        );
    }
}
