//! What the forward pass leaves behind for the backward one, layer by layer.

use tch::{TchError, Tensor};

use super::affine::Input;
use super::pair;
use crate::layer::Pool2d;

type Torch<T> = std::result::Result<T, TchError>;

/// One layer's record. Shapes: `M` is 1 while the particles share the values, then `N`; `b` samples.
#[derive(Debug)]
pub(crate) enum Record {
    /// Input and weight `W` of the affine layer with this index among the affine ones.
    Affine {
        block: usize,
        input: Input,
        weight: Tensor,
    },
    /// The derivative of an elementwise function, `M × b × features`.
    Pointwise { derivative: Tensor },
    /// The factor of a scaling.
    Scale { factor: f64 },
    /// Shape per sample before flattening.
    Flatten { input: Vec<i64> },
    /// Where each window had its maximum, `M × b × C × H' × W'`.
    MaxPool {
        pool: Pool2d,
        indices: Tensor,
        input: Vec<i64>,
    },
    /// Shape per sample before averaging.
    AvgPool { pool: Pool2d, input: Vec<i64> },
}

impl Record {
    /// The same about `count` of `batch` samples.
    pub(crate) fn samples(&self, first: i64, count: i64) -> Torch<Self> {
        Ok(match self {
            Self::Affine {
                block,
                input,
                weight,
            } => Self::Affine {
                block: *block,
                input: Input::new(input.values.f_narrow(1, first, count)?),
                weight: weight.shallow_clone(),
            },
            Self::Pointwise { derivative } => Self::Pointwise {
                derivative: derivative.f_narrow(1, first, count)?,
            },
            Self::Scale { factor } => Self::Scale { factor: *factor },
            Self::Flatten { input } => Self::Flatten {
                input: input.clone(),
            },
            Self::MaxPool {
                pool,
                indices,
                input,
            } => Self::MaxPool {
                pool: pool.clone(),
                indices: indices.f_narrow(1, first, count)?,
                input: input.clone(),
            },
            Self::AvgPool { pool, input } => Self::AvgPool {
                pool: pool.clone(),
                input: input.clone(),
            },
        })
    }

    /// Cotangent before the layer from the one behind it, `N × b × k × features`, for all but affine layers.
    pub(crate) fn pull_back(&self, mut cotangent: Tensor) -> Torch<Tensor> {
        let size = cotangent.size();
        let (n, b, k) = (size[0], size[1], size[2]);
        let with = |shape: &[i64]| [&[n, b, k], shape].concat();
        match self {
            Self::Affine { .. } => Ok(cotangent),
            Self::Pointwise { derivative } => cotangent.f_mul_(&derivative.f_unsqueeze(2)?),
            Self::Scale { factor } => cotangent.f_mul_scalar_(*factor),
            Self::Flatten { input } => cotangent.f_reshape(with(input)),
            Self::MaxPool {
                pool,
                indices,
                input,
            } => {
                let at = indices.size();
                let indices = indices
                    .f_unsqueeze(2)?
                    .f_expand([n, b, k, at[2], at[3], at[4]], false)?
                    .f_flatten(0, 2)?
                    .f_contiguous()?;
                let like = cotangent.f_new_empty([1], (cotangent.kind(), cotangent.device()))?;
                like.f_expand(with(input), false)?
                    .f_flatten(0, 2)?
                    .f_max_pool2d_with_indices_backward(
                        &cotangent.f_flatten(0, 2)?,
                        pair(pool.kernel),
                        pair(pool.stride),
                        pair(pool.padding),
                        [1, 1],
                        false,
                        &indices,
                    )?
                    .f_view(with(input).as_slice())
            }
            Self::AvgPool { pool, input } => {
                let like = cotangent.f_new_empty([1], (cotangent.kind(), cotangent.device()))?;
                like.f_expand(with(input), false)?
                    .f_flatten(0, 2)?
                    .f_avg_pool2d_backward(
                        &cotangent.f_flatten(0, 2)?,
                        pair(pool.kernel),
                        pair(pool.stride),
                        pair(pool.padding),
                        false,
                        true,
                        None,
                    )?
                    .f_view(with(input).as_slice())
            }
        }
    }
}
