//! The front door on data as people have them: any units, labels, groups, few rows, and what is no data.

use std::time::Duration;

use ndarray::{Array1, Array2, ArrayView2, Axis, array, s};
use svn_models::fit::{Ending, Epoch};
use svn_models::posterior::Context;
use svn_models::recipe::{LastLayerMode, Method, Predictive, Recipe, Selection};
use svn_models::stein::Flow;
use svn_models::{Builder, Ensemble, ModelError, Task};

/// A sine of a feature in the thousands beside one that means nothing, with noise of 90: 5000 ± 900.
fn wave(rows: usize) -> (Array2<f64>, Array1<f64>) {
    let x = Array2::from_shape_fn((rows, 2), |(i, j)| match j {
        0 => 2000.0 + 1000.0 * (i as f64 * 0.618).fract(),
        _ => 1e-6 * (i as f64 * 7.7).sin(),
    });
    let y = Array1::from_shape_fn(rows, |i| {
        let noise = 90.0 * 2f64.sqrt() * (i as f64 * 12.9898).sin();
        5000.0 + 900.0 * (x[[i, 0]] / 160.0).sin() + noise
    });
    (x, y)
}

/// Two moons apart: the label is the sign of the first feature.
fn moons(rows: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, 2), |(i, j)| {
        let side = if i % 3 == 0 { 2.0 } else { -2.0 };
        [side, 0.0][j] + (i as f64 * [1.3, 2.9][j]).sin()
    })
}

fn quick<'o>() -> Builder<'o> {
    Ensemble::builder().epochs(8).particles(3).hidden(&[20])
}

#[test]
fn numbers_in_any_units_are_predicted_in_these() {
    let (x, y) = wave(240);
    let (train, test) = (s![..200, ..], s![200.., ..]);
    let ensemble = Ensemble::builder()
        .epochs(40)
        .fit(x.slice(train), y.slice(s![..200]), Task::Regression)
        .unwrap();
    let training = ensemble.training();
    assert_eq!((training.train_rows, training.validation_rows), (160, 40));
    let prediction = ensemble.predict(x.slice(test)).unwrap();
    let truth = y.slice(s![200..]);
    let error = (&prediction.mean() - &truth)
        .mapv(|e| e * e)
        .mean()
        .unwrap()
        .sqrt();
    // The noise alone has 90.
    assert!(error < 250.0, "{error}");
    let (low, high) = prediction.interval(0.9).unwrap();
    let covered = (0..40)
        .filter(|&i| low[i] <= truth[i] && truth[i] <= high[i])
        .count();
    assert!(covered >= 30, "{covered} of 40");
    let nll = -prediction.log_density(truth).unwrap().mean().unwrap();
    // That of the target without the features is ln(640) + 1.42 = 7.9.
    assert!(nll < 7.0, "{nll}");
    for i in 0..40 {
        let parts = prediction.epistemic_sd()[i].hypot(prediction.aleatoric_sd()[i]);
        assert!((parts / prediction.sd()[i] - 1.0).abs() < 1e-12);
    }
    assert_eq!(ensemble.members().particles().nrows(), 5);
    assert!(ensemble.predict_classes(x.slice(test)).is_err());
    assert_eq!(ensemble.labels(), [""; 0]);
}

/// Units change neither the split nor the weights.
#[test]
fn units_change_nothing_but_the_units() {
    let (x, y) = wave(90);
    let fit = |x: ArrayView2<'_, f64>, y: Array1<f64>| {
        let ensemble = quick().fit(x, y.view(), Task::Regression).unwrap();
        let mean = ensemble.predict(x).unwrap().mean();
        (mean, ensemble.training().validation_nll)
    };
    let (own, nll) = fit(x.view(), y.clone());
    // Powers of two, so that scaling is exact.
    let (other, other_nll) = fit((&x * 1024.0).view(), &y * 0.25);
    for (a, b) in own.iter().zip(&other) {
        assert!((a * 0.25 - b).abs() < 1e-9 * b.abs(), "{a} {b}");
    }
    assert!(
        (nll - 4f64.ln() - other_nll).abs() < 1e-9,
        "{nll} {other_nll}"
    );
}

