//! Whether tensors are finite.

use tch::Tensor;

use crate::block::AffineBlock;
use crate::{CurvatureError, Result};

/// Names the particle of the first NaN or infinity in one layer's numbers (`N × …`).
pub(super) fn check_layer_finite(
    quantity: &'static str,
    block: &AffineBlock,
    values: &Tensor,
) -> Result<()> {
    if all_finite(values)? {
        return Ok(());
    }
    match first_non_finite(values)? {
        Some(particle) => Err(CurvatureError::NonFinite {
            quantity,
            particle,
            layer: block.label.clone(),
        }),
        None => Ok(()),
    }
}

/// Quick test: a sum is finite only if no term is NaN or infinite (it may overflow, which [`first_non_finite`] settles).
pub(super) fn all_finite(tensor: &Tensor) -> Result<bool> {
    Ok(tensor.f_sum(None)?.f_double_value(&[])?.is_finite())
}

/// Index along the first dimension of the first slice with a NaN or an infinity.
pub(super) fn first_non_finite(tensor: &Tensor) -> Result<Option<usize>> {
    let finite = tensor.f_isfinite()?.f_flatten(1, -1)?.f_all_dim(1, false)?;
    for index in 0..finite.size()[0] {
        if finite.f_int64_value(&[index])? == 0 {
            return Ok(Some(index as usize));
        }
    }
    Ok(None)
}
