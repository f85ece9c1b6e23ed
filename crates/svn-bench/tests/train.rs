//! The runner of the command on small sets: both tasks, every method and curvature, predictive densities.

use std::path::Path;

use svn_bench::data::{Dataset, LoadOptions, Manifest, SearchPath, Task, load, load_named};
use svn_bench::engine::tune::{TuneOptions, tune};
use svn_bench::engine::{
    Asked, EngineError, Fold, Of, Plan, Record, RunId, Silent, Store, Study, Trainer, Work,
    networks, run,
};
use svn_bench::study::uci::{Uci, UciDesign, UciOptions};
use svn_models::Device;
use svn_models::posterior::CurvatureFamily;
use svn_models::recipe::{Binary, Head, Method, Noise, Predictive, Problem, Recipe, Selection};

type Outcome = Record<UciDesign, ()>;

fn named(name: &str) -> Dataset {
    let manifest = Manifest::embedded().unwrap();
    load_named(name, &manifest, &SearchPath::standard(None)).unwrap()
}

/// A set of the mirror, where there is one.
fn mirrored(name: &str) -> Option<Dataset> {
    let mirror = std::env::var_os("SVN_DATA_MIRROR").filter(|value| !value.is_empty())?;
    let mut path = SearchPath::default();
    path.push("SVN_DATA_MIRROR", Path::new(&mirror));
    let manifest = Manifest::embedded().unwrap();
    Some(load_named(name, &manifest, &path).unwrap())
}

fn small() -> Recipe {
    Recipe {
        epochs: Some(3),
        particles: Some(3),
        hidden: Some(vec![8]),
        batch_size: Some(32),
        ..Recipe::default()
    }
}

/// One fold of a data set.
struct OneFold {
    uci: Uci,
    fold: usize,
}

impl Study for OneFold {
    const NAME: &'static str = Uci::NAME;
    const STREAM: &'static str = Uci::STREAM;
    type Design = UciDesign;
    type Extra = ();

    fn designs(&self) -> Vec<UciDesign> {
        self.uci.designs()
    }

    fn runs(&self, design: &UciDesign) -> Vec<RunId> {
        let all = self.uci.runs(design).into_iter();
        all.filter(|run| run.fold == self.fold).collect()
    }

    fn problem(&self, design: &UciDesign) -> Problem {
        self.uci.problem(design)
    }

    fn warnings(&self) -> Vec<String> {
        self.uci.warnings()
    }

    fn fold(&self, of: Of<'_, UciDesign>) -> Result<Fold, EngineError> {
        self.uci.fold(of)
    }
}

struct Case {
    uci: Uci,
    trainer: Box<dyn Trainer>,
}

fn of(data: Dataset) -> Uci {
    let options = UciOptions {
        seeds: vec![0],
        ..UciOptions::default()
    };
    Uci::of(vec![data], &options).unwrap()
}

impl Case {
    fn new(data: Dataset) -> Self {
        Self {
            uci: of(data),
            trainer: networks(Device::Cpu).unwrap(),
        }
    }

    fn design(&self) -> UciDesign {
        self.uci.designs().remove(0)
    }

    fn resolve(&self, method: Method, settings: &Recipe) -> Recipe {
        let problem = self.uci.problem(&self.design());
        settings.resolve(method, &problem).unwrap().recipe
    }

    fn with<T>(
        &self,
        (method, settings, fold): (Method, &Recipe, usize),
        act: impl Fn(&Plan<'_, OneFold>, &Work<'_>, &Path) -> T,
    ) -> T {
        let folder = tempfile::tempdir().unwrap();
        let asked = Asked {
            methods: vec![method],
            settings: settings.clone(),
            jobs: 1,
            ..Asked::default()
        };
        let study = OneFold {
            uci: self.uci.clone(),
            fold,
        };
        let work = Work {
            trainer: self.trainer.as_ref(),
            jobs: 1,
            folder: folder.path(),
            save_models: false,
            observer: &Silent,
        };
        act(&Plan::new(&study, &asked).unwrap(), &work, folder.path())
    }