#[test]
fn classes_have_the_names_they_came_with() {
    let x = moons(120);
    let names: Vec<&str> = (0..120)
        .map(|i| if i % 3 == 0 { "right" } else { "left" })
        .collect();
    let ensemble = quick().fit_labels(x.view(), &names).unwrap();
    assert_eq!(ensemble.labels(), ["left", "right"]);
    let found = ensemble.classify(x.view()).unwrap();
    let right = found.iter().zip(&names).filter(|(a, b)| a == b).count();
    assert!(right >= 114, "{right} of 120");
    let prediction = ensemble.predict_classes(x.view()).unwrap();
    let sums = prediction.mean_probability().sum_axis(Axis(1));
    assert!(sums.iter().all(|sum| (sum - 1.0).abs() < 1e-12));
    let (entropy, shared) = (prediction.entropy(), prediction.mutual_information());
    for (entropy, shared) in entropy.iter().zip(&shared) {
        assert!(*entropy <= 2f64.ln() + 1e-12 && shared <= entropy && *shared >= 0.0);
    }
    assert!(ensemble.predict(x.view()).is_err());

    // Numbers that neither begin at 0 nor follow each other, and three of them.
    let y = Array1::from_shape_fn(120, |i| [7.0, -1.0, 2.5][i % 3]);
    let ensemble = quick()
        .fit(x.view(), y.view(), Task::Classification)
        .unwrap();
    assert_eq!(ensemble.labels(), ["-1", "2.5", "7"]);
}

#[test]
fn every_method_and_density_goes_through_the_same_door() {
    let (x, y) = wave(60);
    let classes = Array1::from_shape_fn(60, |i| f64::from(u8::from(i % 3 == 0)));
    for method in Method::ALL {
        for predictive in [Predictive::Moments, Predictive::Laplace, Predictive::Fill] {
            let recipe = Recipe {
                predictive: Some(predictive),
                epochs: Some(2),
                ..Recipe::default()
            };
            let builder = || quick().method(method).recipe(&recipe);
            let numbers = builder().fit(x.view(), y.view(), Task::Regression).unwrap();
            let prediction = numbers.predict(x.view()).unwrap();
            assert!(prediction.sd().iter().all(|sd| *sd > 0.0), "{method}");
            let has = prediction.laplace_variances().is_some();
            assert_eq!(has, predictive != Predictive::Moments, "{method}");
            let names = builder().fit(moons(60).view(), classes.view(), Task::Classification);
            let entropy = names
                .unwrap()
                .predict_classes(moons(60).view())
                .unwrap()
                .entropy();
            assert!(
                entropy.iter().all(|entropy| entropy.is_finite()),
                "{method}"
            );
        }
    }
}

/// Members that repel as functions differ most where they are compared, which may be far from the training rows.
#[test]
fn members_are_kept_apart_where_predictions_are_wanted() {
    let (x, y) = wave(60);
    let far = Array2::from_shape_fn((40, 2), |(i, j)| match j {
        0 => 3500.0 + 30.0 * i as f64,
        _ => 0.0,
    });
    let recipe = Recipe {
        context: Some(Context::Training),
        repulsion: Some(1.0),
        ..Recipe::default()
    };
    let spread = |method, context: Option<&Array2<f64>>| {
        let mut builder = quick()
            .method(method)
            .recipe(&recipe)
            .particles(6)
            .epochs(60);
        if let Some(context) = context {
            builder = builder.context(context.view());
        }
        let ensemble = builder.fit(x.view(), y.view(), Task::Regression).unwrap();
        let sd = ensemble.predict(far.view()).unwrap().epistemic_sd();
        sd.mean().unwrap()
    };
    let apart = spread(Method::NewtonEnsemble, None);
    let near = spread(Method::FunctionSvn, None);
    let there = spread(Method::FunctionSvn, Some(&far));
    assert!(
        there > 1.2 * apart && there > near,
        "{apart}, {near}, {there}"
    );

    let wrong = Array2::zeros((3, 3));
    let builder = quick().method(Method::FunctionSvn).context(wrong.view());
    let error = builder
        .fit(x.view(), y.view(), Task::Regression)
        .unwrap_err();
    assert!(error.to_string().contains("features"), "{error}");
}

