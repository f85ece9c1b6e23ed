//! The parts of one step — kernel matrix, SVGD field, product with the SVN Hessian, solves — for five shapes.
//!
//! | case | N | d | curvature | shape of |
//! |---|---|---|---|---|
//! | `mlp-5` | 5 | 2 951 | 16 rows a particle | MLP 6-50-50-1, batch 16 |
//! | `mlp-20` | 20 | 2 951 | 16 rows a particle | the same |
//! | `lenet-diag` | 5 | 61 706 | diagonal | LeNet-5 |
//! | `lenet-kfac` | 5 | 61 706 | Kronecker factors in their eigenbases | LeNet-5 |
//! | `small-100` | 100 | 50 | dense | a generalised linear model |
//!
//! One thread. Curvature rows are taken to be new in every solve, so the Gram matrix of the rows is in the figures.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use ndarray::{Array1, Array2, Array3};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use svn_linalg::{
    BlockDiagonal, DenseMatrices, DiagonalMatrices, Factor, FactorError, FactorizeDamped,
    KroneckerEigen, LinearOperator, LowRank, ParticleOperators, SelfAdjoint, gram,
};
use svn_stein::{
    Coupling, KernelGram, KernelSettings, Metric, Scratch, Solver, SvnSystem, svgd_into,
};

/// Outputs and inputs with bias of the layers of LeNet-5.
const LENET: [(usize, usize); 5] = [(6, 26), (16, 151), (120, 401), (84, 121), (10, 85)];

fn random(rng: &mut ChaCha8Rng, rows: usize, columns: usize) -> Array2<f64> {
    Array2::from_shape_simple_fn((rows, columns), || rng.random_range(-1.0..1.0))
}

fn positive(rng: &mut ChaCha8Rng, side: usize) -> Array2<f64> {
    let root = random(rng, side, side);
    gram(1.0 / side as f64, root.view()) + Array2::<f64>::eye(side) * 0.1
}

/// Kronecker-factored curvature in its eigenbases.
#[derive(Debug)]
struct Kfac {
    particles: Vec<BlockDiagonal<KroneckerEigen>>,
}

impl Kfac {
    fn new(rng: &mut ChaCha8Rng, particles: usize) -> Self {
        let block = |rng: &mut ChaCha8Rng, (m, n)| {
            let (left, right) = (positive(rng, m), positive(rng, n));
            KroneckerEigen::factorize(left.view(), right.view()).expect("symmetric factors")
        };
        let particles = (0..particles)
            .map(|_| LENET.map(|shape| block(rng, shape)).into())
            .map(|blocks| BlockDiagonal::new(blocks).expect("five blocks"))
            .collect();
        Self { particles }
    }
}

impl ParticleOperators for Kfac {
    fn particles(&self) -> usize {
        self.particles.len()
    }

    fn dim(&self) -> usize {
        self.particles[0].nrows()
    }

    fn operator(&self, particle: usize) -> Box<dyn SelfAdjoint + '_> {
        Box::new(&self.particles[particle])
    }

    fn factor(&self, particle: usize, damping: f64) -> Result<Box<dyn Factor + '_>, FactorError> {
        Ok(Box::new(
            self.particles[particle].factorize_damped(damping)?,
        ))
    }

    fn factor_size(&self) -> usize {
        401
    }

    /// `Σ_ab U_ia² V_jb² S_ab` of every block.
    fn diagonal(&self, particle: usize) -> Array1<f64> {
        let blocks = self.particles[particle].blocks().iter();
        blocks
            .flat_map(|block| {
                let (u, v) = block.vectors();
                let (u, v) = (u.mapv(|x| x * x), v.mapv(|x| x * x));
                u.dot(&block.spectrum())
                    .dot(&v.t())
                    .into_iter()
                    .collect::<Vec<_>>()
            })
            .collect()
    }
}

fn case(c: &mut Criterion, name: &str, (n, d): (usize, usize), curvature: &dyn ParticleOperators) {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let (particles, score) = (random(&mut rng, n, d), random(&mut rng, n, d));
    let settings = KernelSettings {
        metric: Metric::Curvature,
        ..KernelSettings::default()
    };
    let mut kernel = KernelGram::new(n, d);
    let mut group = c.benchmark_group(name);
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800));
    group.bench_function("kernel", |bench| {
        bench.iter(|| {
            kernel
                .update(&settings, particles.view(), Some(curvature))
                .expect("finite")
        });
    });
    let mut field = Array2::zeros((n, d));
    group.bench_function("field", |bench| {
        bench.iter(|| svgd_into(&kernel, black_box(score.view()), 1.0, field.view_mut()));
    });
    let system = |coupling| {
        SvnSystem::new(kernel.view(), curvature, coupling, 1.0, 1e-3).expect("shapes that fit")
    };
    let mut out = Array2::zeros((n, d));
    let apply = system(Coupling::BlockRepulsion);
    group.bench_function("apply", |bench| {
        bench.iter(|| apply.multiply_into(black_box(field.view()), out.view_mut()));
    });
    let cg = Solver::Cg {
        tolerance: 1e-12,
        max_iterations: 50,
    };
    for (label, coupling, solver) in [
        (
            "solve block-diagonal",
            Coupling::BlockDiagonal,
            Solver::Auto,
        ),
        (
            "solve block-repulsion",
            Coupling::BlockRepulsion,
            Solver::Auto,
        ),
        ("solve gram", Coupling::Gram, Solver::Auto),
        ("solve block-repulsion cg", Coupling::BlockRepulsion, cg),
    ] {
        let system = system(coupling);
        let mut solve = || {
            let mut scratch = Scratch::default();
            system.solve_into(
                black_box(field.view()),
                solver,
                &mut scratch,
                out.view_mut(),
            )
        };
        match solve() {
            Ok(info) => eprintln!(
                "{name}/{label}: {:?}, {:?}, {} iterations, residual {:.1e}",
                info.route, info.status, info.iterations, info.relative_residual
            ),
            Err(error) => {
                eprintln!("{name}/{label}: {error}");
                continue;
            }
        }
        group.bench_function(label, |bench| {
            bench.iter(|| solve().map(|info| info.iterations))
        });
    }
    group.finish();
}

fn step(c: &mut Criterion) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for (name, n) in [("mlp-5", 5), ("mlp-20", 20)] {
        let d = 2951;
        let rows = random(&mut rng, n * 16, d)
            .into_shape_with_order((n, 16, d))
            .expect("contiguous");
        let low = LowRank {
            rows: &rows,
            weight: 1.0,
            shift: 1.0,
        };
        case(c, name, (n, d), &low);
    }
    let lenet: usize = LENET.iter().map(|(m, n)| m * n).sum();
    let diagonal = random(&mut rng, 5, lenet).mapv(|x| 1.0 + x * x);
    case(
        c,
        "lenet-diag",
        (5, lenet),
        &DiagonalMatrices::new(diagonal.view()),
    );
    let kfac = Kfac::new(&mut rng, 5);
    case(c, "lenet-kfac", (5, lenet), &kfac);
    let mut dense = Array3::zeros((100, 50, 50));
    for mut block in dense.outer_iter_mut() {
        block.assign(&positive(&mut rng, 50));
    }
    case(c, "small-100", (100, 50), &DenseMatrices::new(dense.view()));
}

criterion_group!(benches, step);
criterion_main!(benches);
