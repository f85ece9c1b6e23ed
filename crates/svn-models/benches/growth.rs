//! How a step grows with the number of particles N, the dimension d and the curvature rows R of a particle, and where
//! conjugate gradients overtake the direct solve.
//!
//! ```text
//! cargo bench -p svn-models --bench growth [-- particles | dimension | rows]
//! ```
//!
//! Whole steps of the sampler on a 6-50-50-1 network, batch 16, N = 5, one quantity varied, f64, one thread. R is the
//! batch times the batches that are kept; with CG the joint system is solved to 1e-6 or 200 iterations.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use ndarray::{Array1, Array2};
use svn_models::curvature::Activation;
use svn_models::fit::LikelihoodKind;
use svn_models::network::{NetworkSettings, initial_particles};
use svn_models::posterior::{CurvatureSettings, Posterior, PosteriorSettings};
use svn_models::stein::{
    Bandwidth, Coupling, Damping, FirstOrder, KernelSettings, Method, Metric, Newton, Sampler,
    Solver, State,
};
use svn_models::{Backend, Rows};

const BATCH: usize = 16;
const RING: usize = 8;

/// The sizes that are varied.
#[derive(Clone, Copy)]
struct Size {
    particles: usize,
    width: usize,
    ring: usize,
}

const YACHT: Size = Size {
    particles: 5,
    width: 50,
    ring: RING,
};

struct Run {
    sampler: Sampler,
    state: State,
    target: Posterior,
}

impl Run {
    /// With a full ring.
    fn new(method: Method, size: Size) -> Self {
        let mlp = NetworkSettings::Mlp {
            hidden: vec![size.width; 2],
            activation: Activation::Relu,
        };
        let network = mlp.build(6, 1).expect("positive widths");
        let particles = initial_particles(&network, size.particles, 1);
        let settings = PosteriorSettings {
            batch_size: BATCH,
            prior_precision: 2.0,
            curvature: CurvatureSettings {
                ring: size.ring,
                ..CurvatureSettings::default()
            },
            learn_noise: true,
            seed: 1,
            backend: Backend::default(),
        };
        let x = Array2::from_shape_fn((320, 6), |(i, j)| ((i * 6 + j) as f64).sin());
        let y = Array1::from_shape_fn(320, |i| (i as f64).cos());
        let rows = Rows::new(x, y).expect("as many inputs as targets");
        let likelihood = LikelihoodKind::Gaussian.build();
        let likelihood = likelihood.expect("one output");
        let target = Posterior::new(network, likelihood, &rows, settings);
        let sampler = Sampler::new(method).expect("valid settings");
        let mut run = Self {
            state: sampler.init(particles, 1).expect("finite particles"),
            sampler,
            target: target.expect("rows that fit"),
        };
        for _ in 0..size.ring {
            run.step();
        }
        run
    }

    fn step(&mut self) {
        let info = self.sampler.step(&mut self.state, &mut self.target);
        black_box(info.expect("a solvable system"));
    }
}

fn svgd() -> Method {
    Method::Svgd {
        kernel: KernelSettings::default(),
        step: FirstOrder::adam(3e-3),
    }
}

fn svn(coupling: Coupling, solver: Solver) -> Method {
    Method::Svn(Newton {
        kernel: KernelSettings {
            metric: Metric::Curvature,
            bandwidth: Bandwidth::Median,
            ..KernelSettings::default()
        },
        coupling,
        solver,
        damping: Damping::Constant(20.0),
        trust_region: Some(32.0),
        ..Newton::plain()
    })
}

/// A group of its own for an axis: every method at every size.
fn axis(c: &mut Criterion, name: &str, methods: &[(&str, Method)], sizes: &[(usize, Size)]) {
    svn_models::set_library_threads(1);
    let mut group = c.benchmark_group(name);
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800));
    for (label, method) in methods {
        for &(x, size) in sizes {
            let mut run = None;
            group.bench_function(BenchmarkId::new(*label, x), |bench| {
                // Only for those that the command line selects.
                let run = run.get_or_insert_with(|| Run::new(method.clone(), size));
                bench.iter(|| run.step());
            });
        }
    }
    group.finish();
}

fn methods() -> [(&'static str, Method); 3] {
    [
        ("svgd", svgd()),
        ("joint", svn(Coupling::Gram, Solver::Auto)),
        ("block-diagonal", svn(Coupling::BlockDiagonal, Solver::Auto)),
    ]
}

fn particles(c: &mut Criterion) {
    let sizes = [2, 5, 10, 20].map(|particles| (particles, Size { particles, ..YACHT }));
    axis(c, "particles", &methods(), &sizes);
}

fn dimension(c: &mut Criterion) {
    let dim = |width: usize| 7 * width + (width + 1) * width + width + 1;
    let sizes = [25, 50, 100, 200].map(|width| (dim(width), Size { width, ..YACHT }));
    axis(c, "dimension", &methods(), &sizes);
}

fn rows(c: &mut Criterion) {
    let cg = Solver::Cg {
        tolerance: 1e-6,
        max_iterations: 200,
    };
    let methods = [
        ("joint, direct", svn(Coupling::Gram, Solver::Direct)),
        ("joint, CG", svn(Coupling::Gram, cg)),
    ];
    let sizes = [1, 4, 16, 32, 64].map(|ring| (BATCH * ring, Size { ring, ..YACHT }));
    axis(c, "rows", &methods, &sizes);
}

criterion_group!(benches, particles, dimension, rows);
criterion_main!(benches);
