//! Comparisons of records made by hand.

use super::super::samples;
use super::*;
use crate::experiment::EpochPoint;

/// Three folds of ensemble and SVN on one set, their curves and metrics by hand.
fn records() -> Vec<Record> {
    let mut records = samples::records();
    records.retain(|record| record.dataset == "yacht");
    for record in &mut records {
        let svn = record.method == Method::Svn;
        let nll = match (svn, record.fold) {
            (false, fold) => 1.0 + fold as f64,
            (true, fold) => [0.5, 1.0, 3.5][fold],
        };
        record.metrics.insert("nll".to_owned(), Some(nll));
        let values: &[f64] = match (svn, record.fold) {
            (false, _) => &[4.0, 3.0, 2.0, 1.0, 1.5],
            (true, 0) => &[3.0, 1.0, 0.5, 0.7, 0.9],
            (true, 1) => &[0.9, 1.0, 1.1, 1.2, 1.3],
            (true, _) => &[3.0, 2.0, 1.5, 1.2, 1.1],
        };
        record.curve = values
            .iter()
            .zip(1..)
            .map(|(&nll, epoch)| EpochPoint {
                epoch,
                validation_nll: Some(nll),
            })
            .collect();
    }
    records
}

fn grouped(records: &[Record]) -> Vec<Vec<&Record>> {
    let mut groups: Vec<Vec<&Record>> = Vec::new();
    for record in records {
        match groups.iter_mut().find(|g| g[0].config == record.config) {
            Some(group) => group.push(record),
            None => groups.push(vec![record]),
        }
    }
    groups
}

fn svn<'a>(groups: &'a [Vec<&'a Record>]) -> &'a [&'a Record] {
    groups.iter().find(|g| g[0].method == Method::Svn).unwrap()
}

#[test]
fn differences_are_paired_by_fold() {
    let records = records();
    let groups = grouped(&records);
    let all: Vec<&Group<'_>> = groups.iter().map(Vec::as_slice).collect();
    let versus = versus(svn(&groups), &all);
    assert_eq!(versus.len(), 1, "the other baselines were not run");
    assert_eq!(versus[0].baseline, Method::Ensemble);
    let nll = versus[0].differences["nll"].unwrap();
    // −0.5, −1 and 0.5: mean −1/3, variance (1/36 + 16/36 + 25/36)/2 = 7/12, standard error √(7/36).
    assert!((nll.mean + 1.0 / 3.0).abs() < 1e-15);
    assert!((nll.se.unwrap() - (7.0f64 / 36.0).sqrt()).abs() < 1e-15);
    assert_eq!(versus[0].differences["nll_epistemic"], None);
    let ensemble = groups.iter().find(|g| g[0].method == Method::Ensemble);
    assert_eq!(super::versus(ensemble.unwrap(), &all), []);
}

#[test]
fn convergence_is_the_first_epoch_at_the_ensembles_best() {
    let mut records = records();
    let found = |records: &[Record]| {
        let groups = grouped(records);
        let all: Vec<&Group<'_>> = groups.iter().map(Vec::as_slice).collect();
        convergence(svn(&groups), &all).unwrap()
    };
    // The ensemble's best is 1 at epoch 4; SVN is there at epochs 2, 1 and never.
    let all_folds = found(&records);
    assert_eq!((all_folds.reached, all_folds.folds), (2, 3));
    assert_eq!(
        (all_folds.epochs, all_folds.ensemble_epochs, all_folds.share),
        (Some(2.0), 4.0, Some(0.5))
    );
    // Of two folds one never gets there: no median.
    records.retain(|record| record.fold > 0);
    let two = found(&records);
    assert_eq!((two.reached, two.epochs, two.share), (1, None, None));
    records.retain(|record| record.fold == 2);
    assert_eq!(found(&records).epochs, None);
}

#[test]
fn the_baseline_is_chosen_on_validation_rows_among_its_configurations() {
    let mut records = records();
    let mut other: Vec<Record> = records
        .iter()
        .filter(|record| record.method == Method::Ensemble)
        .cloned()
        .collect();
    for record in &mut other {
        record.config = "better".to_owned();
        record.curve[2].validation_nll = Some(0.1);
        // Far worse on the test rows, which must not matter.
        record.metrics.insert("nll".to_owned(), Some(100.0));
    }
    records.extend(other.clone());
    let config = |records: &[Record]| {
        let groups = grouped(records);
        let all: Vec<&Group<'_>> = groups.iter().map(Vec::as_slice).collect();
        versus(svn(&groups), &all)[0].config.clone()
    };
    assert_eq!(config(&records), "better");
    for record in records.iter_mut().filter(|r| r.config == "better") {
        record.seed = 1;
    }
    assert_ne!(config(&records), "better", "other splits are no partner");
}
