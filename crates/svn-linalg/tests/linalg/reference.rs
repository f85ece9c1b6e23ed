//! Slow and obviously right: loops, elimination with pivoting, Gram-Schmidt.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

pub(crate) fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Entries uniform in (−1, 1).
pub(crate) fn random(rng: &mut ChaCha8Rng, rows: usize, columns: usize) -> Array2<f64> {
    Array2::from_shape_simple_fn((rows, columns), || rng.random_range(-1.0..1.0))
}

pub(crate) fn random_vector(rng: &mut ChaCha8Rng, n: usize) -> Array1<f64> {
    Array1::from_shape_simple_fn(n, || rng.random_range(-1.0..1.0))
}

/// `A B` by three loops.
pub(crate) fn product(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut c = Array2::zeros((a.nrows(), b.ncols()));
    for i in 0..a.nrows() {
        for j in 0..b.ncols() {
            for k in 0..a.ncols() {
                c[[i, j]] += a[[i, k]] * b[[k, j]];
            }
        }
    }
    c
}

/// A vector as a matrix of one column.
pub(crate) fn column(v: &Array1<f64>) -> ArrayView2<'_, f64> {
    v.view().insert_axis(Axis(1))
}

/// `A x` by [`product`].
pub(crate) fn image(a: &Array2<f64>, x: &Array1<f64>) -> Array1<f64> {
    product(a.view(), column(x)).remove_axis(Axis(1))
}

/// `A ⊗ B` element by element.
pub(crate) fn kronecker(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> Array2<f64> {
    let ((m, n), (p, q)) = (a.dim(), b.dim());
    Array2::from_shape_fn((m * p, n * q), |(i, j)| {
        a[[i / p, j / q]] * b[[i % p, j % q]]
    })
}

/// An orthogonal matrix by modified Gram-Schmidt, twice.
pub(crate) fn orthogonal(rng: &mut ChaCha8Rng, n: usize) -> Array2<f64> {
    let mut q = random(rng, n, n);
    for _ in 0..2 {
        for j in 0..n {
            for i in 0..j {
                let earlier = q.column(i).to_owned();
                let overlap = earlier.dot(&q.column(j));
                q.column_mut(j).scaled_add(-overlap, &earlier);
            }
            let length = norm(q.column(j));
            q.column_mut(j).mapv_inplace(|v| v / length);
        }
    }
    q
}

/// `Q diag(eigenvalues) Qᵀ`, exactly symmetric.
pub(crate) fn with_spectrum(rng: &mut ChaCha8Rng, eigenvalues: &[f64]) -> Array2<f64> {
    let q = orthogonal(rng, eigenvalues.len());
    let scaled = &q * &ArrayView1::from(eigenvalues);
    let a = product(scaled.view(), q.t());
    (&a + &a.t()) / 2.0
}

/// `n` eigenvalues from 1 down to `1 / condition`, evenly on a log scale.
pub(crate) fn log_spaced(n: usize, condition: f64) -> Vec<f64> {
    (0..n)
        .map(|i| condition.powf(-(i as f64) / (n - 1) as f64))
        .collect()
}

/// `A⁻¹ B` and `log |det A|` by elimination with partial pivoting.
pub(crate) fn eliminate(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> (Array2<f64>, f64) {
    let n = a.nrows();
    let (mut a, mut x) = (a.to_owned(), b.to_owned());
    let mut log_det = 0.0;
    for k in 0..n {
        let pivot = (k..n)
            .max_by(|&i, &j| a[[i, k]].abs().total_cmp(&a[[j, k]].abs()))
            .expect("not empty");
        for c in 0..n {
            a.swap([k, c], [pivot, c]);
        }
        for c in 0..x.ncols() {
            x.swap([k, c], [pivot, c]);
        }
        log_det += a[[k, k]].abs().ln();
        for i in (0..n).filter(|&i| i != k) {
            let f = a[[i, k]] / a[[k, k]];
            for c in k..n {
                a[[i, c]] -= f * a[[k, c]];
            }
            for c in 0..x.ncols() {
                x[[i, c]] -= f * x[[k, c]];
            }
        }
    }
    for i in 0..n {
        for c in 0..x.ncols() {
            x[[i, c]] /= a[[i, i]];
        }
    }
    (x, log_det)
}

/// `A⁻¹ b` by [`eliminate`].
pub(crate) fn solution(a: &Array2<f64>, b: &Array1<f64>) -> Array1<f64> {
    eliminate(a.view(), column(b)).0.remove_axis(Axis(1))
}

pub(crate) fn norm(v: ArrayView1<'_, f64>) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// Frobenius norm.
pub(crate) fn frobenius(a: ArrayView2<'_, f64>) -> f64 {
    a.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// `‖A − B‖_F ≤ tolerance · max(‖A‖_F, ‖B‖_F)`.
#[track_caller]
pub(crate) fn assert_close(
    a: ArrayView2<'_, f64>,
    b: ArrayView2<'_, f64>,
    tolerance: f64,
    what: &str,
) {
    assert_eq!(a.dim(), b.dim(), "{what}: shapes");
    let gap = frobenius((&a - &b).view());
    let size = frobenius(a).max(frobenius(b));
    assert!(
        gap <= tolerance * size,
        "{what}: relative gap {:e} above {tolerance:e}",
        gap / size
    );
}

/// Rounding of a sum of `n` products.
pub(crate) fn rounding(n: usize) -> f64 {
    8.0 * n as f64 * f64::EPSILON
}
