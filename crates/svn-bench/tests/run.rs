//! Running a plan with the test runner: same bytes for any number of threads, resume, failures, panics.

mod support;

use std::path::Path;
use std::sync::Mutex;

use support::Ridge;
use svn_bench::data::{LoadOptions, Manifest, SearchPath, Task, load as load_table};
use svn_bench::engine::{
    Asked, EngineError, EpochProgress, Finished, JobLabel, Observer, Plan, Shown, Silent, Store,
    StoreError, Work, run,
};
use svn_bench::study::uci::{Uci, UciDesign, UciOptions};
use svn_models::recipe::{Method, Recipe};
use svn_models::stein::Bandwidth;

type Record = svn_bench::engine::Record<UciDesign, ()>;

fn asked() -> Asked {
    Asked {
        methods: vec![Method::Svn, Method::Ensemble],
        settings: Recipe {
            epochs: Some(3),
            particles: Some(3),
            ..Recipe::default()
        },
        jobs: 1,
        ..Asked::default()
    }
}

fn uci(datasets: &[&str], seeds: &[u64]) -> Uci {
    let options = UciOptions {
        datasets: datasets.iter().map(|name| (*name).to_owned()).collect(),
        seeds: seeds.to_vec(),
        ..UciOptions::default()
    };
    Uci::load(
        &options,
        &Manifest::embedded().unwrap(),
        &SearchPath::standard(None),
    )
    .unwrap()
}

fn open(folder: &Path) -> Store<Record> {
    Store::open(folder, "uci").unwrap()
}

fn run_in(
    folder: &Path,
    (uci, asked): (&Uci, &Asked),
    trainer: &Ridge,
    observer: &dyn Observer,
) -> Finished {
    let work = Work {
        trainer,
        jobs: asked.jobs,
        folder,
        save_models: false,
        observer,
    };
    run(&Plan::new(uci, asked).unwrap(), &mut open(folder), &work).unwrap()
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

    fn finished(&self, job: &JobLabel, shown: &Shown<'_>) {
        self.0
            .lock()
            .unwrap()
            .push(format!("{job}: best {}", shown.best_epoch > 0));
    }

    fn failed(&self, job: &JobLabel, message: &str) {
        self.0.lock().unwrap().push(format!("{job}: {message}"));
    }
}

#[test]
fn bytes_do_not_depend_on_the_number_of_threads() {
    let uci = uci(&["autompg", "breast"], &[0]);
    let bytes: Vec<String> = [1, 4]
        .into_iter()
        .map(|jobs| {
            let folder = tempfile::tempdir().unwrap();
            let asked = Asked { jobs, ..asked() };
            let finished = run_in(folder.path(), (&uci, &asked), &Ridge::default(), &Silent);
            let expected = Finished {
                ran: 20,
                skipped: 0,
                failures: vec![],
            };
            assert_eq!(finished, expected);
            without_timings(folder.path())
        })
        .collect();
    assert_eq!(bytes[0], bytes[1]);
    assert_eq!(bytes[0].lines().count(), 20);
}

