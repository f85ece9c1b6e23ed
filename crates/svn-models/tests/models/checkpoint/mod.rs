//! Runs that are interrupted and taken up again: [`cases`] of all that is carried from step to step, [`resumed`] runs that end as if they
//! had not been, and [`files`] that are damaged or of another run.

mod cases;
mod files;
mod resumed;

use cases::{cases, rows};
use std::path::Path;
use svn_models::fit::{Checkpoint, Ending, Epoch, Fit, FitSettings, LikelihoodKind, Start, fit};
use svn_models::stein::Flow;
use svn_models::{ModelError, Rows};

fn data(settings: &FitSettings) -> (Rows, Rows) {
    let classes = match settings.likelihood {
        LikelihoodKind::Softmax(classes) => classes,
        LikelihoodKind::Ordinal => 4,
        _ => 0,
    };
    (rows(100, classes, 0.0), rows(30, classes, 0.4))
}

/// Interrupted after `epoch`, written, read and taken up again.
fn interrupted(settings: &FitSettings, epoch: usize, path: &Path) -> Fit {
    let (train, validation) = data(settings);
    let stopped = fit(
        settings,
        &train,
        &validation,
        Start::Seed,
        &mut cut_off_after(epoch, path),
    );
    match stopped.unwrap().ending {
        Ending::Observer => assert!(epoch < settings.epochs),
        Ending::Completed => assert_eq!(epoch, settings.epochs),
        other => panic!("{other:?}"),
    }
    let start = Checkpoint::read(path).unwrap();
    assert_eq!((start.epoch(), start.settings()), (epoch, settings));
    let mut first = None;
    let start = Start::Checkpoint(Box::new(start));
    let fit = fit(settings, &train, &validation, start, &mut |seen: &Epoch<
        '_,
    >| {
        first.get_or_insert(seen.report().epoch);
        Ok(Flow::Continue)
    });
    assert_eq!(first, (epoch < settings.epochs).then_some(epoch + 1));
    fit.unwrap()
}

/// Keeps the state of an epoch and ends the run there, as an interruption would.
pub(crate) fn cut_off_after(
    epochs: usize,
    path: &Path,
) -> impl FnMut(&Epoch<'_>) -> Result<Flow, ModelError> {
    move |epoch| {
        if epoch.report().epoch < epochs {
            return Ok(Flow::Continue);
        }
        epoch.checkpoint()?.unwrap().write(path)?;
        Ok(Flow::Stop)
    }
}
