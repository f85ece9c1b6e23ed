//! The driver: steps a sampler until a condition holds, telling observers. It knows nothing of files or the clock.

use crate::error::SteinError;
use crate::info::Info;
use crate::sampler::Sampler;
use crate::state::State;
use crate::target::Curved;

/// What an observer wants next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Stop after this step.
    Stop,
}

/// Sees every step of a [`run`]: logging, checkpoints, validation, early stopping.
pub trait Observer {
    /// Called after each step. The state may be changed, for instance to put back the best particles.
    ///
    /// # Errors
    /// Ends the run.
    fn observe(&mut self, state: &mut State, info: &Info) -> Result<Flow, SteinError>;
}

impl<F> Observer for F
where
    F: FnMut(&mut State, &Info) -> Result<Flow, SteinError>,
{
    fn observe(&mut self, state: &mut State, info: &Info) -> Result<Flow, SteinError> {
        self(state, info)
    }
}

/// When a [`run`] ends; whichever holds first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    /// Total number of steps of the state, those before the run included.
    pub steps: u64,
    /// Stop when the root mean squared change of a coordinate is at most this; zero never stops a moving run.
    pub step_size: f64,
}

impl Stop {
    /// After this many steps in all.
    pub fn after(steps: u64) -> Self {
        Self {
            steps,
            step_size: -1.0,
        }
    }

    /// Also when a step changes the coordinates by at most `step_size` (root mean square).
    pub fn or_step_below(self, step_size: f64) -> Self {
        Self { step_size, ..self }
    }
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// The number of steps was reached.
    Steps,
    /// The particles stopped moving.
    StepSize,
    /// An observer asked for it.
    Observer,
}

/// Step until `stop` holds or an observer stops the run.
///
/// # Errors
/// Those of [`Sampler::step`] and of the observers.
pub fn run<T: Curved + ?Sized>(
    sampler: &mut Sampler,
    state: &mut State,
    target: &mut T,
    stop: Stop,
    observers: &mut [&mut dyn Observer],
) -> Result<StopReason, SteinError> {
    while state.step() < stop.steps {
        let info = sampler.step(state, target)?;
        let mut flow = Flow::Continue;
        for observer in observers.iter_mut() {
            if observer.observe(state, &info)? == Flow::Stop {
                flow = Flow::Stop;
            }
        }
        if flow == Flow::Stop {
            return Ok(StopReason::Observer);
        }
        if info.step_size <= stop.step_size && info.rejected.is_empty() {
            return Ok(StopReason::StepSize);
        }
    }
    Ok(StopReason::Steps)
}
