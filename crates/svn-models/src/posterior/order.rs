//! Which slot of a ring of batches is written next, and how much the ring weighs.

use serde::{Deserialize, Serialize};

/// Which slot is overwritten next, and what the ring weighs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RingOrder {
    /// Rows in each slot.
    rows: Vec<usize>,
    pub(super) current: usize,
    pub(super) filled: usize,
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
    pub(super) fn advance(&mut self) {
        self.current = (self.current + 1) % self.slots();
        self.filled = (self.filled + 1).min(self.slots());
    }

    pub(super) fn slots(&self) -> usize {
        self.rows.len()
    }

    /// Slots in use, in the order in which they were written last.
    pub(super) fn written(&self) -> Vec<usize> {
        let slots = self.slots();
        let oldest = self.current + slots - (self.filled - 1).min(slots - 1);
        (oldest..oldest + self.filled)
            .map(|slot| slot % slots)
            .collect()
    }

    /// Whether this is a possible order of a ring like the other.
    pub(super) fn fits(&self, other: &Self) -> bool {
        let slots = other.slots();
        self.slots() == slots && self.current < slots && (1..=slots).contains(&self.filled)
    }

    /// Rows that the current slot holds from now on.
    pub(super) fn set_rows(&mut self, rows: usize) {
        self.rows[self.current] = rows;
    }

    /// `n / Σ_l b_l` for `n` rows: the factor that turns the sum over slots into that over the data set.
    pub(super) fn weight(&self, rows: usize) -> f64 {
        rows as f64 / self.rows.iter().sum::<usize>().max(1) as f64
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

    #[test]
    fn an_impossible_order_does_not_fit() {
        let ring = RingOrder::new(3);
        assert!(ring.fits(&ring));
        let other = RingOrder::new(2);
        let (mut empty, mut full, mut beyond) = (ring.clone(), ring.clone(), ring.clone());
        (empty.filled, full.filled, beyond.current) = (0, 4, 3);
        for bad in [other, empty, full, beyond] {
            assert!(!bad.fits(&ring), "{bad:?}");
        }
    }
}
