//! Rows kept by layer against the same rows written out.

use crate::common::backends;
use ndarray::{Array, Array2, Array4, Axis, Dimension, IntoDimension, s};
use svn_curvature::{Activation, Backend, BatchSlots, Layer, LayeredRows, Linearized, Sequential};
use svn_linalg::ParticleRows;

const PARTICLES: usize = 3;
const SAMPLES: usize = 4;
const COLUMNS: usize = 2;

/// Numbers without a pattern, from the sine of a fast phase.
fn numbers<D: IntoDimension>(size: D, phase: f64) -> Array<f64, D::Dim> {
    let size = size.into_dimension();
    let values = (0..size.size()).map(|i| (i as f64 * 12.9898 + phase).sin());
    Array::from_shape_vec(size, values.collect()).unwrap()
}

fn linearization(backend: Backend, bias: bool) -> Box<dyn Linearized> {
    linearization_of(backend, SAMPLES, bias)
}

fn linearization_of(backend: Backend, samples: usize, bias: bool) -> Box<dyn Linearized> {
    let linear = |inputs, outputs| Layer::Linear {
        inputs,
        outputs,
        bias,
    };
    let layers = vec![
        linear(3, 5),
        Layer::Activation(Activation::Tanh),
        linear(5, 2),
    ];
    let network = Sequential::new(&[3], layers).unwrap();
    let params = numbers((PARTICLES, network.layout().dim()), 0.3);
    let x = numbers((samples, 3), 1.7);
    let samples = backend.samples(&network, x.view()).unwrap();
    samples.linearize(&network, params.view()).unwrap()
}

fn root() -> Array4<f64> {
    root_of(SAMPLES)
}

fn root_of(samples: usize) -> Array4<f64> {
    numbers((PARTICLES, samples, 2, COLUMNS), 2.9)
}

fn backends_and_biases() -> impl Iterator<Item = (Backend, bool)> {
    let with = |backend| [(backend, true), (backend, false)];
    backends().into_iter().flat_map(with)
}

/// Each number is a sum of at most a hundred products of numbers of order one.
fn assert_close(found: &Array2<f64>, expected: &Array2<f64>) {
    assert_eq!(found.dim(), expected.dim());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "{a} is not {b}");
    }
}

fn gram(rows: &LayeredRows, p: usize) -> Array2<f64> {
    let mut out = Array2::zeros((rows.count(), rows.count()));
    rows.rows(p).gram_into(out.view_mut());
    out
}

fn cross_gram(rows: &LayeredRows, p: usize, q: usize) -> Array2<f64> {
    let mut out = Array2::zeros((rows.count(), rows.count()));
    rows.cross_gram_into(p, q, out.view_mut());
    out
}

#[test]
fn products_and_gram_are_those_of_the_rows_written_out() {
    for (backend, bias) in backends_and_biases() {
        let linear = linearization(backend, bias);
        let explicit = linear.rows(root().view()).unwrap();
        let mut rows = LayeredRows::new(&*linear, 2, 10).unwrap();
        rows.write(&*linear, root().view(), 1).unwrap();
        let x = numbers((2, linear.dim()), 0.9);
        let z = numbers((2, 20), 1.1);
        let written: Vec<Array2<f64>> = explicit
            .outer_iter()
            .map(|explicit| {
                let mut written = Array2::zeros((20, linear.dim()));
                written
                    .slice_mut(s![10..10 + SAMPLES * COLUMNS, ..])
                    .assign(&explicit);
                written
            })
            .collect();
        for (p, own) in written.iter().enumerate() {
            assert_close(&gram(&rows, p), &own.dot(&own.t()));
            for (q, other) in written.iter().enumerate() {
                assert_close(&cross_gram(&rows, p, q), &own.dot(&other.t()));
            }
            let mut image = Array2::from_elem((2, 20), f64::NAN);
            rows.rows(p).project_into(x.view(), image.view_mut());
            assert_close(&image, &x.dot(&own.t()));
            // In either memory order.
            for mut out in [
                x.clone(),
                x.t().as_standard_layout().into_owned().reversed_axes(),
            ] {
                rows.rows(p)
                    .combine_into(0.5, z.view(), 2.0, out.view_mut());
                assert_close(&out, &(z.dot(own) * 0.5 + &x * 2.0));
            }
            let squares = (own * own).sum_axis(Axis(0)).insert_axis(Axis(1));
            assert_close(
                &rows.rows(p).squared_columns().insert_axis(Axis(1)),
                &squares,
            );
        }
    }
}

