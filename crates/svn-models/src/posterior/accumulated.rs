//! Curvature of recent batches in the form of its family.
//!
//! ```text
//! full               C_p = (n / Σ b) Σ_{last L batches} Σ_i J_iᵀ S_i S_iᵀ J_i      a ring of rows, or of one layer's matrix
//! diag, kfac, ekfac  C_p = moving average over batches
//! H_p = w C_p + δ I
//! ```
//!
//! The noise weight `w` stays outside, so that older batches follow a noise that is still learned.

use ndarray::ArrayView4;
use svn_curvature::{
    BatchSlots, DiagAccumulator, KfacAccumulator, LayerGgn, LayeredRows, Linearized, WrittenRows,
};
use svn_stein::Curvature;

use super::average::{EigenAverage, MovingAverage};
use super::collect::Collect;
use super::effective;
use super::order::RingOrder;
use super::ring::Ring;
use super::saved::SavedCurvature;
use super::{CurvatureFamily, CurvatureSettings};
use crate::ModelError;

/// Rows written out may take this much memory in all.
const LARGEST_ROWS: usize = 8 << 30;

/// So many rows are kept as such even where they are more than the parameters: their Gram matrix is small as well.
const SMALL_ROWS: usize = 512;

/// Parameters of a layer up to which its curvature is kept as a matrix.
const LARGEST_MATRIX: usize = 4096;

/// What stays the same over a posterior's life.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub settings: CurvatureSettings,
    /// Rows of a full batch that the curvature is taken from.
    pub batch: usize,
    /// Training rows `n`.
    pub rows: usize,
    /// Prior precision `δ`.
    pub shift: f64,
}

/// Curvature of recent batches.
#[derive(Debug)]
pub(super) struct Accumulated {
    shape: Shape,
    collector: Box<dyn Collect>,
    /// Batches since the first.
    step: usize,
    /// Whether no batch was added since decompositions were due.
    overdue: bool,
}

impl Accumulated {
    /// Nothing yet, for networks like that of `linear` with `columns` columns in the root.
    pub(super) fn new(
        linear: &dyn Linearized,
        columns: usize,
        shape: Shape,
    ) -> Result<Self, ModelError> {
        let (decay, rows) = (shape.settings.decay(), shape.rows);
        let collector: Box<dyn Collect> = match shape.settings.family {
            CurvatureFamily::Full => Box::new(ring(linear, columns, &shape)?),
            CurvatureFamily::Diag => {
                let sums = DiagAccumulator::new(linear);
                Box::new(MovingAverage::new(sums, decay, rows, true))
            }
            CurvatureFamily::Kfac => {
                let sums = KfacAccumulator::new(linear);
                Box::new(MovingAverage::new(sums, decay, rows, false))
            }
            CurvatureFamily::Ekfac => {
                let sums = KfacAccumulator::new(linear);
                Box::new(EigenAverage::new(sums, decay, rows))
            }
        };
        Ok(Self {
            shape,
            collector,
            step: 0,
            overdue: true,
        })
    }

    /// A new batch begins.
    pub(super) fn next_batch(&mut self) -> Result<(), ModelError> {
        self.overdue &= !self.is_due();
        self.step += 1;
        self.overdue |= self.decomposes();
        if self.is_due() {
            self.collector.advance()?;
        }
        Ok(())
    }

    /// Whether the current batch is one that is added.
    pub(super) fn is_due(&self) -> bool {
        self.step.is_multiple_of(self.shape.settings.every)
    }

    /// Steps since the oldest rows in use were written; for a moving average since the newest batch in use.
    pub(super) fn age(&self) -> usize {
        let every = self.shape.settings.every;
        self.step % every + self.collector.age() * every
    }

    /// Add the current batch, in place of what was added of it before.
    pub(super) fn set_batch(
        &mut self,
        linear: &dyn Linearized,
        root: ArrayView4<'_, f64>,
    ) -> Result<(), ModelError> {
        self.collector.set_batch(linear, root, self.overdue)
    }

    /// The curvature in use under noise weight `w`.
    pub(super) fn curvature(&mut self, weight: f64) -> Result<Curvature<'_>, ModelError> {
        let renew = self.decomposes();
        self.collector.curvature(weight, self.shape.shift, renew)
    }

    /// [`effective::parameters`] of the curvature in use; none where it has no factor.
    pub(super) fn effective_parameters(
        &mut self,
        weight: f64,
        damping: f64,
        seed: u64,
    ) -> Result<Option<f64>, ModelError> {
        let shift = self.shape.shift;
        let curvature = self.collector.curvature(weight, shift, false)?;
        Ok(effective::parameters(&*curvature, shift, damping, seed).ok())
    }

    /// Whether Kronecker factors are decomposed at this step.
    fn decomposes(&self) -> bool {
        let refresh = self.shape.settings.refresh;
        self.step.is_multiple_of(refresh) || (self.step < refresh && self.step.is_power_of_two())
    }

    /// A copy of the state.
    pub(super) fn save(&self) -> Result<SavedCurvature, ModelError> {
        Ok(SavedCurvature {
            step: self.step,
            overdue: self.overdue,
            collector: self.collector.save()?,
        })
    }

    /// Put back what [`Self::save`] gave of the same settings.
    pub(super) fn restore(&mut self, saved: SavedCurvature) -> Result<(), ModelError> {
        self.collector.restore(saved.collector)?;
        (self.step, self.overdue) = (saved.step, saved.overdue);
        Ok(())
    }
}

/// A ring of rows, by layer where the network has that form, else written out; their matrix where it is one layer with
/// fewer parameters than rows.
fn ring(linear: &dyn Linearized, columns: usize, shape: &Shape) -> Result<Ring, ModelError> {
    let slots = shape.settings.ring.max(1);
    let slot_rows = shape.batch * columns;
    let mut kept = rows(linear, slots, slot_rows)?;
    if shape.settings.every > 1 {
        kept.keep_factors();
    }
    Ok(Ring::new(RingOrder::new(slots), kept, shape.rows))
}

fn rows(
    linear: &dyn Linearized,
    slots: usize,
    slot_rows: usize,
) -> Result<Box<dyn BatchSlots>, ModelError> {
    let (count, dim) = (slots.saturating_mul(slot_rows), linear.dim());
    if count > dim.max(SMALL_ROWS)
        && dim <= LARGEST_MATRIX
        && let Some(matrix) = LayerGgn::new(linear, slots)
    {
        return Ok(Box::new(matrix));
    }
    let particles = linear.particles();
    let check = |side: usize, what: &str| {
        let product = particles.saturating_mul(count).saturating_mul(side);
        let bytes = product.saturating_mul(size_of::<f64>());
        if bytes <= LARGEST_ROWS {
            return Ok(());
        }
        Err(ModelError::setting(
            "curvature family",
            format!(
                "full, whose {particles} particles × {count} rows × {side} {what} take {} GiB",
                bytes >> 30
            ),
            &format!(
                "diag, kfac or ekfac, a sampled root, the last layer or fewer accumulated batches: rows of at most {} GiB",
                LARGEST_ROWS >> 30
            ),
        ))
    };
    if LayeredRows::fits(linear) {
        check(count, "products with each other")?;
        if let Some(rows) = LayeredRows::new(linear, slots, slot_rows) {
            return Ok(Box::new(rows));
        }
    }
    check(dim, "parameters")?;
    Ok(Box::new(WrittenRows::new(linear, slots, slot_rows)))
}
