//! Two classes from one logit `f`, the log odds of class 1.
//!
//! ```text
//! p = 1/(1 + e^(−f))     ℓ = y log(1 + e^(−f)) + (1 − y) log(1 + e^f)     −∂ℓ/∂f = y − p     S Sᵀ = p (1 − p)
//! ```
//!
//! Neither a logarithm of a rounded probability nor a difference from 1 is taken, so that logits of any size are exact
//! to rounding.

use super::LossTerms;
use crate::ModelError;
use tch::{Kind, Tensor};

pub(super) fn loss(outputs: &Tensor, targets: &Tensor) -> Result<LossTerms, ModelError> {
    let logit = outputs.f_select(2, 0)?;
    let one = targets.f_unsqueeze(0)?;
    let zero = one.f_neg()? + 1.0;
    let opposite = logit.f_neg()?;
    let log_likelihood = logit.f_log_sigmoid()?.f_mul(&one)? + opposite.f_log_sigmoid()? * &zero;
    let ascent = opposite.f_sigmoid()?.f_mul(&one)? - logit.f_sigmoid()? * &zero;
    Ok(LossTerms {
        negative_log_likelihood: log_likelihood.f_neg()?.f_sum_dim_intlist(
            [1i64].as_slice(),
            false,
            Kind::Double,
        )?,
        ascent: ascent.f_unsqueeze(2)?,
        mean_squared_residual: None,
    })
}
