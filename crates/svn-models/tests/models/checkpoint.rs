//! Runs that are interrupted and taken up again end as if they had not been; files that do not fit say why.

use ndarray::{Array1, Array2};
use std::fs;
use std::path::Path;
use svn_models::curvature::Activation;
use svn_models::fit::{Checkpoint, Ending, Epoch, Fit, FitSettings, LikelihoodKind, Start, fit};
use svn_models::network::{NetworkSettings, last_layer};
use svn_models::posterior::{
    Context, ContextSettings, CurvatureFamily, CurvaturePart, CurvatureRoot, CurvatureSettings,
};
use svn_models::stein::{
    Coupling, Damping, FirstOrder, Flow, FunctionRepulsion, KernelSettings, Method, Metric, Newton,
    Rate, Solver, StepRule,
};
use svn_models::{ModelError, Rows};

fn rows(n: usize, classes: usize, shift: f64) -> Rows {
    let x = Array2::from_shape_fn((n, 2), |(i, j)| {
        ((1 + j) as f64 * (0.7 * i as f64 + shift)).sin()
    });
    let y: Array1<f64> = x
        .rows()
        .into_iter()
        .map(|x| x[0] * x[1] + 0.3 * x[0])
        .collect();
    let y = match classes {
        0 => y,
        c => y.mapv(|y| ((y + 1.0) * 50.0).floor().rem_euclid(c as f64)),
    };
    Rows::new(x, y).unwrap()
}

fn settings(method: Method, task: LikelihoodKind, curvature: CurvatureSettings) -> FitSettings {
    FitSettings {
        prior_precision: 0.5,
        particles: 3,
        epochs: 5,
        batch_size: 7,
        curvature,
        seed: 4,
        ..FitSettings::new(
            method,
            NetworkSettings::Mlp {
                hidden: vec![6, 5],
                activation: Activation::Tanh,
            },
            task,
        )
    }
}

fn newton(coupling: Coupling, damping: Damping) -> Newton {
    Newton {
        coupling,
        rate: Rate::cosine(0.3, 30),
        damping,
        trust_region: Some(2.0),
        ..Newton::plain()
    }
}

