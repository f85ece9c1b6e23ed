//! The same bits for any number of threads, on networks large enough to be shared out.

use ndarray::ArrayD;
use svn_curvature::{
    Accumulate, Activation, Backend, BatchSlots, DiagAccumulator, EkfacAccumulator,
    KfacAccumulator, Layer, LayeredRows, Precision, Sequential, WrittenRows,
};

use super::products::products;
use crate::common::normal;

fn in_a_pool<R: Send>(threads: usize, f: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.unwrap().install(f)
}

/// Forward passes of several tiles, and everything of a linearisation; work of a pass is far above the 2²⁰
/// multiplications from which particles are shared out.
fn results(precision: Precision) -> Vec<ArrayD<f64>> {
    let act = Layer::Activation;
    let layers = vec![
        Layer::linear(30, 120),
        act(Activation::Gelu),
        Layer::linear(120, 110),
        act(Activation::Tanh),
        Layer::linear(110, 3),
    ];
    let network = Sequential::new(&[30], layers).unwrap();
    let backend = Backend {
        precision,
        ..Backend::native()
    };
    let params = normal((4, network.layout().dim()), 0.2, 1);
    assert!(4 * network.layout().dim() * 40 > 1 << 20);
    let x = normal((600, 30), 1.0, 2);
    let samples = backend.samples(&network, x.view()).unwrap();
    let forward = samples.forward(&network, params.view()).unwrap();
    let through = samples.through(&network, params.view()).unwrap();
    let on_features = Sequential::new(&[3], vec![Layer::linear(3, 2)]).unwrap();
    let zeros = normal((4, on_features.layout().dim()), 1.0, 3);
    let features = through.forward(&on_features, zeros.view()).unwrap();
    let batch = samples.select(&(0..40).collect::<Vec<_>>()).unwrap();
    let linear = batch.linearize(&network, params.view()).unwrap();
    let mut all: Vec<ArrayD<f64>> = vec![forward.into_dyn(), features.into_dyn()];
    let named = products(&network, &*linear, 2, 4);
    all.extend(named.into_iter().map(|(_, array)| array));

    let root = normal((4, 40, 3, 2), 1.0, 5);
    let mut layered = LayeredRows::new(&*linear, 2, 80).unwrap();
    let mut written = WrittenRows::new(&*linear, 1, 80);
    layered.write(&*linear, root.view(), 1).unwrap();
    written.write(&*linear, root.view(), 0).unwrap();
    all.extend(layered.arrays().into_iter().chain(written.arrays()));
    let mut diag = DiagAccumulator::new(&*linear);
    diag.accumulate(&*linear, root.view()).unwrap();
    let mut kfac = KfacAccumulator::new(&*linear);
    kfac.accumulate(&*linear, root.view()).unwrap();
    let mut ekfac = EkfacAccumulator::new(&kfac.clone().finish().unwrap());
    ekfac.accumulate(&*linear, root.view()).unwrap();
    for sums in [diag.sums(), kfac.sums(), ekfac.sums()] {
        let json = serde_json::to_value(sums).unwrap();
        let mut numbers = Vec::new();
        collect(&json, &mut numbers);
        all.push(ndarray::Array1::from(numbers).into_dyn());
    }
    all
}

fn collect(value: &serde_json::Value, into: &mut Vec<f64>) {
    match value {
        serde_json::Value::Array(items) => items.iter().for_each(|item| collect(item, into)),
        serde_json::Value::Object(items) => items.values().for_each(|item| collect(item, into)),
        other => into.extend(other.as_f64()),
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    for precision in [Precision::Double, Precision::Single] {
        let one = in_a_pool(1, || results(precision));
        for threads in [2, 4] {
            let many = in_a_pool(threads, || results(precision));
            assert_eq!(one.len(), many.len());
            for (index, (one, many)) in one.iter().zip(&many).enumerate() {
                let bits =
                    |array: &ArrayD<f64>| array.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert!(
                    one.shape() == many.shape() && bits(one) == bits(many),
                    "result {index} differs with {threads} threads"
                );
            }
        }
    }
}