#[test]
fn ridge_learns_so_that_the_pipeline_is_right() {
    let folder = tempfile::tempdir().unwrap();
    let uci = uci(&["autompg", "breast"], &[0]);
    run_in(folder.path(), (&uci, &asked()), &Ridge::default(), &Silent);
    let store = open(folder.path());
    let mean = |dataset: &str, key: &str| {
        let of = store
            .entries()
            .iter()
            .filter(|r| r.design.dataset == dataset);
        let values: Vec<f64> = of.map(|r| r.metric(key).unwrap()).collect();
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
    let (one, asked, trainer) = (uci(&["autompg"], &[0]), asked(), Ridge::default());
    run_in(folder.path(), (&one, &asked), &trainer, &Silent);
    let before = std::fs::read(folder.path().join("records.jsonl")).unwrap();
    let log = Log::default();
    let again = run_in(folder.path(), (&one, &asked), &trainer, &log);
    assert_eq!((again.ran, again.skipped), (0, 10));
    assert_eq!(*log.0.lock().unwrap(), ["planned 0 done 10"]);
    let after = std::fs::read(folder.path().join("records.jsonl")).unwrap();
    assert_eq!(after, before);

    // Seeds are runs of one configuration.
    let two = uci(&["autompg"], &[0, 1]);
    let more = run_in(folder.path(), (&two, &asked), &trainer, &Silent);
    assert_eq!((more.ran, more.skipped), (10, 10));
    let store = open(folder.path());
    let mut configs: Vec<_> = store.entries().iter().map(|r| r.config.clone()).collect();
    configs.dedup();
    assert_eq!((configs.len(), store.entries().len()), (2, 20));
    drop(store);
    let mut slower = asked.clone();
    slower.settings.lr = Some(0.005);
    assert_eq!(
        run_in(folder.path(), (&one, &slower), &trainer, &Silent).ran,
        10
    );
    // The default said aloud is the same run: resolved settings count.
    let mut explicit = asked.clone();
    explicit.settings.bandwidth = Some(Bandwidth::Median);
    assert_eq!(
        run_in(folder.path(), (&one, &explicit), &trainer, &Silent).skipped,
        10
    );
}

#[test]
fn a_run_cut_off_anywhere_ends_in_the_same_bytes() {
    let (uci, asked, trainer) = (uci(&["autompg"], &[0]), asked(), Ridge::default());
    let whole = tempfile::tempdir().unwrap();
    run_in(whole.path(), (&uci, &asked), &trainer, &Silent);
    let text = std::fs::read_to_string(whole.path().join("records.jsonl")).unwrap();
    for cut in [0, text.len() / 3, text.len() / 2, text.len() - 2] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("records.jsonl"), &text[..cut]).unwrap();
        let finished = run_in(folder.path(), (&uci, &asked), &trainer, &Silent);
        let lines = text[..cut].matches('\n').count();
        assert_eq!(
            (finished.skipped, finished.ran),
            (lines, 10 - lines),
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
    let (uci, asked) = (uci(&["autompg"], &[0]), Asked { jobs: 2, ..asked() });
    let broken = Ridge {
        fail: Some((Method::Svn, 1)),
        panic: Some((Method::Ensemble, 4)),
        ..Ridge::default()
    };
    let log = Log::default();
    let finished = run_in(folder.path(), (&uci, &asked), &broken, &log);
    let failures = finished.failures.iter();
    let failures: Vec<_> = failures
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
    let count = |what: &dyn Fn(&str) -> bool| lines.iter().filter(|line| what(line)).count();
    assert_eq!(count(&|line| line.contains("epoch")), 8 * 3);
    assert_eq!(count(&|line| line.ends_with("best true")), 8);

    let again = run_in(folder.path(), (&uci, &asked), &Ridge::default(), &Silent);
    assert_eq!((again.ran, again.skipped), (2, 8));
    let whole = tempfile::tempdir().unwrap();
    run_in(whole.path(), (&uci, &asked), &Ridge::default(), &Silent);
    assert_eq!(
        without_timings(folder.path()),
        without_timings(whole.path())
    );
}

/// Neither of two processes loses what the other one has done: the second is refused.
#[test]
fn a_folder_is_one_processes_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let refused = Store::<Record>::open(folder.path(), "uci").unwrap_err();
    assert!(matches!(refused, StoreError::InUse { .. }) && refused.is_input());
    let text = refused.to_string();
    assert!(
        text.ends_with("is in use by another process; wait for it, or choose another --out"),
        "{text}"
    );
    drop(store);
    drop(open(folder.path()));
}

#[test]
fn settings_that_nothing_makes_use_of_are_told() {
    let uci = uci(&["autompg"], &[0]);
    let told = |methods: &[Method], settings: Recipe| {
        let asked = Asked {
            methods: methods.to_vec(),
            settings,
            ..asked()
        };
        Plan::new(&uci, &asked).unwrap().warnings
    };
    let curved = Recipe {
        damping: Some(3.0),
        ring: Some(2),
        temperature: Some(true),
        ..Recipe::default()
    };
    assert_eq!(
        told(&[Method::Ensemble], curved.clone()),
        ["damping", "ring", "temperature"]
            .map(|name| format!("--{name} has no effect: nothing that is run makes use of it"))
    );
    assert_eq!(
        told(&[Method::Ensemble, Method::Svn], curved),
        ["--temperature has no effect: nothing that is run makes use of it"]
    );
    let rate = Recipe {
        lr: Some(0.1),
        patience: Some(0),
        ..Recipe::default()
    };
    assert_eq!(told(&[Method::Svn], rate), [""; 0]);
    let both = Asked {
        methods: vec![Method::Svn],
        settings: Recipe {
            lr: Some(0.1),
            newton_lr: Some(0.1),
            ..Recipe::default()
        },
        ..asked()
    };
    let refused = Plan::new(&uci, &both).err().unwrap();
    assert!(matches!(refused, EngineError::Arguments(_)), "{refused}");
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
    let data = load_table(&file, &load).unwrap();
    let options = UciOptions {
        seeds: vec![0],
        ..UciOptions::default()
    };
    let uci = Uci::of(vec![data], &options).unwrap();
    let asked = Asked {
        methods: vec![Method::Svn],
        ..asked()
    };
    run_in(folder.path(), (&uci, &asked), &Ridge::default(), &Silent);
    let store = open(folder.path());
    assert_eq!(store.entries().len(), 5);
    for record in store.entries() {
        assert_eq!(
            record.warnings,
            ["leaky: feature `leak` has correlation 1.000 with the target `y`; is it a leak?"]
        );
    }
}
