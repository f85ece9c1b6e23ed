//! A target that knows how long its evaluations took.

use std::time::{Duration, Instant};

use ndarray::{ArrayView2, ArrayViewMut1, ArrayViewMut2};
use svn_models::stein::{Curvature, Curved, Score, TargetError};

/// Wall time of the evaluations of `T` since the last [`Timed::take`]; drawing the batch counts as evaluation.
#[derive(Debug)]
pub(super) struct Timed<T> {
    pub target: T,
    spent: Duration,
}

impl<T> Timed<T> {
    pub fn new(target: T) -> Self {
        Self {
            target,
            spent: Duration::ZERO,
        }
    }

    /// Time spent since the last call.
    pub fn take(&mut self) -> Duration {
        std::mem::take(&mut self.spent)
    }
}

impl<T: Score> Score for Timed<T> {
    fn dim(&self) -> usize {
        self.target.dim()
    }

    fn next_batch(&mut self) -> Result<(), TargetError> {
        let start = Instant::now();
        let result = self.target.next_batch();
        self.spent += start.elapsed();
        result
    }

    fn score_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        log_density: ArrayViewMut1<'_, f64>,
        score: ArrayViewMut2<'_, f64>,
    ) -> Result<(), TargetError> {
        let start = Instant::now();
        let result = self.target.score_into(particles, log_density, score);
        self.spent += start.elapsed();
        result
    }
}

impl<T: Curved> Curved for Timed<T> {
    fn curvature_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        log_density: ArrayViewMut1<'_, f64>,
        score: ArrayViewMut2<'_, f64>,
    ) -> Result<Curvature<'_>, TargetError> {
        let start = Instant::now();
        let result = self.target.curvature_into(particles, log_density, score);
        self.spent += start.elapsed();
        result
    }
}
