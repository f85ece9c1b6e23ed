//! What curvature costs beside the forward-backward pass that a step needs anyway, all on one thread.
//!
//! | ratio | shapes | limit |
//! |---|---|---|
//! | Full rows / forward-backward | MLP 6-50-50-1, N = 5, b = 16, f64 | 2.5 |
//! | Diag / forward-backward | LeNet (61,706 parameters), N = 5, b = 128, 10 classes, f32 | 12 |
//! | KFAC / forward-backward | the same | 12 |
//!
//! The forward-backward pass is libtorch's own layers and autograd, particle by particle for the conv net (faster than
//! grouped convolutions) and batched over particles for the MLP. Curvature includes its own forward pass. The ratios are
//! of medians, measured in turn; the peak is the process's resident memory.

use std::time::{Duration, Instant};

use criterion::Criterion;
use ndarray::{Array, Array1, Array2, Array3, Axis, Dimension, IntoDimension};
use svn_curvature::{
    Accumulate, Backend, Conv2d, DiagAccumulator, KfacAccumulator, Layer, Linearized, Loss, Pool2d,
    Precision, Samples, Sequential, set_torch_threads,
};
use tch::{Kind, Tensor};

fn main() {
    set_torch_threads(1);
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
        .configure_from_args();
    let mlp = Mlp::new();
    let mut group = criterion.benchmark_group("mlp 6-50-50-1, N = 5, b = 16, f64");
    group.bench_function("forward-backward by autograd", |b| {
        b.iter(|| mlp.forward_backward())
    });
    group.bench_function("forward and vjp", |b| b.iter(|| mlp.vjp()));
    group.bench_function("full rows", |b| b.iter(|| mlp.rows()));
    group.bench_function("full rows, deltas by autograd", |b| {
        b.iter(|| mlp.rows_by_autograd())
    });
    group.finish();
    let lenet = LeNet::new();
    let mut group = criterion.benchmark_group("lenet, N = 5, b = 128, f32");
    group.bench_function("forward-backward by autograd", |b| {
        b.iter(|| lenet.forward_backward())
    });
    group.bench_function("forward and vjp", |b| b.iter(|| lenet.vjp()));
    group.bench_function("diag", |b| b.iter(|| lenet.diag()));
    group.bench_function("kfac", |b| b.iter(|| lenet.kfac()));
    group.finish();
    criterion.final_summary();

    let baseline = || mlp.forward_backward();
    println!(
        "full rows / forward-backward: {:.2} (limit 2.5)",
        ratio(200, || mlp.rows(), baseline)
    );
    let baseline = || lenet.forward_backward();
    println!(
        "diag / forward-backward: {:.2} (limit 12)",
        ratio(7, || lenet.diag(), baseline)
    );
    println!(
        "kfac / forward-backward: {:.2} (limit 12)",
        ratio(7, || lenet.kfac(), baseline)
    );
    if let Some(peak) = peak_megabytes() {
        println!("peak resident memory: {peak:.0} MB (limit 1500)");
    }
}

/// Median time of `a` over that of `b`, each run in turn.
fn ratio(repetitions: usize, a: impl Fn(), b: impl Fn()) -> f64 {
    let time = |f: &dyn Fn()| {
        let start = Instant::now();
        f();
        start.elapsed().as_secs_f64()
    };
    let (mut left, mut right): (Vec<f64>, Vec<f64>) =
        (0..repetitions).map(|_| (time(&a), time(&b))).unzip();
    left.sort_by(f64::total_cmp);
    right.sort_by(f64::total_cmp);
    let (left, right) = (left[repetitions / 2], right[repetitions / 2]);
    print!("{:.2} ms / {:.2} ms, ", 1e3 * left, 1e3 * right);
    left / right
}

/// Peak resident memory of this process where the system tells it.
fn peak_megabytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}