#[test]
fn a_slot_is_replaced_and_the_rest_kept() {
    for backend in backends() {
        let linear = linearization(backend, true);
        let count = SAMPLES * COLUMNS;
        let mut rows = LayeredRows::new(&*linear, 2, count).unwrap();
        let block = |rows: &LayeredRows, slot: usize| {
            let range = slot * count..(slot + 1) * count;
            gram(rows, 1).slice(s![range.clone(), range]).to_owned()
        };
        rows.write(&*linear, root().view(), 0).unwrap();
        rows.write(&*linear, (root() * 2.0).view(), 1).unwrap();
        let one = block(&rows, 0);
        assert_close(&block(&rows, 1), &(&one * 4.0));
        rows.write(&*linear, (root() * 3.0).view(), 0).unwrap();
        assert_close(&block(&rows, 0), &(&one * 9.0));
        assert_close(&block(&rows, 1), &(&one * 4.0));
    }
}

/// Inner products are made 32 rows at a time: three slots of 80 rows, rewritten in turn, one of them only in part.
#[test]
fn slots_of_many_rows_have_the_gram_matrix_of_the_rows_written_out() {
    for (backend, bias) in backends_and_biases() {
        let mut rows: Option<LayeredRows> = None;
        let mut written = vec![Array2::<f64>::zeros((0, 0)); PARTICLES];
        for (slot, samples) in [(0, 40), (2, 40), (1, 40), (2, 23)] {
            let (linear, root) = (linearization_of(backend, samples, bias), root_of(samples));
            let kept = rows.get_or_insert_with(|| LayeredRows::new(&*linear, 3, 80).unwrap());
            kept.write(&*linear, root.view(), slot).unwrap();
            let explicit = linear.rows(root.view()).unwrap();
            for (p, (written, explicit)) in
                written.iter_mut().zip(explicit.outer_iter()).enumerate()
            {
                if written.is_empty() {
                    *written = Array2::zeros((240, linear.dim()));
                }
                let mut slot = written.slice_mut(s![slot * 80..(slot + 1) * 80, ..]);
                slot.fill(0.0);
                slot.slice_mut(s![..samples * COLUMNS, ..])
                    .assign(&explicit);
                assert_close(&gram(kept, p), &written.dot(&written.t()));
            }
            assert_close(&cross_gram(kept, 0, 2), &written[0].dot(&written[2].t()));
        }
    }
}

#[cfg(feature = "torch")]
#[test]
fn convolutions_have_no_such_form() {
    let layers = vec![
        Layer::Conv2d(svn_curvature::Conv2d::new(1, 2, [2, 2])),
        Layer::Flatten,
        Layer::linear(8, 2),
    ];
    let network = Sequential::new(&[1, 3, 3], layers).unwrap();
    let params = numbers((PARTICLES, network.layout().dim()), 0.3);
    let x = numbers((SAMPLES, 9), 1.7);
    let samples = Backend::default().samples(&network, x.view()).unwrap();
    let linear = samples.linearize(&network, params.view()).unwrap();
    assert!(LayeredRows::new(&*linear, 1, 4).is_none());
}

#[test]
fn rows_that_are_not_finite_are_refused() {
    for backend in backends() {
        let linear = linearization(backend, true);
        let mut rows = LayeredRows::new(&*linear, 1, SAMPLES * COLUMNS).unwrap();
        let root = root() * f64::INFINITY;
        let error = rows.write(&*linear, root.view(), 0).unwrap_err();
        assert!(error.to_string().contains("not finite"), "{error}");
    }
}
