//! Passes over the coordinates of all particles, each of which reads its arrays once, some columns at a time.
//!
//! | pass | reads | makes |
//! |---|---|---|
//! | [`difference_products`] | `X`, `Y` | `(x_p − x_m)·(y_p − y_m)` |
//! | [`Pairs::update`] | `X`, `S` | the same of `X, X` and `X, S`, and `s_p·s_m` |
//! | [`centre`] | `X` | particles from their mean |
//! | [`field`] | `S`, `Y` | `a Σ_p K_pm s_p + b Σ_p g_pm (y_p − y_m)` and the norms of both parts |
//! | [`advance`] | `x`, `Δ` | `x + Δ`, `‖Δ‖²`, `max |x + Δ|` |
//!
//! All are compiled for the vector instructions that the processor has; sums run over lanes in a fixed order.

use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use svn_linalg::dense;

/// Columns taken at a time: those of all particles stay in the first cache.
const COLUMNS: usize = 256;
/// Partial sums of an inner product.
const LANES: usize = 16;

#[inline(always)]
fn total(mut lanes: [f64; LANES]) -> f64 {
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for l in 0..width {
            lanes[l] += lanes[l + width];
        }
    }
    lanes[0]
}

/// `Σ (x − z)(y − w)`.
#[inline(always)]
fn product_of_differences(x: &[f64], z: &[f64], y: &[f64], w: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (xs, zs) = (x.chunks_exact(LANES), z.chunks_exact(LANES));
    let (ys, ws) = (y.chunks_exact(LANES), w.chunks_exact(LANES));
    let rest =
        (xs.remainder().iter().zip(zs.remainder())).zip(ys.remainder().iter().zip(ws.remainder()));
    let mut tail = 0.0;
    for ((x, z), (y, w)) in rest {
        tail += (x - z) * (y - w);
    }
    for ((x, z), (y, w)) in xs.zip(zs).zip(ys.zip(ws)) {
        for l in 0..LANES {
            sums[l] += (x[l] - z[l]) * (y[l] - w[l]);
        }
    }
    total(sums) + tail
}

/// `Σ x y`.
#[inline(always)]
fn product(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (xs, ys) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    let mut tail = 0.0;
    for (x, y) in xs.remainder().iter().zip(ys.remainder()) {
        tail += x * y;
    }
    for (x, y) in xs.zip(ys) {
        for l in 0..LANES {
            sums[l] += x[l] * y[l];
        }
    }
    total(sums) + tail
}

fn slice<'a>(x: &'a ndarray::CowArray<'_, f64, ndarray::Ix2>) -> &'a [f64] {
    x.as_slice().unwrap_or_default()
}

/// `out_pm = (x_p − x_m)·(y_p − y_m)`, symmetric, with zeros on the diagonal.
///
/// # Shapes
/// `x`, `y`: `N × d`, `out`: `N × N`.
pub(crate) fn difference_products(
    x: ArrayView2<'_, f64>,
    y: ArrayView2<'_, f64>,
    out: &mut Array2<f64>,
) {
    let (n, d) = x.dim();
    let (x, y) = (x.as_standard_layout(), y.as_standard_layout());
    let (x, y) = (slice(&x), slice(&y));
    out.fill(0.0);
    dense::vectorized(
        #[inline(always)]
        || {
            let mut start = 0;
            while start < d {
                let end = (start + COLUMNS).min(d);
                for p in 0..n {
                    let at = p * d + start..p * d + end;
                    for m in 0..p {
                        let to = m * d + start..m * d + end;
                        out[(p, m)] += product_of_differences(
                            &x[at.clone()],
                            &x[to.clone()],
                            &y[at.clone()],
                            &y[to],
                        );
                    }
                }
                start = end;
            }
        },
    );
    mirror(out);
}

fn mirror(table: &mut Array2<f64>) {
    for p in 0..table.nrows() {
        for m in 0..p {
            table[(m, p)] = table[(p, m)];
        }
    }
}

