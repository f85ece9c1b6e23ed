//! Tables of fixed records: which rows can be told apart, what fits on a terminal, what is said of the kernel and of times.

use crate::terminal::without_padding;
use std::collections::BTreeMap;

use svn_models::recipe::Method;

use super::super::{RecordOf, losses, markdown, summarise};
use super::*;
use crate::split::Protocol;
use crate::study::uci::{UciPage, samples};

type Record = RecordOf<UciPage>;

fn summary(records: &[Record]) -> Summary<UciPage> {
    summarise(records, BTreeMap::new()).unwrap()
}

fn table(summary: &Summary<UciPage>, title: &str) -> Grid {
    let mut tables = tables(summary).into_iter();
    tables.find(|grid| grid.title.starts_with(title)).unwrap()
}

/// The records of a set with a copy of each, changed.
fn with_copies(dataset: &str, change: impl Fn(&mut Record)) -> Vec<Record> {
    let mut records = samples::records();
    records.retain(|record| record.design.dataset == dataset);
    let mut copies = records.clone();
    for record in &mut copies {
        change(record);
        samples::rehash(record);
    }
    records.extend(copies);
    records
}

fn labels(records: &[Record]) -> Vec<String> {
    let results = summary(records).results;
    results.into_iter().map(|row| row.label).collect()
}

