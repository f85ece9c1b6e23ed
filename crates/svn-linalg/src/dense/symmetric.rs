//! Eigenvalues and eigenvectors of a symmetric matrix: tridiagonal by reflections, diagonal by implicit QL.
//!
//! ```text
//! A = Q T Qᵀ,   Q = H₀ H₁ …,   H_k = I − τ v vᵀ          M ← M − v wᵀ − w vᵀ,  w = τ M v − ½ τ² (vᵀ M v) v
//! T = Z Θ Zᵀ,   rotations of neighbouring rows of (Q Z)ᵀ
//! ```
//!
//! References: Golub and Van Loan, *Matrix Computations*, 4th ed., 8.3; the QL iteration is EISPACK's `tql2` (Bowdler,
//! Martin, Reinsch and Wilkinson, 1968).

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, s};

use super::{dot, mirror, multiply_vector, vectorized};

/// Sweeps for one eigenvalue, of which two are usual.
const SWEEPS: usize = 60;

/// Columns that a sweep of rotations goes through at once, so that two rows of them stay in the first cache.
const TILE: usize = 256;

/// Eigenvalues of a symmetric matrix, ascending, and its eigenvectors as columns; the lower triangle is read.
///
/// `None` if the iteration does not converge, as with NaN.
pub(crate) fn eigen(a: ArrayView2<'_, f64>) -> Option<(Array1<f64>, Array2<f64>)> {
    let n = a.nrows();
    // To unit size, so that squares neither overflow nor underflow.
    let scale = a.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let scale = if scale > 0.0 { scale } else { 1.0 };
    let mut matrix = a.mapv(|x| x / scale).as_standard_layout().into_owned();
    mirror(matrix.view_mut());
    let (mut diagonal, mut beside, reflections) = tridiagonal(matrix);
    let mut rows = transposed(n, &reflections);
    diagonalise(&mut diagonal, &mut beside, rows.view_mut())?;
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| diagonal[i].total_cmp(&diagonal[j]));
    let values = order.iter().map(|&i| scale * diagonal[i]).collect();
    Some((values, rows.select(Axis(0), &order).reversed_axes()))
}

/// `H = I − τ v vᵀ` on the last coordinates, as many as `v` has.
struct Reflection {
    v: Array1<f64>,
    tau: f64,
}

/// Diagonal and subdiagonal (a zero at its end) of `T`, and the reflections.
fn tridiagonal(mut a: Array2<f64>) -> (Vec<f64>, Vec<f64>, Vec<Reflection>) {
    let n = a.nrows();
    let mut beside = vec![0.0; n];
    let mut reflections = Vec::with_capacity(n.saturating_sub(2));
    for k in 0..n.saturating_sub(1) {
        let x = a.slice(s![k, k + 1..]);
        let (reflection, image) = reflection(x);
        beside[k] = image;
        let (v, tau) = (reflection.v.view(), reflection.tau);
        if tau != 0.0 {
            let mut rest = a.slice_mut(s![k + 1.., k + 1..]);
            let mut w = Array1::zeros(v.len());
            multiply_vector(tau, rest.view(), v, 0.0, w.view_mut());
            let along = dot(w.view(), v);
            w.scaled_add(-0.5 * tau * along, &v);
            for (i, row) in rest.rows_mut().into_iter().enumerate() {
                subtract(row, (v[i], w.view()), (w[i], v));
            }
        }
        reflections.push(reflection);
    }
    (a.diag().to_vec(), beside, reflections)
}

/// The reflection that leaves only the first coordinate of `x`, and what that becomes.
fn reflection(x: ArrayView1<'_, f64>) -> (Reflection, f64) {
    let scale = x.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    if x.iter().skip(1).all(|x| *x == 0.0) {
        let v = Array1::zeros(x.len());
        return (Reflection { v, tau: 0.0 }, x[0]);
    }
    let mut v = x.mapv(|x| x / scale);
    let norm = dot(v.view(), v.view()).sqrt();
    let first = v[0];
    let image = -norm.copysign(first);
    v[0] = first - image;
    let tau = (norm * (norm + first.abs())).recip();
    (Reflection { v, tau }, scale * image)
}

