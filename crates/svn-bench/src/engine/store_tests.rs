//! Resume after crashes, canonical order, files that are no records.

use super::*;
use crate::data::Task;
use crate::engine::{Configuration, PartSizes, Record, Timing};
use crate::split::Protocol;
use crate::study::uci::UciDesign;
use svn_models::recipe::Recipe;

type Line = Record<UciDesign, ()>;

fn record(method: Method, fold: usize) -> Line {
    let configuration = Configuration {
        study: "uci".to_owned(),
        design: UciDesign {
            dataset: "yacht".into(),
            task: Task::Regression,
            data_sha256: String::new(),
            protocol: Protocol::Paper { folds: 5 },
        },
        method,
        settings: Recipe::default(),
    };
    Record {
        schema: SCHEMA,
        study: "uci".to_owned(),
        config: configuration.hash(),
        design: configuration.design,
        method,
        settings: configuration.settings,
        seed: 0,
        fold,
        rows: PartSizes {
            train: 6,
            validation: 2,
            test: 2,
        },
        epochs: 1,
        best_epoch: 1,
        validation_nll: None,
        metrics: [
            ("nll".to_owned(), Some(0.1 * fold as f64)),
            ("ece".to_owned(), None),
        ]
        .into(),
        extra: (),
        curve: Vec::new(),
        kernel: None,
        warnings: Vec::new(),
        timing: Timing::of(&[1.0], &[0.1], 0.2),
    }
}

fn open(folder: &Path) -> Result<Store<Line>, StoreError> {
    Store::open(folder, "uci")
}

fn read(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("records.jsonl")).unwrap()
}

fn run(fold: usize) -> RunId {
    RunId { seed: 0, fold }
}

#[test]
fn order_of_the_end_does_not_depend_on_the_order_of_arrival() {
    let methods = [Method::Svn, Method::Ensemble].into_iter();
    let all: Vec<_> = methods
        .flat_map(|m| (0..3).map(move |fold| record(m, fold)))
        .collect();
    let write = |records: &mut dyn Iterator<Item = &Line>| {
        let folder = tempfile::tempdir().unwrap();
        let mut store = open(folder.path()).unwrap();
        for record in records {
            store.append(record.clone()).unwrap();
        }
        store.finish().unwrap();
        let files = std::fs::read_dir(folder.path()).unwrap().flatten();
        let mut names: Vec<_> = files.map(|file| file.file_name()).collect();
        names.sort();
        assert_eq!(names, [".lock", "records.jsonl"]);
        read(folder.path())
    };
    let forward = write(&mut all.iter());
    assert_eq!(forward, write(&mut all.iter().rev()));
    let first = forward.lines().next().unwrap();
    assert!(first.contains(r#""method":"ensemble""#), "{first}");
    assert_eq!(forward.lines().count(), 6);
}

#[test]
fn a_record_is_on_disk_as_soon_as_it_is_appended_and_only_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path()).unwrap();
    let lines = || read(folder.path()).lines().count();
    store.append(record(Method::Svn, 0)).unwrap();
    assert_eq!(lines(), 1);
    store.append(record(Method::Svn, 0)).unwrap();
    assert_eq!(lines(), 1);
    store.finish().unwrap();
    store.append(record(Method::Svn, 1)).unwrap();
    assert_eq!(lines(), 2, "appends go to the new file after a rewrite");
    drop(store);
    // Every bit is kept.
    let store = open(folder.path()).unwrap();
    assert_eq!(
        store.entries(),
        [record(Method::Svn, 0), record(Method::Svn, 1)]
    );
}

