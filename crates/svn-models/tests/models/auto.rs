//! A likelihood that is left to be chosen: by rows left out, in folds or set aside, and what is told of it.

use ndarray::{Array1, Array2};
use svn_models::recipe::{Head, Method, Recipe, Selection};
use svn_models::{Builder, Candidate, Ensemble, Predicted, Task, Tried};

fn auto<'o>(select: Option<Selection>) -> Builder<'o> {
    let recipe = Recipe {
        likelihood: Some(Head::Auto),
        select,
        ..Recipe::default()
    };
    Ensemble::builder()
        .method(Method::Ensemble)
        .recipe(&recipe)
        .hidden(&[8])
        .epochs(24)
        .particles(2)
}

fn head(tried: &Tried) -> Head {
    match &tried.candidate {
        Candidate::Likelihood(head) => *head,
        other => panic!("{other:?}"),
    }
}

/// Two humps at distance 2 of a line, by rows in turn.
fn humps(rows: usize) -> (Array2<f64>, Array1<f64>) {
    let x = Array2::from_shape_fn((rows, 1), |(i, _)| ((i * 37) % rows) as f64 / rows as f64);
    let y = Array1::from_shape_fn(rows, |i| {
        let side = if (i * i / 3) % 2 == 0 { 1.0 } else { -1.0 };
        x[[i, 0]] + side + 0.05 * ((i * 7919) % 101) as f64 / 101.0
    });
    (x, y)
}

#[test]
fn humps_are_found_on_rows_left_out_and_what_was_tried_is_kept() {
    let (x, y) = humps(400);
    for select in [None, Some(Selection::Kfold)] {
        let mut told = Vec::new();
        let mut on_tried = |one: &Tried| told.push(one.clone());
        let ensemble = auto(select)
            .on_tried(&mut on_tried)
            .fit(x.view(), y.view(), Task::Regression)
            .unwrap();
        let training = ensemble.training();
        let recipe = &ensemble.settings().recipe;
        assert_eq!(recipe.likelihood, Some(Head::Mixture), "{told:?}");
        // All of the epochs, not those of a trial.
        assert_eq!((recipe.epochs, training.epochs), (Some(24), 24));
        assert_eq!(training.tried, told);
        let heads: Vec<Head> = told.iter().map(head).collect();
        assert_eq!(heads, [Head::Gaussian, Head::StudentT, Head::Mixture]);
        // It is trained as if it had been asked for.
        let asked = Recipe {
            likelihood: Some(Head::Mixture),
            ..Recipe::default()
        };
        let alone = auto(select).recipe(&asked);
        let alone = alone.fit(x.view(), y.view(), Task::Regression).unwrap();
        assert_eq!(alone.members().particles(), ensemble.members().particles());
        assert!(alone.training().tried.is_empty());
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("model");
        ensemble.save(&model).unwrap();
        let read = Ensemble::load(&model).unwrap();
        assert_eq!(read.training().tried, told);
        // What is known is not tried again.
        let known = vec![Tried {
            candidate: Candidate::Likelihood(Head::StudentT),
            nll: Some(-9.0),
        }];
        let mut again = 0;
        let mut on_tried = |_: &Tried| again += 1;
        let ensemble = auto(select)
            .tried(known)
            .on_tried(&mut on_tried)
            .fit(x.view(), y.view(), Task::Regression)
            .unwrap();
        assert_eq!(again, 2);
        let recipe = &ensemble.settings().recipe;
        assert_eq!(recipe.likelihood, Some(Head::StudentT));
    }
}

#[test]
fn ratings_are_judged_in_bins_and_levels_go_into_folds() {
    let x = Array2::from_shape_fn((200, 1), |(i, _)| ((i * 37) % 200) as f64 / 200.0);
    // Seven at one row alone: of one fold, not in the training rows of that fold.
    let y = Array1::from_shape_fn(200, |i| match i {
        11 => 7.0,
        i => 3.0 + (3.0 * x[[i, 0]]).floor().min(2.0),
    });
    let ensemble = auto(Some(Selection::Kfold))
        .fit(x.view(), y.view(), Task::Regression)
        .unwrap();
    let training = ensemble.training();
    let tried: Vec<_> = training
        .tried
        .iter()
        .map(|one| (head(one), one.nll.is_some_and(|nll| nll > 0.0)))
        .collect();
    // No mixture where many rows share a value; log probabilities are below 0.
    let expected = [Head::Gaussian, Head::StudentT, Head::Ordinal].map(|head| (head, true));
    assert_eq!(tried, expected);
    let ordinal = Recipe {
        likelihood: Some(Head::Ordinal),
        ..Recipe::default()
    };
    let ensemble = auto(Some(Selection::Kfold))
        .recipe(&ordinal)
        .fit(x.view(), y.view(), Task::Regression)
        .unwrap();
    let out_of_fold = ensemble.training().out_of_fold.as_ref().unwrap();
    let Predicted::Numbers(prediction) = &out_of_fold.predicted else {
        panic!("numbers")
    };
    let nll = prediction.negative_log_density(y.view()).unwrap();
    assert!((ensemble.training().validation_nll - nll).abs() < 1e-12);
    // As the members of a fold that have not seen it know the level.
    assert!(prediction.density(y.view()).unwrap()[11] > 0.0);
}