/// First all layers, then the last one alone: one history, and a score whichever part was best.
#[test]
fn a_pretrained_last_layer_has_one_history() {
    let (x, y) = wave(60);
    let recipe = Recipe {
        ll_mode: Some(LastLayerMode::Pretrained),
        ..Recipe::default()
    };
    let ensemble = quick().method(Method::LlSvn).recipe(&recipe);
    let ensemble = ensemble.fit(x.view(), y.view(), Task::Regression).unwrap();
    let training = ensemble.training();
    let epochs: Vec<_> = training.history.iter().map(|epoch| epoch.epoch).collect();
    assert_eq!(epochs, (1..=16).collect::<Vec<_>>());
    assert!(training.validation_nll.is_finite() && training.best_epoch > 0);
}

/// First-order steps, then the Newton steps: one history, with curvature in the second part alone.
#[test]
fn a_warm_up_comes_before_the_newton_steps() {
    let (x, y) = wave(60);
    let recipe = Recipe {
        warmup: Some(5),
        ..Recipe::default()
    };
    let builder = || quick().method(Method::NewtonEnsemble).recipe(&recipe);
    let ensemble = builder().fit(x.view(), y.view(), Task::Regression).unwrap();
    let history = &ensemble.training().history;
    let epochs: Vec<_> = history.iter().map(|epoch| epoch.epoch).collect();
    assert_eq!(epochs, (1..=13).collect::<Vec<_>>());
    for epoch in history {
        assert_eq!(epoch.effective_parameters.is_some(), epoch.epoch > 5);
    }
    let kfold = Recipe {
        select: Some(Selection::Kfold),
        ..recipe.clone()
    };
    let error = builder()
        .recipe(&kfold)
        .fit(x.view(), y.view(), Task::Regression)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "select is kfold beside a warm-up; expected validation"
    );
}

#[test]
fn validation_rows_and_groups_of_ones_own() {
    let (x, y) = wave(100);
    let (a, b) = (s![..70, ..], s![70.., ..]);
    let own = quick()
        .fit_with(
            (x.slice(a), y.slice(s![..70])),
            (x.slice(b), y.slice(s![70..])),
            Task::Regression,
        )
        .unwrap();
    assert_eq!(
        (own.training().train_rows, own.training().validation_rows),
        (70, 30)
    );
    let groups: Vec<usize> = (0..100).map(|row| row / 25).collect();
    let grouped = quick()
        .groups(&groups)
        .fit(x.view(), y.view(), Task::Regression)
        .unwrap();
    assert_eq!(grouped.training().validation_rows, 25);
    let alone = quick()
        .groups(&[3; 100])
        .fit(x.view(), y.view(), Task::Regression);
    assert_eq!(
        alone.unwrap_err().to_string(),
        "groups is 1; expected at least 2 groups of rows"
    );
    let short = quick()
        .groups(&[1, 2])
        .fit(x.view(), y.view(), Task::Regression);
    assert_eq!(
        short.unwrap_err().to_string(),
        "groups beside the targets has shape [2]; expected [100]"
    );
    // By names of classes as well.
    let labels: Vec<_> = (0..100).map(|row| ["no", "yes"][row % 2]).collect();
    let named = quick()
        .groups(&groups)
        .fit_labels(x.view(), &labels)
        .unwrap();
    assert_eq!(named.training().validation_rows, 25);
    let both = quick().groups(&groups).fit_with(
        (x.view(), y.view()),
        (x.view(), y.view()),
        Task::Regression,
    );
    assert!(both.is_err());
    let unknown = quick().fit_with(
        (
            x.view(),
            Array1::from_shape_fn(100, |i| (i % 2) as f64).view(),
        ),
        (x.slice(s![..2, ..]), array![0.0, 5.0].view()),
        Task::Classification,
    );
    assert_eq!(
        unknown.unwrap_err().to_string(),
        "unknown class label `5`; known: 0, 1"
    );
}