/// `row ← row − a x − b y`.
fn subtract(
    mut row: ndarray::ArrayViewMut1<'_, f64>,
    (a, x): (f64, ArrayView1<'_, f64>),
    (b, y): (f64, ArrayView1<'_, f64>),
) {
    if let (Some(row), Some(x), Some(y)) = (row.as_slice_mut(), x.to_slice(), y.to_slice()) {
        vectorized(
            #[inline(always)]
            || {
                for ((row, x), y) in row.iter_mut().zip(x).zip(y) {
                    *row -= a * x + b * y;
                }
            },
        );
    }
}

/// `Qᵀ`.
fn transposed(n: usize, reflections: &[Reflection]) -> Array2<f64> {
    let mut q = Array2::eye(n);
    for Reflection { v, tau } in reflections.iter().rev() {
        let start = n - v.len();
        let mut part = q.slice_mut(s![start.., start..]);
        let mut image = Array1::zeros(v.len());
        multiply_vector(1.0, part.t(), v.view(), 0.0, image.view_mut());
        for (v, row) in v.iter().zip(part.rows_mut()) {
            subtract(row, (tau * v, image.view()), (0.0, image.view()));
        }
    }
    q.reversed_axes().as_standard_layout().into_owned()
}

/// Eigenvalues of `T` in place of its diagonal, the same rotations to the rows.
fn diagonalise(d: &mut [f64], e: &mut [f64], mut rows: ArrayViewMut2<'_, f64>) -> Option<()> {
    let n = d.len();
    let (mut shift, mut size) = (0.0, 0.0_f64);
    let mut rotations = Vec::with_capacity(n);
    for l in 0..n {
        size = size.max(d[l].abs() + e[l].abs());
        let is_small = |e: f64| e.abs() <= f64::EPSILON * size;
        // The last of `e` is zero.
        let m = (l..n).find(|&m| is_small(e[m]))?;
        let mut sweeps = 0;
        while m > l && !is_small(e[l]) {
            sweeps += 1;
            if sweeps > SWEEPS {
                return None;
            }
            let g = d[l];
            let p = (d[l + 1] - g) / (2.0 * e[l]);
            let r = p + p.hypot(1.0).copysign(p);
            d[l] = e[l] / r;
            d[l + 1] = e[l] * r;
            let (next, moved) = (d[l + 1], g - d[l]);
            d[l + 2..].iter_mut().for_each(|d| *d -= moved);
            shift += moved;
            let first = e[l + 1];
            let (mut p, mut c, mut s) = (d[m], 1.0, 0.0);
            let (mut c2, mut c3, mut s2) = (1.0, 1.0, 0.0);
            rotations.clear();
            for i in (l..m).rev() {
                (c3, c2, s2) = (c2, c, s);
                let (g, h) = (c * e[i], c * p);
                let r = p.hypot(e[i]);
                e[i + 1] = s * r;
                (s, c) = (e[i] / r, p / r);
                p = c * d[i] - s * g;
                d[i + 1] = h + s * (c * g + s * d[i]);
                rotations.push((i, c, s));
            }
            p = -s * s2 * c3 * first * e[l] / next;
            e[l] = s * p;
            d[l] = c * p;
            rotate(rows.view_mut(), &rotations);
        }
        d[l] += shift;
        e[l] = 0.0;
    }
    Some(())
}

/// `(row_i, row_{i+1}) ← (c row_i − s row_{i+1}, s row_i + c row_{i+1})`, one after the other.
fn rotate(mut rows: ArrayViewMut2<'_, f64>, rotations: &[(usize, f64, f64)]) {
    for mut tile in rows.axis_chunks_iter_mut(Axis(1), TILE) {
        for &(i, c, s) in rotations {
            let (mut above, mut below) = tile.multi_slice_mut((s![i, ..], s![i + 1, ..]));
            if let (Some(x), Some(y)) = (above.as_slice_mut(), below.as_slice_mut()) {
                vectorized(
                    #[inline(always)]
                    || {
                        for (x, y) in x.iter_mut().zip(y) {
                            (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
                        }
                    },
                );
            }
        }
    }
}
