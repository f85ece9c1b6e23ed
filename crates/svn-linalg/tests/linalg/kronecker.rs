//! Kronecker products against the explicit product.

use ndarray::Array2;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use svn_linalg::{
    Factor, FactorError, FactorizeDamped, InputError, Kronecker, KroneckerEigen, LinearOperator,
};

use crate::reference::*;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 128, rng_seed: RngSeed::Fixed(20), failure_persistence: None, ..ProptestConfig::default()
    })]

    /// The vec trick = the explicit product, for rectangular factors of every shape and `k` columns.
    #[test]
    fn vec_trick_equals_explicit_product(
        seed in any::<u64>(), m in 1_usize..7, n in 1_usize..7, p in 1_usize..7, q in 1_usize..7, k in 0_usize..4,
    ) {
        let mut rng = rng(seed);
        let (a, b) = (random(&mut rng, m, n), random(&mut rng, p, q));
        let operator = Kronecker::new(a.view(), b.view()).unwrap();
        let dense = kronecker(a.view(), b.view());
        let (x, y) = (random(&mut rng, n * q, k), random(&mut rng, m * p, k));
        let tolerance = rounding(n * q + m * p);
        assert_close(operator.apply(x.view()).unwrap().view(), product(dense.view(), x.view()).view(), tolerance, "A x");
        let transposed = operator.apply_transpose(y.view()).unwrap();
        assert_close(transposed.view(), product(dense.t(), y.view()).view(), tolerance, "Aᵀ y");
    }

    /// The damped inverse in the eigenbasis = elimination on the explicit product.
    #[test]
    fn eigenbasis_solve_equals_elimination(seed in any::<u64>(), m in 1_usize..6, n in 1_usize..6, damping in 0.01..10.0_f64) {
        let mut rng = rng(seed);
        // Rank-deficient factors as often as not.
        let (a, b) = (random(&mut rng, m, 3), random(&mut rng, n, 3));
        let (a, b) = (product(a.view(), a.t()), product(b.view(), b.t()));
        let operator = KroneckerEigen::factorize(a.view(), b.view()).unwrap();
        let mut dense = kronecker(a.view(), b.view());
        assert_close(operator.to_dense().view(), dense.view(), rounding(m * n), "product");
        dense.diag_mut().mapv_inplace(|v| v + damping);
        let rhs = random(&mut rng, m * n, 3);
        let x = operator.factorize_damped(damping).unwrap().solve(rhs.view()).unwrap();
        let tolerance = rounding(m * n) * frobenius(dense.view()) / damping;
        assert_close(x.view(), eliminate(dense.view(), rhs.view()).0.view(), tolerance, "solve");
    }
}

/// More rows than are transposed at a time, and not a multiple of them.
#[test]
fn vec_trick_on_more_rows_than_one_chunk() {
    let mut rng = rng(23);
    for (m, n, p, q) in [(20, 31, 17, 25), (31, 20, 25, 17)] {
        let (a, b) = (random(&mut rng, m, n), random(&mut rng, p, q));
        let operator = Kronecker::new(a.view(), b.view()).unwrap();
        let dense = kronecker(a.view(), b.view());
        let x = random(&mut rng, n * q, 3);
        let found = operator.apply(x.view()).unwrap();
        assert_close(
            found.view(),
            product(dense.view(), x.view()).view(),
            rounding(n * q),
            "A x",
        );
        // Column-major x: borrowed, not copied.
        let x = x.t().as_standard_layout().into_owned().reversed_axes();
        assert_close(
            operator.apply(x.view()).unwrap().view(),
            found.view(),
            rounding(n * q),
            "column-major",
        );
    }
}

#[test]
fn row_major_vec_convention_is_that_of_a_weight_matrix() {
    // G Aᵀ-style products: (A ⊗ B) vec(W) = vec(A W Bᵀ) with W stored row by row.
    let mut rng = rng(21);
    let (a, b, w) = (
        random(&mut rng, 3, 3),
        random(&mut rng, 4, 4),
        random(&mut rng, 3, 4),
    );
    let flat = w.flatten().to_owned();
    let found = Kronecker::new(a.view(), b.view())
        .unwrap()
        .apply_vec(flat.view())
        .unwrap();
    let expected = product(product(a.view(), w.view()).view(), b.t());
    let expected = Array2::from_shape_vec((12, 1), expected.iter().copied().collect()).unwrap();
    assert_close(
        found.insert_axis(ndarray::Axis(1)).view(),
        expected.view(),
        rounding(12),
        "vec(A W Bᵀ)",
    );
}

#[test]
fn replaced_spectrum_acts_in_the_same_eigenbasis() {
    let mut rng = rng(22);
    let a = with_spectrum(&mut rng, &[1.0, 2.0, 3.0]);
    let b = with_spectrum(&mut rng, &[0.5, 1.5]);
    let eigen = KroneckerEigen::factorize(a.view(), b.view()).unwrap();
    let spectrum = random(&mut rng, 3, 2).mapv(f64::abs);
    let replaced = eigen.with_spectrum(spectrum.clone()).unwrap();
    let (u, v) = eigen.vectors();
    let basis = kronecker(u, v);
    let scaled = &basis * &spectrum.flatten();
    assert_close(
        replaced.to_dense().view(),
        product(scaled.view(), basis.t()).view(),
        rounding(6),
        "EKFAC",
    );
    // Rotating there and back is the identity.
    let x = random(&mut rng, 6, 2);
    let (mut there, mut back) = (Array2::zeros((6, 2)), Array2::zeros((6, 2)));
    eigen.rotate_into(x.view(), there.view_mut());
    assert_close(
        there.view(),
        product(basis.t(), x.view()).view(),
        rounding(6),
        "rotation",
    );
    eigen.rotate_back_into(there.view(), back.view_mut());
    assert_close(back.view(), x.view(), rounding(6), "there and back");

    let error = eigen.with_spectrum(Array2::zeros((2, 3))).unwrap_err();
    assert!(
        matches!(
            error,
            InputError::Shape {
                expected: (3, 2),
                found: (2, 3),
                ..
            }
        ),
        "{error}"
    );
    assert!(
        eigen
            .with_spectrum(Array2::from_elem((3, 2), f64::NAN))
            .is_err()
    );
}

#[test]
fn bad_factors_are_named() {
    let good = Array2::<f64>::eye(2);
    let mut bad = good.clone();
    bad[[1, 0]] = f64::INFINITY;
    let error = Kronecker::new(good.view(), bad.view()).unwrap_err();
    assert!(
        error.to_string().contains("right Kronecker factor")
            && error.to_string().contains("(1, 0)"),
        "{error}"
    );
    let error = Kronecker::new(Array2::zeros((0, 3)), good.view()).unwrap_err();
    assert_eq!(
        error,
        InputError::Empty {
            what: "left Kronecker factor"
        }
    );
    bad[[1, 0]] = 1.0;
    let error = KroneckerEigen::factorize(good.view(), bad.view()).unwrap_err();
    let FactorError::Block { index: 1, source } = error else {
        panic!("{error}")
    };
    assert!(matches!(
        *source,
        FactorError::Input(InputError::NotSymmetric { .. })
    ));
}
