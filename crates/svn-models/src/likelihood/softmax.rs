//! `C` classes from `C` logits.
//!
//! ```text
//! p = softmax f     ℓ = log Σ_c e^(f_c) − f_y     −∂ℓ/∂f = e_y − p     S = diag(√p) − p √pᵀ,  S Sᵀ = diag(p) − p pᵀ
//! ```
//!
//! The logarithm of the sum is taken with the largest logit drawn out.

use super::LossTerms;
use crate::ModelError;
use tch::{Kind, Tensor};

pub(super) fn loss(outputs: &Tensor, targets: &Tensor) -> Result<LossTerms, ModelError> {
    let (n, b, c) = outputs.size3()?;
    let class = targets.f_to_kind(Kind::Int64)?;
    let log_probability = outputs.f_log_softmax(2, None)?;
    let index = class.f_view([1, b, 1])?.f_expand([n, b, 1], false)?;
    let of_class = log_probability.f_gather(2, &index, false)?;
    let one_hot = class.f_one_hot(c)?.f_to_kind(outputs.kind())?;
    Ok(LossTerms {
        negative_log_likelihood: of_class.f_neg()?.f_sum_dim_intlist(
            [1i64, 2].as_slice(),
            false,
            Kind::Double,
        )?,
        ascent: one_hot.f_unsqueeze(0)?.f_sub(&log_probability.f_exp()?)?,
        mean_squared_residual: None,
    })
}
