//! Tuning with the test runner: no test rows, same bytes for any number of threads, resume, what the command leaves.

mod support;

use std::collections::BTreeSet;
use std::path::Path;

use support::Ridge;
use svn_bench::data::{Dataset, Manifest, SearchPath, load_named};
use svn_bench::engine::tune::{Trial, TuneOptions, Winner, candidates, rungs, tune};
use svn_bench::engine::{Asked, Fold, Of, Plan, RunId, Silent, Store, Study, TunedSource, Work};
use svn_bench::study::uci::{Uci, UciDesign, UciOptions};
use svn_models::posterior::CurvatureFamily;
use svn_models::recipe::{Method, Noise, Recipe};

fn settings() -> Recipe {
    Recipe {
        epochs: Some(6),
        particles: Some(2),
        ..Recipe::default()
    }
}

fn asked() -> Asked {
    Asked {
        methods: vec![Method::Svn, Method::Ensemble],
        settings: settings(),
        jobs: 1,
        ..Asked::default()
    }
}

fn autompg() -> Dataset {
    let manifest = Manifest::embedded().unwrap();
    load_named("autompg", &manifest, &SearchPath::standard(None)).unwrap()
}

fn uci() -> Uci {
    let options = UciOptions {
        seeds: vec![0],
        ..UciOptions::default()
    };
    Uci::of(vec![autompg()], &options).unwrap()
}

fn open(folder: &Path) -> Store<Trial<UciDesign>> {
    Store::open(folder, "uci").unwrap()
}

fn work<'a>(folder: &'a Path, jobs: usize, trainer: &'a Ridge) -> Work<'a> {
    Work {
        trainer,
        jobs,
        folder,
        save_models: false,
        observer: &Silent,
    }
}

fn tune_in<S: Study<Design = UciDesign>>(
    folder: &Path,
    study: &S,
    jobs: usize,
    trainer: &Ridge,
) -> Vec<Winner> {
    let plan = Plan::new(study, &asked()).unwrap();
    let tuning = TuneOptions {
        budget: 6,
        folds: Some(2.min(plan.groups[0].runs.len())),
        given: settings(),
    };
    let mut store = open(folder);
    tune(
        &plan,
        &tuning,
        &mut store,
        &work(folder, jobs, trainer),
        &mut |_| Ok(()),
    )
    .unwrap()
}

fn without_timings(folder: &Path) -> String {
    let text = std::fs::read_to_string(folder.join("tune.jsonl")).unwrap();
    text.lines()
        .map(|line| line.split(",\"wall_s\":").next().unwrap().to_owned() + "\n")
        .collect()
}

#[test]
fn trials_and_winners_do_not_depend_on_threads_or_interruptions() {
    let uci = uci();
    let whole = tempfile::tempdir().unwrap();
    let winners = tune_in(whole.path(), &uci, 1, &Ridge::default());
    assert_eq!(winners.len(), 2);
    // Rungs of 6 and 2 configurations, 2 folds, 2 methods.
    let text = without_timings(whole.path());
    assert_eq!(text.lines().count(), (6 + 2) * 2 * 2);

    let threads = tempfile::tempdir().unwrap();
    assert_eq!(tune_in(threads.path(), &uci, 4, &Ridge::default()), winners);
    assert_eq!(without_timings(threads.path()), text);

    let written = std::fs::read_to_string(whole.path().join("tune.jsonl")).unwrap();
    for cut in [written.len() / 3, written.len() - 2] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tune.jsonl"), &written[..cut]).unwrap();
        assert_eq!(tune_in(folder.path(), &uci, 2, &Ridge::default()), winners);
        assert_eq!(without_timings(folder.path()), text, "{cut}");
    }
}

#[test]
fn the_winner_is_the_least_mean_of_the_last_rung_and_no_worse_than_the_default() {
    let folder = tempfile::tempdir().unwrap();
    let winners = tune_in(folder.path(), &uci(), 1, &Ridge::default());
    let store = open(folder.path());
    for winner in winners {
        let last: Vec<_> = store
            .entries()
            .iter()
            .filter(|trial| trial.method == winner.method && trial.epochs == 6)
            .collect();
        assert_eq!(last.len(), 4);
        let mean = |config: &str| {
            let of = last.iter().filter(|trial| trial.config == config);
            of.map(|trial| trial.validation_nll.unwrap()).sum::<f64>() / 2.0
        };
        let least = last
            .iter()
            .map(|trial| mean(&trial.config))
            .fold(f64::INFINITY, f64::min);
        assert_eq!(winner.score, least);
        assert!(winner.score <= winner.default_score.unwrap());
        let chosen = last
            .iter()
            .find(|trial| trial.settings == winner.settings)
            .unwrap();
        assert_eq!(mean(&chosen.config), least);
    }
}

/// One fold whose test rows may hold anything: the rows of one fold are training rows of another.
struct Changed {
    uci: Uci,
    test: Option<f64>,
}

impl Study for Changed {
    const NAME: &'static str = Uci::NAME;
    type Design = UciDesign;
    type Extra = ();

    fn designs(&self) -> Vec<UciDesign> {
        self.uci.designs()
    }

    fn runs(&self, _: &UciDesign) -> Vec<RunId> {
        vec![RunId { seed: 0, fold: 0 }]
    }

    fn problem(&self, design: &UciDesign) -> svn_models::recipe::Problem {
        self.uci.problem(design)
    }

    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    fn fold(&self, of: Of<'_, UciDesign>) -> Result<Fold, svn_bench::engine::EngineError> {
        let mut fold = self.uci.fold(of)?;
        if let Some(value) = self.test {
            fold.test.x.fill(-value);
            fold.test.y.fill(value);
        }
        Ok(fold)
    }
}