    fn run(&self, method: Method, settings: &Recipe, fold: usize) -> Outcome {
        self.with((method, settings, fold), |plan, work, folder| {
            let mut store = Store::open(folder, "uci").unwrap();
            let finished = run(plan, &mut store, work).unwrap();
            assert_eq!(finished.failures, []);
            store.entries()[0].clone()
        })
    }

    /// Best validation NLL and epoch of the first fold, as the choice of settings sees it.
    fn validate(&self, method: Method, settings: &Recipe) -> (f64, usize) {
        self.with((method, settings, 0), |plan, work, folder| {
            let mut store = Store::open(folder, "uci").unwrap();
            let options = TuneOptions {
                budget: 1,
                folds: None,
                given: settings.clone(),
            };
            let winners = tune(plan, &options, &mut store, work, &mut |_| Ok(())).unwrap();
            (winners[0].score, store.entries()[0].best_epoch.unwrap())
        })
    }
}

fn best_of_curve(outcome: &Outcome) -> f64 {
    let point = &outcome.curve[outcome.best_epoch - 1];
    point.validation_nll.unwrap()
}

#[test]
fn every_method_and_curvature_trains_on_numbers_and_classes() {
    for data in [named("autompg"), named("breast")] {
        let case = Case::new(data);
        let key = match case.design().task {
            Task::Regression => "rmse",
            Task::Classification => "nll_logit",
        };
        for method in Method::ALL {
            let hessians: &[Option<CurvatureFamily>] = if method.is_newton() {
                &[
                    Some(CurvatureFamily::Full),
                    Some(CurvatureFamily::Diag),
                    Some(CurvatureFamily::Kfac),
                    Some(CurvatureFamily::Ekfac),
                ]
            } else {
                &[None]
            };
            for &hessian in hessians {
                let settings = Recipe { hessian, ..small() };
                let outcome = case.run(method, &settings, 0);
                let name = format!("{} {method} {hessian:?}", case.design().dataset);
                // What takes no step has one.
                let epochs = if method == Method::Linear { 1 } else { 3 };
                assert_eq!(outcome.epochs, epochs, "{name}");
                for metric in ["nll", key] {
                    assert!(outcome.metric(metric).is_some(), "{name} {metric}");
                }
                // A deviation of the target is 7.8 mpg; two classes at random have an NLL of ln 2.
                let bound = if key == "rmse" { 7.8 } else { 2f64.ln() };
                let reached = outcome.metric(key).unwrap();
                // Noise of the scale of a step keeps the stochastic method from settling in three epochs.
                assert!(
                    reached < bound || method == Method::Ssvn,
                    "{name}: {reached}"
                );
            }
        }
    }
}

#[test]
fn folds_and_likelihoods_that_were_tried_are_in_the_record() {
    let case = Case::new(named("autompg"));
    let folded = Recipe {
        select: Some(Selection::Kfold),
        ..small()
    };
    let open = Recipe {
        likelihood: Some(Head::Auto),
        ..folded.clone()
    };
    let outcome = case.run(Method::Svn, &open, 0);
    assert_eq!(outcome.settings.likelihood, Some(Head::Auto));
    // Many cars have the same miles a gallon: no mixture is tried.
    let keys = [
        "linear_weight",
        "tried_gaussian",
        "tried_student_t",
        "tried_mixture",
    ];
    let there = keys.map(|key| outcome.metric(key).is_some());
    assert_eq!(there, [true, true, true, false]);
    let alone = |outcome: &Outcome| {
        let mut warnings = outcome.warnings.iter();
        warnings.any(|text| text.starts_with("each of 5 folds has one member"))
    };
    assert!(alone(&outcome), "{:?}", outcome.warnings);
    let two = Recipe {
        particles: Some(10),
        ..folded.clone()
    };
    assert!(!alone(&case.run(Method::Svn, &two, 0)));
    let linear = case.run(Method::Linear, &folded, 0);
    assert!(linear.metric("nll").is_some() && linear.metric("linear_weight").is_none());
}

