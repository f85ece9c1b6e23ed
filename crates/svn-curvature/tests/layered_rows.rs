//! Rows kept by layer against the same rows written out.

use ndarray::{Array2, Array3, Axis, s};
use svn_curvature::{
    Activation, BatchSlots, Conv2d, Layer, LayeredRows, Linearization, Sequential, convert,
};
use svn_linalg::ParticleRows;
use tch::{Device, Kind, Tensor};

const PARTICLES: usize = 3;
const SAMPLES: usize = 4;
const COLUMNS: usize = 2;

/// Numbers without a pattern, from the sine of a fast phase.
fn numbers(size: &[i64], phase: f64) -> Tensor {
    let count: i64 = size.iter().product();
    let index = Tensor::arange(count, (Kind::Double, Device::Cpu));
    (index * 12.9898 + phase).sin().view(size)
}

fn linearization(bias: bool) -> Linearization {
    linearization_of(SAMPLES, bias)
}

fn linearization_of(samples: usize, bias: bool) -> Linearization {
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
    let params = numbers(&[PARTICLES as i64, network.layout().dim() as i64], 0.3);
    network
        .linearize(&params, &numbers(&[samples as i64, 3], 1.7))
        .unwrap()
}

fn root() -> Tensor {
    root_of(SAMPLES)
}

fn root_of(samples: usize) -> Tensor {
    numbers(&[PARTICLES as i64, samples as i64, 2, COLUMNS as i64], 2.9)
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
    for bias in [true, false] {
        let linear = linearization(bias);
        let explicit: Array3<f64> = convert::array(&linear.rows(&root()).unwrap()).unwrap();
        let mut rows = LayeredRows::new(&linear, 2, 10).unwrap();
        rows.write(&linear, &root(), 1).unwrap();
        let x: Array2<f64> = convert::array(&numbers(&[2, linear.dim() as i64], 0.9)).unwrap();
        let z: Array2<f64> = convert::array(&numbers(&[2, 20], 1.1)).unwrap();
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
    let linear = linearization(true);
    let mut rows = LayeredRows::new(&linear, 2, SAMPLES * COLUMNS).unwrap();
    let (first, second) = (
        0..SAMPLES * COLUMNS,
        SAMPLES * COLUMNS..2 * SAMPLES * COLUMNS,
    );
    rows.write(&linear, &root(), 0).unwrap();
    rows.write(&linear, &(root() * 2.0), 1).unwrap();
    let one: Array2<f64> = gram(&rows, 1)
        .slice(s![first.clone(), first.clone()])
        .to_owned();
    assert_close(
        &gram(&rows, 1).slice(s![second.clone(), second]).to_owned(),
        &(&one * 4.0),
    );
    rows.write(&linear, &(root() * 3.0), 0).unwrap();
    assert_close(
        &gram(&rows, 1).slice(s![first.clone(), first]).to_owned(),
        &(&one * 9.0),
    );
}

/// Inner products are made 32 rows at a time: three slots of 80 rows, rewritten in turn, one of them only in part.
#[test]
fn slots_of_many_rows_have_the_gram_matrix_of_the_rows_written_out() {
    for bias in [true, false] {
        let mut rows: Option<LayeredRows> = None;
        let mut written = vec![Array2::<f64>::zeros((0, 0)); PARTICLES];
        for (slot, samples) in [(0, 40), (2, 40), (1, 40), (2, 23)] {
            let (linear, root) = (linearization_of(samples, bias), root_of(samples));
            let kept = rows.get_or_insert_with(|| LayeredRows::new(&linear, 3, 80).unwrap());
            kept.write(&linear, &root, slot).unwrap();
            let explicit: Array3<f64> = convert::array(&linear.rows(&root).unwrap()).unwrap();
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

#[test]
fn convolutions_have_no_such_form() {
    let layers = vec![
        Layer::Conv2d(Conv2d::new(1, 2, [2, 2])),
        Layer::Flatten,
        Layer::linear(8, 2),
    ];
    let network = Sequential::new(&[1, 3, 3], layers).unwrap();
    let params = numbers(&[PARTICLES as i64, network.layout().dim() as i64], 0.3);
    let linear = network
        .linearize(&params, &numbers(&[SAMPLES as i64, 1, 3, 3], 1.7))
        .unwrap();
    assert!(LayeredRows::new(&linear, 1, 4).is_none());
}

#[test]
fn rows_that_are_not_finite_are_refused() {
    let linear = linearization(true);
    let mut rows = LayeredRows::new(&linear, 1, SAMPLES * COLUMNS).unwrap();
    let error = rows
        .write(&linear, &(root() * f64::INFINITY), 0)
        .unwrap_err();
    assert!(error.to_string().contains("not finite"), "{error}");
}