#[test]
fn an_observer_a_limit_and_patience_end_a_run() {
    let (x, y) = wave(60);
    let mut seen = Vec::new();
    let mut observer = |epoch: &Epoch<'_>| {
        let report = epoch.report();
        seen.push((
            report.epoch,
            report.validation_nll.unwrap(),
            epoch.elapsed(),
        ));
        assert_eq!(epoch.epochs(), 8);
        assert!(epoch.curvature_age().is_some() && report.mean_kernel.is_some());
        let lowest = seen.iter().map(|seen| seen.1).fold(f64::INFINITY, f64::min);
        assert_eq!(epoch.best().unwrap().1, lowest);
        Ok(match report.epoch {
            3 => Flow::Stop,
            _ => Flow::Continue,
        })
    };
    let ensemble = quick()
        .observer(&mut observer)
        .fit(x.view(), y.view(), Task::Regression)
        .unwrap();
    assert!(matches!(ensemble.training().ending, Ending::Observer));
    let epochs: Vec<_> = seen.iter().map(|seen| seen.0).collect();
    assert_eq!(epochs, [1, 2, 3]);
    assert!(seen.is_sorted_by_key(|seen| seen.2));
    // In the units of the target, as in the history and in the end.
    let history = &ensemble.training().history;
    for (epoch, seen) in history.iter().zip(&seen) {
        assert_eq!(epoch.validation_nll, Some(seen.1));
    }
    // Epochs are scored by the moments of the mixture, the ensemble by its density.
    let training = ensemble.training();
    let aside = (
        x.select(Axis(0), &training.set_aside),
        y.select(Axis(0), &training.set_aside),
    );
    let prediction = ensemble.predict(aside.0.view()).unwrap();
    let moments = prediction.negative_log_likelihood(aside.1.view());
    assert!((moments - seen[training.best_epoch - 1].1).abs() < 1e-9);
    let density = prediction.negative_log_density(aside.1.view()).unwrap();
    assert!((training.validation_nll - density).abs() < 1e-9);
    let limited = quick()
        .time_limit(Duration::ZERO)
        .fit(x.view(), y.view(), Task::Regression)
        .unwrap();
    assert_eq!(limited.training().history.len(), 1);
    assert!(matches!(limited.training().ending, Ending::TimeLimit));
    let patient = quick()
        .epochs(200)
        .patience(2)
        .fit(x.view(), y.view(), Task::Regression)
        .unwrap();
    let training = patient.training();
    assert_eq!(training.history.len(), training.best_epoch + 2);
    assert!(matches!(training.ending, Ending::Patience));
}

/// The last layer's epochs count on from those of all layers.
#[test]
fn a_fit_of_two_parts_is_watched_as_one() {
    let (x, y) = wave(60);
    let recipe = Recipe {
        ll_mode: Some(LastLayerMode::Pretrained),
        ..Recipe::default()
    };
    let run = |stop: usize, limit: Option<Duration>| {
        let mut seen = Vec::new();
        let mut observer = |epoch: &Epoch<'_>| {
            let part = epoch.checkpoint()?.is_some();
            seen.push((epoch.report().epoch, epoch.epochs(), part));
            Ok(match epoch.report().epoch == stop {
                true => Flow::Stop,
                false => Flow::Continue,
            })
        };
        let mut builder = quick().epochs(3).method(Method::LlSvn).recipe(&recipe);
        if let Some(limit) = limit {
            builder = builder.time_limit(limit);
        }
        let builder = builder.observer(&mut observer);
        let ensemble = builder.fit(x.view(), y.view(), Task::Regression).unwrap();
        let epochs: Vec<_> = ensemble
            .training()
            .history
            .iter()
            .map(|e| e.epoch)
            .collect();
        assert_eq!(epochs, seen.iter().map(|seen| seen.0).collect::<Vec<_>>());
        seen
    };
    let all = run(0, None);
    let network = [(1, 6, true), (2, 6, true), (3, 6, true)];
    assert_eq!(all[..3], network);
    assert_eq!(all[3..], [(4, 6, false), (5, 6, false), (6, 6, false)]);
    assert_eq!(run(2, None), network[..2]);
    assert_eq!(run(5, None), all[..5]);
    assert_eq!(run(0, Some(Duration::ZERO)), network[..1]);
}

