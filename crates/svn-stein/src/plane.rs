//! Densities of the plane, where particles can be seen and integrals are known: for figures, examples and tests of methods.
//!
//! ```
//! use svn_stein::plane::{DoubleBanana, Planar, Quadrature, Target};
//! use svn_stein::{Method, Newton, Sampler, Stop, run};
//!
//! let mut sampler = Sampler::new(Method::Svn(Newton::default()))?;
//! let start = ndarray::Array2::from_shape_fn((10, 2), |(p, i)| ((2 * p + i) as f64).sin());
//! let mut state = sampler.init(start, 0)?;
//! run(&mut sampler, &mut state, &mut Target::new(DoubleBanana), Stop::after(20), &mut [])?;
//!
//! let truth = Quadrature::new(&DoubleBanana, (-2.5, 2.5), (-2.0, 3.0), 100);
//! let mean = state.particles().mean_axis(ndarray::Axis(0)).unwrap();
//! assert!((mean[1] - truth.mean()[1]).abs() < 1.0);
//! # Ok::<(), svn_stein::SteinError>(())
//! ```

use ndarray::{Array1, Array2, Array3, ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2, Axis};
use svn_linalg::DenseMatrices;

use crate::target::{Curvature, Curved, Score, TargetError};

/// A density of the plane.
pub trait Planar {
    /// `log π` up to a constant, its gradient, and a positive semi-definite curvature at one point.
    fn evaluate(&self, x: f64, y: f64) -> (f64, [f64; 2], [[f64; 2]; 2]);
}

/// A [`Planar`] density as a target.
#[derive(Debug, Clone)]
pub struct Target<P> {
    density: P,
    curvature: Array3<f64>,
}

impl<P: Planar> Target<P> {
    /// Of a density.
    pub fn new(density: P) -> Self {
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DoubleBanana;

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

/// Points of a square grid with the weights of a density on it, normalised; negligible points left out.
#[derive(Debug, Clone)]
pub struct Quadrature {
    points: Array2<f64>,
    weights: Array1<f64>,
}

impl Quadrature {
    /// Midpoints of `cells × cells` cells of a rectangle that holds all but a negligible part of the density.
    pub fn new(density: &impl Planar, x: (f64, f64), y: (f64, f64), cells: usize) -> Self {
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

    /// Where the density is weighed, `n × 2`.
    pub fn points(&self) -> ArrayView2<'_, f64> {
        self.points.view()
    }

    /// The weights of the [points](Self::points), of sum one.
    pub fn weights(&self) -> ArrayView1<'_, f64> {
        self.weights.view()
    }

    /// Mean of the density.
    pub fn mean(&self) -> Array1<f64> {
        self.weights.dot(&self.points)
    }

    /// Covariance of the density, `2 × 2`.
    pub fn covariance(&self) -> Array2<f64> {
        let centred = &self.points - &self.mean();
        centred
            .t()
            .dot(&(&centred * &self.weights.view().insert_axis(Axis(1))))
    }

    /// MMD between equally weighted particles and the density, RBF kernel `exp(−‖Δ‖²/h)`.
    pub fn discrepancy(&self, particles: ArrayView2<'_, f64>, h: f64) -> f64 {
        let k = |a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>| {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// `N((1, −2), Σ)` with `Σ⁻¹ = ((2, −1), (−1, 1))`, so that `Σ = ((1, 1), (1, 2))`.
    struct Normal;

    impl Planar for Normal {
        fn evaluate(&self, x: f64, y: f64) -> (f64, [f64; 2], [[f64; 2]; 2]) {
            let (a, b) = (x - 1.0, y + 2.0);
            let gradient = [-2.0 * a + b, a - b];
            let value = 0.5 * (a * gradient[0] + b * gradient[1]);
            (value, gradient, [[2.0, -1.0], [-1.0, 1.0]])
        }
    }

    /// The midpoint rule is exact to rounding for a normal density; what is left out is less than `e⁻¹⁴` of the top.
    #[test]
    fn moments_of_a_normal_density_are_its_own() {
        let found = Quadrature::new(&Normal, (-7.0, 9.0), (-13.0, 9.0), 160);
        let (mean, covariance) = (found.mean(), found.covariance());
        for (found, expected) in mean
            .iter()
            .chain(&covariance)
            .zip([1.0, -2.0, 1.0, 1.0, 1.0, 2.0])
        {
            assert!((found - expected).abs() < 1e-4, "{found} {expected}");
        }
    }

    #[test]
    fn the_gradient_of_the_banana_is_that_of_its_value() {
        const STEP: f64 = 1e-6;
        let value = |x, y| DoubleBanana.evaluate(x, y).0;
        for (x, y) in [(0.3, -0.4), (-1.2, 1.1), (0.0, 0.6)] {
            let (_, gradient, _) = DoubleBanana.evaluate(x, y);
            let slopes = [
                (value(x + STEP, y) - value(x - STEP, y)) / (2.0 * STEP),
                (value(x, y + STEP) - value(x, y - STEP)) / (2.0 * STEP),
            ];
            for (found, expected) in slopes.iter().zip(gradient) {
                assert!((found - expected).abs() < 1e-6 * (1.0 + expected.abs()));
            }
        }
    }
}
