//! Fits whose prior the evidence chooses: which it takes, what it tells, and what does not go with it.

use crate::checkpoint::cut_off_after;
use ndarray::{Array1, Array2, s};
use rand::SeedableRng;
use rand::rngs::ChaCha12Rng;
use rand_distr::{Distribution, StandardNormal};
use svn_models::fit::Checkpoint;
use svn_models::recipe::{Head, LastLayerMode, Method, Noise, Predictive, Recipe, Selection};
use svn_models::{Builder, Candidate, Ensemble, LabelEncoding, Rows, Task, Tried};

fn by_evidence(recipe: Recipe) -> Recipe {
    Recipe {
        select: Some(Selection::Evidence),
        ..recipe
    }
}

pub(crate) fn quick<'o>(recipe: &Recipe) -> Builder<'o> {
    let recipe = by_evidence(recipe.clone());
    let builder = Ensemble::builder().method(Method::NewtonEnsemble);
    let builder = builder.epochs(12).particles(2).hidden(&[8]);
    builder.recipe(&recipe)
}

/// A line in the first of `columns` columns, with noise of half its slope.
pub(crate) fn line(rows: usize, columns: usize) -> (Array2<f64>, Array1<f64>) {
    let mut random = ChaCha12Rng::seed_from_u64(3);
    let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
    let x = Array2::from_shape_simple_fn((rows, columns), &mut normal);
    let y = x.column(0).mapv(|x| 40.0 + 6.0 * x + 3.0 * normal());
    (x, y)
}

fn precision(ensemble: &Ensemble) -> f64 {
    ensemble.settings().recipe.prior_precision.unwrap()
}

/// Of few rows on a line with many columns that say nothing, and of many rows on a curve.
#[test]
fn few_rows_on_a_line_take_a_stronger_prior_than_many_on_a_curve() {
    let (x, y) = line(40, 12);
    let few = quick(&Recipe::default());
    let few = few.fit(x.view(), y.view(), Task::Regression).unwrap();
    let x = Array2::from_shape_fn((600, 1), |(i, _)| i as f64 / 100.0);
    let y = x.column(0).mapv(|x| (3.0 * x).sin());
    let many = quick(&Recipe::default());
    let many = many.fit(x.view(), y.view(), Task::Regression).unwrap();
    let (few, many) = (precision(&few), precision(&many));
    assert!(few >= 3.0 && many <= 1.0, "{few} {many}");
}

#[test]
fn all_rows_are_trained_on_and_the_largest_evidence_is_kept() {
    let (x, y) = line(60, 3);
    let mut told = Vec::new();
    let mut on_tried = |one: &Tried| told.push(one.clone());
    let builder = quick(&Recipe::default()).on_tried(&mut on_tried);
    let ensemble = builder.fit(x.view(), y.view(), Task::Regression).unwrap();
    let training = ensemble.training();
    assert_eq!((training.train_rows, training.validation_rows), (60, 0));
    assert!(training.set_aside.is_empty());
    // The last epoch, and no score of rows that were trained on.
    assert_eq!((training.best_epoch, training.epochs), (12, 12));
    assert!(
        training
            .history
            .iter()
            .all(|epoch| epoch.validation_nll.is_none())
    );
    assert_eq!(training.tried, told);
    let of = |one: &Tried| match &one.candidate {
        Candidate::PriorPrecision(precision) => (*precision, one.nll.unwrap()),
        other => panic!("{other:?}"),
    };
    let scores: Vec<(f64, f64)> = told.iter().map(of).collect();
    let precisions: Vec<f64> = scores.iter().map(|score| score.0).collect();
    assert_eq!(precisions, [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0]);
    let best = scores.iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
    assert_eq!(precision(&ensemble), best.0);
    // Trained anew in the same bits.
    assert_eq!(training.validation_nll, best.1);

    // The evidence is that of the members in the units of the target.
    let (mean, scale) = (y.mean().unwrap(), y.std(0.0));
    let mut scaled = x.clone();
    for mut column in scaled.columns_mut() {
        let (mean, scale) = (column.mean().unwrap(), column.std(0.0));
        column.mapv_inplace(|x| (x - mean) / scale);
    }
    let rows = Rows::new(scaled, y.mapv(|y| (y - mean) / scale)).unwrap();
    let members = ensemble.members();
    let laplace = members.laplace(rows.features()).unwrap();
    let log = laplace.log_evidence(members, best.0, &rows).unwrap();
    let expected = scale.ln() - log / 60.0;
    assert!((training.validation_nll - expected).abs() < 1e-9);

    // Kept, read, and given.
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model");
    ensemble.save(&model).unwrap();
    let read = Ensemble::load(&model).unwrap();
    assert_eq!(read.training().tried, told);
    assert_eq!(read.settings().recipe, ensemble.settings().recipe);
    let given = Recipe {
        prior_precision: Some(best.0),
        ..Recipe::default()
    };
    let alone = quick(&given);
    let alone = alone.fit(x.view(), y.view(), Task::Regression).unwrap();
    assert_eq!(alone.members().particles(), members.particles());
    let only = told.iter().find(|one| of(one).0 == best.0).unwrap();
    assert_eq!(alone.training().tried, std::slice::from_ref(only));
}

