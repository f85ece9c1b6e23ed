//! Minibatches: each epoch is a fresh permutation of the rows, cut into `⌈n/b⌉` pieces whose sizes differ by at most one.
//!
//! A short last piece of a few rows, each scaled by `n` over their number, would move the particles as far as a full one.

use rand::SeedableRng;
use rand::rngs::ChaCha12Rng;
use rand::seq::SliceRandom;

/// An endless, seeded stream of index batches.
#[derive(Debug)]
pub struct Batches {
    order: Vec<usize>,
    position: usize,
    per_epoch: usize,
    drawn: usize,
    rng: ChaCha12Rng,
}

impl Batches {
    /// Batches of at most `size` out of `rows` rows. `size` is cut to `rows`; both are at least 1.
    pub fn new(rows: usize, size: usize, seed: u64) -> Self {
        let rows = rows.max(1);
        Self {
            order: (0..rows).collect(),
            position: rows,
            per_epoch: rows.div_ceil(size.clamp(1, rows)),
            drawn: 0,
            rng: ChaCha12Rng::seed_from_u64(seed),
        }
    }

    /// Indices of the next batch; a new permutation starts where the last one ended.
    pub fn draw(&mut self) -> &[usize] {
        if self.position >= self.order.len() {
            self.order.shuffle(&mut self.rng);
            (self.position, self.drawn) = (0, 0);
        }
        let start = self.position;
        // The larger ones first.
        let left = self.per_epoch - self.drawn;
        self.position += (self.order.len() - start).div_ceil(left.max(1));
        self.drawn += 1;
        &self.order[start..self.position]
    }

    /// Pass over `count` batches, as if they had been drawn.
    pub fn skip(&mut self, count: u64) {
        for _ in 0..count {
            self.draw();
        }
    }

    /// Number of batches in one epoch.
    pub fn per_epoch(&self) -> usize {
        self.per_epoch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_visits_every_row_once() {
        let mut batches = Batches::new(10, 4, 7);
        for _ in 0..3 {
            let mut seen = Vec::new();
            let mut sizes = Vec::new();
            for _ in 0..batches.per_epoch() {
                let batch = batches.draw();
                sizes.push(batch.len());
                seen.extend_from_slice(batch);
            }
            seen.sort_unstable();
            assert_eq!(seen, (0..10).collect::<Vec<usize>>());
            assert_eq!(sizes, [4, 3, 3]);
        }
    }

    #[test]
    fn two_epochs_differ_and_the_seed_decides() {
        let draw = |seed| {
            let mut batches = Batches::new(50, 50, seed);
            (batches.draw().to_vec(), batches.draw().to_vec())
        };
        let (first, second) = draw(1);
        assert_ne!(first, second);
        assert_eq!(draw(1).0, first);
        assert_ne!(draw(2).0, first);
    }

    #[test]
    fn batches_that_are_skipped_are_those_that_would_be_drawn() {
        let (mut drawn, mut skipped) = (Batches::new(10, 4, 7), Batches::new(10, 4, 7));
        for _ in 0..7 {
            drawn.draw();
        }
        skipped.skip(7);
        assert_eq!(drawn.draw(), skipped.draw());
    }

    #[test]
    fn a_batch_larger_than_the_data_is_the_data() {
        assert_eq!(Batches::new(3, 16, 0).draw().len(), 3);
    }
}