#[test]
fn the_evidence_and_what_it_has_chosen_are_in_the_record() {
    let case = Case::new(named("autompg"));
    let evidence = Recipe {
        select: Some(Selection::Evidence),
        ..small()
    };
    let outcome = case.run(Method::Svn, &evidence, 0);
    assert_eq!(outcome.settings.prior_precision, None);
    let tried = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0].map(|precision| {
        let key = format!("tried_prior_precision_{precision}");
        (precision, outcome.metric(&key).unwrap())
    });
    let best = tried.into_iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let chosen = outcome
        .metric("prior_precision")
        .zip(outcome.metric("evidence_nll"));
    assert_eq!(chosen, best);
    let warned = |outcome: &Outcome| {
        let mut warnings = outcome.warnings.iter();
        warnings.any(|text| text.starts_with("the evidence is largest at prior precision"))
    };
    let end = best.is_some_and(|(precision, _)| precision == 0.1 || precision == 100.0);
    assert_eq!(warned(&outcome), end);
    // No row chooses an epoch.
    assert_eq!((outcome.validation_nll, outcome.best_epoch), (None, 3));
    assert!(
        outcome
            .curve
            .iter()
            .all(|point| point.validation_nll.is_none())
    );
    let given = Recipe {
        prior_precision: Some(2.0),
        ..evidence
    };
    let outcome = case.run(Method::Svn, &given, 0);
    assert_eq!(outcome.metric("prior_precision"), Some(2.0));
    assert!(!warned(&outcome));

    let by_layer = Recipe {
        select: Some(Selection::EvidenceByLayer),
        ..given
    };
    let outcome = case.run(Method::Svn, &by_layer, 0);
    let tried = outcome
        .metrics
        .iter()
        .filter(|(key, _)| key.starts_with("tried_"));
    let tried: Vec<(&str, f64)> = tried
        .map(|(key, nll)| (key.as_str(), nll.unwrap()))
        .collect();
    // One precision for all layers, and at least one for each.
    assert!((2..=5).contains(&tried.len()), "{:?}", outcome.metrics);
    let (chosen, least) = *tried.iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
    assert_eq!(outcome.metric("evidence_nll"), Some(least));
    let layers = (1..=9).map(|layer| outcome.metric(&format!("layer_precision_{layer}")));
    let layers: Vec<f64> = layers.flatten().collect();
    let by_layer = chosen.starts_with("tried_layer_precisions_");
    assert_eq!(
        layers.len(),
        if by_layer { 2 } else { 0 },
        "{chosen} {layers:?}"
    );
}

/// Three members have two directions, the data far more.
#[test]
fn members_that_cannot_be_as_wide_as_the_posterior_are_told() {
    let case = Case::new(named("autompg"));
    let narrow = |outcome: &Outcome| {
        let mut warnings = outcome.warnings.iter();
        warnings.any(|text| text.starts_with("3 members span 2 of the "))
    };
    let functions = case.run(Method::FunctionSvn, &small(), 0);
    assert!(narrow(&functions), "{:?}", functions.warnings);
    let kernel = functions.kernel.unwrap();
    assert!(kernel.effective_parameters.unwrap() > 2.0, "{kernel:?}");
    let weights = case.run(Method::Svn, &small(), 0);
    assert!(!narrow(&weights));
    assert!(weights.kernel.unwrap().effective_parameters.is_some());
    let first_order = case.run(Method::FunctionWgd, &small(), 0);
    assert_eq!(first_order.kernel.unwrap().effective_parameters, None);
}

#[test]
fn choosing_settings_sees_the_best_epoch_of_the_benchmark() {
    for data in [named("autompg"), named("breast")] {
        let case = Case::new(data);
        for method in [Method::Ensemble, Method::Svn] {
            let outcome = case.run(method, &small(), 0);
            let validated = case.validate(method, &small());
            assert_eq!(validated, (best_of_curve(&outcome), outcome.best_epoch));
            assert_eq!(outcome.validation_nll, None);
        }
    }
}