/// Heavy tails by first-order steps, a common noise and an average, a warm-up, classes.
#[test]
fn heads_methods_and_averages_have_an_evidence() {
    let (x, y) = line(50, 2);
    let labels: Vec<&str> = y
        .iter()
        .map(|y| if *y > 40.0 { "high" } else { "low" })
        .collect();
    let fit = |recipe: Recipe, method| {
        quick(&recipe)
            .epochs(60)
            .method(method)
            .fit(x.view(), y.view(), Task::Regression)
    };
    for (recipe, method) in [
        (
            Recipe {
                likelihood: Some(Head::StudentT),
                ..Recipe::default()
            },
            Method::Ensemble,
        ),
        (
            Recipe {
                noise: Some(Noise::Homoscedastic),
                averaging: Some(0.1),
                ..Recipe::default()
            },
            Method::Svn,
        ),
        (
            Recipe {
                warmup: Some(2),
                time_limit: Some(3600.0),
                ..Recipe::default()
            },
            Method::NewtonEnsemble,
        ),
    ] {
        let ensemble = fit(recipe, method).unwrap();
        assert_eq!(ensemble.training().tried.len(), 7);
        // The noise has an entropy of its own, and a line of 50 rows not much more.
        let nll = ensemble.training().validation_nll;
        let noise = 0.5 * (1.0 + (2.0 * std::f64::consts::PI * 9.0).ln());
        assert!(
            nll > noise - 0.3 && nll < noise + 0.9,
            "{method}: {nll} {noise}"
        );
    }
    let ensemble = quick(&Recipe::default())
        .fit_labels(x.view(), &labels)
        .unwrap();
    let nll = ensemble.training().validation_nll;
    assert!(nll > 0.0 && nll < 2f64.ln(), "{nll}");
    // Validation rows of one's own are trained on as well.
    let classes = Array1::from_iter(labels.iter().map(|label| f64::from(*label == "low")));
    let names = LabelEncoding::fit(["high", "low"].into_iter());
    let part = |range: std::ops::Range<usize>| {
        let y = classes.slice(s![range.clone()]);
        (x.slice(s![range, ..]), y)
    };
    let joined = quick(&Recipe::default()).fit_classes(part(0..35), part(35..50), &names);
    let joined = joined.unwrap();
    assert_eq!(joined.training().train_rows, 50);
    let particles = ensemble.members().particles();
    assert_eq!(joined.members().particles(), particles);
}

#[test]
fn a_run_that_was_cut_off_ends_in_the_same_bits() {
    let (x, y) = line(50, 2);
    let fit = |builder: Builder<'_>| builder.fit(x.view(), y.view(), Task::Regression).unwrap();
    let whole = fit(quick(&Recipe::default()));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let mut watch = cut_off_after(3, &path);
    let cut = fit(quick(&Recipe::default()).observer(&mut watch));
    assert_eq!(cut.training().best_epoch, 3);
    let tried = cut.training().tried.clone();
    let mut again = 0;
    let mut on_tried = |_: &Tried| again += 1;
    let resumed = quick(&Recipe::default())
        .tried(tried)
        .on_tried(&mut on_tried)
        .checkpoint(Checkpoint::read(&path).unwrap());
    let resumed = fit(resumed);
    assert_eq!(again, 0);
    let particles = whole.members().particles();
    assert_eq!(resumed.members().particles(), particles);
    let nll = whole.training().validation_nll;
    assert_eq!(resumed.training().validation_nll, nll);
}

#[test]
fn what_rows_set_aside_would_choose_is_refused() {
    let (x, y) = line(50, 2);
    let labels: Vec<&str> = y
        .iter()
        .map(|y| if *y > 40.0 { "high" } else { "low" })
        .collect();
    let empty = Recipe::default;
    let message = |recipe: Recipe, method, classes| {
        let builder = quick(&recipe).method(method);
        let found = match classes {
            true => builder.fit_labels(x.view(), &labels),
            false => builder.fit(x.view(), y.view(), Task::Regression),
        };
        found.unwrap_err().to_string()
    };
    let beside = [
        (
            Recipe {
                temperature: Some(true),
                ..empty()
            },
            Method::Svn,
            "a temperature",
        ),
        (
            Recipe {
                predictive: Some(Predictive::Laplace),
                ..empty()
            },
            Method::Svn,
            "a Laplace approximation",
        ),
        (
            Recipe {
                patience: Some(5),
                ..empty()
            },
            Method::Svn,
            "patience",
        ),
        (
            Recipe {
                ll_mode: Some(LastLayerMode::Pretrained),
                ..empty()
            },
            Method::LlSvn,
            "a pretrained last layer",
        ),
    ];
    for (recipe, method, what) in beside {
        let expected = format!("select is evidence beside {what}; expected validation");
        assert_eq!(message(recipe, method, true), expected);
    }
    for (head, name) in [
        (Head::Auto, "auto"),
        (Head::Mixture, "mixture"),
        (Head::Ordinal, "ordinal"),
    ] {
        let recipe = Recipe {
            likelihood: Some(head),
            ..empty()
        };
        let expected = format!(
            "likelihood is {name} beside select = evidence; expected gaussian or student-t, or select = validation or kfold"
        );
        assert_eq!(message(recipe, Method::Svn, false), expected);
    }
    // A linear model has nothing that it chooses.
    let linear = quick(&empty()).method(Method::Linear);
    let linear = linear.fit(x.view(), y.view(), Task::Regression).unwrap();
    assert_eq!(linear.training().validation_rows, 10);
    let ensemble = quick(&empty()).epochs(1);
    let ensemble = ensemble.fit(x.view(), y.view(), Task::Regression).unwrap();
    let error = ensemble.continue_fit(x.view(), y.view()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "select is evidence beside going on from a trained ensemble; expected validation"
    );
    // Before it is trained: an epoch of it would take minutes.
    let x = Array2::from_shape_fn((6000, 1), |(i, _)| (i as f64).sin());
    let y = x.column(0).to_owned();
    let wide = quick(&empty()).hidden(&[2000]);
    let error = wide.fit(x.view(), y.view(), Task::Regression).unwrap_err();
    assert_eq!(
        error.to_string(),
        "number of parameters for the evidence is 8002; expected at most 5000, or fewer curvature rows (found 12000); take a smaller network"
    );
}
