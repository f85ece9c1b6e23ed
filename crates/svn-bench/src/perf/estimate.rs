//! Flops and bytes that a step needs at least, for the roofline.
//!
//! ```text
//! network   6 N b W            forward and backward pass, W multiplications a row
//! metric    4 N² R d           Σ_p J_pᵀ(J_p x), all particles x; not where the kernel needs none
//! Gram      2 N (bc) R g       the new rows against those of their particle
//! Cholesky  N R³/3
//! lift      4 N R d            products with the rows around the small solve
//! Diag      4 N b c W          a backward pass for each column of the root
//! bytes     8 (2 N R g + 24 N d)   rows read twice, some passes over N × d arrays
//! ```
//!
//! `R = L b c` rows a particle; `g = Σ (inputs + 1 + outputs)` of the layers, the length of a row kept as inputs and
//! cotangents. Joint coupling is taken as block-diagonal solves: with a well-conditioned `K` a correction or two suffice.
//! For KFAC, and last layers, only the network counts.

use serde::{Deserialize, Serialize};
use svn_models::posterior::{CurvatureFamily, CurvatureRoot};

use super::case::Case;
use super::roofline::Roofline;

/// Work of one step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Floating-point operations in millions.
    pub mflop: f64,
    /// Memory traffic in megabytes.
    pub mbyte: f64,
    /// `max(flops / rate, bytes / bandwidth)` with the measured rates, in milliseconds.
    pub bound_ms: Option<f64>,
}

impl Estimate {
    /// The work of a case, without a bound.
    pub fn of(case: &Case) -> Self {
        let problem = &case.problem;
        let (n, b) = (problem.particles as f64, problem.batch as f64);
        let (c, d) = (problem.outputs() as f64, problem.dim() as f64);
        let weights = problem.products() as f64;
        let mut flops = 6.0 * n * b * weights;
        let mut bytes = 8.0 * 24.0 * n * d;
        match case.newton {
            Some(newton) if newton.curvature.family == CurvatureFamily::Full => {
                let rows = case.ring() as f64 * b * c;
                let kept = problem.kept() as f64;
                bytes += 16.0 * n * rows * kept;
                flops += 4.0 * n * n * rows * d;
                flops += 2.0 * n * b * c * rows * kept;
                flops += n * rows.powi(3) / 3.0;
                flops += 4.0 * n * rows * d;
            }
            Some(newton) if newton.curvature.family == CurvatureFamily::Diag => {
                let columns = match newton.curvature.root {
                    CurvatureRoot::Sampled(samples) => samples as f64,
                    _ => c,
                };
                flops += 4.0 * n * b * columns * weights / newton.curvature.every as f64;
            }
            _ => {}
        }
        Self {
            mflop: flops * 1e-6,
            mbyte: bytes * 1e-6,
            bound_ms: None,
        }
    }

    /// With the bound that measured rates give.
    pub(super) fn bounded(self, roofline: &Roofline) -> Self {
        let compute = self.mflop * 1e-3 / roofline.best_gflops();
        let memory = self.mbyte * 1e-3 / roofline.bandwidth_gb;
        let bound = 1e3 * compute.max(memory);
        Self {
            bound_ms: bound.is_finite().then_some(bound),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::case::{Interaction, Shape};
    use super::*;
    use approx::assert_relative_eq;
    use svn_models::stein::Coupling;

    #[test]
    fn an_ensemble_step_is_three_products_a_layer() {
        let case = Case::ensemble("yacht", Shape::Yacht.problem());
        // 6·50 + 50·50 + 50 weights, 5 particles, 16 rows.
        let expected = 6.0 * 5.0 * 16.0 * 2850.0 * 1e-6;
        assert_relative_eq!(Estimate::of(&case).mflop, expected, max_relative = 1e-12);
    }

    #[test]
    fn rows_of_a_ring_cost_what_the_formula_says() {
        let svn = |ring| {
            let problem = Shape::Yacht.problem();
            let kernel = Interaction::Curvature;
            Estimate::of(&Case::svn("yacht", problem, Coupling::Gram, ring, kernel))
        };
        let (batch, ring) = (svn(1), svn(8));
        // 16 and 128 rows of 57 + 101 + 52 numbers, and of 2951 written out.
        let (d, kept) = (2951.0, 57.0 + 101.0 + 52.0);
        let cost = |rows: f64| {
            5.0 * (2.0 * 16.0 * rows * kept + rows.powi(3) / 3.0 + (4.0 + 20.0) * rows * d) * 1e-6
        };
        let difference = ring.mflop - batch.mflop;
        assert_relative_eq!(difference, cost(128.0) - cost(16.0), max_relative = 1e-10);
        let traffic = 16.0 * 5.0 * 112.0 * kept * 1e-6;
        assert_relative_eq!(ring.mbyte - batch.mbyte, traffic, max_relative = 1e-10);
    }
}