#[test]
fn laplace_variances_widen_what_is_predicted() {
    let case = Case::new(named("autompg"));
    for noise in [Noise::Homoscedastic, Noise::Heteroscedastic] {
        let with = |predictive| Recipe {
            noise: Some(noise),
            predictive: Some(predictive),
            ..small()
        };
        let [moments, epistemic, laplace] = [
            Predictive::Moments,
            Predictive::Epistemic,
            Predictive::Laplace,
        ]
        .map(|predictive| case.run(Method::Svn, &with(predictive), 0));
        let value = |outcome: &Outcome, key: &str| outcome.metric(key);
        assert_eq!(value(&moments, "nll_epistemic"), None);
        // The same members: what does not depend on the predictive density is the same.
        for key in ["rmse", "nll_paper"] {
            assert_eq!(value(&moments, key), value(&epistemic, key));
            assert_eq!(value(&moments, key), value(&laplace, key));
        }
        assert_eq!(value(&moments, "nll"), value(&epistemic, "nll"));
        let spread_only = value(&epistemic, "nll_paper").unwrap();
        let with_laplace = value(&epistemic, "nll_epistemic").unwrap();
        assert!(with_laplace < spread_only, "{with_laplace} {spread_only}");
        for (outcome, chosen) in [(&moments, false), (&epistemic, true), (&laplace, true)] {
            let precision = outcome.metrics.get("laplace_precision");
            assert_eq!(precision.is_some(), chosen);
            let range = 10f64.powf(-2.5) * 0.999..10f64.powf(4.5) * 1.001;
            assert!(precision.is_none_or(|precision| range.contains(&precision.unwrap())));
        }
        if noise == Noise::Heteroscedastic {
            let width = |outcome| value(outcome, "width90").unwrap();
            assert!(width(&laplace) > width(&moments));
        }
        // Judged by its own density.
        assert_eq!(
            case.validate(Method::Svn, &with(Predictive::Laplace)).0,
            laplace.validation_nll.unwrap()
        );
        assert_ne!(laplace.validation_nll.unwrap(), best_of_curve(&laplace));
    }
}

#[test]
fn two_classes_go_by_one_logit_or_two() {
    let case = Case::new(named("breast"));
    let settings = |binary| Recipe {
        binary,
        epochs: Some(5),
        ..small()
    };
    let resolved = case.resolve(Method::Svn, &settings(None));
    assert_eq!(resolved.binary, Some(Binary::Bernoulli));
    assert_eq!((resolved.noise, resolved.predictive), (None, None));
    let nll = [Binary::Bernoulli, Binary::Softmax].map(|binary| {
        let outcome = case.run(Method::Svn, &settings(Some(binary)), 0);
        assert!(outcome.metric("accuracy").unwrap() > 0.9);
        outcome.metric("nll").unwrap()
    });
    // Networks of other outputs start elsewhere; both end near the same fit.
    assert!((nll[0] - nll[1]).abs() < 0.1, "{nll:?}");
}

#[test]
fn class_probabilities_averaged_over_laplace_suit_the_validation_rows_no_worse() {
    let case = Case::new(named("breast"));
    for binary in [Binary::Bernoulli, Binary::Softmax] {
        let settings = |predictive| Recipe {
            binary: Some(binary),
            epochs: Some(5),
            predictive,
            ..small()
        };
        let plain = case.run(Method::Svn, &settings(None), 0);
        let laplace = case.run(Method::Svn, &settings(Some(Predictive::Laplace)), 0);
        assert!(!plain.metrics.contains_key("laplace_precision"));
        assert!(laplace.metric("laplace_precision").unwrap() > 0.0);
        // At the largest precision that is tried the variances are next to nothing.
        let nll = laplace.validation_nll.unwrap();
        assert!(nll <= best_of_curve(&plain) + 1e-3, "{nll}");
        let validated = case.validate(Method::Svn, &settings(Some(Predictive::Laplace)));
        assert_eq!(validated.0, nll);
        // Probabilities move towards one half, past which none goes.
        let entropy = |outcome: &Outcome| outcome.metric("entropy");
        assert!(entropy(&laplace) > entropy(&plain));
        // There is no noise to leave out.
        let resolved = case.resolve(Method::Svn, &settings(Some(Predictive::Epistemic)));
        assert_eq!(resolved.predictive, None);
    }
}

