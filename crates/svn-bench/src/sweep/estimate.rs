//! How long runs take, from runs of the same configuration that are done, else from a probe of it.
//!
//! ```text
//! t ≈ (wall − fit) + (epochs + warm-up) · t_epoch        of the probe, t_epoch that of its last epoch
//! ```
//!
//! It is an upper bound where patience ends runs early.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use svn_models::recipe::Recipe;

use super::collect::Collected;
use super::folder::put;
use super::task::group_of;
use super::{Folder, Job, SweepError};
use crate::engine::{self, Group, Silent, Study, Timing, Trainer, Work};

/// What the time of a configuration is known from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Known {
    /// Runs of it that are done.
    Records,
    /// A run of a few epochs.
    Probe,
}

/// How long a run of a configuration takes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Of one run, s.
    pub seconds: f64,
    /// Where it is from.
    pub known: Known,
}

impl Estimate {
    /// Of what is going to be probed.
    pub(crate) const NONE: Self = Self {
        seconds: 0.0,
        known: Known::Probe,
    };
}

/// Estimates by configuration.
pub type Estimates = BTreeMap<String, Estimate>;

/// Epochs of a probe: in the second one arrays are allocated and caches warm.
const EPOCHS: usize = 2;
/// No further epoch of a probe begins after so many seconds.
const LIMIT: f64 = 10.0;

/// What is known already: from the records of a study, and from probes of earlier calls.
pub fn known<'j>(
    folder: &Folder,
    jobs: impl Iterator<Item = &'j Job>,
    collected: &Collected,
) -> Estimates {
    let mut estimates = Estimates::new();
    for job in jobs {
        if estimates.contains_key(&job.config) {
            continue;
        }
        let estimate = match collected.seconds.get(&job.config) {
            Some(&(runs, seconds)) => Some(Estimate {
                seconds: seconds / runs as f64,
                known: Known::Records,
            }),
            // One that cannot be read is made again.
            None => std::fs::read(folder.probe(job))
                .ok()
                .and_then(|bytes| serde_json::from_slice(&bytes).ok()),
        };
        estimates.extend(estimate.map(|estimate| (job.config.clone(), estimate)));
    }
    estimates
}

/// Train the configuration of a job for a few epochs, and keep what that says.
///
/// # Errors
/// [`SweepError`] if its file cannot be written, or the run fails, which the run itself would too.
pub fn probe<S: Study>(
    plan: &engine::Plan<'_, S>,
    job: &Job,
    folder: &Folder,
    trainer: &dyn Trainer,
) -> Result<Estimate, SweepError> {
    let group = group_of(plan, job)?;
    let settings = &group.configuration.settings;
    let epochs = settings.epochs.unwrap_or(1) + settings.warmup.unwrap_or(0);
    let mut short = group.clone();
    short.configuration.settings = shortened(settings);
    let work = Work {
        trainer,
        jobs: 1,
        folder: &folder.study(S::NAME),
        save_models: false,
        observer: &Silent,
    };
    let label = engine::label(0, group, job.run(), String::new());
    // A checkpoint of so few epochs has no use, and its own name would be that of the run.
    let checkpoint = folder.probe(job).with_extension("ckpt");
    let of: (&Group<_>, _) = (&short, job.run());
    let record = engine::record_of(plan.study, of, &label, &checkpoint, &work)
        .map_err(|message| SweepError::Arguments(format!("{job}, {}: {message}", job.note)))?;
    let _ = std::fs::remove_file(&checkpoint);
    let estimate = Estimate {
        seconds: seconds(&record.timing, epochs),
        known: Known::Probe,
    };
    let text = serde_json::to_string(&estimate).unwrap_or_default();
    put(&folder.probe(job), &(text + "\n"))?;
    Ok(estimate)
}

fn shortened(settings: &Recipe) -> Recipe {
    Recipe {
        epochs: settings.epochs.map(|epochs| epochs.min(EPOCHS)),
        warmup: settings.warmup.map(|_| 0),
        time_limit: settings
            .epochs
            .map(|_| LIMIT.min(settings.time_limit.unwrap_or(LIMIT))),
        ..settings.clone()
    }
}

/// Of a run of so many epochs, by the timing of a shorter one.
fn seconds(timing: &Timing, epochs: usize) -> f64 {
    match timing.epochs_s.as_slice() {
        [] => timing.wall_s,
        [.., last] => {
            let before = timing.epochs_s.iter().rev().nth(1).copied().unwrap_or(0.0);
            (timing.wall_s - last).max(0.0) + epochs as f64 * (last - before)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_grows_by_the_last_epoch_and_the_rest_is_paid_once() {
        let timing = Timing::of(&[1.0], &[3.0, 2.0], 5.5);
        assert_eq!(seconds(&timing, 50), 0.5 + 50.0 * 2.0);
        assert_eq!(seconds(&Timing::of(&[], &[], 0.25), 1), 0.25);
        assert_eq!(seconds(&Timing::of(&[1.0], &[3.0], 3.5), 10), 0.5 + 30.0);
    }

    #[test]
    fn a_probe_is_the_run_but_for_its_length() {
        let settings = Recipe {
            epochs: Some(50),
            warmup: Some(5),
            ring: Some(3),
            ..Recipe::default()
        };
        let short = shortened(&settings);
        assert_eq!(
            (short.epochs, short.warmup, short.ring),
            (Some(2), Some(0), Some(3))
        );
        let linear = Recipe::default();
        assert_eq!(shortened(&linear), linear);
    }
}