#[test]
fn a_line_torn_at_any_byte_is_dropped_and_the_rest_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path()).unwrap();
    store.append(record(Method::Svn, 0)).unwrap();
    let first = read(folder.path());
    store.append(record(Method::Svn, 1)).unwrap();
    drop(store);
    let both = read(folder.path());
    for cut in first.len()..both.len() {
        std::fs::write(folder.path().join("records.jsonl"), &both[..cut]).unwrap();
        let mut store = open(folder.path()).unwrap();
        // All but the line end is a whole record.
        let whole = cut == both.len() - 1;
        assert_eq!(
            store.warnings().is_empty(),
            whole || cut == first.len(),
            "{cut}"
        );
        assert_eq!(
            store.contains(&record(Method::Svn, 1).config, run(1)),
            whole
        );
        assert!(store.contains(&record(Method::Svn, 0).config, run(0)));
        store.append(record(Method::Svn, 1)).unwrap();
        assert_eq!(read(folder.path()), both, "{cut}");
    }
}

/// Two files one behind the other, and a fold that five folds do not have.
#[test]
fn each_run_counts_once_and_only_if_there_is_such_a_fold() {
    let folder = tempfile::tempdir().unwrap();
    let text = |records: &[Line]| -> String {
        let lines = records
            .iter()
            .map(|r| serde_json::to_string(r).unwrap() + "\n");
        lines.collect()
    };
    let (a, b) = (record(Method::Svn, 0), record(Method::Svn, 1));
    let strange = record(Method::Svn, 99);
    let all = [a.clone(), b.clone(), strange, b.clone(), a.clone()];
    std::fs::write(folder.path().join("records.jsonl"), text(&all)).unwrap();
    let mut store = open(folder.path()).unwrap();
    assert_eq!(store.entries(), [a, b]);
    assert_eq!(
        store.warnings(),
        [
            "records.jsonl: 2 runs are in it more than once; the first of each counts",
            "records.jsonl: 1 lines are of folds that their splits do not have; they count for nothing"
        ]
    );
    // What counts for nothing is not thrown away.
    store.finish().unwrap();
    assert_eq!(read(folder.path()), text(&all[..3]));
}

#[test]
fn what_cannot_be_written_is_no_record() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path()).unwrap();
    store.append(record(Method::Svn, 0)).unwrap();
    let before = read(folder.path());
    let path = folder.path().join("records.jsonl");
    let good = std::mem::replace(&mut store.file, File::open(&path).unwrap());
    let refused = store.append(record(Method::Svn, 1)).unwrap_err();
    assert!(!refused.is_input());
    assert!(!store.contains(&record(Method::Svn, 1).config, run(1)));
    store.file = good;
    store.append(record(Method::Svn, 1)).unwrap();
    assert!(read(folder.path()).starts_with(&before));
    assert_eq!(read(folder.path()).lines().count(), 2);
}

#[test]
fn files_that_are_no_records() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.jsonl");
    let message = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let error = open(folder.path()).unwrap_err();
        assert!(error.is_input());
        assert_eq!(
            read(folder.path()),
            text,
            "a file that is refused is left as it was"
        );
        error.to_string()
    };
    let good = serde_json::to_string(&record(Method::Svn, 0)).unwrap();
    let path_text = path.display();
    let later = good.replace("\"schema\":3", "\"schema\":9");
    let other = later.replace("\"fold\"", "\"part\"");
    let expected =
        format!("{path_text}, line 2: schema 9, this program reads up to 3; choose another --out");
    assert_eq!(message(&format!("{good}\n{other}\n")), expected);
    assert!(message(&format!("{later}\n")).contains("line 1: schema 9"));
    let text = message(&format!("{good}\n{{\"schema\":3}}\n{good}\n"));
    let start = format!("{path_text}, line 2: not a record of bench-uci (missing field `study`");
    assert!(text.starts_with(&start), "{text}");
    assert!(message("hello\n").contains("line 1: not a record of bench-uci"));
    let foreign = good.replace("\"study\":\"uci\"", "\"study\":\"toy\"");
    assert_eq!(
        message(&format!("{foreign}\n")),
        format!(
            "{path_text}, line 1: a record of bench-toy, not of bench-uci; choose another --out"
        )
    );
    let file = open(&path).unwrap_err();
    assert_eq!(
        file.to_string(),
        format!("{path_text} is a file; --out takes a folder")
    );
}
