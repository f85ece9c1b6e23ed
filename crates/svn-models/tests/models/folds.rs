//! Fits in folds through the front door: out of fold means unseen, a run goes on from a checkpoint, a model is kept.

use crate::checkpoint::cut_off_after;
use ndarray::{Array1, Array2};
use svn_models::fit::Checkpoint;
use svn_models::linear::{Linear, PENALTY};
use svn_models::members::Family;
use svn_models::recipe::{Head, Method, Predictive, Recipe, Selection};
use svn_models::{Builder, Ensemble, Predicted, Task};

fn quick<'o>() -> Builder<'o> {
    Ensemble::builder().epochs(8).particles(3).hidden(&[20])
}

/// Rows on a line but for noise; a fifth of them twice.
fn noisy(rows: usize) -> (Array2<f64>, Array1<f64>) {
    let x = Array2::from_shape_fn((rows, 2), |(i, j)| ((7 * i + 3 * j * i) % 31) as f64 / 31.0);
    let y = Array1::from_shape_fn(rows, |i| {
        40.0 + 9.0 * x[[i, 0]] + ((i * i) % 17) as f64 / 17.0
    });
    (x, y)
}

#[test]
fn in_folds_each_row_is_judged_by_members_that_have_not_seen_it() {
    let (x, y) = noisy(60);
    let recipe = Recipe {
        select: Some(Selection::Kfold),
        ..Recipe::default()
    };
    let build = || quick().recipe(&recipe).epochs(6);
    let ensemble = build().fit(x.view(), y.view(), Task::Regression).unwrap();
    let training = ensemble.training();
    assert_eq!((training.train_rows, training.validation_rows), (60, 60));
    let out_of_fold = training.out_of_fold.as_ref().unwrap();
    assert_eq!(out_of_fold.folds.len(), 60);
    // What is said of a row does not change with its target, what is said of others does.
    let mut other = y.clone();
    other[7] += 3.0;
    let again = build()
        .fit(x.view(), other.view(), Task::Regression)
        .unwrap();
    let again = again.training().out_of_fold.as_ref().unwrap();
    let (Predicted::Numbers(one), Predicted::Numbers(two)) =
        (&out_of_fold.predicted, &again.predicted)
    else {
        panic!("numbers")
    };
    assert_eq!(out_of_fold.folds, again.folds);
    let moved = |row: usize| (one.mean()[row] - two.mean()[row]).abs();
    // Scaling of the target is that of all rows: it moves by a sixtieth of the change, the members by more.
    let own = out_of_fold.folds[7];
    let others = (0..60)
        .filter(|&row| out_of_fold.folds[row] != own)
        .map(moved);
    let most = others.fold(0.0, f64::max);
    assert!(moved(7) < 0.1 && most > 0.1, "{} {most}", moved(7));
    // The score is that of these predictions.
    let nll = one.negative_log_density(y.view()).unwrap();
    assert!((training.validation_nll - nll).abs() < 1e-12);
    // A model in folds is kept and read like any other.
    let folder = tempfile::tempdir().unwrap();
    ensemble.save(folder.path().join("model")).unwrap();
    let read = Ensemble::load(folder.path().join("model")).unwrap();
    let mean = |ensemble: &Ensemble| ensemble.predict(x.view()).unwrap().mean();
    assert_eq!(mean(&read), mean(&ensemble));
    assert_eq!(read.linear_weight(), ensemble.linear_weight());
    // The target is all but linear: the linear model counts.
    assert!(ensemble.linear_weight() > 0.0);
}

#[test]
fn a_run_in_folds_that_was_cut_off_ends_in_the_same_bits() {
    let (x, y) = noisy(50);
    let labels: Vec<&str> = y
        .iter()
        .map(|y| if *y > 45.0 { "high" } else { "low" })
        .collect();
    let recipe = Recipe {
        select: Some(Selection::Kfold),
        ..Recipe::default()
    };
    let build = || quick().recipe(&recipe).epochs(5);
    let whole = build().fit_labels(x.view(), &labels).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let mut watch = cut_off_after(3, &path);
    let cut = build().observer(&mut watch).fit_labels(x.view(), &labels);
    assert_eq!(cut.unwrap().training().epochs, 3);
    let resumed = build()
        .checkpoint(Checkpoint::read(&path).unwrap())
        .fit_labels(x.view(), &labels)
        .unwrap();
    assert_eq!(resumed.members().particles(), whole.members().particles());
    assert_eq!(resumed.training().out_of_fold, whole.training().out_of_fold);
    // What is chosen on rows that are set aside is not chosen in folds.
    let recipe = Recipe {
        predictive: Some(Predictive::Laplace),
        ..recipe
    };
    let error = quick()
        .recipe(&recipe)
        .fit_labels(x.view(), &labels)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "select is kfold beside a Laplace approximation; expected validation"
    );
}