/// Whatever carries something from step to step: moments of three step rules, adaptive damping, noise of ssvn and of the
/// likelihood, averaged weights and fields, the four forms of curvature, drawn roots, batches and decompositions that are left out, iterative solvers.
fn cases() -> Vec<(&'static str, FitSettings)> {
    let numbers = LikelihoodKind::Gaussian;
    let spread = LikelihoodKind::Heteroscedastic;
    let adaptive = Damping::Adaptive {
        initial: 10.0,
        min: 1e-3,
        max: 1e6,
    };
    let constant = Damping::Constant(10.0);
    let family = |family| CurvatureSettings {
        family,
        ring: 3,
        ..CurvatureSettings::default()
    };
    let kfac = CurvatureSettings {
        every: 2,
        refresh: 4,
        root: CurvatureRoot::Sampled(2),
        ..family(CurvatureFamily::Kfac)
    };
    let ekfac = CurvatureSettings {
        family: CurvatureFamily::Ekfac,
        ..kfac
    };
    let full = family(CurvatureFamily::Full);
    let plain = CurvatureSettings::default();
    let kernel = KernelSettings::default();
    let rms = FirstOrder {
        rule: StepRule::rms_prop(),
        rate: Rate::constant(0.01),
    };
    let adam = FirstOrder::adam(0.01);
    let svn = |coupling, damping| Method::Svn(newton(coupling, damping));
    let last = CurvatureSettings {
        part: CurvaturePart::LastLayer,
        ..full
    };
    // 4 × 3 × 64 rows are more than the last layer's parameters and more than are kept as rows.
    let matrix = CurvatureSettings { ring: 4, ..last };
    let ll = |task| {
        let any = settings(Method::Ensemble { step: adam }, task, plain);
        Method::LlSvn {
            newton: Newton {
                kernel: KernelSettings {
                    metric: Metric::Identity,
                    ..KernelSettings::default()
                },
                ..newton(Coupling::BlockDiagonal, constant)
            },
            coordinates: last_layer(&any.build_network(2).unwrap()),
            rest: adam,
        }
    };
    let cg = Method::Svn(Newton {
        solver: Solver::Cg {
            tolerance: 1e-8,
            max_iterations: 9,
        },
        ..newton(Coupling::Gram, constant)
    });
    let mut big = settings(
        ll(LikelihoodKind::Softmax(3)),
        LikelihoodKind::Softmax(3),
        matrix,
    );
    big.batch_size = 64;
    let mut averaged = settings(svn(Coupling::Gram, constant), spread, full);
    averaged.averaging = Some(0.5);
    vec![
        (
            "ensemble",
            settings(Method::Ensemble { step: adam }, numbers, plain),
        ),
        (
            "svgd",
            settings(Method::Svgd { kernel, step: rms }, spread, plain),
        ),
        (
            "svn rows",
            settings(svn(Coupling::Gram, adaptive), numbers, full),
        ),
        ("svn rows cg", settings(cg, spread, full)),
        ("svn averaged", averaged),
        (
            "svn student-t",
            settings(
                svn(Coupling::Gram, adaptive),
                LikelihoodKind::StudentT(4.0),
                full,
            ),
        ),
        (
            "svn ordinal",
            settings(svn(Coupling::Gram, constant), LikelihoodKind::Ordinal, full),
        ),
        (
            "svn mixture",
            settings(
                svn(Coupling::Gram, constant),
                LikelihoodKind::Mixture(3),
                CurvatureSettings {
                    root: CurvatureRoot::Sampled(1),
                    ..full
                },
            ),
        ),
        (
            "svn diag",
            settings(
                svn(Coupling::BlockDiagonal, adaptive),
                numbers,
                family(CurvatureFamily::Diag),
            ),
        ),
        (
            "svn kfac",
            settings(
                svn(Coupling::BlockRepulsion, constant),
                LikelihoodKind::Softmax(3),
                kfac,
            ),
        ),
        (
            "svn ekfac",
            settings(
                svn(Coupling::Gram, constant),
                LikelihoodKind::Softmax(3),
                ekfac,
            ),
        ),
        (
            "newton-ensemble, kept curvature",
            settings(
                Method::NewtonEnsemble(newton(Coupling::Gram, constant).into()),
                numbers,
                CurvatureSettings { every: 4, ..full },
            ),
        ),
        (
            "svn, kept curvature",
            settings(
                svn(Coupling::Gram, constant),
                numbers,
                CurvatureSettings { every: 4, ..full },
            ),
        ),
        (
            "newton-ensemble",
            settings(
                Method::NewtonEnsemble(newton(Coupling::Gram, adaptive).into()),
                numbers,
                full,
            ),
        ),
        (
            "newton-ensemble kfac",
            settings(
                Method::NewtonEnsemble(newton(Coupling::Gram, constant).into()),
                LikelihoodKind::Softmax(3),
                kfac,
            ),
        ),
        (
            "f-svn",
            settings(
                Method::FunctionSvn {
                    repulsion: FunctionRepulsion::default(),
                    newton: newton(Coupling::Gram, constant).into(),
                },
                spread,
                full,
            ),
        ),
        (
            "f-wgd perturbed",
            FitSettings {
                context: ContextSettings {
                    rows: 20,
                    kind: Context::Perturbed(0.5),
                },
                ..settings(
                    Method::FunctionWgd {
                        repulsion: FunctionRepulsion::default(),
                        step: FirstOrder::adam(0.02),
                    },
                    LikelihoodKind::Softmax(3),
                    full,
                )
            },
        ),
        (
            "ssvn",
            settings(Method::Ssvn(newton(Coupling::Gram, constant)), spread, full),
        ),
        (
            "svn with momentum",
            settings(
                Method::Svn(Newton {
                    momentum: 0.5,
                    ..newton(Coupling::Gram, constant)
                }),
                spread,
                ekfac,
            ),
        ),
        (
            "newton-ensemble noise bound",
            FitSettings {
                minibatch_noise: Some(1e-3),
                ..settings(
                    Method::NewtonEnsemble(
                        Newton {
                            rate: Rate::constant(0.3),
                            ..newton(Coupling::Gram, constant)
                        }
                        .into(),
                    ),
                    spread,
                    full,
                )
            },
        ),
        ("ll-svn rows", settings(ll(numbers), numbers, last)),
        ("ll-svn matrix", big),
    ]
}

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