#[test]
fn what_is_no_data_is_told_in_one_line() {
    let (x, y) = wave(30);
    let said = |x: ArrayView2<'_, f64>, y: &Array1<f64>, task| {
        let error: ModelError = quick().fit(x, y.view(), task).unwrap_err();
        let text = error.to_string();
        assert!(!text.contains('\n'), "{text}");
        text
    };
    let regression = |x: ArrayView2<'_, f64>, y: &Array1<f64>| said(x, y, Task::Regression);
    let mut holes = x.clone();
    holes[[7, 1]] = f64::NAN;
    assert_eq!(
        regression(holes.view(), &y),
        "feature 1 of row 7 is NaN; expected a finite number, drop or impute it before"
    );
    let mut infinite = y.clone();
    infinite[3] = f64::INFINITY;
    assert_eq!(
        regression(x.view(), &infinite),
        "target of row 3 is inf; expected a finite number, drop or impute it before"
    );
    assert_eq!(
        regression(x.view(), &y.slice(s![..9]).to_owned()),
        "features beside the targets has shape [30, 2]; expected [9, 2]"
    );
    assert_eq!(
        regression(x.slice(s![..1, ..]), &y.slice(s![..1]).to_owned()),
        "features beside the targets has shape [1, 2]; expected [2, 2]"
    );
    assert_eq!(
        regression(Array2::zeros((0, 2)).view(), &array![]),
        "features beside the targets has shape [0, 2]; expected [2, 2]"
    );
    assert_eq!(
        regression(Array2::zeros((30, 0)).view(), &y),
        "features beside the targets has shape [30, 0]; expected [30, 1]"
    );
    assert_eq!(
        regression(x.view(), &Array1::from_elem(30, 2.0)),
        "the target is 2 in all 24 training rows: there is nothing to learn"
    );
    assert_eq!(
        said(x.view(), &Array1::from_elem(30, 2.0), Task::Classification),
        "the target is class `2` in all rows; expected two classes or more"
    );
    let settings = quick()
        .validation_share(1.0)
        .fit(x.view(), y.view(), Task::Regression);
    assert_eq!(
        settings.unwrap_err().to_string(),
        "validation share is 1; expected above 0 and below 1"
    );
    let settings = quick()
        .particles(0)
        .fit(x.view(), y.view(), Task::Regression);
    assert_eq!(
        settings.unwrap_err().to_string(),
        "particles is 0; expected a whole number, 1 to 1e9"
    );
    let ensemble = quick().fit(x.view(), y.view(), Task::Regression).unwrap();
    let narrow = ensemble.predict(x.slice(s![.., ..1])).unwrap_err();
    assert_eq!(
        narrow.to_string(),
        "the scaler was fitted on 2 features, found 1"
    );
    assert!(matches!(
        ensemble.predict(holes.view()),
        Err(ModelError::Cell { row: 7, .. })
    ));
}