/// Each against the same members without it: the rows that they have not seen are more probable, and the model keeps it.
#[test]
fn temperature_and_tails_are_chosen_on_rows_out_of_fold() {
    let (x, y) = noisy(60);
    let wild = Array1::from_shape_fn(60, |i| y[i] + if i % 20 == 3 { 30.0 } else { 0.0 });
    let labels: Vec<&str> = (0..60)
        .map(|i| if i % 3 == 0 { "a" } else { "b" })
        .collect();
    let fit = |recipe: &Recipe| {
        let recipe = Recipe {
            select: Some(Selection::Kfold),
            ..recipe.clone()
        };
        quick().recipe(&recipe).epochs(6).particles(5)
    };
    let tempered = Recipe {
        temperature: Some(true),
        ..Recipe::default()
    };
    let tailed = Recipe {
        predictive: Some(Predictive::StudentT),
        ..Recipe::default()
    };
    let of_classes = |recipe: &Recipe| fit(recipe).fit_labels(x.view(), &labels).unwrap();
    let of_numbers = |recipe: &Recipe| {
        let task = Task::Regression;
        fit(recipe).fit(x.view(), wild.view(), task).unwrap()
    };
    let plain = Recipe::default();
    for (with, without) in [
        (of_classes(&tempered), of_classes(&plain)),
        (of_numbers(&tailed), of_numbers(&plain)),
    ] {
        assert_eq!(with.members().particles(), without.members().particles());
        let [with_nll, without_nll] = [&with, &without].map(|e| e.training().validation_nll);
        assert!(with_nll < without_nll, "{with_nll} {without_nll}");
        assert!(with.predictor().validation_nll().is_some());
        assert_eq!(without.predictor().validation_nll(), None);
        let chosen = |e: &Ensemble| {
            let predictor = e.predictor();
            (predictor.temperature(), predictor.tails())
        };
        assert_eq!(chosen(&without), (None, None));
        assert_ne!(chosen(&with), (None, None));
        let folder = tempfile::tempdir().unwrap();
        with.save(folder.path().join("model")).unwrap();
        let read = Ensemble::load(folder.path().join("model")).unwrap();
        assert_eq!(chosen(&read), chosen(&with));
    }
    let tailed = of_numbers(&tailed);
    let tails = tailed.predictor().tails().unwrap();
    // One row of twenty is off by three times the range of the others.
    assert!(tails.degrees <= 5.0, "{tails:?}");
    let said = tailed.predict(x.view()).unwrap();
    assert!(matches!(said.family(), Family::StudentT { degrees } if degrees == tails.degrees));
}

#[test]
fn tails_are_chosen_on_validation_rows_and_refused_beside_others() {
    let (x, y) = noisy(60);
    let wild = Array1::from_shape_fn(60, |i| y[i] + if i % 10 == 3 { 30.0 } else { 0.0 });
    let of = |likelihood, predictive| {
        let recipe = Recipe {
            likelihood,
            predictive,
            ..Recipe::default()
        };
        quick()
            .recipe(&recipe)
            .fit(x.view(), wild.view(), Task::Regression)
    };
    let tails = Some(Predictive::StudentT);
    let [plain, tailed] = [None, tails].map(|kind| of(None, kind).unwrap());
    let [before, after] = [&plain, &tailed].map(|e| e.training().validation_nll);
    assert!(after < before, "{after} {before}");
    let error = of(Some(Head::StudentT), tails).unwrap_err();
    assert_eq!(
        error.to_string(),
        "predictive is student-t; expected moments, or likelihood = gaussian: others have tails of their own"
    );
}

#[test]
fn the_linear_model_in_folds_is_that_of_all_rows_with_the_noise_of_rows_left_out() {
    let (x, y) = noisy(60);
    let recipe = Recipe {
        select: Some(Selection::Kfold),
        ..Recipe::default()
    };
    let build = || Ensemble::builder().method(Method::Linear).recipe(&recipe);
    let ensemble = build().fit(x.view(), y.view(), Task::Regression).unwrap();
    let ridge = Linear::ridge(x.view(), y.view(), PENALTY).unwrap();
    let found = ensemble.predict(x.view()).unwrap();
    let expected = ridge.predict(x.view()).unwrap();
    assert_eq!((found.members(), ensemble.linear_weight()), (1, 0.0));
    // On the scale of the target the intercept is free, and the penalty the same.
    let off = (&found.mean() - &expected.mean()).mapv(f64::abs);
    assert!(off.iter().all(|off| *off < 1e-9), "{off}");
    let training = ensemble.training();
    let out_of_fold = training.out_of_fold.as_ref().unwrap();
    let Predicted::Numbers(said) = &out_of_fold.predicted else {
        panic!("numbers")
    };
    let squares = (&said.mean() - &y).mapv(|r| r * r);
    // Folds are of one size: the mean of their noises is that of all residuals.
    let variance = squares.mean().unwrap();
    assert!((found.variance()[0] / variance - 1.0).abs() < 1e-5);
    assert!((training.validation_nll - said.negative_log_density(y.view()).unwrap()).abs() < 1e-12);
}