#[test]
fn rows_that_would_look_the_same_are_told_apart() {
    let of = |change: &dyn Fn(&mut Record)| labels(&with_copies("yacht", change));
    assert_eq!(
        of(&|record| record.settings.lr = Some(0.5)),
        [
            "ensemble, lr 0.01",
            "ensemble, lr 0.5",
            "svn, lr 0.3",
            "svn, lr 0.5"
        ]
    );
    assert_eq!(
        of(&|record| record.settings.ring = Some(6))[2..],
        ["svn, no ring", "svn, ring 6"]
    );
    // The data alone.
    assert_eq!(
        of(&|record| record.design.data_sha256 = "fedcba9876543210".to_owned())[..2],
        ["ensemble, data 012345", "ensemble, data fedcba"]
    );
    // The splits, whatever else differs.
    let other = |record: &mut Record| {
        record.design.protocol = Protocol::Standard { splits: 20 };
        record.settings.lr = Some(0.5);
    };
    assert_eq!(
        of(&other),
        [
            "ensemble, paper",
            "svn, paper",
            "ensemble, standard",
            "svn, standard"
        ]
    );
    // Labels stand in every table, in sentences and beside warnings.
    let summary = summary(&with_copies("yacht", |record| {
        record.settings.lr = Some(0.5)
    }));
    let text = without_padding(&markdown(&summary, &[]));
    for part in [
        "| yacht | svn, lr 0.5 | 3/5 |",
        "* yacht, svn, lr 0.5 (2 of 3 runs): a member",
        "| yacht | svn, lr 0.5 | paper × 5 | `01234567` | 0 |",
        "* yacht, svn, lr 0.5: nll_paper 1.375 ± 0.072 above the paper's -0.36 ± 0.19",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn runs_are_those_of_all_seeds() {
    let mut records = samples::records();
    let mut other = records[0].clone();
    other.seed = 7;
    records.push(other);
    let summary = summary(&records);
    let row = &summary.results[0];
    assert_eq!(
        (row.runs, row.planned, row.seeds.as_slice()),
        (4, 10, &[0, 7][..])
    );
    assert_eq!(table(&summary, "Classification").rows[0][2], "4/10");
}

#[test]
fn means_are_over_the_runs_where_the_metric_is_defined() {
    let mut records = samples::records();
    records.retain(|record| record.design.dataset == "yacht");
    records[1].metrics.insert("nll".to_owned(), None);
    let summary = summary(&records);
    let nll = summary.results[0].metric("nll").unwrap();
    // Folds 0 and 2: 0.5 and 0.75.
    assert_eq!((nll.mean, nll.n), (0.625, 2));
    assert_eq!(summary.results[0].runs, 3);
    assert_eq!(summary.results[0].metrics["coverage90"], None);
}

#[test]
fn brief_tables_fit_a_terminal_whatever_the_names() {
    let widest = Method::ALL
        .into_iter()
        .max_by_key(|method| method.name().len());
    let manifest = crate::data::Manifest::embedded().unwrap();
    let sets = manifest.entries().iter().map(|entry| entry.name.clone());
    let longest = sets.max_by_key(String::len).unwrap();
    for set in ["heart", "yacht"] {
        let mut records = samples::records();
        records.retain(|record| record.design.dataset == set && record.method == Method::Svn);
        for record in &mut records {
            record.design.dataset = longest.clone();
            record.design.protocol = Protocol::Standard { splits: 20 };
            record.method = widest.unwrap();
            samples::rehash(record);
            for value in record.metrics.values_mut().flatten() {
                *value -= 100.0;
            }
        }
        let rows = summary(&records).results;
        assert_eq!(rows[0].label, widest.unwrap().name());
        let grid = &results(&rows, Detail::Brief)[0];
        assert!(
            grid.width() <= TERMINAL && grid.header.contains(&"nll".to_owned()),
            "{grid:?}"
        );
    }
    // Short names leave room for the paper's cell.
    let grids = results(&summary(&samples::records()).results, Detail::Brief);
    assert_eq!(
        grids[0].header,
        ["dataset", "method", "runs", "nll", "nll_paper", "paper",]
    );
    assert_eq!(grids[0].rows[1][5], "-0.36 ± 0.19");
    assert!(
        grids.iter().all(|grid| grid.width() <= TERMINAL),
        "{grids:?}"
    );
    assert!(table(&summary(&samples::records()), "Regression").width() > TERMINAL);
}

#[test]
fn a_kernel_that_does_nothing_is_told() {
    let kernel = table(&summary(&samples::records()), "Kernel");
    assert_eq!(
        kernel.rows,
        [
            ["heart", "svn", "0.500", "25.00 %", ""],
            [
                "yacht",
                "svn",
                "0.500",
                "0.10 %",
                "the kernel does nothing here"
            ]
        ]
        .map(|row| row.map(str::to_owned).to_vec())
    );
    let mut records = samples::records();
    for record in &mut records {
        record.kernel = None;
    }
    assert!(
        tables(&summary(&records))
            .iter()
            .all(|grid| grid.title != "Kernel")
    );
}

#[test]
fn times_that_old_records_lack_are_dashes() {
    let mut records = samples::records();
    for record in &mut records {
        if record.method == Method::Svn {
            record.timing.epochs_s.clear();
        }
    }
    let summary = summary(&records);
    let rows = table(&summary, "Cost").rows;
    // Best epochs 3, 4 and 3 of 0.25 s each: (0.75 + 1 + 0.75)/3.
    let known = ["2.000", "3", "1.000", "3.3", "0.833", "1.500", "4.500"];
    let lacking = ["2.000", "3", "–", "3.3", "–", "1.500", "4.500"];
    assert_eq!(
        (&rows[0][2..], &rows[1][2..]),
        (
            &known.map(str::to_owned)[..],
            &lacking.map(str::to_owned)[..]
        )
    );
    let convergence = &table(&summary, "Epochs").rows[0];
    assert_eq!(convergence[5..], ["–", "1.000", "3/3"].map(str::to_owned));
    // Not even a part of the runs stands for all.
    records[0].timing.epochs_s.clear();
    assert_eq!(self::summary(&records).results[0].cost.fit_s, None);
}

#[test]
fn a_difference_is_judged_by_its_standard_error() {
    for (errors, words) in [
        (-2.0, "better beyond 2 se"),
        (-1.5, "better beyond 1 se"),
        (-1.0, "within 1 se"),
        (0.7, "within 1 se"),
        (f64::NAN, "within 1 se"),
        (1.1, "worse beyond 1 se"),
        (f64::INFINITY, "worse beyond 2 se"),
    ] {
        assert_eq!(verdict(errors), words);
    }
}

#[test]
fn losses_are_said() {
    let mut records = samples::records();
    records.retain(|record| record.design.dataset == "yacht" && record.fold == 0);
    let svn = &mut records[1];
    svn.metrics.insert("nll".to_owned(), Some(0.75));
    svn.metrics.insert("coverage90".to_owned(), Some(0.5));
    svn.metrics.remove("nll_paper");
    for point in &mut svn.curve {
        point.validation_nll = point.validation_nll.map(|nll| nll + 1.0);
    }
    assert_eq!(
        losses(&summary(&records).results),
        [
            "yacht, svn: nll above ensemble's by 0.250",
            "yacht, svn: no sooner at the ensemble's best validation NLL (epoch – against 4.000, 0 of 1 runs get there)",
            "yacht, svn: 90 % intervals cover 0.500",
        ]
    );
}

#[test]
fn the_best_published_cell_stands_beside_ours() {
    let mut records = samples::records();
    records.retain(|record| record.design.dataset == "yacht");
    assert!(
        tables(&summary(&records))
            .iter()
            .all(|grid| grid.title != "Beside the literature")
    );
    for record in &mut records {
        record.design.dataset = "energy".to_owned();
        record.design.protocol = Protocol::standard(768);
        samples::rehash(record);
    }
    let rows = table(&summary(&records), "Beside the literature").rows;
    let nll = [
        "energy",
        "ensemble",
        "nll",
        "0.625 ± 0.072",
        "0.53 ± 0.08 (w-evidential)",
    ];
    assert_eq!(
        (rows.len(), &rows[0]),
        (4, &nll.map(str::to_owned).to_vec())
    );
}
