//! Input that is refused before the first product.

use super::*;

#[test]
fn bad_input_is_a_typed_error_before_the_first_product() {
    let operator = Symmetric::new(Array2::<f64>::eye(3)).unwrap();
    let short = Array1::<f64>::zeros(2);
    let good = Array1::<f64>::ones(3);
    let mut bad = good.clone();
    bad[2] = f64::NAN;
    let two = Diagonal::constant(2, 1.0).unwrap();
    for (solver, solve) in SOLVERS {
        let shape = |error: SolveError| match error {
            SolveError::Input(InputError::Shape {
                what,
                expected,
                found,
            }) => (what, expected, found),
            other => panic!("{solver}: {other}"),
        };
        let error = solve(&operator, short.view(), None, None, 1e-8, 9).unwrap_err();
        assert_eq!(shape(error), ("right-hand side", (3, 1), (2, 1)));
        let error = solve(&operator, good.view(), Some(short.view()), None, 1e-8, 9).unwrap_err();
        assert_eq!(shape(error), ("start", (3, 1), (2, 1)));
        let error = solve(&operator, good.view(), None, Some(&two), 1e-8, 9).unwrap_err();
        assert_eq!(shape(error), ("preconditioner", (3, 3), (2, 2)));
        for error in [
            solve(&operator, bad.view(), None, None, 1e-8, 9).unwrap_err(),
            solve(&operator, good.view(), Some(bad.view()), None, 1e-8, 9).unwrap_err(),
        ] {
            assert!(
                matches!(
                    error,
                    SolveError::Input(InputError::NonFinite { row: 2, .. })
                ),
                "{solver}: {error}"
            );
        }
        for tolerance in [-1.0, f64::NAN] {
            let error = solve(&operator, good.view(), None, None, tolerance, 9).unwrap_err();
            assert!(
                matches!(
                    error,
                    SolveError::Input(InputError::OutOfRange {
                        name: "tolerance",
                        ..
                    })
                ),
                "{solver}"
            );
        }
    }
}

#[test]
fn a_non_finite_product_is_an_error_that_names_the_operator() {
    struct Poisoned;
    impl LinearOperator for Poisoned {
        fn nrows(&self) -> usize {
            2
        }
        fn ncols(&self) -> usize {
            2
        }
        fn apply_into(&self, x: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
            out.assign(&x);
            out[[1, 0]] = f64::NAN;
        }
        fn apply_transpose_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
            self.apply_into(x, out);
        }
    }
    impl SelfAdjoint for Poisoned {}
    let identity = Diagonal::constant(2, 1.0).unwrap();
    let b = ndarray::array![1.0, 2.0];
    for (solver, solve) in SOLVERS {
        let error = solve(&Poisoned, b.view(), None, None, 1e-8, 9).unwrap_err();
        assert_eq!(
            error,
            SolveError::NonFiniteProduct {
                operator: "operator"
            },
            "{solver}"
        );
        let error = solve(&identity, b.view(), None, Some(&Poisoned), 1e-8, 9).unwrap_err();
        assert_eq!(
            error,
            SolveError::NonFiniteProduct {
                operator: "preconditioner"
            },
            "{solver}"
        );
    }
}