#[test]
fn temperature_helps_the_validation_rows_and_is_reported() {
    let case = Case::new(named("breast"));
    // One member: the class of a mixture may change with the temperature, that of a softmax does not.
    let settings = |temperature| Recipe {
        temperature,
        particles: Some(1),
        ..small()
    };
    let plain = case.run(Method::Ensemble, &settings(None), 0);
    let scaled = case.run(Method::Ensemble, &settings(Some(true)), 0);
    let temperature = scaled.metric("temperature").unwrap();
    assert!((0.05..=20.0).contains(&temperature));
    assert!(!plain.metrics.contains_key("temperature"));
    assert!(scaled.validation_nll.unwrap() <= best_of_curve(&plain) + 1e-12);
    assert_eq!(plain.metric("accuracy"), scaled.metric("accuracy"));
}

#[test]
fn a_fold_without_one_class_has_no_auroc_and_says_so() {
    // Three rows of class `c` are in the test parts of three of five folds.
    let text: String = (0..100)
        .map(|i| {
            let class = if i % 33 == 1 { "c" } else { ["a", "b"][i % 2] };
            format!("{},{},{class}\n", (i * 7) % 23, i % 2 + (i * i) % 5)
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rare.csv");
    std::fs::write(&file, format!("x,z,y\n{text}")).unwrap();
    let data = load(&file, &LoadOptions::new("rare", Task::Classification)).unwrap();
    assert_eq!(data.y.iter().filter(|y| **y == 2.0).count(), 3);
    let case = Case::new(data);
    let settings = Recipe {
        batch_size: Some(16),
        ..small()
    };
    assert_eq!(case.resolve(Method::Svn, &settings).binary, None);
    let outcomes: Vec<Outcome> = (0..5)
        .map(|fold| case.run(Method::Svn, &settings, fold))
        .collect();
    let absent = "auroc: class 2 is absent from the test part".to_owned();
    let without: Vec<bool> = outcomes
        .iter()
        .map(|outcome| outcome.warnings.contains(&absent))
        .collect();
    assert_eq!(without.iter().filter(|fold| **fold).count(), 2);
    for (outcome, without) in outcomes.iter().zip(without) {
        assert_eq!(outcome.metric("auroc").is_none(), without);
        assert!(outcome.metric("nll").is_some());
    }
}

#[test]
fn a_target_that_is_constant_where_it_is_trained_is_said_with_set_and_fold() {
    // The one row that differs is in the test part of one fold.
    let rows: String = (0..30)
        .map(|i| format!("{i},{}\n", f64::from(u8::from(i == 11))))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("flat.csv");
    std::fs::write(&file, format!("x,y\n{rows}")).unwrap();
    let data = load(&file, &LoadOptions::new("flat", Task::Regression)).unwrap();
    let uci = of(data);
    let asked = Asked {
        methods: vec![Method::Svn],
        jobs: 1,
        ..Asked::default()
    };
    let error = Plan::new(&uci, &asked).err().unwrap();
    assert!(error.is_input());
    let text = error.to_string();
    let start = "data set `flat`, fold ";
    let end = " of seed 0: the target is 0 in all 19 training rows: there is nothing to learn";
    assert!(text.starts_with(start) && text.ends_with(end), "{text}");
}

#[test]
fn sets_of_the_mirror_are_learned() {
    // The targets' deviation on yacht is 15.2; two classes at random have an NLL of 0.69.
    for (name, key, bound) in [
        ("yacht", "rmse", 15.2),
        ("heart", "nll_logit", 0.69),
        ("ionosphere", "nll_logit", 0.69),
    ] {
        let Some(data) = mirrored(name) else {
            return;
        };
        let case = Case::new(data);
        for method in [Method::Ensemble, Method::Svn] {
            let settings = Recipe {
                epochs: Some(10),
                ..small()
            };
            let outcome = case.run(method, &settings, 1);
            let reached = outcome.metric(key).unwrap();
            assert!(reached < bound, "{name} {method}: {reached}");
        }
    }
}
