//! Resume after crashes, canonical order, files that are no records.

use super::*;
use crate::data::Task;
use crate::experiment::{FoldOutcome, Method, Recipe};
use crate::record::{Configuration, PartSizes};
use crate::split::Protocol;
use svn_models::recipe::{NetworkKind, Problem};

fn record(method: Method, fold: usize) -> Record {
    let configuration = Configuration {
        dataset: "yacht".into(),
        task: Task::Regression,
        data_sha256: String::new(),
        method,
        protocol: Protocol::Paper { folds: 5 },
        seed: 0,
        settings: Recipe::default(),
    };
    let mut outcome = FoldOutcome::default();
    outcome
        .metrics
        .values
        .insert("nll".into(), Some(0.1 * fold as f64));
    Record::new(
        &configuration,
        fold,
        PartSizes {
            train: 6,
            validation: 2,
            test: 2,
        },
        outcome,
    )
}

fn read(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("records.jsonl")).unwrap()
}

#[test]
fn order_of_the_end_does_not_depend_on_the_order_of_arrival() {
    let all: Vec<_> = [Method::Svn, Method::Ensemble]
        .into_iter()
        .flat_map(|m| (0..3).map(move |fold| record(m, fold)))
        .collect();
    let write = |records: &mut dyn Iterator<Item = &Record>| {
        let folder = tempfile::tempdir().unwrap();
        let mut store = RecordStore::open(folder.path()).unwrap();
        for record in records {
            store.append(record.clone()).unwrap();
        }
        store.finish().unwrap();
        assert!(!folder.path().join("records.jsonl.partial").exists());
        read(folder.path())
    };
    let forward = write(&mut all.iter());
    assert_eq!(forward, write(&mut all.iter().rev()));
    assert!(
        forward
            .lines()
            .next()
            .unwrap()
            .contains(r#""method":"ensemble""#)
    );
    assert_eq!(forward.lines().count(), 6);
}

#[test]
fn a_record_is_on_disk_as_soon_as_it_is_appended_and_only_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = RecordStore::open(folder.path()).unwrap();
    store.append(record(Method::Svn, 0)).unwrap();
    assert_eq!(read(folder.path()).lines().count(), 1);
    store.append(record(Method::Svn, 0)).unwrap();
    assert_eq!(read(folder.path()).lines().count(), 1);
    store.finish().unwrap();
    store.append(record(Method::Svn, 1)).unwrap();
    assert_eq!(
        read(folder.path()).lines().count(),
        2,
        "appends go to the new file after a rewrite"
    );
}

#[test]
fn a_line_torn_at_any_byte_is_dropped_and_the_rest_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = RecordStore::open(folder.path()).unwrap();
    store.append(record(Method::Svn, 0)).unwrap();
    let first = read(folder.path());
    store.append(record(Method::Svn, 1)).unwrap();
    let both = read(folder.path());
    for cut in first.len()..both.len() {
        std::fs::write(folder.path().join("records.jsonl"), &both[..cut]).unwrap();
        let mut store = RecordStore::open(folder.path()).unwrap();
        // All but the line end is a whole record.
        let whole = cut == both.len() - 1;
        assert_eq!(store.was_torn(), !whole && cut > first.len(), "{cut}");
        assert_eq!(store.contains(&record(Method::Svn, 1).config, 1), whole);
        assert!(store.contains(&record(Method::Svn, 0).config, 0));
        store.append(record(Method::Svn, 1)).unwrap();
        assert_eq!(read(folder.path()), both, "{cut}");
    }
}

#[test]
fn files_that_are_no_records() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.jsonl");
    let message = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let error = RecordStore::open(folder.path()).unwrap_err();
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
    assert_eq!(
        message(&format!(
            "{good}\n{}\n",
            good.replace("\"schema\":2", "\"schema\":9")
                .replace("fold", "part")
        )),
        format!(
            "{path_text}, line 2: schema 9, this program writes schema 2; choose another --out"
        )
    );
    assert!(
        message(&format!(
            "{}\n",
            good.replace("\"schema\":2", "\"schema\":3")
        ))
        .contains("line 1: schema 3")
    );
    let text = message(&format!("{good}\n{{\"schema\":2}}\n{good}\n"));
    assert!(
        text.starts_with(&format!(
            "{path_text}, line 2: not a record (missing field `config`"
        )),
        "{text}"
    );
    assert!(message("hello\n").contains("line 1: not a record"));
}

/// A line as programs wrote it when settings that were not used were null and there was one step size.
#[test]
fn a_record_of_schema_1_is_that_of_the_same_run_now() {
    let folder = tempfile::tempdir().unwrap();
    let mut now = record(Method::LlSvn, 0);
    now.settings = Recipe::default()
        .resolve(Method::LlSvn, &problem())
        .unwrap()
        .recipe;
    now.config = now.configuration().hash();
    let mut old = serde_json::to_value(&now).unwrap();
    old["schema"] = 1.into();
    old["config"] = "0123456789abcdef".into();
    let settings = old["settings"].as_object_mut().unwrap();
    for name in ["activation", "root", "newton_lr", "ll_mode"] {
        settings.remove(name);
    }
    settings.insert("lr".into(), 1.0.into());
    settings.insert("solver".into(), "auto".into());
    settings.insert("binary".into(), serde_json::Value::Null);
    std::fs::write(folder.path().join("records.jsonl"), format!("{old}\n")).unwrap();
    let mut store = RecordStore::open(folder.path()).unwrap();
    assert_eq!(store.entries(), [now.clone()]);
    assert!(store.contains(&now.config, 0));
    store.finish().unwrap();
    assert!(read(folder.path()).starts_with("{\"schema\":2,"));
}

fn problem() -> Problem {
    Problem {
        network: NetworkKind::Mlp,
        rows: 100,
        features: 6,
        classes: None,
    }
}