/// Any numbers of size one: timings do not depend on them.
fn noise<D: IntoDimension>(shape: D, scale: f64) -> Array<f64, D::Dim> {
    let shape = shape.into_dimension();
    let values = (0..shape.size()).map(|i| scale * (i as f64 * 12.9898).sin());
    Array::from_shape_vec(shape.clone(), values.collect()).unwrap()
}

fn tensor<D: Dimension>(array: &Array<f64, D>, shape: &[i64], kind: Kind) -> Tensor {
    let values: Vec<f64> = array.iter().copied().collect();
    Tensor::from_slice(&values).view(shape).to_kind(kind)
}

/// A network on libtorch, and the same numbers as tensors.
struct Run {
    network: Sequential,
    params: Array2<f64>,
    samples: Box<dyn Samples>,
    leaf: Tensor,
    x: Tensor,
}

impl Run {
    fn new(network: Sequential, batch: usize, scale: f64, precision: Precision) -> Self {
        let (d, shape) = (network.layout().dim(), network.input_shape());
        let shape: Vec<i64> = [batch]
            .iter()
            .chain(shape)
            .map(|&side| side as i64)
            .collect();
        let (params, x) = (noise((5, d), scale), noise((batch, network.inputs()), 1.0));
        let kind = match precision {
            Precision::Double => Kind::Double,
            Precision::Single => Kind::Float,
        };
        let backend = Backend {
            precision,
            ..Backend::torch()
        };
        Self {
            samples: backend.samples(&network, x.view()).unwrap(),
            leaf: tensor(&params, &[5, d as i64], kind),
            x: tensor(&x, &shape, kind),
            network,
            params,
        }
    }

    fn linearize(&self) -> Box<dyn Linearized> {
        self.samples
            .linearize(&self.network, self.params.view())
            .unwrap()
    }
}

struct Mlp(Run);

impl Mlp {
    const WIDTHS: [i64; 4] = [6, 50, 50, 1];

    fn new() -> Self {
        let layers = vec![
            Layer::linear(6, 50),
            Layer::relu(),
            Layer::linear(50, 50),
            Layer::relu(),
            Layer::linear(50, 1),
        ];
        let network = Sequential::new(&[6], layers).unwrap();
        Self(Run::new(network, 16, 0.3, Precision::Double))
    }

    /// Outputs by libtorch, with each layer's inputs and outputs.
    fn forward(&self, params: &Tensor) -> (Tensor, Vec<Tensor>, Vec<Tensor>) {
        let mut h = self.0.x.unsqueeze(0).expand([5, -1, -1], false);
        let (mut start, mut inputs, mut outputs) = (0, Vec::new(), Vec::new());
        for (i, pair) in Self::WIDTHS.windows(2).enumerate() {
            let (k, o) = (pair[0], pair[1]);
            let weight = params.narrow(1, start, o * k).view([5, o, k]);
            let bias = params.narrow(1, start + o * k, o).unsqueeze(1);
            start += o * k + o;
            inputs.push(h.shallow_clone());
            let z = bias.baddbmm(&h, &weight.transpose(1, 2), 1.0, 1.0);
            let z = if z.requires_grad() {
                z
            } else {
                z.set_requires_grad(true)
            };
            h = if i < 2 { z.relu() } else { z.shallow_clone() };
            outputs.push(z);
        }
        (h, inputs, outputs)
    }

    fn forward_backward(&self) {
        let params = self.0.leaf.detach().set_requires_grad(true);
        let loss = self.forward(&params).0.square().sum(Kind::Double);
        let _ = Tensor::run_backward(&[loss], &[params], false, false);
    }

    fn vjp(&self) {
        let lin = self.0.linearize();
        let _ = lin.vjp(lin.outputs()).unwrap();
    }

    fn rows(&self) {
        let lin = self.0.linearize();
        let root = Loss::Gaussian { noise: 0.5 }.root(lin.outputs()).unwrap();
        let mut rows = Array3::zeros((5, 16, lin.dim()));
        lin.rows_into(root.view(), rows.view_mut()).unwrap();
    }