/// Inner products of particles and scores, `N × N`: all that diagnostics and the kernel with the identity metric need.
#[derive(Debug, Clone)]
pub(crate) struct Pairs {
    /// `‖x_p − x_m‖²`.
    pub squares: Array2<f64>,
    /// `(x_p − x_m)·(s_p − s_m)`.
    pub drifts: Array2<f64>,
    /// `s_p·s_m`.
    pub scores: Array2<f64>,
}

impl Pairs {
    pub(crate) fn new(n: usize) -> Self {
        let zeros = || Array2::zeros((n, n));
        Self {
            squares: zeros(),
            drifts: zeros(),
            scores: zeros(),
        }
    }

    /// Of particles `x` and scores `s`, `N × d`.
    pub(crate) fn update(&mut self, x: ArrayView2<'_, f64>, s: ArrayView2<'_, f64>) {
        let (n, d) = x.dim();
        let (x, s) = (x.as_standard_layout(), s.as_standard_layout());
        let (x, s) = (slice(&x), slice(&s));
        for table in [&mut self.squares, &mut self.drifts, &mut self.scores] {
            table.fill(0.0);
        }
        let Self {
            squares,
            drifts,
            scores,
        } = self;
        dense::vectorized(
            #[inline(always)]
            || {
                let mut start = 0;
                while start < d {
                    let end = (start + COLUMNS).min(d);
                    for p in 0..n {
                        let at = p * d + start..p * d + end;
                        let (x_p, s_p) = (&x[at.clone()], &s[at]);
                        for m in 0..p {
                            let at = m * d + start..m * d + end;
                            let (x_m, s_m) = (&x[at.clone()], &s[at]);
                            squares[(p, m)] += product_of_differences(x_p, x_m, x_p, x_m);
                            drifts[(p, m)] += product_of_differences(x_p, x_m, s_p, s_m);
                            scores[(p, m)] += product(s_p, s_m);
                        }
                        scores[(p, p)] += product(s_p, s_p);
                    }
                    start = end;
                }
            },
        );
        for table in [squares, drifts, scores] {
            mirror(table);
        }
    }
}

/// `out_p = (x_p − x_0) − mean of these`: identical particles end up at exactly zero.
///
/// # Shapes
/// `N × d`; `out` in standard layout.
pub(crate) fn centre(x: ArrayView2<'_, f64>, out: &mut Array2<f64>) {
    let (n, d) = x.dim();
    let x = x.as_standard_layout();
    let (x, Some(out)) = (slice(&x), out.as_slice_mut()) else {
        return;
    };
    let inverse = 1.0 / n as f64;
    dense::vectorized(
        #[inline(always)]
        || {
            let mut mean = [0.0; COLUMNS];
            let mut start = 0;
            while start < d {
                let end = (start + COLUMNS).min(d);
                let mean = &mut mean[..end - start];
                mean.fill(0.0);
                let first = &x[start..end];
                for p in 0..n {
                    let at = p * d + start..p * d + end;
                    for ((m, x), first) in mean.iter_mut().zip(&x[at]).zip(first) {
                        *m += x - first;
                    }
                }
                for p in 0..n {
                    let at = p * d + start..p * d + end;
                    let terms = x[at.clone()].iter().zip(first).zip(mean.iter());
                    for (o, ((x, first), m)) in out[at].iter_mut().zip(terms) {
                        *o = (x - first) - m * inverse;
                    }
                }
                start = end;
            }
        },
    );
}

/// Scales of the parts of [`field`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scales {
    pub drive: f64,
    pub repulsion: f64,
}