#[test]
fn what_the_test_rows_hold_changes_no_trial() {
    let trials = |test| {
        let folder = tempfile::tempdir().unwrap();
        let study = Changed { uci: uci(), test };
        tune_in(folder.path(), &study, 1, &Ridge::default());
        without_timings(folder.path())
    };
    assert_eq!(trials(None), trials(Some(1e6)));
}

#[test]
fn every_method_has_the_same_number_of_configurations_its_default_first() {
    let uci = uci();
    let problem = uci.problem(&uci.designs()[0]);
    let given = Recipe {
        noise: Some(Noise::Homoscedastic),
        ..Recipe::default()
    };
    for method in Method::ALL
        .into_iter()
        .filter(|method| *method != Method::Linear)
    {
        let sample = |seed| candidates(("autompg", &problem), method, &given, 30, seed).unwrap();
        let found = sample(0);
        assert_eq!(found.len(), 30);
        assert_eq!(
            found[0],
            given.resolve(method, &problem).unwrap().recipe,
            "the default"
        );
        for (index, settings) in found.iter().enumerate() {
            settings.validate().unwrap();
            assert_eq!(settings.noise, Some(Noise::Homoscedastic), "given");
            assert!(!found[..index].contains(settings));
            let ring = settings.ring.unwrap_or(1);
            let rows = settings.batch_size.unwrap() * ring;
            assert!(ring == 1 || rows <= 384, "{rows}");
        }
        assert_eq!(found, sample(0));
        assert_ne!(found, sample(1));
    }
    assert_eq!(rungs(30, 50).len(), 3);
}

/// The bound of steps by an average is tried in nats for all rows, whatever their number; the first candidate is the default.
#[test]
fn curvature_that_is_an_average_has_bounds_in_nats() {
    let uci = uci();
    let problem = uci.problem(&uci.designs()[0]);
    let rows = problem.rows as f64;
    for (hessian, default) in [
        (CurvatureFamily::Diag, 20.0),
        (CurvatureFamily::Ekfac, 20.0 / 9.0),
    ] {
        let given = Recipe {
            hessian: Some(hessian),
            ..Recipe::default()
        };
        let found = candidates(("autompg", &problem), Method::Svn, &given, 60, 0).unwrap();
        let tenths = |nats: f64| (10.0 * nats).round() as usize;
        let of = |recipe: &Recipe| tenths(recipe.trust_region.unwrap() * rows);
        assert_eq!(of(&found[0]), tenths(default), "{hessian}");
        let tried: BTreeSet<usize> = found[1..].iter().map(of).collect();
        assert_eq!(tried, BTreeSet::from([25, 50, 100, 200, 400]), "{hessian}");
        // Both, whatever the default.
        let averaged = |recipe: &Recipe| recipe.momentum.is_some_and(|beta| beta > 0.0);
        let with = found[1..].iter().filter(|recipe| averaged(recipe)).count();
        assert!((1..found.len() - 1).contains(&with), "{hessian}: {with}");
    }
}

#[test]
fn failed_trials_lose_and_are_written_down() {
    let folder = tempfile::tempdir().unwrap();
    let broken = Ridge {
        fail: Some((Method::Svn, 1)),
        panic: Some((Method::Ensemble, 0)),
        ..Ridge::default()
    };
    let winners = tune_in(folder.path(), &uci(), 2, &broken);
    assert_eq!(winners, []);
    let store = open(folder.path());
    let failures: Vec<&str> = store
        .entries()
        .iter()
        .filter_map(|trial| trial.failure.as_deref())
        .collect();
    assert_eq!(failures.len(), store.entries().len() / 2);
    assert!(failures.contains(&"the loss is not finite after step 3"));
    assert!(failures.contains(&"internal error: index out of bounds"));
}

#[test]
fn the_command_line_goes_before_the_file_and_the_file_before_the_default() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("autompg.toml"),
        "[svn]\nlr = 0.5\nbatch_size = 8\n",
    )
    .unwrap();
    let mut asked = asked();
    asked.tuned = TunedSource::Path(folder.path().to_owned());
    asked.settings.batch_size = Some(32);
    let uci = uci();
    let plan = Plan::new(&uci, &asked).unwrap();
    // What the file has nothing for is told.
    let file = folder.path().display();
    assert_eq!(
        plan.warnings,
        [format!(
            "--settings {file} has nothing for ensemble on autompg: the method's defaults are used"
        )]
    );
    let settings = |method| {
        let mut groups = plan.groups.iter();
        let group = groups.find(|group| group.configuration.method == method);
        let settings = &group.unwrap().configuration.settings;
        let lr = settings.newton_lr.or(settings.lr);
        (lr, settings.batch_size, settings.epochs)
    };
    assert_eq!(settings(Method::Svn), (Some(0.5), Some(32), Some(6)));
    assert_eq!(settings(Method::Ensemble), (Some(0.03), Some(32), Some(6)));
}

#[test]
fn more_folds_than_the_protocol_has_are_refused() {
    let (uci, folder) = (uci(), tempfile::tempdir().unwrap());
    let plan = Plan::new(&uci, &asked()).unwrap();
    let mut store = open(folder.path());
    for (folds, expected) in [
        (0, "--tune-folds 0: expected 1 to the 5 folds of autompg"),
        (6, "--tune-folds 6: expected 1 to the 5 folds of autompg"),
    ] {
        let tuning = TuneOptions {
            budget: 2,
            folds: Some(folds),
            given: settings(),
        };
        let ridge = Ridge::default();
        let work = work(folder.path(), 1, &ridge);
        let error = tune(&plan, &tuning, &mut store, &work, &mut |_| Ok(())).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}
