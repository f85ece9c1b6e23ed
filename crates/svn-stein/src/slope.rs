//! How far a Newton step may go, from what the last one did to the slope of the KL divergence along it.
//!
//! ```text
//! slope    s(ε) = −d/dε KL = Σ_m α_m·v_m        of the map φ ↦ φ + ε Σ_n k(φ_n, φ) α_n
//! after    s₁ = Σ_m α_m·v'_m,  v' the field at the new particles, which the next step needs anyhow
//! secant   ε* = ε s₀ / (s₀ − s₁)                where the quadratic model of the KL has its minimum
//! next     ε ← min(ε_t, max(ε/4, min(ε*, 1.05 ε)))         ε_t the rate, back-off after rejected steps included
//! ```
//!
//! The blocks of the Hessian that are kept do not hold all curvature of the KL divergence: on a normal density with a
//! kernel that sees many neighbours the full step overshoots for every coupling and never settles. One inner product a
//! step tells. The scale falls at once and grows slowly, so that no mode of the repulsion is left at the edge.
//!
//! The slope is that of a map of the kernel on all coordinates: where a step is lifted particle by particle it does not
//! apply, and with Newton steps on some coordinates alone it sees what the others did as well.
//!
//! It needs the same density before and after: with minibatches the noise of the next one would be taken for overshoot.

use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};
use svn_linalg::dense;

/// Smallest fraction of the rate: below it a step does nothing.
const SMALLEST: f64 = 1e-6;
/// Largest growth of the scale in a step.
const GROWTH: f64 = 1.05;

/// The last step as the next one looks back on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Slope {
    /// Length `ε` of the last step; infinite before the first.
    length: f64,
    /// `α` and `s₀` of that step.
    last: Option<(Array2<f64>, f64)>,
}

impl Slope {
    /// Before the first step.
    pub(crate) fn new() -> Self {
        Self {
            length: f64::MAX,
            last: None,
        }
    }

    /// `ε` of a step in `field`, the field at the present particles, that is at most `rate` long.
    pub(crate) fn length(&mut self, field: ArrayView2<'_, f64>, rate: f64) -> f64 {
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
            self.length *= secant.clamp(0.25, GROWTH);
        }
        self.length = self.length.clamp(SMALLEST * rate, rate);
        self.length
    }

    /// A step in `field` with this solution was taken.
    pub(crate) fn keep(&mut self, alpha: &Array2<f64>, field: ArrayView2<'_, f64>) {
        let slope = inner(alpha.view(), field);
        self.last = (slope > 0.0 && slope.is_finite()).then(|| (alpha.clone(), slope));
    }
}

fn inner(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>) -> f64 {
    let rows = a.rows().into_iter().zip(b.rows());
    rows.map(|(a, b)| dense::dot(a, b)).sum()
}
