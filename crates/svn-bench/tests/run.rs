//! Running a plan with the test runner: same bytes for any number of threads, resume, failures, panics.

mod support;

use std::path::Path;
use std::sync::Mutex;

use support::Ridge;
use svn_bench::data::{LoadOptions, Manifest, SearchPath, Task, load as load_table};
use svn_bench::experiment::uci::{
    Finished, Group, JobLabel, Observer, Plan, Prepared, Silent, UciOptions, run,
};
use svn_bench::experiment::{EpochProgress, Method, Recipe};
use svn_bench::record::{Configuration, Record, RecordStore};
use svn_models::stein::Bandwidth;

fn options(datasets: &[&str]) -> UciOptions {
    UciOptions {
        datasets: datasets.iter().map(|name| (*name).to_owned()).collect(),
        methods: vec![Method::Svn, Method::Ensemble],
        settings: Recipe {
            epochs: Some(3),
            particles: Some(3),
            ..Recipe::default()
        },
        jobs: 1,
        ..UciOptions::default()
    }
}

fn plan(options: &UciOptions) -> Plan {
    Plan::new(
        options,
        &Manifest::embedded().unwrap(),
        &SearchPath::standard(None),
    )
    .unwrap()
}

fn run_in(
    folder: &Path,
    options: &UciOptions,
    runner: &Ridge,
    observer: &dyn Observer,
) -> Finished {
    let mut store = RecordStore::open(folder).unwrap();
    run(&plan(options), options.jobs, runner, &mut store, observer).unwrap()
}

/// The file without its timings, which come last in a line.
fn without_timings(folder: &Path) -> String {
    let text = std::fs::read_to_string(folder.join("records.jsonl")).unwrap();
    text.lines()
        .map(|line| line.split(",\"timing\":").next().unwrap().to_owned() + "\n")
        .collect()
}

#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl Observer for Log {
    fn planned(&self, jobs: usize, done: usize) {
        self.0
            .lock()
            .unwrap()
            .push(format!("planned {jobs} done {done}"));
    }

    fn progress(&self, job: &JobLabel, progress: EpochProgress) {
        self.0.lock().unwrap().push(format!(
            "{job}: epoch {}/{}",
            progress.epoch, progress.epochs
        ));
    }

    fn finished(&self, job: &JobLabel, record: &Record) {
        self.0
            .lock()
            .unwrap()
            .push(format!("{job}: best {}", record.best_epoch > 0));
    }

    fn failed(&self, job: &JobLabel, message: &str) {
        self.0.lock().unwrap().push(format!("{job}: {message}"));
    }
}

#[test]
fn bytes_do_not_depend_on_the_number_of_threads() {
    let options = options(&["autompg", "breast"]);
    let bytes: Vec<String> = [1, 4]
        .into_iter()
        .map(|jobs| {
            let folder = tempfile::tempdir().unwrap();
            let finished = run_in(
                folder.path(),
                &UciOptions {
                    jobs,
                    ..options.clone()
                },
                &Ridge::default(),
                &Silent,
            );
            assert_eq!(
                finished,
                Finished {
                    ran: 20,
                    skipped: 0,
                    failures: vec![]
                }
            );
            without_timings(folder.path())
        })
        .collect();
    assert_eq!(bytes[0], bytes[1]);
    assert_eq!(bytes[0].lines().count(), 20);
}

#[test]
fn ridge_learns_so_that_the_pipeline_is_right() {
    let folder = tempfile::tempdir().unwrap();
    run_in(
        folder.path(),
        &options(&["autompg", "breast"]),
        &Ridge::default(),
        &Silent,
    );
    let store = RecordStore::open(folder.path()).unwrap();
    let mean = |dataset: &str, key: &str| {
        let values: Vec<f64> = store
            .entries()
            .iter()
            .filter(|r| r.dataset == dataset)
            .map(|r| r.metrics[key].unwrap())
            .collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    // Linear regression on these sets: rmse about 3.4 mpg of a deviation of 7.8, accuracy about 0.95.
    assert!((2.8..4.0).contains(&mean("autompg", "rmse")));
    assert!((0.8..1.0).contains(&mean("autompg", "coverage90")));
    assert!(mean("breast", "accuracy") > 0.92);
    assert!(mean("breast", "auroc") > 0.97);
}

#[test]
fn a_rerun_skips_what_is_done_and_other_settings_are_other_runs() {
    let folder = tempfile::tempdir().unwrap();
    let (options, runner) = (options(&["autompg"]), Ridge::default());
    run_in(folder.path(), &options, &runner, &Silent);
    let before = std::fs::read(folder.path().join("records.jsonl")).unwrap();
    let log = Log::default();
    let again = run_in(folder.path(), &options, &runner, &log);
    assert_eq!((again.ran, again.skipped), (0, 10));
    assert_eq!(*log.0.lock().unwrap(), ["planned 0 done 10"]);
    assert_eq!(
        std::fs::read(folder.path().join("records.jsonl")).unwrap(),
        before
    );

    let other = UciOptions {
        seed: 1,
        ..options.clone()
    };
    assert_eq!(run_in(folder.path(), &other, &runner, &Silent).ran, 10);
    let mut slower = options.clone();
    slower.settings.lr = Some(0.005);
    assert_eq!(run_in(folder.path(), &slower, &runner, &Silent).ran, 10);
    // The default said aloud is the same run: resolved settings count.
    let mut explicit = options.clone();
    explicit.settings.bandwidth = Some(Bandwidth::Median);
    assert_eq!(
        run_in(folder.path(), &explicit, &runner, &Silent).skipped,
        10
    );
}

#[test]
fn a_run_cut_off_anywhere_ends_in_the_same_bytes() {
    let (options, runner) = (options(&["autompg"]), Ridge::default());
    let whole = tempfile::tempdir().unwrap();
    run_in(whole.path(), &options, &runner, &Silent);
    let text = std::fs::read_to_string(whole.path().join("records.jsonl")).unwrap();
    for cut in [0, text.len() / 3, text.len() / 2, text.len() - 2] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("records.jsonl"), &text[..cut]).unwrap();
        let finished = run_in(folder.path(), &options, &runner, &Silent);
        let whole_lines = text[..cut].matches('\n').count();
        assert_eq!(
            (finished.skipped, finished.ran),
            (whole_lines, 10 - whole_lines),
            "{cut}"
        );
        assert_eq!(
            without_timings(folder.path()),
            without_timings(whole.path()),
            "{cut}"
        );
    }
}