#[test]
fn files_that_are_no_whole_checkpoint_say_so_with_their_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.ckpt");
    let (_, settings) = cases().swap_remove(0);
    interrupted(&settings, 2, &path);
    let bytes = fs::read(&path).unwrap();
    let message = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        Checkpoint::read(&path).unwrap_err().to_string()
    };
    let file = path.display().to_string();
    let (all, again) = (bytes.len(), "remove it to start anew");
    assert_eq!(
        message(&bytes[..all - 1]),
        format!(
            "checkpoint {file} has {} bytes of {all}; it was cut off or added to; {again}",
            all - 1
        )
    );
    assert_eq!(
        message(&bytes[..10]),
        format!("checkpoint {file} has 10 bytes of 24; it was cut off or added to; {again}")
    );
    let longer = [&bytes[..], b"x"].concat();
    assert!(message(&longer).contains(&format!("has {} bytes of {all}", all + 1)));
    for foreign in [&b"{\"schema\": 1}"[..], b"", b"SVN"] {
        assert!(message(foreign).starts_with(&format!("{file} is no checkpoint")));
    }
    let mut other = bytes.clone();
    other[8] = 9;
    assert!(message(&other).starts_with(&format!(
        "checkpoint {file} has format 9; this program reads 5;"
    )));
    for place in [30, all / 2, all - 1] {
        let mut flipped = bytes.clone();
        flipped[place] ^= 4;
        let expected = format!("checkpoint {file} is damaged: its checksum is another; {again}");
        assert_eq!(message(&flipped), expected);
    }
    fs::remove_file(&path).unwrap();
    let absent = Checkpoint::read(&path).unwrap_err().to_string();
    assert!(
        absent.starts_with(&format!("checkpoint {file}: ")),
        "{absent}"
    );
}

#[test]
fn what_differs_from_the_run_that_wrote_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.ckpt");
    let (_, settings) = cases().swap_remove(2);
    let (train, validation) = data(&settings);
    interrupted(&settings, 2, &path);
    let go_on = |settings: &FitSettings, train: &Rows, validation: &Rows| {
        let start = Start::Checkpoint(Box::new(Checkpoint::read(&path).unwrap()));
        fit(settings, train, validation, start, &mut |_: &Epoch<'_>| {
            Ok(Flow::Stop)
        })
    };
    let message = |change: &dyn Fn(&mut FitSettings)| {
        let mut other = settings.clone();
        change(&mut other);
        go_on(&other, &train, &validation).unwrap_err().to_string()
    };
    let file = format!("checkpoint {}", path.display());
    assert_eq!(
        message(&|s| s.seed = 5),
        format!("{file} was made with seed 4; this run has 5")
    );
    assert_eq!(
        message(&|s| s.prior_precision = 0.25),
        format!("{file} was made with prior precision 0.5; this run has 0.25")
    );
    assert_eq!(
        message(&|s| s.epochs = 1),
        format!("{file} was made with epochs 5, of which 2 are done; this run has 1")
    );
    for (name, change) in [
        (
            "curvature",
            (&|s: &mut FitSettings| s.curvature.every = 2) as &dyn Fn(&mut FitSettings),
        ),
        ("batch size", &|s| s.batch_size = 8),
        ("particles", &|s| s.particles = 2),
        ("method", &|s| {
            s.method = Method::Ensemble {
                step: FirstOrder::adam(0.1),
            }
        }),
    ] {
        assert!(
            message(change).starts_with(&format!("{file} was made with {name} ")),
            "{name}"
        );
    }
    let other = rows(100, 0, 0.01);
    let error = go_on(&settings, &other, &validation)
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with(&format!(
            "{file} was made with other training rows: 100 × 2, checksum"
        )),
        "{error}"
    );
    let error = go_on(&settings, &train, &rows(31, 0, 0.4))
        .unwrap_err()
        .to_string();
    assert!(error.contains("other validation rows: 30 × 2"), "{error}");
    assert!(go_on(&settings, &train, &validation).is_ok());
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

#[test]
fn a_checkpoint_takes_the_place_of_the_last_one_and_leaves_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.ckpt");
    let (_, settings) = cases().swap_remove(0);
    interrupted(&settings, 1, &path);
    interrupted(&settings, 3, &path);
    assert_eq!(Checkpoint::read(&path).unwrap().epoch(), 3);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let checkpoint = Checkpoint::read(&path).unwrap();
    let nowhere = folder.path().join("absent").join("run.ckpt");
    let error = checkpoint.write(&nowhere).unwrap_err().to_string();
    assert!(
        error.starts_with(&format!("checkpoint {}: ", nowhere.display())),
        "{error}"
    );
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
