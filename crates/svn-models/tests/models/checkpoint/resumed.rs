//! A run that goes on ends as one that was not interrupted; its length, patience and end.

use super::*;

#[test]
fn an_interrupted_run_ends_as_one_that_was_not_to_the_last_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.ckpt");
    for (name, settings) in cases() {
        let (train, validation) = data(&settings);
        let whole = fit(&settings, &train, &validation, Start::Seed, &mut ()).unwrap();
        for epoch in [1, 3, 5] {
            let resumed = interrupted(&settings, epoch, &path);
            let what = format!("{name}, after epoch {epoch}");
            assert_eq!(
                resumed.ensemble.particles(),
                whole.ensemble.particles(),
                "{what}"
            );
            assert_eq!(
                resumed.ensemble.likelihood(),
                whole.ensemble.likelihood(),
                "{what}"
            );
            assert_eq!(resumed.history, whole.history, "{what}");
            assert_eq!(resumed.best_epoch, whole.best_epoch, "{what}");
            assert_eq!(resumed.curvature_age, whole.curvature_age, "{what}");
            assert_eq!(resumed.step_times.len(), whole.step_times.len(), "{what}");
        }
    }
}

/// The best epoch may lie before the interruption, and more epochs may be asked for than at first.
#[test]
fn a_run_that_goes_on_for_longer_is_the_longer_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.ckpt");
    let (_, mut settings) = cases().swap_remove(2);
    let (train, validation) = data(&settings);
    interrupted(&settings, 5, &path);
    settings.epochs = 8;
    let whole = fit(&settings, &train, &validation, Start::Seed, &mut ()).unwrap();
    let start = Checkpoint::read(&path).unwrap();
    let resumed = fit(
        &settings,
        &train,
        &validation,
        Start::Checkpoint(Box::new(start)),
        &mut (),
    )
    .unwrap();
    assert_eq!(resumed.history, whole.history);
    assert_eq!(resumed.ensemble.particles(), whole.ensemble.particles());
}

/// Step sizes that decay over the whole run are of its length, which can therefore not be another one.
#[test]
fn a_run_whose_steps_decay_keeps_its_length() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.ckpt");
    let mut named = cases().into_iter();
    let (_, settings) = named
        .find(|(name, _)| name.ends_with("noise bound"))
        .unwrap();
    let (train, validation) = data(&settings);
    interrupted(&settings, 2, &path);
    let longer = FitSettings {
        epochs: 7,
        ..settings
    };
    let start = Start::Checkpoint(Box::new(Checkpoint::read(&path).unwrap()));
    let error = fit(&longer, &train, &validation, start, &mut ()).unwrap_err();
    let told = error.to_string();
    assert!(
        told.ends_with("was made with epochs 5; this run has 7"),
        "{told}"
    );
}

/// A run that is cut off after its last epoch, before anybody knew, has no epoch more than one that was not.
#[test]
fn patience_is_counted_across_an_interruption() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.ckpt");
    let (_, plain) = cases().swap_remove(0);
    let settings = FitSettings {
        epochs: 400,
        patience: Some(2),
        ..plain
    };
    let (train, validation) = data(&settings);
    let mut keep = |epoch: &Epoch<'_>| {
        epoch.checkpoint()?.unwrap().write(&path)?;
        Ok(Flow::Continue)
    };
    let whole = fit(&settings, &train, &validation, Start::Seed, &mut keep).unwrap();
    assert!(matches!(whole.ending, Ending::Patience), "{whole:?}");
    assert_eq!(whole.history.len(), whole.best_epoch + 2);
    let go_on = |settings: &FitSettings| {
        let start = Start::Checkpoint(Box::new(Checkpoint::read(&path).unwrap()));
        fit(settings, &train, &validation, start, &mut ()).unwrap()
    };
    let resumed = go_on(&settings);
    assert_eq!(resumed.history, whole.history);
    assert_eq!(resumed.epoch_times, whole.epoch_times);
    // Patience may be another than then.
    let more = FitSettings {
        patience: Some(3),
        ..settings.clone()
    };
    assert!(go_on(&more).history.len() > whole.history.len());
    let late = FitSettings {
        patience: None,
        time_limit: Some(std::time::Duration::ZERO),
        ..settings
    };
    let late = go_on(&late);
    assert_eq!(late.history, whole.history);
    assert!(matches!(late.ending, Ending::TimeLimit));
}
#[test]
fn an_observers_error_ends_the_run_with_it() {
    let (_, settings) = cases().swap_remove(0);
    let (train, validation) = data(&settings);
    let refused = ModelError::Setting {
        name: "patience".into(),
        found: "0".into(),
        expected: "more".into(),
    };
    let mut refused = Some(refused);
    let error = fit(
        &settings,
        &train,
        &validation,
        Start::Seed,
        &mut |_: &Epoch<'_>| Err(refused.take().unwrap()),
    );
    assert_eq!(
        error.unwrap_err().to_string(),
        "patience is 0; expected more"
    );
}
