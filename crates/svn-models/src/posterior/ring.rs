//! Curvature rows of the most recent batches.
//!
//! One batch of 16 rows says too little of the curvature in thousands of directions; the rows of the last `L` batches,
//! kept although the particles have moved a little since, say enough. With the rows of batch `l` scaled by `√(n/b_l)`
//! each slot estimates the sum over the data set, and the ring its mean:
//!
//! ```text
//! H_p ≈ (1/L) Σ_l Ĵ_plᵀ Ĵ_pl
//! ```

use ndarray::{Array3, ArrayView3, ArrayViewMut3, s};

/// Rows of up to `L` batches for `N` particles, `N × (L·m) × d` with `m` rows a slot; what is not filled is zero.
#[derive(Debug, Clone)]
pub struct RowRing {
    rows: Array3<f64>,
    slot_rows: usize,
    slots: usize,
    current: usize,
    filled: usize,
}

impl RowRing {
    /// A ring of `slots` batches of at most `slot_rows` rows each.
    pub fn new(particles: usize, slots: usize, slot_rows: usize, dim: usize) -> Self {
        let slots = slots.max(1);
        Self { rows: Array3::zeros((particles, slots * slot_rows, dim)), slot_rows, slots, current: slots - 1, filled: 0 }
    }

    /// Move to the oldest slot, which the next batch overwrites.
    pub fn advance(&mut self) {
        self.current = (self.current + 1) % self.slots;
        self.filled = (self.filled + 1).min(self.slots);
    }

    /// The current slot with room for `rows` rows (`N × rows × d`); the rest of the slot is cleared.
    pub fn slot_mut(&mut self, rows: usize) -> ArrayViewMut3<'_, f64> {
        let start = self.current * self.slot_rows;
        let rows = rows.min(self.slot_rows);
        self.rows.slice_mut(s![.., start + rows..start + self.slot_rows, ..]).fill(0.0);
        self.rows.slice_mut(s![.., start..start + rows, ..])
    }

    /// All rows, `N × (L·m) × d`.
    pub fn rows(&self) -> ArrayView3<'_, f64> {
        self.rows.view()
    }

    /// `1/L` for `L` filled slots: the factor that turns the sum over slots into their mean.
    pub fn weight(&self) -> f64 {
        1.0 / self.filled.max(1) as f64
    }

    /// Number of batches that the ring holds now.
    pub fn filled(&self) -> usize {
        self.filled
    }

    /// Age in steps of the oldest rows in use: 0 when only the current batch is held.
    pub fn age(&self) -> usize {
        self.filled.saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(ring: &mut RowRing, value: f64, rows: usize) {
        ring.advance();
        ring.slot_mut(rows).fill(value);
    }

    #[test]
    fn the_oldest_batch_is_overwritten_and_short_batches_leave_zeros() {
        let mut ring = RowRing::new(1, 2, 3, 1);
        let held = |ring: &RowRing| {
            let mut values: Vec<f64> = ring.rows().iter().copied().collect();
            values.sort_by(f64::total_cmp);
            values
        };
        push(&mut ring, 1.0, 3);
        assert_eq!(held(&ring), [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
        assert_eq!((ring.filled(), ring.weight(), ring.age()), (1, 1.0, 0));
        push(&mut ring, 2.0, 3);
        push(&mut ring, 3.0, 1);
        assert_eq!(held(&ring), [0.0, 0.0, 2.0, 2.0, 2.0, 3.0]);
        assert_eq!((ring.filled(), ring.weight(), ring.age()), (2, 0.5, 1));
    }

    #[test]
    fn writing_a_slot_twice_is_writing_it_once() {
        let mut ring = RowRing::new(2, 2, 2, 2);
        push(&mut ring, 1.0, 2);
        ring.slot_mut(1).fill(5.0);
        assert_eq!(ring.rows().iter().filter(|v| **v == 1.0).count(), 0);
        assert_eq!(ring.filled(), 1);
    }
}
