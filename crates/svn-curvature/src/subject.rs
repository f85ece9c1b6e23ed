//! Whose curvature it is: how many particles, and which layers' parameters.

use std::ops::Range;
use std::sync::Arc;

use crate::block::AffineBlock;
use crate::{CurvatureError, Result};

/// The particles and the affine layers (from `first` on) that a linearisation and what is made of it speak about.
#[derive(Debug, Clone)]
pub struct Subject {
    pub(crate) particles: usize,
    blocks: Arc<[AffineBlock]>,
    first: usize,
}

impl Subject {
    pub(crate) fn new(blocks: Arc<[AffineBlock]>, particles: usize) -> Self {
        Self {
            particles,
            blocks,
            first: 0,
        }
    }

    /// `N`.
    pub fn particles(&self) -> usize {
        self.particles
    }

    /// Number of parameters covered.
    pub fn dim(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.range().end) - self.start()
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
    #[cfg(feature = "torch")]
    pub(crate) fn block(&self, index: usize) -> &AffineBlock {
        &self.blocks[index]
    }

    /// Index in the whole flat vector of the first parameter covered.
    pub(crate) fn start(&self) -> usize {
        self.blocks[self.first].weight.start
    }

    /// Where the parameters of a layer, weight and bias, lie among those covered.
    pub(crate) fn columns(&self, block: &AffineBlock) -> Range<usize> {
        let range = block.range();
        range.start - self.start()..range.end - self.start()
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
