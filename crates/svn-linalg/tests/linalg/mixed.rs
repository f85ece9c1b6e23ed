//! A factor in single precision that solves in double.

use ndarray::{Array2, array};
use svn_linalg::{FactorError, InputError, MixedCholesky, MixedMemory};

use crate::reference::*;

fn mixed(a: &Array2<f64>) -> MixedMemory {
    let mut memory = MixedMemory::new(a.nrows());
    // Nothing below the diagonal is read.
    memory.matrix_mut().fill(f64::NAN);
    for ((i, j), value) in a.indexed_iter().filter(|((i, j), _)| i <= j) {
        memory.matrix_mut()[[i, j]] = *value;
    }
    memory
}

#[test]
fn a_factor_in_single_precision_solves_in_double_at_any_condition_number() {
    let mut rng = rng(71);
    // From 1e9 on single precision is not enough, and a factor in double precision steps in.
    for exponent in [0, 2, 4, 6, 9] {
        let n = 60;
        let condition = 10f64.powi(exponent);
        let a = with_spectrum(&mut rng, &log_spaced(n, condition));
        let b = random(&mut rng, 3, n);
        let Ok(factor) = MixedCholesky::factorize(mixed(&a)) else {
            assert!(exponent >= 6, "1e{exponent}");
            continue;
        };
        let x = factor.solve_rows(b.view()).unwrap();
        let what = format!("condition 1e{exponent}");
        // Refinement ends at 1e-12; a factor in double precision leaves rounding times the condition number.
        let tolerance = 1e-11_f64.max(rounding(n) * condition);
        let back = product(x.view(), a.view());
        assert_close(back.view(), b.view(), tolerance, &what);
        // The memory serves another matrix.
        let again = MixedCholesky::factorize({
            let mut memory = factor.into_memory();
            memory.matrix_mut().assign(&Array2::eye(n));
            memory
        });
        assert_close(
            again.unwrap().solve_rows(b.view()).unwrap().view(),
            b.view(),
            1e-15,
            &what,
        );
    }
    // Zero has a solution without an iteration, tiny and huge numbers lose nothing.
    let a = with_spectrum(&mut rng, &log_spaced(20, 100.0));
    let factor = MixedCholesky::factorize(mixed(&a)).unwrap();
    for scale in [0.0, 1e-200, 1e200] {
        let b = random(&mut rng, 1, 20) * scale;
        let x = factor.solve_rows(b.view()).unwrap();
        let back = product(x.view(), a.view());
        assert!((back - &b).iter().all(|error| error.abs() <= 1e-11 * scale));
    }
}

#[test]
fn a_pivot_that_is_not_positive_and_a_wrong_shape_are_typed_errors() {
    let a = array![[1.0, 2.0], [2.0, 1.0]];
    let error = MixedCholesky::factorize(mixed(&a)).unwrap_err();
    assert!(matches!(
        error,
        FactorError::NotPositiveDefinite { pivot: 1, .. }
    ));
    let factor = MixedCholesky::factorize(mixed(&array![[2.0]])).unwrap();
    let error = factor.solve_rows(Array2::zeros((1, 2)).view()).unwrap_err();
    assert!(matches!(
        error,
        FactorError::Input(InputError::Shape { .. })
    ));
}
