//! Whose curvature it is: how many particles, and which layers' parameters.

use std::sync::Arc;

use tch::{Device, Kind, Tensor};

use crate::affine::AffineBlock;
use crate::{CurvatureError, Result};

/// The particles and the affine layers (from `first` on) that a linearisation and what is made of it speak about.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    pub particles: usize,
    pub kind: Kind,
    pub device: Device,
    blocks: Arc<[AffineBlock]>,
    first: usize,
}

impl Subject {
    pub(crate) fn new(blocks: Arc<[AffineBlock]>, outputs: &Tensor) -> Self {
        let particles = outputs.size()[0] as usize;
        Self {
            particles,
            kind: outputs.kind(),
            device: outputs.device(),
            blocks,
            first: 0,
        }
    }

    /// The last affine layer only.
    pub(crate) fn last_layer(self) -> Self {
        Self {
            first: self.blocks.len() - 1,
            ..self
        }
    }

    /// Index of the first affine layer covered.
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    /// The affine layers covered.
    pub(crate) fn blocks(&self) -> &[AffineBlock] {
        &self.blocks[self.first..]
    }

    /// The affine layer with this index among all affine ones.
    pub(crate) fn block(&self, index: usize) -> &AffineBlock {
        &self.blocks[index]
    }

    /// Index in the whole flat vector of the first parameter covered.
    pub(crate) fn start(&self) -> usize {
        self.blocks[self.first].weight.start
    }

    /// Number of parameters covered.
    pub(crate) fn dim(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.range().end) - self.start()
    }

    /// Refuses to mix two subjects.
    pub(crate) fn check_same(&self, what: &'static str, other: &Self) -> Result<()> {
        if self.particles == other.particles && self.blocks() == other.blocks() {
            return Ok(());
        }
        let words = |subject: &Self| {
            format!(
                "{} particles × {} parameters in {} layers",
                subject.particles,
                subject.dim(),
                subject.blocks().len()
            )
        };
        Err(CurvatureError::Subject {
            what,
            expected: words(self),
            found: words(other),
        })
    }
}

/// Names the particle of the first NaN or infinity in one layer's numbers (`N × …`).
pub(crate) fn check_layer_finite(
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
pub(crate) fn all_finite(tensor: &Tensor) -> Result<bool> {
    Ok(tensor.f_sum(None)?.f_double_value(&[])?.is_finite())
}

/// Index along the first dimension of the first slice with a NaN or an infinity.
pub(crate) fn first_non_finite(tensor: &Tensor) -> Result<Option<usize>> {
    let finite = tensor.f_isfinite()?.f_flatten(1, -1)?.f_all_dim(1, false)?;
    for index in 0..finite.size()[0] {
        if finite.f_int64_value(&[index])? == 0 {
            return Ok(Some(index as usize));
        }
    }
    Ok(None)
}
