//! A ring of recent batches, each in a slot of its own.
//!
//! One batch of 16 rows says too little of the curvature in thousands of directions; the rows of the last `L` batches,
//! kept although the particles have moved a little since, say enough. Every row counts alike, however the batches were cut:
//!
//! ```text
//! C_p ≈ (n / Σ_l b_l) Σ_l Σ_{i ∈ l} J_iᵀ S_i S_iᵀ J_i
//! ```

use ndarray::ArrayView4;
use svn_curvature::{BatchSlots, Linearized};
use svn_stein::Curvature;

use super::collect::{Collect, SavedCollector, other_settings};
use super::order::RingOrder;
use crate::ModelError;

/// Curvature of the last `L` batches.
#[derive(Debug)]
pub(super) struct Ring {
    order: RingOrder,
    slots: Box<dyn BatchSlots>,
    /// Training rows `n`.
    rows: usize,
    /// Noise weight under which the rows as they are were first used: it stays until others are written, so that a factor made of
    /// both can stay as well.
    weight: Option<f64>,
}

impl Ring {
    /// Nothing yet, in `slots` slots.
    pub(super) fn new(order: RingOrder, slots: Box<dyn BatchSlots>, rows: usize) -> Self {
        Self {
            order,
            slots,
            rows,
            weight: None,
        }
    }
}

impl Collect for Ring {
    fn advance(&mut self) -> Result<(), ModelError> {
        self.order.advance();
        Ok(())
    }

    fn set_batch(
        &mut self,
        linear: &dyn Linearized,
        root: ArrayView4<'_, f64>,
        _renew: bool,
    ) -> Result<(), ModelError> {
        self.slots.write(linear, root, self.order.current)?;
        self.order.set_rows(linear.batch());
        self.weight = None;
        Ok(())
    }

    fn curvature(
        &mut self,
        weight: f64,
        shift: f64,
        _renew: bool,
    ) -> Result<Curvature<'_>, ModelError> {
        let weight = *self.weight.get_or_insert(weight);
        Ok(self
            .slots
            .curvature(weight * self.order.weight(self.rows), shift))
    }

    fn age(&self) -> usize {
        self.order.filled - 1
    }

    fn save(&self) -> Result<SavedCollector, ModelError> {
        Ok(SavedCollector {
            ring: Some(self.order.clone()),
            arrays: self.slots.arrays(),
            sums: Vec::new(),
            behind: 0,
            weight: self.weight,
        })
    }

    fn restore(&mut self, saved: SavedCollector) -> Result<(), ModelError> {
        let Some(order) = saved
            .ring
            .filter(|ring| ring.fits(&self.order))
            .filter(|_| saved.sums.is_empty())
        else {
            return Err(other_settings());
        };
        self.slots.set_arrays(saved.arrays, &order.written())?;
        self.order = order;
        self.weight = saved.weight;
        Ok(())
    }
}
