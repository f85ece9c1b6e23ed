//! How far a Newton step may go, from what the last one did to the slope of the KL divergence along it.
//!
//! ```text
//! slope    s(ε) = −d/dε KL = Σ_m α_m·v_m        of the map φ ↦ φ + ε Σ_n k(φ_n, φ) α_n
//! after    s₁ = Σ_m α_m·v'_m,  v' the field at the new particles, which the next step needs anyhow
//! secant   ε* = ε s₀ / (s₀ − s₁)                where the quadratic model of the KL has its minimum
//! scale    τ ← min(1, max(τ/4, min(ε*/ε_t, 1.05 τ)))       step ε_t τ
//! ```
//!
//! The blocks of the Hessian that are kept do not hold all curvature of the KL divergence: on a normal density with a
//! kernel that sees many neighbours the full step overshoots for every coupling and never settles. One inner product a
//! step tells. The scale falls at once and grows slowly, so that no mode of the repulsion is left at the edge.
//!
//! It needs the same density before and after: with minibatches the noise of the next one would be taken for overshoot.

use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

/// Smallest scale: below it a step does nothing.
const SMALLEST: f64 = 1e-6;
/// Largest growth of the scale in a step.
const GROWTH: f64 = 1.05;

/// The last step as the next one looks back on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Slope {
    /// Fraction `τ` of the rate that is taken.
    scale: f64,
    /// `α` and `s₀`; none before the first step.
    last: Option<(Array2<f64>, f64)>,
}

impl Slope {
    /// Before the first step.
    pub(crate) fn new() -> Self {
        Self {
            scale: 1.0,
            last: None,
        }
    }

    /// `τ` for a step in `field`, the field at the present particles.
    pub(crate) fn scale(&mut self, field: ArrayView2<'_, f64>) -> f64 {
        if let Some((alpha, before)) = self.last.take()
            && alpha.dim() == field.dim()
        {
            let after = inner(alpha.view(), field);
            // No fall of the slope: the step was no step too far.
            let secant = if after < before {
                before / (before - after)
            } else {
                f64::INFINITY
            };
            let factor = secant.clamp(0.25, GROWTH);
            self.scale = (self.scale * factor).clamp(SMALLEST, 1.0);
        }
        self.scale
    }

    /// A step in `field` with this solution was taken.
    pub(crate) fn keep(&mut self, alpha: &Array2<f64>, field: ArrayView2<'_, f64>) {
        let slope = inner(alpha.view(), field);
        self.last = (slope > 0.0 && slope.is_finite()).then(|| (alpha.clone(), slope));
    }
}

fn inner(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> f64 {
    let rows = a.rows().into_iter().zip(b.rows());
    rows.map(|(a, b)| a.dot(&b)).sum()
}