/// `out_m = a Σ_p K_pm s_p + b Σ_p g_pm (y_p − y_m)`; gives the sums of squares of the two parts.
///
/// Differences are taken pair by pair, so that close particles far from all others lose nothing.
///
/// # Shapes
/// `kernel`, `slope`: `N × N`, symmetric; `score`, `y`, `out`: `N × d`.
pub(crate) fn field(
    (kernel, slope): (ArrayView2<'_, f64>, ArrayView2<'_, f64>),
    (score, y): (ArrayView2<'_, f64>, ArrayView2<'_, f64>),
    scales: Scales,
    mut out: ArrayViewMut2<'_, f64>,
) -> (f64, f64) {
    if !out.is_standard_layout() {
        let mut copy = out.as_standard_layout().into_owned();
        let squares = field((kernel, slope), (score, y), scales, copy.view_mut());
        out.assign(&copy);
        return squares;
    }
    let (n, d) = out.dim();
    let (score, y) = (score.as_standard_layout(), y.as_standard_layout());
    let (score, y, Some(out)) = (slice(&score), slice(&y), out.as_slice_mut()) else {
        return (0.0, 0.0);
    };
    let (mut drives, mut repulsions) = (0.0, 0.0);
    dense::vectorized(
        #[inline(always)]
        || {
            let mut drive = [0.0; COLUMNS];
            let mut start = 0;
            while start < d {
                let end = (start + COLUMNS).min(d);
                for p in 0..n {
                    out[p * d + start..p * d + end].fill(0.0);
                }
                for p in 0..n {
                    let (before, from) = out.split_at_mut(p * d);
                    let own = &mut from[start..end];
                    let y_p = &y[p * d + start..p * d + end];
                    for m in 0..p {
                        let g = scales.repulsion * slope[(p, m)];
                        if g == 0.0 {
                            continue;
                        }
                        let at = m * d + start..m * d + end;
                        let pairs = own.iter_mut().zip(&mut before[at.clone()]);
                        for ((o, other), (y_p, y_m)) in pairs.zip(y_p.iter().zip(&y[at])) {
                            let pull = g * (y_p - y_m);
                            *other += pull;
                            *o -= pull;
                        }
                    }
                }
                for m in 0..n {
                    let own = &mut out[m * d + start..m * d + end];
                    repulsions += product(own, own);
                    let drive = &mut drive[..end - start];
                    drive.fill(0.0);
                    for p in 0..n {
                        let k = scales.drive * kernel[(p, m)];
                        if k == 0.0 {
                            continue;
                        }
                        let s_p = &score[p * d + start..p * d + end];
                        for (o, s) in drive.iter_mut().zip(s_p) {
                            *o += k * s;
                        }
                    }
                    drives += product(drive, drive);
                    for (o, v) in own.iter_mut().zip(drive.iter()) {
                        *o += v;
                    }
                }
                start = end;
            }
        },
    );
    (drives, repulsions)
}

