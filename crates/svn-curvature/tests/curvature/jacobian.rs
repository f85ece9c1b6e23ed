//! Forward pass and Jacobian products against dual numbers, finite differences, and libtorch's own layers and autograd.

use crate::common::{
    Case, PARTICLES, SAMPLES, cases, normal, reference_jacobian, reference_outputs, relative_error,
};
use ndarray::{Array2, Array3, Array4, s};

const C: usize = 3;

/// Rounding of sums of a few dozen products of size one.
const ROUNDING: f64 = 1e-13;

fn full_jacobian(case: &Case) -> Array4<f64> {
    let (n, b) = (case.params.nrows(), case.x.nrows());
    let identity = Array2::eye(C);
    let rows = case
        .linearize()
        .rows(identity.broadcast((n, b, C, C)).unwrap())
        .unwrap();
    rows.into_shape_with_order((n, b, C, case.network.layout().dim()))
        .unwrap()
}

/// `Σ_c J_ic S_ick`, `N × bk × d`.
fn root_times_jacobian(jacobian: &Array4<f64>, root: &Array4<f64>) -> Array3<f64> {
    let ((n, b, _, d), k) = (jacobian.dim(), root.dim().3);
    let mut rows = Array3::zeros((n, b * k, d));
    for (p, i) in (0..n).flat_map(|p| (0..b).map(move |i| (p, i))) {
        let (j, s) = (
            jacobian.slice(s![p, i, .., ..]),
            root.slice(s![p, i, .., ..]),
        );
        rows.slice_mut(s![p, i * k..(i + 1) * k, ..])
            .assign(&s.t().dot(&j));
    }
    rows
}

#[test]
fn outputs_are_the_formulas() {
    for case in cases(C) {
        let outputs = case
            .samples()
            .forward(&case.network, case.params.view())
            .unwrap();
        let error = relative_error(&outputs, &reference_outputs(&case));
        assert!(error < ROUNDING, "{}: {error:e}", case.name);
        let error = relative_error(&case.linearize().outputs(), &outputs);
        assert_eq!(error, 0.0, "{}", case.name);
    }
}

#[test]
fn jacobians_are_those_of_the_formulas() {
    for case in cases(C) {
        let error = relative_error(&full_jacobian(&case), &reference_jacobian(&case));
        assert!(error < ROUNDING, "{}: {error:e}", case.name);
    }
}

#[cfg(feature = "torch")]
#[test]
fn outputs_and_jacobians_equal_libtorch_layers_and_autograd() {
    for case in cases(C) {
        let outputs = case
            .samples()
            .forward(&case.network, case.params.view())
            .unwrap();
        for (p, outputs) in outputs.outer_iter().enumerate() {
            let error = relative_error(&outputs, &crate::common::torch::outputs(&case, p));
            assert!(error < ROUNDING, "{}, particle {p}: {error:e}", case.name);
        }
        let error = relative_error(
            &full_jacobian(&case),
            &crate::common::torch::jacobian(&case),
        );
        assert!(error < ROUNDING, "{}: {error:e}", case.name);
    }
}

#[test]
fn jacobians_equal_finite_differences() {
    // Central differences of step h err by h² f''' and by rounding / h: about 1e-9 at h = 1e-5. A kink of ReLU or of
    // max pooling within h of a sample is improbable, and the seeds are fixed.
    let h = 1e-5;
    for case in cases(C) {
        let (jacobian, samples) = (full_jacobian(&case), case.samples());
        let mut differences = Array4::zeros(jacobian.dim());
        for k in 0..case.params.ncols() {
            let shifted = |by: f64| {
                let mut moved = case.params.clone();
                moved.column_mut(k).mapv_inplace(|x| x + by);
                samples.forward(&case.network, moved.view()).unwrap()
            };
            let difference = (shifted(h) - shifted(-h)) / (2.0 * h);
            differences.slice_mut(s![.., .., .., k]).assign(&difference);
        }
        let error = relative_error(&jacobian, &differences);
        assert!(error < 1e-8, "{}: {error:e}", case.name);
    }
}

#[test]
fn vjp_equals_jacobian_transposed() {
    for case in cases(C) {
        let r = normal((PARTICLES, SAMPLES, C), 1.0, 7);
        let gradient = case.linearize().vjp(r.view()).unwrap();
        let jacobian = reference_jacobian(&case);
        let mut expected = Array2::zeros(gradient.dim());
        for ((p, i, c), r) in r.indexed_iter() {
            let mut sum = expected.row_mut(p);
            sum.scaled_add(*r, &jacobian.slice(s![p, i, c, ..]));
        }
        let error = relative_error(&gradient, &expected);
        assert!(error < ROUNDING, "{}: {error:e}", case.name);
    }
}

#[test]
fn rows_are_root_transposed_times_jacobian_sample_major() {
    for case in cases(C) {
        for columns in [1, 2] {
            let root = normal((PARTICLES, SAMPLES, C, columns), 1.0, 8);
            let rows = case.linearize().rows(root.view()).unwrap();
            let expected = root_times_jacobian(&reference_jacobian(&case), &root);
            let error = relative_error(&rows, &expected);
            assert!(
                error < ROUNDING,
                "{}, {columns} columns: {error:e}",
                case.name
            );
        }
    }
}

#[test]
fn rows_into_writes_a_slot_of_a_larger_buffer_and_nothing_else() {
    for case in cases(C) {
        let name = &case.name;
        let root = normal((PARTICLES, SAMPLES, C, 2), 1.0, 9);
        let lin = case.linearize();
        let expected = lin.rows(root.view()).unwrap();
        let count = expected.dim().1;
        let mut ring = Array3::from_elem((PARTICLES, 3 * count, lin.dim()), 7.0);
        lin.rows_into(root.view(), ring.slice_mut(s![.., count..2 * count, ..]))
            .unwrap();
        assert_eq!(ring.slice(s![.., count..2 * count, ..]), expected, "{name}");
        for rest in [0..count, 2 * count..3 * count] {
            let rest = ring.slice(s![.., rest, ..]);
            assert!(rest.iter().all(|&v| v == 7.0), "{name}");
        }
    }
}

#[test]
fn last_layer_restriction_is_the_tail_of_the_full_products() {
    for case in cases(C) {
        let (root, r) = (
            normal((PARTICLES, SAMPLES, C, 2), 1.0, 10),
            normal((PARTICLES, SAMPLES, C), 1.0, 11),
        );
        let (full, last) = (case.linearize(), case.linearize().last_layer());
        let tail = full.dim() - last.dim()..full.dim();
        let (rows, gradient) = (full.rows(root.view()).unwrap(), full.vjp(r.view()).unwrap());
        let (name, part) = (&case.name, s![.., .., tail.clone()]);
        assert_eq!(last.rows(root.view()).unwrap(), rows.slice(part), "{name}");
        let gradient = gradient.slice(s![.., tail]);
        assert_eq!(last.vjp(r.view()).unwrap(), gradient, "{name}");
    }
}

#[test]
fn single_precision_networks_stay_single_and_agree() {
    for case in cases(C) {
        let root = normal((PARTICLES, SAMPLES, C, 2), 1.0, 12);
        let rows = case.single().linearize().rows(root.view()).unwrap();
        let expected = case.linearize().rows(root.view()).unwrap();
        let error = relative_error(&rows, &expected);
        assert!(error < 1e-5 && error > 1e-12, "{}: {error:e}", case.name);
        assert!(
            rows.iter().all(|&x| x == f64::from(x as f32)),
            "{}",
            case.name
        );
    }
}