/// Two rows, and many more features than rows.
#[test]
fn few_rows_give_a_finite_result() {
    let (x, y) = wave(30);
    for rows in [2, 3, 5] {
        let (x, y) = (x.slice(s![..rows, ..]), y.slice(s![..rows]));
        match quick().fit(x, y, Task::Regression) {
            Ok(ensemble) => {
                let mean = ensemble.predict(x).unwrap().mean();
                assert!(mean.iter().all(|mean| mean.is_finite()), "{rows}");
            }
            // One row to train on has a constant target.
            Err(error) => assert!(rows == 2, "{rows}: {error}"),
        }
    }
    let wide = Array2::from_shape_fn((40, 600), |(i, j)| ((i * 31 + j * 17) as f64).sin());
    let y = Array1::from_shape_fn(40, |i| wide[[i, 3]] - wide[[i, 5]]);
    let ensemble = quick()
        .epochs(2)
        .fit(wide.view(), y.view(), Task::Regression)
        .unwrap();
    let sd = ensemble.predict(wide.view()).unwrap().sd();
    assert!(sd.iter().all(|sd| sd.is_finite()));
}

/// Layers as PyTorch prints them, with a bottleneck that no `hidden` has.
#[test]
fn a_network_of_ones_own() {
    let (x, y) = wave(80);
    let layers = |outputs: usize| {
        [
            "Linear(in_features=2, out_features=12, bias=False)",
            "Tanh()",
            "Linear(in_features=12, out_features=4, bias=True)",
            "GELU(approximate='none')",
            &format!("Linear(in_features=4, out_features={outputs}, bias=True)"),
        ]
        .map(|text| text.parse().unwrap())
        .to_vec()
    };
    for method in [Method::Svgd, Method::Svn, Method::LlSvn] {
        let ensemble = quick()
            .method(method)
            .layers(&[2], layers(2))
            .fit(x.view(), y.view(), Task::Regression)
            .unwrap();
        assert_eq!(ensemble.members().particles().ncols(), 24 + 52 + 10);
        let folder = tempfile::tempdir().unwrap();
        ensemble.save(folder.path()).unwrap();
        let read = Ensemble::load(folder.path()).unwrap();
        assert_eq!(
            read.predict(x.view()).unwrap(),
            ensemble.predict(x.view()).unwrap()
        );
    }
    let said = |shape: &[usize], outputs| {
        let fit = quick().layers(shape, layers(outputs));
        fit.fit(x.view(), y.view(), Task::Regression)
            .unwrap_err()
            .to_string()
    };
    assert!(said(&[2], 1).starts_with("outputs of the last layer is 1; expected 2: "));
    assert!(said(&[3], 2).contains("Linear"), "{}", said(&[3], 2));
    let unsupported = "LSTM(8, 8)"
        .parse::<svn_models::curvature::Layer>()
        .unwrap_err();
    assert!(unsupported.to_string().contains("LSTM"), "{unsupported}");
}

#[test]
fn training_goes_on_from_the_weights() {
    let (x, y) = wave(160);
    let (early, late) = (s![..100, ..], s![100.., ..]);
    let first = Ensemble::builder()
        .epochs(15)
        .fit(x.slice(early), y.slice(s![..100]), Task::Regression)
        .unwrap();
    let before = first.members().particles().to_owned();
    let fresh = Ensemble::builder()
        .epochs(1)
        .fit(x.slice(late), y.slice(s![100..]), Task::Regression)
        .unwrap();
    let next = first
        .continue_fit(x.slice(late), y.slice(s![100..]))
        .unwrap();
    assert_ne!(next.members().particles(), before);
    // The first epoch already has what was learned before.
    let (old, new) = (&fresh.training().history[0], &next.training().history[0]);
    assert!(
        new.validation_nll.unwrap() < old.validation_nll.unwrap(),
        "{new:?} {old:?}"
    );
    assert!(next.continue_fit(x.slice(s![.., ..1]), y.view()).is_err());

    let classes = Array1::from_shape_fn(60, |i| (i % 2) as f64);
    let ensemble = quick()
        .fit(moons(60).view(), classes.view(), Task::Classification)
        .unwrap();
    let unknown = ensemble.continue_fit(moons(60).view(), (&classes * 3.0).view());
    assert_eq!(
        unknown.unwrap_err().to_string(),
        "unknown class label `3`; known: 0, 1"
    );
}
