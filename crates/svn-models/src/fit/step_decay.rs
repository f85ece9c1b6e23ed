//! Step sizes that decay to where the noise of minibatches is small.
//!
//! ```text
//! ε* = min(ε, 2r/(1 + r)),  r = 2 b ν/γ        solves ε*/(2 − ε*) · γ/(2b) = ν
//! ε_t = ε (ε*/ε)^(t/T)                         step t of T
//! ```
//!
//! `γ` is the effective number of parameters at the end of the epoch before, the last that is known, and the left side of the equation the noise that steps of
//! size `ε*` from batches of `b` rows hold, in nats a row (`posterior/effective.rs`). In the first epoch no `γ` is known and `ε_t = ε`; steps of the whole
//! training part have no such noise and stay as they are.

use svn_stein::State;

use super::{EpochReport, FitSettings};

/// The bound `ν`, nats a row, and what the rest of the rule is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct StepDecay {
    bound: f64,
    /// `ε`.
    rate: f64,
    /// `b`.
    batch: usize,
    /// `T`.
    steps: usize,
}

impl StepDecay {
    /// None where the settings do not ask for it, no step is a Newton step, or a batch is all there is.
    pub(super) fn new(settings: &FitSettings, rows: usize, batches: usize) -> Option<Self> {
        let batch = settings.batch_size;
        Some(Self {
            bound: settings.minibatch_noise.filter(|_| batch < rows)?,
            rate: settings.method.newton_rate()?.initial,
            batch,
            steps: settings.epochs * batches,
        })
    }

    /// Limit the step to come, the `step`th from 0, by what the epochs so far have measured.
    pub(super) fn limit(&self, state: &mut State, step: usize, history: &[EpochReport]) {
        let mut measured = history.iter().rev();
        if let Some(parameters) = measured.find_map(|report| report.effective_parameters) {
            state.limit_newton_rate(self.at(step, parameters));
        }
    }

    /// `ε_t`.
    fn at(&self, step: usize, parameters: f64) -> f64 {
        let share = step as f64 / self.steps.max(1) as f64;
        self.rate * (self.end(parameters) / self.rate).powf(share)
    }

    /// `ε*`.
    fn end(&self, parameters: f64) -> f64 {
        let r = 2.0 * self.batch as f64 * self.bound / parameters;
        match r.is_finite() {
            true => self.rate.min(2.0 * r / (1.0 + r)),
            // Nothing is determined by the data, and nothing moves with them.
            false => self.rate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::stationary_noise;

    #[test]
    fn the_last_step_holds_as_much_noise_as_the_bound() {
        let decay = StepDecay {
            bound: 0.01,
            rate: 0.7,
            batch: 32,
            steps: 400,
        };
        for parameters in [40.0, 200.0, 5000.0] {
            let noise = stationary_noise(decay.at(400, parameters), parameters, 32);
            assert!((noise / 0.01 - 1.0).abs() < 1e-12, "{parameters}: {noise}");
        }
        // Half way, the geometric mean.
        let (whole, half) = (decay.at(400, 200.0), decay.at(200, 200.0));
        assert!((half * half / (0.7 * whole) - 1.0).abs() < 1e-12);
        assert_eq!(decay.at(0, 200.0), 0.7);
        // So few parameters that no step is too long.
        assert_eq!([decay.at(400, 1e-3), decay.at(400, 0.0)], [0.7, 0.7]);
    }
}
