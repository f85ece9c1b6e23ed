//! A ring of recent batches, each in a slot of its own.
//!
//! One batch of 16 rows says too little of the curvature in thousands of directions; the rows of the last `L` batches,
//! kept although the particles have moved a little since, say enough. Every row counts alike, however the batches were cut:
//!
//! ```text
//! C_p ≈ (n / Σ_l b_l) Σ_l Σ_{i ∈ l} J_iᵀ S_i S_iᵀ J_i
//! ```

use serde::{Deserialize, Serialize};
use svn_curvature::{BatchSlots, Linearization};
use svn_stein::Curvature;
use tch::Tensor;

use super::collect::{Collect, SavedCollector, other_settings};
use crate::ModelError;

/// Which slot is overwritten next, and what the ring weighs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RingOrder {
    /// Rows in each slot.
    rows: Vec<usize>,
    current: usize,
    filled: usize,
}

impl RingOrder {
    /// A ring of `slots` batches, its first slot ready to be written.
    pub(super) fn new(slots: usize) -> Self {
        Self {
            rows: vec![0; slots.max(1)],
            current: 0,
            filled: 1,
        }
    }

    /// Move to the oldest slot, which the next batch overwrites.
    fn advance(&mut self) {
        self.current = (self.current + 1) % self.slots();
        self.filled = (self.filled + 1).min(self.slots());
    }

    fn slots(&self) -> usize {
        self.rows.len()
    }

    /// Slots in use, in the order in which they were written last.
    fn written(&self) -> Vec<usize> {
        let slots = self.slots();
        let oldest = self.current + slots - (self.filled - 1).min(slots - 1);
        (oldest..oldest + self.filled)
            .map(|slot| slot % slots)
            .collect()
    }

    /// Rows that the current slot holds from now on.
    fn set_rows(&mut self, rows: usize) {
        self.rows[self.current] = rows;
    }

    /// `n / Σ_l b_l` for `n` rows: the factor that turns the sum over slots into that over the data set.
    fn weight(&self, rows: usize) -> f64 {
        rows as f64 / self.rows.iter().sum::<usize>().max(1) as f64
    }
}

/// Curvature of the last `L` batches.
#[derive(Debug)]
pub(super) struct Ring {
    order: RingOrder,
    slots: Box<dyn BatchSlots>,
    /// Training rows `n`.
    rows: usize,
}

impl Ring {
    /// Nothing yet, in `slots` slots.
    pub(super) fn new(order: RingOrder, slots: Box<dyn BatchSlots>, rows: usize) -> Self {
        Self { order, slots, rows }
    }
}

impl Collect for Ring {
    fn advance(&mut self) -> Result<(), ModelError> {
        self.order.advance();
        Ok(())
    }

    fn set_batch(
        &mut self,
        linear: &Linearization,
        root: &Tensor,
        _renew: bool,
    ) -> Result<(), ModelError> {
        self.slots.write(linear, root, self.order.current)?;
        self.order.set_rows(linear.batch());
        Ok(())
    }

    fn curvature(
        &mut self,
        weight: f64,
        shift: f64,
        _renew: bool,
    ) -> Result<Curvature<'_>, ModelError> {
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
        })
    }

    fn restore(&mut self, saved: SavedCollector) -> Result<(), ModelError> {
        let Some(order) = saved
            .ring
            .filter(|ring| ring.slots() == self.order.slots() && ring.current < ring.slots())
        else {
            return Err(other_settings());
        };
        self.slots.set_arrays(saved.arrays, &order.written())?;
        self.order = order;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_batch_is_overwritten() {
        let mut ring = RingOrder::new(2);
        ring.set_rows(4);
        assert_eq!((ring.current, ring.weight(12)), (0, 3.0));
        assert_eq!(ring.written(), [0]);
        ring.advance();
        ring.set_rows(2);
        assert_eq!((ring.current, ring.weight(12)), (1, 2.0));
        ring.advance();
        ring.set_rows(1);
        assert_eq!((ring.current, ring.filled, ring.weight(12)), (0, 2, 4.0));
        assert_eq!(ring.written(), [1, 0]);
    }
}
