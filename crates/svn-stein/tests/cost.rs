//! A first-order step with numbers so small that processors may be slow with them takes no longer than any other.

use std::time::{Duration, Instant};

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut1, ArrayViewMut2};
use svn_stein::target::{Score, TargetError};
use svn_stein::{
    Bandwidth, FirstOrder, KernelSettings, Method, Rate, Sampler, ScoreOnly, StepRule,
};

const PARTICLES: usize = 5;

/// A score that costs a copy.
struct Given(Array2<f64>);

impl Score for Given {
    fn dim(&self) -> usize {
        self.0.ncols()
    }

    fn score_into(
        &mut self,
        _: ArrayView2<'_, f64>,
        mut log_density: ArrayViewMut1<'_, f64>,
        mut score: ArrayViewMut2<'_, f64>,
    ) -> Result<(), TargetError> {
        log_density.assign(&Array1::zeros(PARTICLES));
        score.assign(&self.0);
        Ok(())
    }
}

fn numbers(d: usize, scale: f64) -> Array2<f64> {
    Array2::from_shape_fn((PARTICLES, d), |(p, i)| {
        scale * (12.9898 * (p * d + i) as f64).sin()
    })
}

/// The fastest of many steps of SVGD, after enough for running means to have shrunk with the score.
fn fastest(bandwidth: Bandwidth, score: f64) -> Duration {
    const D: usize = 2951;
    let mut sampler = Sampler::new(Method::Svgd {
        kernel: KernelSettings {
            bandwidth,
            ..KernelSettings::default()
        },
        step: FirstOrder {
            rate: Rate::constant(1e-3),
            rule: StepRule::adam(),
        },
    })
    .unwrap();
    let mut state = sampler.init(numbers(D, 1.0), 0).unwrap();
    let mut target = ScoreOnly(Given(numbers(D, score)));
    let mut best = Duration::MAX;
    for _ in 0..300 {
        let start = Instant::now();
        sampler.step(&mut state, &mut target).unwrap();
        best = best.min(start.elapsed());
    }
    best
}

#[test]
fn denormal_numbers_do_not_slow_a_step() {
    let normal = fastest(Bandwidth::Median, 1.0);
    // Distances of about 1480 give a kernel of exp(−720) ≈ 1e−313; the score vanishes in its first and second moment.
    for (bandwidth, score) in [
        (Bandwidth::Median, 1e-310),
        (Bandwidth::Fixed(4.1), 1.0),
        (Bandwidth::Fixed(4.1), 1e-310),
    ] {
        let slow = fastest(bandwidth, score);
        assert!(
            slow < 3 * normal,
            "{bandwidth:?} {score}: {slow:?}, else {normal:?}"
        );
    }
}
