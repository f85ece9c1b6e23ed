//! Golden values by curvlinops, BackPACK and laplace-torch; `golden/generate.py` made them.

use crate::common::{backends, frobenius_error};
use ndarray::{Array1, Array2, Array4, Axis, s};
use serde::Deserialize;
use std::collections::BTreeMap;
use svn_curvature::{
    Accumulate, Activation, Backend, BatchSlots, DiagAccumulator, EkfacAccumulator,
    KfacAccumulator, Layer, Linearized, Loss, Sequential, WrittenRows,
};
use svn_linalg::{LinearOperator as _, ParticleOperators};

/// Their rounding and ours, both f64, of numbers of size one.
const ROUNDING: f64 = 1e-11;

#[derive(Deserialize)]
struct Golden {
    versions: BTreeMap<String, String>,
    params: Vec<f64>,
    x: serde_json::Value,
    outputs: Vec<Vec<f64>>,
    columns: Vec<Vec<f64>>,
    losses: BTreeMap<String, Values>,
}

#[derive(Deserialize)]
struct Values {
    ggn: Vec<Vec<f64>>,
    kfac: Vec<Vec<f64>>,
    ekfac: Vec<Vec<f64>>,
    diag: Vec<f64>,
    last_layer: Vec<Vec<f64>>,
}

fn array(rows: &[Vec<f64>]) -> Array2<f64> {
    let flat = rows.iter().flatten().copied().collect();
    Array2::from_shape_vec((rows.len(), rows[0].len()), flat).unwrap()
}

fn flatten(value: &serde_json::Value, into: &mut Vec<f64>) {
    match value {
        serde_json::Value::Array(items) => items.iter().for_each(|item| flatten(item, into)),
        number => into.push(number.as_f64().unwrap()),
    }
}

type Batch<'a> = (&'a dyn Linearized, Array4<f64>);

fn add_in_two_batches<A: Accumulate>(mut accumulator: A, batches: &[Batch<'_>]) -> A::Curvature {
    for (lin, root) in batches {
        accumulator.accumulate(*lin, root.view()).unwrap();
    }
    accumulator.finish().unwrap()
}

fn write_two_batches(batches: &[Batch<'_>]) -> WrittenRows {
    let largest = batches.iter().map(|(lin, root)| lin.batch() * root.dim().3);
    let mut rows = WrittenRows::new(batches[0].0, batches.len(), largest.max().unwrap());
    for (slot, (lin, root)) in batches.iter().enumerate() {
        rows.write(*lin, root.view(), slot).unwrap();
    }
    rows
}

fn check(file: &str, network: &Sequential, backend: Backend) {
    let golden: Golden = serde_json::from_str(file).unwrap();
    assert_eq!(golden.versions["curvlinops-for-pytorch"], "3.0.1");
    let params = array(&[golden.params]);
    let mut x = Vec::new();
    flatten(&golden.x, &mut x);
    let x = Array2::from_shape_vec((x.len() / network.inputs(), network.inputs()), x).unwrap();
    let samples = |rows: std::ops::Range<usize>| {
        let x = x.slice(s![rows, ..]);
        backend.samples(network, x).unwrap()
    };
    let outputs = samples(0..6).forward(network, params.view()).unwrap();
    let error = frobenius_error(&outputs.index_axis(Axis(0), 0), &array(&golden.outputs));
    assert!(error < ROUNDING, "{error:e}");

    let linearize = |rows| samples(rows).linearize(network, params.view()).unwrap();
    let lins = [linearize(0..3), linearize(3..6)];
    let last = [linearize(0..3).last_layer(), linearize(3..6).last_layer()];
    let columns = array(&golden.columns);
    for (name, loss) in [
        ("categorical", Loss::Categorical),
        (
            "gaussian",
            Loss::Gaussian {
                noise: 0.5f64.sqrt(),
            },
        ),
    ] {
        let values = &golden.losses[name];
        let with_root = |lin: &dyn Linearized| loss.root(lin.outputs()).unwrap();
        let data = lins.each_ref().map(|lin| (&**lin, with_root(&**lin)));
        let last = last.each_ref().map(|lin| (&**lin, with_root(&**lin)));
        let assert_close = |what: &str, found: &Array2<f64>, expected: &Array2<f64>| {
            let error = frobenius_error(found, expected);
            assert!(
                error < ROUNDING,
                "{name}, {what}, {}: {error:e}",
                backend.kind
            );
        };
        let product = |curvature: &dyn ParticleOperators| {
            curvature.operator(0).apply(columns.view()).unwrap()
        };

        let full = write_two_batches(&data);
        let ggn = product(&*full.curvature(1.0, 0.0));
        assert_close("GGN (curvlinops)", &ggn, &array(&values.ggn));
        let kfac = add_in_two_batches(KfacAccumulator::new(data[0].0), &data);
        assert_close("KFAC (curvlinops)", &product(&kfac), &array(&values.kfac));
        let ekfac = add_in_two_batches(EkfacAccumulator::new(&kfac), &data);
        assert_close(
            "EKFAC (curvlinops)",
            &product(&ekfac),
            &array(&values.ekfac),
        );
        let diag = add_in_two_batches(DiagAccumulator::new(data[0].0), &data);
        let expected = Array1::from(values.diag.clone()).insert_axis(Axis(0));
        assert_close(
            "diagonal (BackPACK)",
            &diag.diagonal(0).insert_axis(Axis(0)),
            &expected,
        );
        let full = write_two_batches(&last);
        assert_close(
            "last layer (laplace-torch)",
            &full.curvature(1.0, 0.0).operator(0).to_dense(),
            &array(&values.last_layer),
        );
    }
}

#[test]
fn mlp_equals_curvlinops_backpack_and_laplace_torch() {
    let layers = vec![
        Layer::linear(3, 5),
        Layer::Activation(Activation::Tanh),
        Layer::Linear {
            inputs: 5,
            outputs: 4,
            bias: false,
        },
        Layer::relu(),
        Layer::linear(4, 3),
    ];
    let network = Sequential::new(&[3], layers).unwrap();
    for backend in backends() {
        check(include_str!("golden/mlp.json"), &network, backend);
    }
}

#[cfg(feature = "torch")]
#[test]
fn conv_net_equals_curvlinops_backpack_and_laplace_torch() {
    use svn_curvature::{Conv2d, Pool2d};
    let layers = vec![
        Layer::Conv2d(Conv2d::new(1, 2, [3, 3]).padding([1, 1])),
        Layer::relu(),
        Layer::MaxPool2d(Pool2d::new([2, 2])),
        Layer::Conv2d(Conv2d::new(2, 3, [2, 2]).stride([2, 1]).bias(false)),
        Layer::Activation(Activation::Sigmoid),
        Layer::Flatten,
        Layer::linear(6, 3),
    ];
    let network = Sequential::new(&[1, 7, 6], layers).unwrap();
    check(include_str!("golden/conv.json"), &network, Backend::torch());
}
