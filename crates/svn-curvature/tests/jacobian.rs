//! Forward pass and Jacobian products against libtorch's own layers, autograd and finite differences.

mod common;

use common::{
    CPU_F64, Case, PARTICLES, SAMPLES, cases, normal, reference_forward, reference_jacobian,
    relative_error,
};
use ndarray::{Array3, s};
use svn_curvature::{Sequential, convert};
use tch::{Kind, Tensor};

const C: i64 = 3;

/// Rounding of sums of a few dozen products of size one.
const ROUNDING: f64 = 1e-13;

fn full_jacobian(network: &Sequential, params: &Tensor, x: &Tensor) -> Tensor {
    let (n, b) = (params.size()[0], x.size()[0]);
    let identity = Tensor::eye(C, CPU_F64).expand([n, b, C, C], false);
    network
        .linearize(params, x)
        .unwrap()
        .rows(&identity)
        .unwrap()
        .view([n, b, C, -1])
}

#[test]
fn outputs_equal_libtorch_layers() {
    for Case {
        name,
        network,
        params,
        x,
    } in cases(C as usize)
    {
        let outputs = network.forward(&params, &x).unwrap();
        let linearized = network.linearize(&params, &x).unwrap();
        assert_eq!(
            relative_error(linearized.outputs(), &outputs),
            0.0,
            "{name}"
        );
        for p in 0..PARTICLES {
            let reference = reference_forward(&network, &params.get(p), &x);
            let error = relative_error(&outputs.get(p), &reference);
            assert!(error < ROUNDING, "{name}, particle {p}: {error:e}");
        }
    }
}

#[test]
fn jacobians_equal_autograd() {
    for Case {
        name,
        network,
        params,
        x,
    } in cases(C as usize)
    {
        let error = relative_error(
            &full_jacobian(&network, &params, &x),
            &reference_jacobian(&network, &params, &x),
        );
        assert!(error < ROUNDING, "{name}: {error:e}");
    }
}

#[test]
fn jacobians_equal_finite_differences() {
    // Central differences of step h err by h² f''' and by rounding / h: about 1e-9 at h = 1e-5. A kink of ReLU or of
    // max pooling within h of a sample is improbable, and the seeds are fixed.
    let h = 1e-5;
    for Case {
        name,
        network,
        params,
        x,
    } in cases(C as usize)
    {
        let jacobian = full_jacobian(&network, &params, &x);
        let d = network.layout().dim() as i64;
        let columns: Vec<Tensor> = (0..d)
            .map(|k| {
                let shifted = |by: f64| {
                    let moved = params.copy();
                    let _ = moved.narrow(1, k, 1).g_add_scalar_(by);
                    network.forward(&moved, &x).unwrap()
                };
                (shifted(h) - shifted(-h)) / (2.0 * h)
            })
            .collect();
        let error = relative_error(&jacobian, &Tensor::stack(&columns, 3));
        assert!(error < 1e-8, "{name}: {error:e}");
    }
}

#[test]
fn vjp_equals_jacobian_transposed() {
    for Case {
        name,
        network,
        params,
        x,
    } in cases(C as usize)
    {
        let r = normal(&[PARTICLES, SAMPLES, C], 1.0, 7);
        let gradient = network.linearize(&params, &x).unwrap().vjp(&r).unwrap();
        let jacobian = reference_jacobian(&network, &params, &x);
        let reference = Tensor::einsum("nbcd,nbc->nd", &[&jacobian, &r], None::<i64>);
        let error = relative_error(&gradient, &reference);
        assert!(error < ROUNDING, "{name}: {error:e}");
    }
}

#[test]
fn rows_are_root_transposed_times_jacobian_sample_major() {
    for Case {
        name,
        network,
        params,
        x,
    } in cases(C as usize)
    {
        for columns in [1, 2] {
            let root = normal(&[PARTICLES, SAMPLES, C, columns], 1.0, 8);
            let untouched = root.copy();
            let rows = network.linearize(&params, &x).unwrap().rows(&root).unwrap();
            assert_eq!(root, untouched, "{name}: the root is the caller's");
            let jacobian = reference_jacobian(&network, &params, &x);
            let reference = Tensor::einsum("nbcd,nbck->nbkd", &[&jacobian, &root], None::<i64>);
            let error = relative_error(&rows, &reference.reshape(rows.size()));
            assert!(error < ROUNDING, "{name}, {columns} columns: {error:e}");
        }
    }
}

#[test]
fn rows_into_writes_a_slot_of_a_larger_buffer_and_nothing_else() {
    for Case {
        name,
        network,
        params,
        x,
    } in cases(C as usize)
    {
        let root = normal(&[PARTICLES, SAMPLES, C, 2], 1.0, 9);
        let lin = network.linearize(&params, &x).unwrap();
        let expected: Array3<f64> = convert::array(&lin.rows(&root).unwrap()).unwrap();
        let count = expected.shape()[1];
        let mut ring = Array3::from_elem((PARTICLES as usize, 3 * count, lin.dim()), 7.0);
        lin.rows_into(&root, ring.slice_mut(s![.., count..2 * count, ..]))
            .unwrap();
        assert_eq!(ring.slice(s![.., count..2 * count, ..]), expected, "{name}");
        assert!(
            ring.slice(s![.., ..count, ..]).iter().all(|&v| v == 7.0),
            "{name}"
        );
        assert!(
            ring.slice(s![.., 2 * count.., ..])
                .iter()
                .all(|&v| v == 7.0),
            "{name}"
        );
    }
}

#[test]
fn last_layer_restriction_is_the_tail_of_the_full_products() {
    for Case {
        name,
        network,
        params,
        x,
    } in cases(C as usize)
    {
        let (root, r) = (
            normal(&[PARTICLES, SAMPLES, C, 2], 1.0, 10),
            normal(&[PARTICLES, SAMPLES, C], 1.0, 11),
        );
        let full = network.linearize(&params, &x).unwrap();
        let last = network.linearize(&params, &x).unwrap().last_layer();
        let tail = |t: Tensor| t.narrow(-1, (full.dim() - last.dim()) as i64, last.dim() as i64);
        assert_eq!(
            last.rows(&root).unwrap(),
            tail(full.rows(&root).unwrap()),
            "{name}"
        );
        assert_eq!(last.vjp(&r).unwrap(), tail(full.vjp(&r).unwrap()), "{name}");
    }
}

#[test]
fn single_precision_networks_stay_single_and_agree() {
    for Case {
        name,
        network,
        params,
        x,
    } in cases(C as usize)
    {
        let root = normal(&[PARTICLES, SAMPLES, C, 2], 1.0, 12);
        let single = network
            .linearize(&params.to_kind(Kind::Float), &x.to_kind(Kind::Float))
            .unwrap();
        let rows = single.rows(&root.to_kind(Kind::Float)).unwrap();
        assert_eq!(rows.kind(), Kind::Float);
        let reference = network.linearize(&params, &x).unwrap().rows(&root).unwrap();
        let error = relative_error(&rows.to_kind(Kind::Double), &reference);
        assert!(error < 1e-5 && error > 1e-12, "{name}: {error:e}");
        let mut out = Array3::zeros((PARTICLES as usize, 2 * SAMPLES as usize, single.dim()));
        single
            .rows_into(&root.to_kind(Kind::Float), out.view_mut())
            .unwrap();
        assert_eq!(out, convert::array(&rows).unwrap());
    }
}
