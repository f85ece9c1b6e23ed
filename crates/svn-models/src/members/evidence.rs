//! The evidence of a prior precision: how probable the training rows are under the prior, whatever the weights.
//!
//! ```text
//! ln p(D) ≈ (1/N) Σ_p [ ln p(D | θ_p) − δ/2 |θ_p|² + d/2 ln δ − ½ ln det H_p ]        H_p = C_p + δ I
//! ```
//!
//! The integral over the weights by Laplace's method at each member, `C_p` being the Fisher information of all rows, and the mean of the logarithms: that of
//! one member out of `N`, not that of their mixture, which would be the best member's alone. Exact for outputs that are linear in the weights, Gaussian noise that is
//! known and a member at the maximum; else an approximation that takes the posterior for a Gaussian around weights that may not have come to a maximum.
//!
//! A common noise variance is the one that suits the residuals, `γ` directions of the weights being fitted to them:
//!
//! ```text
//! σ² = Σ_p Σ_i r_pi² / Σ_p (n − γ_p),   γ_p = tr C_p H_p⁻¹
//! ```
//!
//! References: MacKay, *Bayesian interpolation* (1992); Immer et al., *Scalable marginal likelihood estimation for model selection in deep learning* (2021).

use ndarray::{Array1, s};
use svn_curvature::Sequential;

use super::laplace::{LAPLACE_DIM, check_precision, too_large, whole_fits};
use super::member_curvature::Part;
use super::{Laplace, Members};
use crate::likelihood::Gaussian;
use crate::{Likelihood, ModelError, Rows};

/// Factor to which a noise variance is found.
const NEAR: f64 = 1.01;

/// Refuse, before training, what has no evidence after it: a network of more than 5000 parameters with so many curvature rows that its Laplace approximation is that
/// of the last layer.
///
/// # Errors
/// [`ModelError::Setting`].
pub(crate) fn check_evidence(
    network: &Sequential,
    likelihood: Likelihood,
    rows: usize,
) -> Result<(), ModelError> {
    let (dim, rows) = (network.layout().dim(), rows * likelihood.curvature_rank());
    match whole_fits(dim, rows, LAPLACE_DIM) {
        true => Ok(()),
        false => {
            let expected = format!("at most {LAPLACE_DIM}");
            Err(too_large("the evidence", dim, rows, &expected))
        }
    }
}

impl Laplace {
    /// Laplace approximation of the log evidence of the rows that this curvature is of, under prior precision `δ`: the mean over `members`, nats of all rows, in
    /// the units of the targets given to training.
    ///
    /// # Errors
    /// [`ModelError::Setting`] if `δ` is not positive, or so small that a curvature cannot be factored; [`ModelError::Shape`] for other members or another
    /// width, also where the curvature is that of the last layer alone.
    pub fn log_evidence(
        &self,
        members: &Members,
        prior_precision: f64,
        training: &Rows,
    ) -> Result<f64, ModelError> {
        check_precision(prior_precision)?;
        self.check_whole(members)?;
        let dim = Part::Whole.dim(members);
        let mut sum = members.fitted(training)?.log_likelihood.sum();
        for (member, curvature) in self.curvature().iter().enumerate() {
            let weights = members.particles.row(member);
            let log_det = curvature.factor(member, prior_precision)?.log_det();
            sum += 0.5
                * (dim as f64 * prior_precision.ln()
                    - prior_precision * weights.dot(&weights)
                    - log_det);
        }
        Ok(sum / self.curvature().len().max(1) as f64)
    }
}

/// What members say of the rows that they were trained on, one number a member.
struct Fitted {
    /// Nats of all rows.
    log_likelihood: Array1<f64>,
    /// Sum of squared residuals; of classes 0.
    squares: Array1<f64>,
}

impl Members {
    /// These members, a common noise being that which suits the residuals of training, and their log evidence under prior precision `δ`.
    ///
    /// # Errors
    /// As for [`Members::laplace`] and [`Laplace::log_evidence`].
    pub(crate) fn with_evidence(
        mut self,
        prior_precision: f64,
        training: &Rows,
    ) -> Result<(Self, f64), ModelError> {
        let mut laplace = self.laplace(training.features())?;
        if let Likelihood::Gaussian(noise) = self.likelihood {
            let variance = self.evident_noise(&laplace, noise, prior_precision, training)?;
            self.likelihood = Likelihood::Gaussian(Gaussian::new(variance)?);
            drop(laplace);
            laplace = self.laplace(training.features())?;
        }
        let evidence = laplace.log_evidence(&self, prior_precision, training)?;
        Ok((self, evidence))
    }

    /// The fixed point of `σ² = RSS / (n − γ(σ²))`, to a hundredth. `γ` falls as `σ²` rises, so that it lies between `RSS / n` and what that gives.
    fn evident_noise(
        &self,
        laplace: &Laplace,
        noise: Gaussian,
        prior_precision: f64,
        training: &Rows,
    ) -> Result<f64, ModelError> {
        let rows = training.len() as f64;
        let squares = self.fitted(training)?.squares;
        let squares = squares.mean().unwrap_or_default();
        // The curvature has the noise of before: a weight of σ²_before/σ² is a prior of the inverse.
        let next = |variance: f64| {
            let precision = prior_precision * variance / noise.noise_variance();
            let parameters = laplace.effective_dimension(precision)?;
            Ok::<_, ModelError>(squares / (rows - parameters).max(1e-6 * rows))
        };
        let mut low = (squares / rows).max(Gaussian::FLOOR);
        let mut high = next(low)?.max(low);
        while high > NEAR * low {
            let middle = (low * high).sqrt();
            if next(middle)? > middle {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok((low * high).sqrt())
    }

    fn fitted(&self, training: &Rows) -> Result<Fitted, ModelError> {
        let mut fitted = Fitted {
            log_likelihood: Array1::zeros(self.particles.nrows()),
            squares: Array1::zeros(self.particles.nrows()),
        };
        self.forward(training.features(), |rows, outputs| {
            let count = rows.len() as f64;
            let targets = training.targets();
            let terms = self.likelihood.loss(outputs, targets.slice(s![rows]))?;
            fitted.log_likelihood -= &terms.negative_log_likelihood;
            if let Some(mean) = terms.mean_squared_residual {
                fitted.squares.scaled_add(count, &mean);
            }
            Ok(())
        })?;
        Ok(fitted)
    }
}

#[cfg(test)]
#[path = "evidence_tests.rs"]
mod tests;
