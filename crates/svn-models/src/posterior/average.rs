//! Exponential moving averages of a curvature over batches, the newest of which can be taken back.
//!
//! ```text
//! A_t = β A_{t−1} + Σ_{i ∈ batch t} J_iᵀ S_i S_iᵀ J_i      m_t = β m_{t−1} + b_t      H = (n / m_t) A_t
//! ```
//!
//! Every row of a batch counts alike, so a shorter last batch counts less; the factor `1/m` leaves no bias towards the
//! start. `β = 1 − 1/L` lets the weights of the batches sum to `L`; with `L = 1` the last batch alone is left.

use crate::ModelError;
use svn_curvature::{Accumulate, Linearization};
use tch::Tensor;

/// `A` and `m` with and without the current batch.
#[derive(Debug)]
pub(super) struct MovingAverage<A> {
    /// Batches before the current one, decayed already.
    past: A,
    with_batch: A,
    decay: f64,
}

impl<A: Accumulate> MovingAverage<A> {
    /// Nothing yet, in `empty`.
    pub fn new(empty: A, decay: f64) -> Result<Self, ModelError> {
        Ok(Self {
            with_batch: empty.try_clone()?,
            past: empty,
            decay,
        })
    }

    /// The current batch belongs to the past from now on.
    pub fn advance(&mut self) -> Result<(), ModelError> {
        self.past = self.with_batch.try_clone()?;
        Ok(self.past.decay(self.decay)?)
    }

    /// The current batch is this one, whatever was given as the current one before.
    pub fn set_batch(&mut self, linear: &Linearization, root: &Tensor) -> Result<(), ModelError> {
        let mut with_batch = self.past.try_clone()?;
        with_batch.accumulate(linear, root)?;
        self.with_batch = with_batch;
        Ok(())
    }

    /// `H` of `rows` rows.
    pub fn finish_for(&self, rows: usize) -> Result<A::Curvature, ModelError> {
        Ok(self.with_batch.try_clone()?.finish_for(rows as f64)?)
    }

    /// The sums, those of the current batch among them: all that the next batch builds on.
    pub fn sums(&self) -> &A {
        &self.with_batch
    }

    /// Copies of the sums.
    pub fn copy(&self) -> Result<A, ModelError> {
        Ok(self.with_batch.try_clone()?)
    }

    /// The same, to be put back from a checkpoint.
    pub fn sums_mut(&mut self) -> &mut A {
        &mut self.with_batch
    }
}
