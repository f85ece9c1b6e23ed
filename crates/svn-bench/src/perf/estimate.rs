//! Flops and bytes that a step needs at least, for the roofline.
//!
//! ```text
//! network   6 N b W                   forward and backward pass, W weights without biases
//! rows      N b c d                   outer products of inputs and cotangents
//! metric    4 N² R d                  Σ_p J_pᵀ(J_p x), all particles x
//! Gram      2 N (bc) R d              block-diagonal: the new rows against those of their particle
//!           2 N (bc) (N R) d          joint: against all rows
//! Cholesky  N R³/3, (N R)³/3
//! lift      4 N R d, 4 N² R d         products with the rows around the small solve
//! bytes     8 (2 N R d + 24 N d)      rows read twice, some passes over N × d arrays
//! ```
//!
//! `R = L b c` rows a particle, written out. Rows kept by layer need fewer flops.

use serde::{Deserialize, Serialize};
use svn_models::stein::Coupling;

use super::case::{Case, Interaction};
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
        let weights: f64 = problem.layers().map(|(i, o)| (i * o) as f64).sum();
        let mut flops = 6.0 * n * b * weights;
        let mut bytes = 8.0 * 24.0 * n * d;
        if let Some(coupling) = case.coupling {
            let rows = case.ring as f64 * b * c;
            bytes += 16.0 * n * rows * d;
            flops += n * b * c * d + 4.0 * n * n * rows * d;
            let block = coupling == Coupling::BlockDiagonal || case.kernel == Interaction::Inactive;
            let partners = if block { 1.0 } else { n };
            flops += 2.0 * n * b * c * (partners * rows) * d;
            flops += n / partners * (partners * rows).powi(3) / 3.0;
            flops += 4.0 * n * partners * rows * d;
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
    use super::super::case::Shape;
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn an_ensemble_step_is_three_products_a_layer() {
        let case = Case::ensemble("yacht", Shape::Yacht.problem());
        // 6·50 + 50·50 + 50 weights, 5 particles, 16 rows.
        let expected = 6.0 * 5.0 * 16.0 * 2850.0 * 1e-6;
        assert_relative_eq!(Estimate::of(&case).mflop, expected, max_relative = 1e-12);
    }

    #[test]
    fn joint_coupling_costs_more_than_blocks() {
        let svn = |coupling| {
            let problem = Shape::Yacht.problem();
            Case::svn("yacht", problem, coupling, 8, Interaction::Curvature)
        };
        let (block, joint) = (svn(Coupling::BlockDiagonal), svn(Coupling::Gram));
        assert!(Estimate::of(&joint).mflop > 2.0 * Estimate::of(&block).mflop);
        assert_eq!(Estimate::of(&joint).mbyte, Estimate::of(&block).mbyte);
    }
}
