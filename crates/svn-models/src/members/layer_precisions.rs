//! The prior precision of each layer by the evidence.
//!
//! With a precision `δ_l` of its own for each layer, the [evidence](super::evidence) of members at the maximum is stationary where
//!
//! ```text
//! δ_l = Σ_p γ_pl / Σ_p |θ_pl|²,   γ_pl = d_l − δ_l tr (H_p⁻¹)_ll
//! ```
//!
//! `θ_pl` being the `d_l` weights and biases of layer `l` and `γ_pl` how many directions of them the rows determine: the sum of squares of those is what a
//! normal distribution of variance `1/δ_l` has of as many numbers. Used as an update it changes the members, which are to be trained anew.
//!
//! Reference: MacKay, *Bayesian interpolation* (1992), *A practical Bayesian framework for backpropagation networks* (1992; a precision for each class of weights).

use ndarray::s;
use svn_linalg::dense;

use super::laplace::check_precision;
use super::{Laplace, Members};
use crate::ModelError;
use crate::network::affine_layers;

/// What the members say of a layer.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct LayerUse {
    /// `Σ_p γ_pl`.
    determined: f64,
    /// `Σ_p |θ_pl|²`.
    squares: f64,
}

impl Laplace {
    /// For each affine layer, first layer first, the prior precision of its weights under which the evidence would be stationary if members and curvature stayed
    /// as they are; all have `δ` now.
    ///
    /// # Errors
    /// As for [`log_evidence`](Self::log_evidence).
    pub fn layer_precisions(
        &self,
        members: &Members,
        prior_precision: f64,
    ) -> Result<Vec<f64>, ModelError> {
        let layers = self.layer_uses(members, prior_precision)?;
        let precision = |layer: &LayerUse| {
            layer.determined.max(f64::MIN_POSITIVE) / layer.squares.max(f64::MIN_POSITIVE)
        };
        Ok(layers.iter().map(precision).collect())
    }

    fn layer_uses(
        &self,
        members: &Members,
        prior_precision: f64,
    ) -> Result<Vec<LayerUse>, ModelError> {
        check_precision(prior_precision)?;
        self.check_whole(members)?;
        let layers = affine_layers(&members.network);
        let mut uses = vec![LayerUse::default(); layers.len()];
        for (member, curvature) in self.curvature().iter().enumerate() {
            let determined = curvature.determined(member, prior_precision, &layers)?;
            let weights = members.particles.row(member);
            for ((layer, determined), layer_use) in layers.iter().zip(determined).zip(&mut uses) {
                let weights = weights.slice(s![layer.clone()]);
                layer_use.determined += determined;
                layer_use.squares += dense::dot(weights, weights);
            }
        }
        Ok(uses)
    }
}

#[cfg(test)]
#[path = "layer_precisions_tests.rs"]
mod tests;