#[test]
fn a_failed_fold_and_a_panic_lose_no_others_and_are_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let options = UciOptions {
        jobs: 2,
        ..options(&["autompg"])
    };
    let broken = Ridge {
        fail: Some((Method::Svn, 1)),
        panic: Some((Method::Ensemble, 4)),
        ..Ridge::default()
    };
    let log = Log::default();
    let finished = run_in(folder.path(), &options, &broken, &log);
    let failures: Vec<_> = finished
        .failures
        .iter()
        .map(|f| format!("{}: {}", f.job, f.message))
        .collect();
    assert_eq!(
        failures,
        [
            "autompg svn fold 2/5: the loss is not finite after step 3",
            "autompg ensemble fold 5/5: internal error: index out of bounds"
        ]
    );
    assert_eq!(finished.ran, 8);
    let lines = log.0.lock().unwrap();
    assert_eq!(
        lines.iter().filter(|line| line.contains("epoch")).count(),
        8 * 3
    );
    assert_eq!(
        lines
            .iter()
            .filter(|line| line.ends_with("best true"))
            .count(),
        8
    );

    let again = run_in(folder.path(), &options, &Ridge::default(), &Silent);
    assert_eq!((again.ran, again.skipped), (2, 8));
    let whole = tempfile::tempdir().unwrap();
    run_in(whole.path(), &options, &Ridge::default(), &Silent);
    assert_eq!(
        without_timings(folder.path()),
        without_timings(whole.path())
    );
}

#[test]
fn methods_share_random_streams_and_folds_do_not() {
    let options = options(&["autompg"]);
    let plan = plan(&options);
    let draw = |method, fold| {
        let job = plan.datasets[0]
            .job(fold, method, &Recipe::default(), 0)
            .unwrap();
        rand::Rng::next_u64(&mut job.stream("init"))
    };
    assert_eq!(draw(Method::Svn, 0), draw(Method::Ensemble, 0));
    assert_ne!(draw(Method::Svn, 0), draw(Method::Svn, 1));
}

#[test]
fn jobs_are_scaled_by_their_training_rows() {
    let plan = plan(&options(&["autompg"]));
    let (job, test) = plan.datasets[0]
        .job_and_test(2, Method::Svn, &Recipe::default(), 0)
        .unwrap();
    for column in job.train.x.columns() {
        let n = column.len() as f64;
        assert!(column.sum().abs() / n < 1e-12);
        assert!((column.mapv(|v| v * v).sum() / n - 1.0).abs() < 1e-12);
    }
    assert!(job.train.y.sum().abs() < 1e-9);
    assert!(
        test.y.sum().abs() > 1e-3,
        "test rows are not centred on themselves"
    );
    let scaler = &job.target_scaler;
    let back = test.y.mapv(|z| scaler.mean + scaler.scale * z);
    assert!(
        back.iter()
            .zip(&test.original_y)
            .all(|(a, b)| (a - b).abs() < 1e-12)
    );
}

#[test]
fn a_leak_is_written_beside_every_result() {
    let rows: String = (0..60)
        .map(|i| format!("{},{i},{}\n", i * i % 13, 2 * i + i % 3))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("leaky.csv");
    std::fs::write(&file, format!("a,leak,y\n{rows}")).unwrap();
    let load = LoadOptions {
        target: Some("y".to_owned()),
        ..LoadOptions::new("leaky", Task::Regression)
    };
    let options = options(&[]);
    let prepared = Prepared::new(load_table(&file, &load).unwrap(), &options).unwrap();
    let configuration = Configuration {
        dataset: "leaky".to_owned(),
        task: Task::Regression,
        data_sha256: prepared.data.sha256.clone(),
        method: Method::Svn,
        protocol: prepared.protocol,
        seed: 0,
        settings: options.settings.clone(),
    };
    let group = Group {
        dataset: 0,
        config: configuration.hash(),
        configuration,
    };
    let plan = Plan {
        datasets: vec![prepared],
        groups: vec![group],
    };
    let mut store = RecordStore::open(folder.path()).unwrap();
    run(&plan, 2, &Ridge::default(), &mut store, &Silent).unwrap();
    assert_eq!(store.entries().len(), 5);
    for record in store.entries() {
        assert_eq!(
            record.warnings,
            ["leaky: feature `leak` has correlation 1.000 with the target `y`; is it a leak?"]
        );
    }
}
