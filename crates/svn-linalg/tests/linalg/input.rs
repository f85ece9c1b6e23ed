//! Input checks of the operators' constructors.

use ndarray::{Array2, array};
use svn_linalg::{
    BlockDiagonal, Damped, Dense, Diagonal, InputError, LowRankPlusShift, Scaled, Symmetric,
};

#[test]
fn nan_and_infinity_are_located() {
    for value in [f64::NAN, f64::INFINITY] {
        let at = |error: InputError| match error {
            InputError::NonFinite {
                what, row, column, ..
            } => (what, row, column),
            other => panic!("{other}"),
        };
        let mut a = Array2::<f64>::eye(3);
        a[[0, 2]] = value;
        assert_eq!(at(Dense::new(a.view()).unwrap_err()), ("matrix", 0, 2));
        assert_eq!(at(Symmetric::new(a.view()).unwrap_err()), ("matrix", 0, 2));
        assert_eq!(
            at(Diagonal::new(array![1.0, value]).unwrap_err()),
            ("diagonal", 1, 0)
        );
        assert_eq!(
            at(LowRankPlusShift::checked(a, 1.0, 1.0).unwrap_err()),
            ("rows", 0, 2)
        );
        let unit = Diagonal::constant(2, 1.0).unwrap();
        assert_eq!(
            at(Scaled::new(value, unit.clone()).unwrap_err()),
            ("factor", 0, 0)
        );
        assert_eq!(at(Damped::new(unit, value).unwrap_err()), ("damping", 0, 0));
        assert!(LowRankPlusShift::new(Array2::<f64>::zeros((1, 2)), value, 1.0).is_err());
    }
}

#[test]
fn compositions_that_do_not_fit_name_both_shapes() {
    assert!(matches!(
        BlockDiagonal::<Diagonal>::new(vec![]),
        Err(InputError::Empty { .. })
    ));
    assert!(LowRankPlusShift::new(Array2::<f64>::zeros((1, 2)), -1.0, 1.0).is_err());
}

#[test]
fn symmetry_is_judged_relative_to_the_largest_element() {
    let tiny = array![[1e-20, 2e-20], [3e-20, 1e-20]];
    assert!(matches!(
        Symmetric::new(tiny),
        Err(InputError::NotSymmetric {
            row: 1,
            column: 0,
            ..
        })
    ));
    let rounding = array![[1e20, 1.0], [1.0 + 1e-9, 1e20]];
    assert!(Symmetric::new(rounding).is_ok());
    let huge = array![[1.0, 1.7e308], [-1.7e308, 1.0]];
    assert!(matches!(
        Symmetric::new(huge),
        Err(InputError::NotSymmetric { .. })
    ));
}
