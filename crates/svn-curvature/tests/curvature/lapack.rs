//! libtorch and OpenBLAS both export `dgemm_`, `dpotrf_` and their kin: in one process both must still be right.
//!
//! If one library's symbols answered the other's calls with another convention (integer width, threading), results would
//! differ or the process would crash.
//!
//! It did crash, for another reason: OpenBLAS's multi-threaded LU (`dgetrf_parallel`) takes 528 KiB of stack per level of
//! its recursion. A Rust thread has 2 MiB by default, and the frame is large enough to step over the guard page. Hence
//! the stack size here. Cholesky and eigendecompositions, all that the library itself uses, take little.

use crate::common::torch::{array, tensor};
use crate::common::{frobenius_error, normal};
use ndarray::{Array1, Array2, Axis, s};
use ndarray_linalg::{Cholesky as _, Eigh as _, Solve as _, UPLO};
use svn_linalg::{Cholesky, CholeskyParams, Factor as _, SymmetricEigen};
use tch::Tensor;

/// Symmetric with eigenvalues between about 1 and 5: condition does not blur the comparison.
fn positive_definite(n: usize) -> Array2<f64> {
    let x = normal((n, n), 1.0 / (n as f64).sqrt(), 41);
    x.dot(&x.t()) + Array2::<f64>::eye(n)
}

/// `n ε` with room for the constants of either library.
fn tolerance(n: usize) -> f64 {
    10.0 * n as f64 * f64::EPSILON
}

fn on_a_large_stack(check: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new()
        .stack_size(32 << 20)
        .spawn(check)
        .unwrap();
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

fn column(values: &Array1<f64>) -> Array2<f64> {
    values.clone().insert_axis(Axis(1))
}

#[test]
fn eigenvalues_agree_in_turn_between_libtorch_and_openblas() {
    on_a_large_stack(|| {
        for n in [3, 50, 200] {
            let matrix = positive_definite(n);
            let a = tensor(matrix.view());
            // In turn, so that neither is only right before the other has run.
            for _ in 0..3 {
                let (values, vectors) = a.linalg_eigh("L");
                let torch: Array1<f64> = array(&values);
                let ours = SymmetricEigen::factorize(matrix.view()).unwrap();
                let (blas, _) = matrix.eigh(UPLO::Lower).unwrap();
                for other in [ours.values().to_owned(), blas] {
                    let error = frobenius_error(&column(&other), &column(&torch));
                    assert!(error < tolerance(n), "n = {n}");
                }
                // Vectors have free signs: compare what they rebuild.
                let vectors: Array2<f64> = array(&vectors);
                let rebuilt = (&vectors * &torch).dot(&vectors.t());
                let error = frobenius_error(&rebuilt, &matrix);
                assert!(error < tolerance(n), "libtorch, n = {n}");
                let rebuilt = (&ours.vectors() * &ours.values()).dot(&ours.vectors().t());
                let error = frobenius_error(&rebuilt, &matrix);
                assert!(error < tolerance(n), "OpenBLAS, n = {n}");
            }
        }
    });
}

#[test]
fn cholesky_factors_and_solves_agree_in_turn_between_libtorch_and_openblas() {
    on_a_large_stack(|| {
        for n in [3, 50, 200] {
            let (matrix, rhs) = (positive_definite(n), normal((n, 4), 1.0, 42));
            let (a, b) = (tensor(matrix.view()), tensor(rhs.view()));
            for _ in 0..3 {
                let torch: Array2<f64> = array(&a.linalg_cholesky(false));
                let ours = Cholesky::factorize(matrix.view(), &CholeskyParams::strict()).unwrap();
                let blas = matrix.cholesky(UPLO::Lower).unwrap();
                for other in [ours.lower().to_owned(), blas] {
                    let error = frobenius_error(&other, &torch);
                    assert!(error < tolerance(n), "n = {n}");
                }
                let torch: Array2<f64> = array(&Tensor::linalg_solve(&a, &b, true));
                let ours = ours.solve(rhs.view()).unwrap();
                let error = frobenius_error(&ours, &torch);
                assert!(error < 10.0 * tolerance(n), "n = {n}");
                let blas = matrix.solve(&rhs.column(0).to_owned()).unwrap();
                let error = frobenius_error(&column(&blas), &torch.slice(s![.., ..1]));
                assert!(error < 10.0 * tolerance(n), "n = {n}");
            }
        }
    });
}

#[test]
fn matrix_products_agree_between_libtorch_and_ndarray() {
    on_a_large_stack(|| {
        for n in [2, 33, 300] {
            let (a, b) = (normal((n, n + 1), 1.0, 43), normal((n + 1, n), 1.0, 44));
            let torch: Array2<f64> = array(&tensor(a.view()).matmul(&tensor(b.view())));
            let error = frobenius_error(&a.dot(&b), &torch);
            assert!(error < tolerance(n), "n = {n}");
        }
    });
}
