//! Priors of their own for layers: by the evidence, given, and with methods that treat the last layer apart.

use crate::checkpoint::cut_off_after;
use crate::evidence::{line, quick};
use ndarray::{Array1, Array2};
use svn_models::fit::{Checkpoint, FitSettings, Start, fit as fit_members};
use svn_models::recipe::{LastLayerMode, Method, Noise, Predictive, Recipe, Selection};
use svn_models::{Builder, Candidate, Ensemble, Rows, Task, Tried};

/// Columns that say nothing take a strong prior in the first layer, beside a last layer that has to give the line.
#[test]
fn layers_have_precisions_of_their_own() {
    let (x, y) = line(300, 12);
    let recipe = Recipe {
        select: Some(Selection::EvidenceByLayer),
        noise: Some(Noise::Homoscedastic),
        ..Recipe::default()
    };
    let fit = |tried: Vec<Tried>, checkpoint: Option<Checkpoint>| {
        let mut told = Vec::new();
        let mut on_tried = |one: &Tried| told.push(one.clone());
        let builder = quick(&Recipe::default()).recipe(&recipe).epochs(40);
        let mut builder = builder.tried(tried).on_tried(&mut on_tried);
        if let Some(checkpoint) = checkpoint {
            builder = builder.checkpoint(checkpoint);
        }
        let ensemble = builder.fit(x.view(), y.view(), Task::Regression).unwrap();
        (ensemble, told)
    };
    let (ensemble, told) = fit(Vec::new(), None);
    let tried = &ensemble.training().tried;
    assert_eq!(*tried, told);
    let by_layer = |one: &&Tried| matches!(one.candidate, Candidate::LayerPrecisions(_));
    let rounds = tried.iter().filter(by_layer).count();
    assert!(
        (1..=4).contains(&rounds) && tried.len() == 7 + rounds,
        "{tried:?}"
    );
    let nll = |one: &Tried| one.nll.unwrap();
    let least = tried.iter().map(nll).fold(f64::INFINITY, f64::min);
    let of_all = tried[..7].iter().map(nll).fold(f64::INFINITY, f64::min);
    assert!(least < of_all - 0.005, "{tried:?}");
    // Trained anew in the same bits.
    assert_eq!(ensemble.training().validation_nll, least);
    let factors = ensemble.settings().recipe.layer_precisions.clone().unwrap();
    assert!(
        factors.len() == 2 && factors[0] > 2.0 * factors[1],
        "{factors:?} {tried:?}"
    );

    let folder = tempfile::tempdir().unwrap();
    ensemble.save(folder.path().join("model")).unwrap();
    let read = Ensemble::load(folder.path().join("model")).unwrap();
    let mean = |ensemble: &Ensemble| ensemble.predict(x.view()).unwrap().mean().to_owned();
    assert_eq!(mean(&read), mean(&ensemble));
    assert_eq!(read.training().tried, told);
    // What is known is not tried again, with or without the beginning of the last fit.
    let path = folder.path().join("checkpoint");
    let mut watch = cut_off_after(3, &path);
    let cut = quick(&Recipe::default()).recipe(&recipe).epochs(40);
    let cut = cut.tried(told.clone()).observer(&mut watch);
    let cut = cut.fit(x.view(), y.view(), Task::Regression).unwrap();
    assert_eq!(cut.training().best_epoch, 3);
    for checkpoint in [None, Some(Checkpoint::read(&path).unwrap())] {
        let (again, new) = fit(told.clone(), checkpoint);
        assert!(new.is_empty() && again.training().tried == told);
        let particles = again.members().particles();
        assert_eq!(particles, ensemble.members().particles());
    }
    // A part of it, as of a fit that was killed between two.
    let (again, new) = fit(told[..8].to_vec(), None);
    assert_eq!(
        (new.as_slice(), &again.training().tried),
        (&told[8..], &told)
    );
}

