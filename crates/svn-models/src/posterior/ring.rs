//! Which rows of a ring of recent batches are overwritten next, and what the ring's mean weighs.
//!
//! One batch of 16 rows says too little of the curvature in thousands of directions; the rows of the last `L` batches,
//! kept although the particles have moved a little since, say enough. With the rows of batch `l` scaled by `√(n/b_l)`
//! each slot estimates the sum over the data set, and the ring its mean:
//!
//! ```text
//! H_p ≈ (1/L) Σ_l Ĵ_plᵀ Ĵ_pl
//! ```

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Slots for the curvature rows of up to `L` batches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowRing {
    slot_rows: usize,
    slots: usize,
    current: usize,
    filled: usize,
}

impl RowRing {
    /// A ring of `slots` batches of at most `slot_rows` rows each, its first slot ready to be written.
    pub fn new(slots: usize, slot_rows: usize) -> Self {
        Self {
            slot_rows,
            slots: slots.max(1),
            current: 0,
            filled: 1,
        }
    }

    /// Move to the oldest slot, which the next batch overwrites.
    pub fn advance(&mut self) {
        self.current = (self.current + 1) % self.slots;
        self.filled = (self.filled + 1).min(self.slots);
    }

    /// Rows of the current slot.
    pub fn slot(&self) -> Range<usize> {
        self.current * self.slot_rows..(self.current + 1) * self.slot_rows
    }

    /// Index of the current slot.
    pub fn index(&self) -> usize {
        self.current
    }

    /// Number of slots.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Slots in use, in the order in which they were written last.
    pub(super) fn written(&self) -> impl Iterator<Item = Range<usize>> {
        let (slots, rows) = (self.slots, self.slot_rows);
        let oldest = self.current + slots - (self.filled - 1).min(slots - 1);
        (oldest..oldest + self.filled).map(move |slot| {
            let start = slot % slots * rows;
            start..start + rows
        })
    }

    /// Whether both have the same number of slots and of rows in each.
    pub(super) fn fits(&self, other: &Self) -> bool {
        (self.slots, self.slot_rows) == (other.slots, other.slot_rows)
    }

    /// Rows of all slots.
    pub fn capacity(&self) -> usize {
        self.slots * self.slot_rows
    }

    /// `1/L` for `L` slots in use: the factor that turns the sum over slots into their mean.
    pub fn weight(&self) -> f64 {
        1.0 / self.filled as f64
    }

    /// Number of batches that the ring holds now.
    pub fn filled(&self) -> usize {
        self.filled
    }

    /// Age in steps of the oldest rows in use: 0 when only the current batch is held.
    pub fn age(&self) -> usize {
        self.filled - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_batch_is_overwritten() {
        let mut ring = RowRing::new(2, 3);
        assert_eq!((ring.slot(), ring.weight(), ring.age()), (0..3, 1.0, 0));
        assert!(ring.written().eq(std::iter::once(0..3)));
        ring.advance();
        assert_eq!((ring.slot(), ring.weight(), ring.age()), (3..6, 0.5, 1));
        ring.advance();
        assert_eq!((ring.slot(), ring.filled()), (0..3, 2));
        assert_eq!(ring.capacity(), 6);
        assert_eq!(ring.written().collect::<Vec<_>>(), [3..6, 0..3]);
    }
}