/// `anchor ← x`, `x ← x + Δ`; gives `‖Δ‖²` and the largest absolute coordinate of the new `x`.
pub(crate) fn advance(x: &mut [f64], anchor: &mut [f64], change: &[f64]) -> (f64, f64) {
    dense::vectorized(
        #[inline(always)]
        || {
            let mut largest = [0.0_f64; LANES];
            let mut squares = [0.0_f64; LANES];
            let mut xs = x.chunks_exact_mut(LANES);
            let mut anchors = anchor.chunks_exact_mut(LANES);
            let mut changes = change.chunks_exact(LANES);
            for ((x, anchor), change) in (&mut xs).zip(&mut anchors).zip(&mut changes) {
                for l in 0..LANES {
                    anchor[l] = x[l];
                    x[l] += change[l];
                    squares[l] += change[l] * change[l];
                    let size = x[l].abs();
                    largest[l] = if size > largest[l] { size } else { largest[l] };
                }
            }
            let rest = xs.into_remainder().iter_mut();
            let rest = rest.zip(anchors.into_remainder()).zip(changes.remainder());
            for (l, ((x, anchor), change)) in rest.enumerate() {
                *anchor = *x;
                *x += change;
                squares[l] += change * change;
                largest[l] = largest[l].max(x.abs());
            }
            (
                total(squares),
                largest.iter().fold(0.0, |a, &b| f64::max(a, b)),
            )
        },
    )
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, Axis};

    use super::{Pairs, Scales, advance, centre, difference_products, field};
    use crate::noise::Normals;

    fn normals(stream: usize, shape: (usize, usize)) -> Array2<f64> {
        let mut normals = Normals::new(3, 0, stream);
        Array2::from_shape_simple_fn(shape, || normals.draw())
    }

    fn assert_close(found: &Array2<f64>, expected: &Array2<f64>) {
        let size = expected.iter().fold(1.0, |m, x| f64::max(m, x.abs()));
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 1e-13 * size, "{a} and {b}");
        }
    }

    /// Fewer columns than lanes, whole blocks, and all kinds of remainders.
    const SHAPES: [(usize, usize); 6] = [(1, 1), (2, 7), (3, 16), (5, 256), (4, 300), (7, 541)];

    #[test]
    fn tables_are_double_loops() {
        for shape in SHAPES {
            let (x, s) = (normals(1, shape), normals(2, shape));
            let table = |f: &dyn Fn(usize, usize) -> f64| {
                Array2::from_shape_fn((shape.0, shape.0), |(p, m)| f(p, m))
            };
            let difference = |a: &Array2<f64>, p: usize, m: usize| &a.row(p) - &a.row(m);
            let squares = table(&|p, m| difference(&x, p, m).mapv(|v| v * v).sum());
            let drifts = table(&|p, m| (difference(&x, p, m) * difference(&s, p, m)).sum());
            let scores = table(&|p, m| (&s.row(p) * &s.row(m)).sum());
            let mut pairs = Pairs::new(shape.0);
            pairs.update(x.view(), s.view());
            assert_close(&pairs.squares, &squares);
            assert_close(&pairs.drifts, &drifts);
            assert_close(&pairs.scores, &scores);
            let mut products = Array2::zeros((shape.0, shape.0));
            // Any layout.
            let transposed = s.t().as_standard_layout().into_owned();
            difference_products(x.view(), transposed.t(), &mut products);
            assert_close(&products, &drifts);
        }
    }

    #[test]
    fn field_and_centre_are_their_sums() {
        for shape @ (n, _) in SHAPES {
            let (s, y) = (normals(1, shape), normals(2, shape));
            let k = normals(3, (n, n));
            let (k, g) = (&k + &k.t(), &k * &k.t());
            let scales = Scales {
                drive: 0.3,
                repulsion: -0.7,
            };
            let (mut drive, mut repulsion) = (Array2::zeros(shape), Array2::zeros(shape));
            for m in 0..n {
                for p in 0..n {
                    drive.row_mut(m).scaled_add(0.3 * k[(p, m)], &s.row(p));
                    let difference = &y.row(p) - &y.row(m);
                    repulsion
                        .row_mut(m)
                        .scaled_add(-0.7 * g[(p, m)], &difference);
                }
            }
            let mut out = Array2::from_elem(shape, f64::NAN);
            let kernels = (k.view(), g.view());
            let (a, b) = field(kernels, (s.view(), y.view()), scales, out.view_mut());
            assert_close(&out, &(&drive + &repulsion));
            for (found, part) in [(a, &drive), (b, &repulsion)] {
                let square: f64 = part.iter().map(|v| v * v).sum();
                assert!((found - square).abs() <= 1e-12 * square, "{found} {square}");
            }
            let mut centred = Array2::zeros(shape);
            centre(y.view(), &mut centred);
            let mean = y.mean_axis(Axis(0)).expect("some particles");
            assert_close(&centred, &(&y - &mean));
        }
    }

    #[test]
    fn advancing_adds_and_measures() {
        for d in [1, 15, 16, 100, 541] {
            let (x, change) = (normals(1, (1, d)), normals(2, (1, d)));
            let (mut to, mut anchor) = (x.clone(), Array2::zeros((1, d)));
            let (square, largest) = advance(
                to.as_slice_mut().expect("standard layout"),
                anchor.as_slice_mut().expect("standard layout"),
                change.as_slice().expect("standard layout"),
            );
            assert_eq!(to, &x + &change);
            assert_eq!(anchor, x);
            assert_eq!(largest, to.iter().fold(0.0, |m, v| f64::max(m, v.abs())));
            let expected: f64 = change.iter().map(|v| v * v).sum();
            assert!((square - expected).abs() < 1e-13 * expected);
        }
    }
}