/// One factor in all layers is that of the prior precision, by steps without damping, which do not know how the weights are scaled.
#[test]
fn the_same_factor_in_all_layers_is_another_prior_precision() {
    let (x, y) = line(60, 3);
    let mean = |precision, factors: Option<Vec<f64>>| {
        let recipe = Recipe {
            prior_precision: Some(precision),
            layer_precisions: factors,
            damping: Some(0.0),
            batch_size: Some(60),
            ring: Some(1),
            noise: Some(Noise::Homoscedastic),
            ..Recipe::default()
        };
        let builder = quick(&recipe).fit(x.view(), y.view(), Task::Regression);
        builder
            .unwrap()
            .predict(x.view())
            .unwrap()
            .mean()
            .to_owned()
    };
    let expected = mean(4.0, None);
    let found = mean(1.0, Some(vec![4.0, 4.0]));
    let other = mean(1.0, None);
    let distance = |other: &Array1<f64>| (&expected - other).mapv(f64::abs).sum();
    assert!(
        distance(&found) < 1e-6 * distance(&other) && distance(&other) > 0.1,
        "{} {}",
        distance(&found),
        distance(&other)
    );
}

/// Factors of the last layer beside those of the frozen ones, and its Laplace variances.
#[test]
fn last_layers_with_priors_of_their_own_are_trained_kept_and_read() {
    let (x, y) = line(60, 3);
    for mode in [LastLayerMode::Joint, LastLayerMode::Pretrained] {
        let fit = |last: f64| {
            let recipe = Recipe {
                ll_mode: Some(mode),
                layer_precisions: Some(vec![0.5, last]),
                predictive: Some(Predictive::Laplace),
                ..Recipe::default()
            };
            let builder = Ensemble::builder().method(Method::LlSvn).recipe(&recipe);
            let builder = builder.epochs(12).particles(2).hidden(&[8]);
            builder.fit(x.view(), y.view(), Task::Regression).unwrap()
        };
        let mean = |ensemble: &Ensemble| ensemble.predict(x.view()).unwrap().mean().to_owned();
        let ensemble = fit(4.0);
        let folder = tempfile::tempdir().unwrap();
        ensemble.save(folder.path()).unwrap();
        let read = Ensemble::load(folder.path()).unwrap();
        assert_eq!(mean(&read), mean(&ensemble));
        let text = std::fs::read_to_string(folder.path().join("model.json")).unwrap();
        assert!(text.contains(r#""schema": 2"#), "{text}");
        assert_ne!(mean(&fit(1.0)), mean(&ensemble));
    }
}

#[test]
fn what_is_no_prior_of_the_layers_is_refused() {
    let (x, y): (Array2<f64>, Array1<f64>) = line(50, 2);
    let message = |recipe: Recipe| {
        let fitted = quick(&recipe).recipe(&recipe);
        let fitted = fitted.fit(x.view(), y.view(), Task::Regression);
        fitted.unwrap_err().to_string()
    };
    let given = |factors: &[f64]| Recipe {
        layer_precisions: Some(factors.to_vec()),
        ..Recipe::default()
    };
    assert_eq!(
        message(given(&[1.0, 2.0, 3.0])),
        "layer_precisions is [1.0, 2.0, 3.0]; expected one for each of 2 affine layers"
    );
    for factors in [&[][..], &[1.0, 0.0]] {
        let expected = "; expected positive finite numbers, one for each layer with weights";
        assert!(message(given(factors)).ends_with(expected));
    }
    let by_layer = Recipe {
        select: Some(Selection::EvidenceByLayer),
        patience: Some(3),
        ..Recipe::default()
    };
    assert_eq!(
        message(by_layer),
        "select is evidence-by-layer beside patience; expected validation"
    );
}

/// Which have as many weights.
#[test]
fn members_of_other_priors_are_another_network() {
    let (x, y) = line(50, 2);
    let fit = |builder: Builder<'_>| builder.epochs(2).fit(x.view(), y.view(), Task::Regression);
    let ensemble = fit(Ensemble::builder()
        .method(Method::NewtonEnsemble)
        .hidden(&[8]))
    .unwrap();
    let settings = ensemble
        .settings()
        .fit_settings(Default::default(), 0)
        .unwrap();
    let other = FitSettings {
        layer_precisions: vec![1.0, 2.0],
        ..settings.clone()
    };
    let rows = Rows::new(x.clone(), y.clone()).unwrap();
    let go_on = |settings| {
        let start = Start::Members(ensemble.members());
        fit_members(settings, &rows, &rows, start, &mut ())
    };
    assert!(go_on(&settings).is_ok());
    let error = go_on(&other).unwrap_err().to_string();
    let expected = "network of the members that training goes on from is ";
    assert!(
        error.starts_with(expected) && error.contains("Scale"),
        "{error}"
    );
}
