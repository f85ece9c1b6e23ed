//! The cache, made-up patients, and what is never written down.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::synthetic::{NOISE_HOURS, Synthetic};
use super::*;

/// Counts passes over tables.
#[derive(Default)]
struct Passes(AtomicUsize);

impl Progress for Passes {
    fn begin(&self, _: &str, bytes: u64) {
        assert!(bytes > 0);
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn people(patients: u64) -> (TempDir, Tables) {
    let folder = tempfile::tempdir().unwrap();
    let made = Synthetic {
        patients,
        other_rows: 1,
        ..Synthetic::default()
    };
    made.write(folder.path()).unwrap();
    let tables = Tables::find(folder.path()).unwrap();
    assert_eq!(tables.release, Release::Synthetic);
    (folder, tables)
}

#[test]
fn a_second_run_reads_the_cache_until_a_source_changes() {
    let (folder, tables) = people(12);
    let cache = folder.path().join("cache");
    let run = |tables: &Tables, options: &ExtractOptions| {
        let passes = Passes::default();
        let (table, manifest) = cached(tables, &cache, options, &passes).unwrap();
        (table, manifest, passes.0.into_inner())
    };
    let options = ExtractOptions::default();
    let (table, manifest, passes) = run(&tables, &options);
    assert_eq!(passes, 3);
    assert_eq!(manifest.flow.kept, table.rows());
    assert_eq!(manifest.sources.len(), 6);
    let (again, same, passes) = run(&tables, &options);
    assert_eq!((passes, &same), (0, &manifest));
    assert_eq!((&again.names, &again.hours), (&table.names, &table.hours));
    let bits = |table: &FeatureTable| -> Vec<u64> { table.x.iter().map(|v| v.to_bits()).collect() };
    assert_eq!(bits(&again), bits(&table));
    // Other options, a table that was changed, a cache that was.
    let without = ExtractOptions {
        without_deaths: true,
        ..options
    };
    assert_eq!(run(&tables, &without).2, 3);
    assert_eq!(run(&tables, &options).2, 3);
    let text = std::fs::read(&tables.outputevents).unwrap();
    std::fs::write(&tables.outputevents, [text, gzip(b"")].concat()).unwrap();
    assert_eq!(run(&tables, &options).2, 3);
    let path = cache.join("features.csv");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace('3', "4")).unwrap();
    assert_eq!(run(&tables, &options).2, 3);
    assert_eq!(run(&tables, &options).2, 0);
}

#[test]
fn the_cache_holds_numbers_alone() {
    let (folder, tables) = people(12);
    let cache = folder.path().join("cache");
    cached(&tables, &cache, &ExtractOptions::default(), &Quiet).unwrap();
    let text = std::fs::read_to_string(cache.join("features.csv")).unwrap();
    let numbers = text.lines().skip(1).flat_map(|line| line.split(','));
    assert!(numbers.clone().count() > 1000);
    assert!(
        numbers
            .filter(|cell| !cell.is_empty())
            .all(|cell| cell.parse::<f64>().is_ok())
    );
    // Neither identifiers nor times of anybody.
    for text in [
        text,
        std::fs::read_to_string(cache.join("features.json")).unwrap(),
    ] {
        for id in ["100000", "200000", "300000", "21", "Sinus"].map(|id| format!(",{id}")) {
            let long = text
                .split([',', '\n'])
                .any(|cell| cell.len() == 8 && cell.starts_with(&id[1..]) && !cell.contains('.'));
            assert!(!long, "{id}");
        }
    }
    let names: Vec<_> = std::fs::read_dir(&cache)
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

/// What is measured tells the length of stay as it was made to.
#[test]
fn made_up_stays_hang_on_what_is_measured() {
    let (_folder, tables) = people(600);
    let Extraction { table, flow, .. } =
        extract(&tables, &ExtractOptions::default(), &Quiet).unwrap();
    assert!(
        flow.removed
            .iter()
            .filter(|removal| removal.stays > 0)
            .count()
            >= 3,
        "{}",
        flow.rules()
    );
    let column = |name: &str, mean: f64, sd: f64| -> Vec<f64> {
        let of = |row| (table.value(row, name).unwrap() - mean) / sd;
        (0..table.rows()).map(of).collect()
    };
    let age = column("age", 60.0, 13.0);
    let rate = column("heart_rate_mean", 88.0, 12.0);
    let creatinine = column("creatinine_mean", 1.6, 0.4);
    let lactate = column("lactate_mean", 2.4, 0.6);
    let pressure = column("mean_pressure_mean", 80.0, 8.0);
    let mut errors = Vec::new();
    for row in (0..table.rows()).filter(|&row| !lactate[row].is_nan()) {
        let hours = 110.0
            + 10.0 * age[row]
            + 16.0 * rate[row]
            + 12.0 * creatinine[row]
            + 8.0 * lactate[row].tanh()
            + 4.0 * (pressure[row].powi(2) - 1.0);
        errors.push(table.hours[row] - hours);
    }
    let n = errors.len() as f64;
    let mean = errors.iter().sum::<f64>() / n;
    let sd = (errors.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / n).sqrt();
    // The noise, and a little for levels that are measured with some; five standard errors.
    assert!(mean.abs() < 5.0 * sd / n.sqrt(), "{mean}");
    assert!(sd > NOISE_HOURS * 0.85 && sd < NOISE_HOURS * 1.2, "{sd}");
    // A late result would tell the length of stay.
    let late = (0..table.rows()).filter_map(|row| table.value(row, "creatinine_max"));
    assert!(late.fold(0.0, f64::max) < 4.0);
}
