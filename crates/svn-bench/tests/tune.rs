//! Tuning with the test runner: no test rows, same bytes for any number of threads, resume, what the command leaves.

mod support;

use std::path::Path;

use support::Ridge;
use svn_bench::data::{Manifest, SearchPath};
use svn_bench::experiment::tune::{TrialStore, TuneOptions, Winner, candidates, rungs, tune};
use svn_bench::experiment::uci::{Plan, Silent, TunedSource, UciOptions};
use svn_bench::experiment::{Method, Recipe};
use svn_models::recipe::Noise;

fn options(jobs: usize) -> UciOptions {
    UciOptions {
        datasets: vec!["autompg".to_owned()],
        methods: vec![Method::Svn, Method::Ensemble],
        settings: Recipe {
            epochs: Some(6),
            particles: Some(2),
            ..Recipe::default()
        },
        jobs,
        ..UciOptions::default()
    }
}

fn plan(options: &UciOptions) -> Plan {
    let manifest = Manifest::embedded().unwrap();
    let path = SearchPath::standard(None);
    Plan::new(options, &manifest, &path).unwrap()
}

fn tune_in(folder: &Path, plan: &Plan, jobs: usize, runner: &Ridge) -> Vec<Winner> {
    let mut store = TrialStore::open(folder).unwrap();
    let tuning = TuneOptions {
        budget: 6,
        folds: Some(2.min(plan.datasets[0].folds.len())),
        given: options(jobs).settings,
        jobs,
    };
    tune(plan, &tuning, runner, &mut store, &Silent, &mut |_| Ok(())).unwrap()
}

fn without_timings(folder: &Path) -> String {
    let text = std::fs::read_to_string(folder.join("tune.jsonl")).unwrap();
    text.lines()
        .map(|line| line.split(",\"wall_s\":").next().unwrap().to_owned() + "\n")
        .collect()
}

#[test]
fn trials_and_winners_do_not_depend_on_threads_or_interruptions() {
    let plan = plan(&options(1));
    let whole = tempfile::tempdir().unwrap();
    let winners = tune_in(whole.path(), &plan, 1, &Ridge::default());
    assert_eq!(winners.len(), 2);
    // Rungs of 6 and 2 configurations, 2 folds, 2 methods.
    let text = without_timings(whole.path());
    assert_eq!(text.lines().count(), (6 + 2) * 2 * 2);

    let threads = tempfile::tempdir().unwrap();
    assert_eq!(
        tune_in(threads.path(), &plan, 4, &Ridge::default()),
        winners
    );
    assert_eq!(without_timings(threads.path()), text);

    let written = std::fs::read_to_string(whole.path().join("tune.jsonl")).unwrap();
    for cut in [written.len() / 3, written.len() - 2] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tune.jsonl"), &written[..cut]).unwrap();
        assert_eq!(tune_in(folder.path(), &plan, 2, &Ridge::default()), winners);
        assert_eq!(without_timings(folder.path()), text, "{cut}");
    }
}

#[test]
fn the_winner_is_the_least_mean_of_the_last_rung_and_no_worse_than_the_default() {
    let folder = tempfile::tempdir().unwrap();
    let winners = tune_in(folder.path(), &plan(&options(1)), 1, &Ridge::default());
    let store = TrialStore::open(folder.path()).unwrap();
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

#[test]
fn what_the_test_rows_hold_changes_no_trial() {
    let trials = |change: bool| {
        let mut plan = plan(&options(1));
        let dataset = &mut plan.datasets[0];
        // The first fold alone: test rows of one fold are training rows of another.
        dataset.folds.truncate(1);
        if change {
            for &row in &dataset.folds[0].test {
                dataset.data.y[row] = 1e6 + row as f64;
                dataset.data.x.row_mut(row).fill(-1e6);
            }
        }
        let folder = tempfile::tempdir().unwrap();
        tune_in(folder.path(), &plan, 1, &Ridge::default());
        without_timings(folder.path())
    };
    assert_eq!(trials(false), trials(true));
}

#[test]
fn every_method_has_the_same_number_of_configurations_its_default_first() {
    let plan = plan(&options(1));
    let summary = &plan.datasets[0].summary;
    let given = Recipe {
        noise: Some(Noise::Homoscedastic),
        ..Recipe::default()
    };
    for method in Method::ALL {
        let sample = |seed| candidates(summary, method, &given, 30, seed).unwrap();
        let found = sample(0);
        assert_eq!(found.len(), 30);
        assert_eq!(
            found[0],
            summary.resolve(method, &given).unwrap(),
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

#[test]
fn failed_trials_lose_and_are_written_down() {
    let folder = tempfile::tempdir().unwrap();
    let broken = Ridge {
        fail: Some((Method::Svn, 1)),
        panic: Some((Method::Ensemble, 0)),
        ..Ridge::default()
    };
    let winners = tune_in(folder.path(), &plan(&options(2)), 2, &broken);
    assert_eq!(winners, []);
    let store = TrialStore::open(folder.path()).unwrap();
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
    let mut options = options(1);
    options.tuned = TunedSource::Path(folder.path().to_owned());
    options.settings.batch_size = Some(32);
    let plan = plan(&options);
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
    let (plan, folder) = (plan(&options(1)), tempfile::tempdir().unwrap());
    let mut store = TrialStore::open(folder.path()).unwrap();
    for (folds, expected) in [
        (0, "--tune-folds 0: expected 1 to the 5 folds of autompg"),
        (6, "--tune-folds 6: expected 1 to the 5 folds of autompg"),
    ] {
        let tuning = TuneOptions {
            budget: 2,
            folds: Some(folds),
            given: options(1).settings,
            jobs: 1,
        };
        let error = tune(
            &plan,
            &tuning,
            &Ridge::default(),
            &mut store,
            &Silent,
            &mut |_| Ok(()),
        )
        .unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}
