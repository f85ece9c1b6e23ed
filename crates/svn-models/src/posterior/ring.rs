//! A ring of recent batches, each in a slot of its own.
//!
//! One batch of 16 rows says too little of the curvature in thousands of directions; the rows of the last `L` batches,
//! kept although the particles have moved a little since, say enough. With the rows of batch `l` scaled by `√(n/b_l)`
//! each slot estimates the sum over the data set, and the ring its mean:
//!
//! ```text
//! C_p ≈ (1/L) Σ_l (n/b_l) Σ_{i ∈ l} J_iᵀ S_i S_iᵀ J_i
//! ```

use serde::{Deserialize, Serialize};
use svn_curvature::{BatchSlots, Linearization};
use svn_stein::Curvature;
use tch::Tensor;

use super::collect::{Collect, SavedCollector, other_settings};
use crate::ModelError;

/// Which slot is overwritten next, and what the ring's mean weighs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RingOrder {
    slots: usize,
    current: usize,
    filled: usize,
}

impl RingOrder {
    /// A ring of `slots` batches, its first slot ready to be written.
    pub fn new(slots: usize) -> Self {
        Self {
            slots: slots.max(1),
            current: 0,
            filled: 1,
        }
    }

    /// Move to the oldest slot, which the next batch overwrites.
    fn advance(&mut self) {
        self.current = (self.current + 1) % self.slots;
        self.filled = (self.filled + 1).min(self.slots);
    }

    /// Slots in use, in the order in which they were written last.
    fn written(&self) -> Vec<usize> {
        let oldest = self.current + self.slots - (self.filled - 1).min(self.slots - 1);
        let slots = oldest..oldest + self.filled;
        slots.map(|slot| slot % self.slots).collect()
    }

    /// `1/L` for `L` slots in use: the factor that turns the sum over slots into their mean.
    fn weight(&self) -> f64 {
        1.0 / self.filled as f64
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
    pub fn new(order: RingOrder, slots: Box<dyn BatchSlots>, rows: usize) -> Self {
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
        let scale = (self.rows as f64 / linear.batch() as f64).sqrt();
        let root = root * scale;
        Ok(self.slots.write(linear, &root, self.order.current)?)
    }

    fn curvature(
        &mut self,
        weight: f64,
        shift: f64,
        _renew: bool,
    ) -> Result<Curvature<'_>, ModelError> {
        Ok(self.slots.curvature(weight * self.order.weight(), shift))
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
        let Some(order) = saved.ring.filter(|ring| ring.slots == self.order.slots) else {
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
        assert_eq!((ring.current, ring.weight()), (0, 1.0));
        assert_eq!(ring.written(), [0]);
        ring.advance();
        assert_eq!((ring.current, ring.weight()), (1, 0.5));
        ring.advance();
        assert_eq!((ring.current, ring.filled), (0, 2));
        assert_eq!(ring.written(), [1, 0]);
    }
}
