//! Features beside those of a slow reader that keeps every row in memory, for blocks and threads of any number.

use std::collections::BTreeMap;

use super::*;
use crate::data::bytes;

/// Charted values of an item list, first 24 hours, stored in time: (charttime, value), in the order of the file.
fn values(
    path: &Path,
    number: &str,
    items: &[&str],
    stays: &BTreeMap<String, Timestamp>,
    range: [f64; 2],
) -> BTreeMap<String, Vec<(Timestamp, f64)>> {
    let mut reader = csv::Reader::from_reader(bytes::open(path).unwrap());
    let mut found: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for row in reader.deserialize() {
        let row: BTreeMap<String, String> = row.unwrap();
        let Some(&begin) = stays.get(&row["subject_id"]) else {
            continue;
        };
        let [time, stored] =
            ["charttime", "storetime"].map(|name| Timestamp::parse(row[name].as_bytes()).unwrap());
        let end = begin.plus_hours(24);
        if !items.contains(&row["itemid"].as_str()) || time < begin || time > end || stored > end {
            continue;
        }
        if let Ok(value) = row[number].parse::<f64>()
            && value >= range[0]
            && value <= range[1]
        {
            found
                .entry(row["subject_id"].clone())
                .or_default()
                .push((time, value));
        }
    }
    found
}

/// First stays of patients with an end, by patient.
fn first_stays(tables: &Tables) -> BTreeMap<String, Timestamp> {
    let mut reader = csv::Reader::from_reader(bytes::open(&tables.icustays).unwrap());
    let mut first: BTreeMap<String, Timestamp> = BTreeMap::new();
    for row in reader.deserialize() {
        let row: BTreeMap<String, String> = row.unwrap();
        let begin = Timestamp::parse(row["intime"].as_bytes()).unwrap();
        let known = first.entry(row["subject_id"].clone()).or_insert(begin);
        *known = begin.min(*known);
    }
    first
}

const PEOPLE: Synthetic = Synthetic {
    patients: 40,
    charted_hours: Some(26),
    other_rows: 2,
    seed: 3,
};

use super::synthetic::Synthetic;

#[test]
fn features_are_those_of_a_slow_reader_for_any_block_and_threads() {
    let folder = tempfile::tempdir().unwrap();
    PEOPLE.write(folder.path()).unwrap();
    let tables = Tables::find(folder.path()).unwrap();
    let whole = extract(&tables, &ExtractOptions::default(), &Quiet).unwrap();
    assert!(whole.table.rows() > 30);

    let stays = first_stays(&tables);
    // Rows of the table are in the order of the patients; those that are left out are known by their rate alone.
    let columns = [
        (
            "heart_rate",
            &tables.chartevents,
            &["220045"][..],
            [10.0, 300.0],
        ),
        (
            "mean_pressure",
            &tables.chartevents,
            &["220052", "220181", "225312"],
            [10.0, 300.0],
        ),
        ("spo2", &tables.chartevents, &["220277"], [20.0, 100.0]),
        ("creatinine", &tables.labevents, &["50912"], [0.05, 40.0]),
        ("lactate", &tables.labevents, &["50813"], [0.05, 50.0]),
    ];
    let mut compared = 0;
    for (name, path, items, range) in columns {
        let slow = values(path, "valuenum", items, &stays, range);
        let mut expected: Vec<[f64; 5]> = slow
            .values()
            .map(|values| {
                let numbers = || values.iter().map(|(_, value)| *value);
                let count = values.len() as f64;
                let last = values.iter().max_by_key(|(time, _)| *time).unwrap().1;
                let (min, max) = (
                    numbers().fold(f64::MAX, f64::min),
                    numbers().fold(f64::MIN, f64::max),
                );
                [numbers().sum::<f64>() / count, min, max, last, count]
            })
            .collect();
        for row in 0..whole.table.rows() {
            let value = |part: &str| whole.table.value(row, &format!("{name}_{part}")).unwrap();
            let found = ["mean", "min", "max", "last", "count"].map(value);
            if found[4] == 0.0 {
                continue;
            }
            // A millionth is what sums are kept to.
            let same =
                |other: &[f64; 5]| found.iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-6);
            let place = expected.iter().position(same);
            let place = place.unwrap_or_else(|| panic!("{name}, row {row}: {found:?}"));
            expected.drain(..=place);
            compared += 1;
        }
    }
    assert!(compared > 150, "{compared}");

    for (block, readers) in [(1, 1), (97, 1), (1000, 3), (1 << 14, 2), (1 << 26, 4)] {
        let options = ExtractOptions {
            block,
            readers,
            ..ExtractOptions::default()
        };
        let other = extract(&tables, &options, &Quiet).unwrap();
        assert_eq!(other.counts, whole.counts, "{options:?}");
        assert_eq!(other.flow, whole.flow);
        // Missing values are not equal to themselves.
        let bits =
            |table: &FeatureTable| -> Vec<u64> { table.x.iter().map(|v| v.to_bits()).collect() };
        assert_eq!(bits(&other.table), bits(&whole.table), "{options:?}");
    }
}
