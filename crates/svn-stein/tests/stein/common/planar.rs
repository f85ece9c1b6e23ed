//! Two-dimensional targets with exact curvature rows, and their integrals by quadrature on a grid.
#![allow(dead_code, reason = "each test uses a part of it")]

use ndarray::{Array1, Array2, Array3, ArrayView2, ArrayViewMut1, ArrayViewMut2};
use svn_stein::linalg::DenseMatrices;
use svn_stein::target::{Curvature, Curved, Score, TargetError};

/// `log π` and its gradient and a positive semi-definite curvature at one point.
pub(crate) trait Planar {
    fn evaluate(&self, x: f64, y: f64) -> (f64, [f64; 2], [[f64; 2]; 2]);
}

/// A [`Planar`] density as a target.
pub(crate) struct Target<P> {
    pub density: P,
    curvature: Array3<f64>,
}

impl<P: Planar> Target<P> {
    pub(crate) fn new(density: P) -> Self {
        Self {
            density,
            curvature: Array3::zeros((0, 2, 2)),
        }
    }
}

impl<P: Planar> Score for Target<P> {
    fn dim(&self) -> usize {
        2
    }

    fn score_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        mut log_density: ArrayViewMut1<'_, f64>,
        mut score: ArrayViewMut2<'_, f64>,
    ) -> Result<(), TargetError> {
        self.curvature = Array3::zeros((particles.nrows(), 2, 2));
        for (p, at) in particles.rows().into_iter().enumerate() {
            let (value, gradient, h) = self.density.evaluate(at[0], at[1]);
            log_density[p] = value;
            for i in 0..2 {
                score[(p, i)] = gradient[i];
                for j in 0..2 {
                    self.curvature[(p, i, j)] = h[i][j];
                }
            }
        }
        Ok(())
    }
}

impl<P: Planar> Curved for Target<P> {
    fn curvature_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        log_density: ArrayViewMut1<'_, f64>,
        score: ArrayViewMut2<'_, f64>,
    ) -> Result<Curvature<'_>, TargetError> {
        self.score_into(particles, log_density, score)?;
        Ok(Box::new(DenseMatrices::new(self.curvature.view())))
    }
}

/// The double banana of Detommaso et al. (2018): prior `N(0, I)`, one observation `log 30` of
/// `F = log((1 − x)² + 100 (y − x²)²)` with standard deviation 0.3; Gauss-Newton curvature.
pub(crate) struct DoubleBanana;

impl Planar for DoubleBanana {
    fn evaluate(&self, x: f64, y: f64) -> (f64, [f64; 2], [[f64; 2]; 2]) {
        let (a, b) = (1.0 - x, y - x * x);
        let r = a * a + 100.0 * b * b;
        let residual = r.ln() - 30.0_f64.ln();
        let j = [(-2.0 * a - 400.0 * b * x) / r, 200.0 * b / r];
        let w = 1.0 / (0.3 * 0.3);
        let value = -0.5 * (x * x + y * y) - 0.5 * w * residual * residual;
        let gradient = [-x - w * residual * j[0], -y - w * residual * j[1]];
        let mut h = [[1.0, 0.0], [0.0, 1.0]];
        for p in 0..2 {
            for q in 0..2 {
                h[p][q] += w * j[p] * j[q];
            }
        }
        (value, gradient, h)
    }
}

/// `½ N((−2, 0), ½ I) + ½ N((2, 0), ½ I)`; the curvature is that of the components.
pub(crate) struct TwoModes;

impl Planar for TwoModes {
    fn evaluate(&self, x: f64, y: f64) -> (f64, [f64; 2], [[f64; 2]; 2]) {
        let log = |m: f64| -((x - m) * (x - m) + y * y);
        let (a, b) = (log(-2.0), log(2.0));
        let top = a.max(b);
        let (wa, wb) = ((a - top).exp(), (b - top).exp());
        let left = wa / (wa + wb);
        let mean = -2.0 * left + 2.0 * (1.0 - left);
        (
            top + (wa + wb).ln(),
            [-2.0 * (x - mean), -2.0 * y],
            [[2.0, 0.0], [0.0, 2.0]],
        )
    }
}

/// The hybrid Rosenbrock density in two dimensions: `x ~ N(1, 1)`, `y | x ~ N(x², 1)` (Pagani et al. 2022).
///
/// Mean `(1, 2)`, variances 1 and 7, covariance 2.
pub(crate) struct Rosenbrock;

impl Planar for Rosenbrock {
    fn evaluate(&self, x: f64, y: f64) -> (f64, [f64; 2], [[f64; 2]; 2]) {
        let (a, b) = (x - 1.0, y - x * x);
        let value = -0.5 * (a * a + b * b);
        let h = [[1.0 + 4.0 * x * x, -2.0 * x], [-2.0 * x, 1.0]];
        (value, [-a + 2.0 * x * b, -b], h)
    }
}

/// Points of a square grid with the weights of a density on it, normalised; negligible points left out.
pub(crate) struct Quadrature {
    pub points: Array2<f64>,
    pub weights: Array1<f64>,
}

impl Quadrature {
    pub(crate) fn new(density: &impl Planar, x: (f64, f64), y: (f64, f64), cells: usize) -> Self {
        let at = |(low, high): (f64, f64), i: usize| {
            low + (high - low) * (i as f64 + 0.5) / cells as f64
        };
        let mut rows = Vec::new();
        for i in 0..cells {
            for j in 0..cells {
                let (x, y) = (at(x, i), at(y, j));
                rows.push((x, y, density.evaluate(x, y).0));
            }
        }
        let top = rows.iter().fold(f64::NEG_INFINITY, |m, r| m.max(r.2));
        rows.retain(|r| r.2 > top - 14.0);
        let mut weights = Array1::from_iter(rows.iter().map(|r| (r.2 - top).exp()));
        weights /= weights.sum();
        let points =
            Array2::from_shape_fn(
                (rows.len(), 2),
                |(i, c)| if c == 0 { rows[i].0 } else { rows[i].1 },
            );
        Self { points, weights }
    }

    /// MMD between equally weighted particles and the density, RBF kernel `exp(−‖Δ‖²/h)`.
    pub(crate) fn discrepancy(&self, particles: ArrayView2<'_, f64>, h: f64) -> f64 {
        let k = |a: ndarray::ArrayView1<'_, f64>, b: ndarray::ArrayView1<'_, f64>| {
            (-((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)) / h).exp()
        };
        let n = particles.nrows() as f64;
        let (mut own, mut cross, mut rest) = (0.0, 0.0, 0.0);
        for a in particles.rows() {
            for b in particles.rows() {
                own += k(a, b) / (n * n);
            }
            for (b, w) in self.points.rows().into_iter().zip(&self.weights) {
                cross += w * k(a, b) / n;
            }
        }
        for (a, v) in self.points.rows().into_iter().zip(&self.weights) {
            for (b, w) in self.points.rows().into_iter().zip(&self.weights) {
                rest += v * w * k(a, b);
            }
        }
        (own - 2.0 * cross + rest).max(0.0).sqrt()
    }
}
