//! The protocol every operator keeps.

use ndarray::{Array2, ArrayView2, ShapeBuilder, s};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::sync::Arc;
use svn_linalg::{InputError, LinearOperator};

use crate::cases;
use crate::reference::*;

/// Sums of up to 13 products and eigenvectors of that dimension, 8 n ε = 2e-14, in results down to 1/400 of `‖A‖ ‖x‖`.
const TOLERANCE: f64 = 1e-11;

#[test]
fn operator_equals_its_explicit_matrix() {
    for case in cases::all() {
        let (operator, dense) = (&case.operator, &case.dense);
        assert_eq!(
            (operator.nrows(), operator.ncols()),
            dense.dim(),
            "{}",
            case.name
        );
        assert_close(
            operator.to_dense().view(),
            dense.view(),
            TOLERANCE,
            case.name,
        );
        let transposed = operator
            .apply_transpose(Array2::eye(dense.nrows()).view())
            .unwrap();
        assert_close(transposed.view(), dense.t(), TOLERANCE, case.name);
    }
}

/// All layouts a caller can hand in, for the argument and for the result, which starts as NaN.
#[test]
fn apply_accepts_any_layout_and_overwrites_nan() {
    let mut rng = rng(3);
    for case in cases::all() {
        for k in [0, 1, 2, 5] {
            let (n, m) = (case.operator.ncols(), case.operator.nrows());
            let x = random(&mut rng, n, k);
            let expected = product(case.dense.view(), x.view());
            let mut column_major = Array2::zeros((n, k).f());
            column_major.assign(&x);
            let mut spread = Array2::from_elem((2 * n, 3 * k), f64::NAN);
            spread.slice_mut(s![..;2, ..;3]).assign(&x);
            for x in [x.view(), column_major.view(), spread.slice(s![..;2, ..;3])] {
                check_outputs(&*case.operator, x, &expected, (m, k), case.name);
            }
        }
    }
}

fn check_outputs(
    operator: &dyn LinearOperator,
    x: ArrayView2<'_, f64>,
    expected: &Array2<f64>,
    (m, k): (usize, usize),
    name: &str,
) {
    let mut standard = Array2::from_elem((m, k), f64::NAN);
    operator.apply_into(x, standard.view_mut());
    assert_close(standard.view(), expected.view(), TOLERANCE, name);
    let mut column_major = Array2::from_elem((m, k).f(), f64::NAN);
    operator.apply_into(x, column_major.view_mut());
    assert_close(column_major.view(), expected.view(), TOLERANCE, name);
    let mut spread = Array2::from_elem((2 * m, 3 * k), f64::NAN);
    operator.apply_into(x, spread.slice_mut(s![..;2, ..;3]));
    assert_close(
        spread.slice(s![..;2, ..;3]),
        expected.view(),
        TOLERANCE,
        name,
    );
}

#[test]
fn repeated_products_are_identical() {
    // A damping that is added at every product, or scratch that is not cleared, shows here.
    for case in cases::all() {
        let x = random(&mut rng(4), case.operator.ncols(), 3);
        let first = case.operator.apply(x.view()).unwrap();
        for _ in 0..3 {
            assert_eq!(
                case.operator.apply(x.view()).unwrap(),
                first,
                "{}",
                case.name
            );
        }
    }
}

#[test]
fn wrong_shapes_are_errors_that_name_both() {
    for case in cases::all() {
        let (m, n) = (case.operator.nrows(), case.operator.ncols());
        let error = case
            .operator
            .apply(Array2::zeros((n + 1, 2)).view())
            .unwrap_err();
        assert_eq!(
            error,
            InputError::Shape {
                what: "x",
                expected: (n, 2),
                found: (n + 1, 2)
            },
            "{}",
            case.name
        );
        let text = case
            .operator
            .apply_transpose(Array2::zeros((m + 1, 2)).view())
            .unwrap_err()
            .to_string();
        assert!(
            text.contains(&format!("({m}, 2)")) && text.contains(&format!("({}, 2)", m + 1)),
            "{text}"
        );
        assert!(
            case.operator
                .apply_vec(ndarray::Array1::zeros(n + 1).view())
                .is_err(),
            "{}",
            case.name
        );
    }
}

#[test]
fn references_boxes_and_arcs_are_the_operator_they_point_to() {
    for case in cases::all() {
        let by_reference: &dyn LinearOperator = &*case.operator;
        let dense = by_reference.to_dense();
        assert_eq!((&by_reference).to_dense(), dense, "{}", case.name);
        let shared: Arc<dyn LinearOperator> = Arc::from(case.operator);
        assert_eq!(Arc::clone(&shared).to_dense(), dense, "{}", case.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 32, rng_seed: RngSeed::Fixed(5), failure_persistence: None, ..ProptestConfig::default()
    })]

    /// `⟨A x, y⟩ = ⟨x, Aᵀ y⟩` for every operator, and linearity.
    #[test]
    fn adjoint_identity_and_linearity(seed in any::<u64>(), c in -10.0..10.0_f64) {
        let mut rng = rng(seed);
        for case in cases::all() {
            let (m, n) = (case.operator.nrows(), case.operator.ncols());
            let (x, x2, y) = (random_vector(&mut rng, n), random_vector(&mut rng, n), random_vector(&mut rng, m));
            let ax = case.operator.apply_vec(x.view()).unwrap();
            let aty = case.operator.apply_transpose_vec(y.view()).unwrap();
            let size = frobenius(case.dense.view()) * norm(x.view()) * norm(y.view());
            prop_assert!((ax.dot(&y) - x.dot(&aty)).abs() <= TOLERANCE * size, "{}", case.name);
            let combined = case.operator.apply_vec((&x + &(&x2 * c)).view()).unwrap();
            let separate = &ax + &(case.operator.apply_vec(x2.view()).unwrap() * c);
            let size = frobenius(case.dense.view()) * (norm(x.view()) + c.abs() * norm(x2.view()));
            prop_assert!(norm((combined - separate).view()) <= TOLERANCE * size, "{}", case.name);
        }
    }
}
