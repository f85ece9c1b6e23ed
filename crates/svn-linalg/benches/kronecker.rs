//! A Kronecker product with factors of side 120 and 400 against the two dense products it cannot do without.
//!
//! ```text
//! (A ⊗ B) vec(X) = vec(A X Bᵀ)        A: 120 × 120    B: 400 × 400    X: 120 × 400        2 · 48000 · 520 flops
//! ```
//!
//! The bound is a factor of 2 between `vec_trick` and `two_products`; the damped solve in the eigenbasis does four.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use ndarray::{Array2, s};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use svn_linalg::dense;
use svn_linalg::{Factor, FactorizeDamped, Kronecker, KroneckerEigen, LinearOperator, gram};

const M: usize = 120;
const N: usize = 400;

fn random(rng: &mut ChaCha8Rng, rows: usize, columns: usize) -> Array2<f64> {
    Array2::from_shape_simple_fn((rows, columns), || rng.random_range(-1.0..1.0))
}

fn kronecker(c: &mut Criterion) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (a, b) = (random(&mut rng, M, M), random(&mut rng, N, N));
    let (a, b) = (gram(1.0, a.view()), gram(1.0, b.view()));
    let operator = Kronecker::new(a.view(), b.view()).expect("finite factors");
    let eigen = KroneckerEigen::factorize(a.view(), b.view()).expect("symmetric factors");
    let factor = eigen.factorize_damped(1.0).expect("positive factors");
    let mut group = c.benchmark_group("kronecker_120x400");
    for k in [1, 5] {
        let x = random(&mut rng, M * N, k);
        let mut out = Array2::zeros((M * N, k));
        group.bench_function(BenchmarkId::new("vec_trick", k), |bench| {
            bench.iter(|| operator.apply_into(black_box(x.view()), out.view_mut()));
        });
        group.bench_function(BenchmarkId::new("damped_solve", k), |bench| {
            bench.iter(|| factor.solve_into(black_box(x.view()), out.view_mut()));
        });
        // The same flops on matrices that lie ready, one pair of products a column.
        let columns: Vec<Array2<f64>> = (0..k).map(|_| random(&mut rng, M, N)).collect();
        let (mut inner, mut result) = (Array2::zeros((M, N)), Array2::zeros((M, N)));
        group.bench_function(BenchmarkId::new("two_products", k), |bench| {
            bench.iter(|| {
                for x in black_box(&columns) {
                    dense::multiply(1.0, a.view(), x.view(), 0.0, inner.view_mut());
                    dense::multiply(1.0, inner.view(), b.t(), 0.0, result.view_mut());
                }
            });
        });
    }
    group.finish();
}

/// `α A Aᵀ` by `syrk` against the plain product, at the shapes of a ring of Jacobian rows.
fn gram_against_product(c: &mut Criterion) {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut group = c.benchmark_group("gram_2951");
    for r in [128, 640] {
        let wide = random(&mut rng, r, 2951 + 7);
        let a = wide.slice(s![.., ..2951]);
        group.bench_function(BenchmarkId::new("syrk", r), |bench| {
            bench.iter(|| gram(1.0, black_box(a)));
        });
        group.bench_function(BenchmarkId::new("product", r), |bench| {
            bench.iter(|| black_box(a).dot(&a.t()));
        });
    }
    group.finish();
}

criterion_group!(benches, kronecker, gram_against_product);
criterion_main!(benches);