    /// The same by one autograd pass with respect to the layers' outputs.
    fn rows_by_autograd(&self) {
        let (f, inputs, outputs) = self.forward(&self.0.leaf);
        let deltas = Tensor::run_backward(&[f.sum(Kind::Double)], &outputs, false, false);
        let parts: Vec<Tensor> = deltas
            .into_iter()
            .zip(&inputs)
            .flat_map(|(delta, input)| {
                let weight = (delta.unsqueeze(3) * input.detach().unsqueeze(2)).flatten(2, 3);
                [weight, delta]
            })
            .collect();
        let _ = Tensor::cat(&parts, 2);
    }
}

struct LeNet {
    run: Run,
    labels: Array1<f64>,
}

impl LeNet {
    fn new() -> Self {
        let layers = vec![
            Layer::Conv2d(Conv2d::new(1, 6, [5, 5]).padding([2, 2])),
            Layer::relu(),
            Layer::MaxPool2d(Pool2d::new([2, 2])),
            Layer::Conv2d(Conv2d::new(6, 16, [5, 5])),
            Layer::relu(),
            Layer::MaxPool2d(Pool2d::new([2, 2])),
            Layer::Flatten,
            Layer::linear(400, 120),
            Layer::relu(),
            Layer::linear(120, 84),
            Layer::relu(),
            Layer::linear(84, 10),
        ];
        let network = Sequential::new(&[1, 28, 28], layers).unwrap();
        assert_eq!(network.layout().dim(), 61_706);
        Self {
            run: Run::new(network, 128, 0.1, Precision::Single),
            labels: (0..128).map(|i| f64::from(i % 10)).collect(),
        }
    }

    fn forward_backward(&self) {
        let labels = tensor(&self.labels, &[128], Kind::Int64);
        for p in 0..5 {
            let params = self.run.leaf.get(p).detach().set_requires_grad(true);
            let mut start = 0;
            let mut take = |shape: &[i64]| {
                let count = shape.iter().product::<i64>();
                start += count;
                params.narrow(0, start - count, count).view(shape)
            };
            let (weight, bias) = (take(&[6, 1, 5, 5]), take(&[6]));
            let h = self
                .run
                .x
                .conv2d(&weight, Some(&bias), [1, 1], [2, 2], [1, 1], 1)
                .relu()
                .max_pool2d_default(2);
            let (weight, bias) = (take(&[16, 6, 5, 5]), take(&[16]));
            let h = h
                .conv2d(&weight, Some(&bias), [1, 1], [0, 0], [1, 1], 1)
                .relu()
                .max_pool2d_default(2);
            let (weight, bias) = (take(&[120, 400]), take(&[120]));
            let h = h.flatten(1, -1).linear(&weight, Some(&bias)).relu();
            let (weight, bias) = (take(&[84, 120]), take(&[84]));
            let h = h.linear(&weight, Some(&bias)).relu();
            let (weight, bias) = (take(&[10, 84]), take(&[10]));
            let loss = h
                .linear(&weight, Some(&bias))
                .cross_entropy_for_logits(&labels);
            let _ = Tensor::run_backward(&[loss], &[&params], false, false);
        }
    }

    fn vjp(&self) {
        let lin = self.run.linearize();
        let labels = self.labels.view().insert_axis(Axis(1));
        let loss = Loss::Categorical.value_and_gradient(lin.outputs(), labels);
        let _ = lin.vjp(loss.unwrap().1.view()).unwrap();
    }

    fn diag(&self) {
        let lin = self.run.linearize();
        let root = Loss::Categorical.root(lin.outputs()).unwrap();
        let mut accumulator = DiagAccumulator::new(&*lin);
        accumulator.accumulate(&*lin, root.view()).unwrap();
    }

    fn kfac(&self) {
        let lin = self.run.linearize();
        let root = Loss::Categorical.root(lin.outputs()).unwrap();
        let mut accumulator = KfacAccumulator::new(&*lin);
        accumulator.accumulate(&*lin, root.view()).unwrap();
    }
}
