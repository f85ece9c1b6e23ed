//! Comparisons of records made by hand.

use super::super::summarise;
use super::*;
use crate::engine::{EpochPoint, Timing};
use crate::study::uci::{UciPage, samples};

type Record = RecordOf<UciPage>;

/// Three folds of ensemble and SVN on one set, their curves and metrics by hand.
fn records() -> Vec<Record> {
    let mut records = samples::records();
    records.retain(|record| record.design.dataset == "yacht");
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
        let points = values.iter().zip(1..).map(|(&nll, epoch)| EpochPoint {
            epoch,
            validation_nll: Some(nll),
        });
        record.curve = points.collect();
        // An epoch of the ensemble takes 1 s, of SVN 4 s.
        record.timing = Timing::of(&[1.0], &[if svn { 4.0 } else { 1.0 }; 5], 9.0);
    }
    records
}

/// Comparisons of the SVN row.
fn svn(records: &[Record]) -> (Vec<Versus>, Option<Convergence>) {
    let summary = summarise::<UciPage>(records, BTreeMap::new()).unwrap();
    let mut rows = summary.results.into_iter();
    let row = rows.find(|row| row.method == Method::Svn).unwrap();
    (row.versus, row.convergence)
}

#[test]
fn differences_are_paired_by_run() {
    let mut records = records();
    let (versus, _) = svn(&records);
    assert_eq!(versus.len(), 1, "the other baselines were not run");
    assert_eq!(versus[0].baseline, Method::Ensemble);
    let nll = versus[0].difference("nll").unwrap();
    // −0.5, −1 and 0.5: mean −1/3, variance (1/36 + 16/36 + 25/36)/2 = 7/12, standard error √(7/36).
    assert!((nll.mean + 1.0 / 3.0).abs() < 1e-15);
    assert!((nll.se.unwrap() - (7.0f64 / 36.0).sqrt()).abs() < 1e-15);
    assert_eq!(versus[0].differences["nll_epistemic"], None);
    let summary = summarise::<UciPage>(&records, BTreeMap::new()).unwrap();
    assert!(summary.results[0].versus.is_empty(), "not of the ensemble");
    // The same fold of another seed is another run.
    records.retain(|record| record.fold < 2);
    records[0].seed = 1;
    let nll = svn(&records).0[0].difference("nll").unwrap();
    assert_eq!((nll.mean, nll.n), (-1.0, 1));
}

#[test]
fn convergence_is_the_first_epoch_at_the_ensembles_best() {
    let mut records = records();
    let found = |records: &[Record]| svn(records).1.unwrap();
    // The ensemble's best is 1 at epoch 4; SVN is there at epochs 2, 1 and never.
    let all = found(&records);
    assert_eq!((all.reached, all.runs), (2, 3));
    assert_eq!(
        (all.epochs, all.ensemble_epochs, all.share),
        (Some(2.0), 4.0, Some(0.5))
    );
    assert_eq!((all.seconds, all.ensemble_seconds), (Some(8.0), Some(4.0)));
    // Times that one run lacks are not known.
    records[4].timing.epochs_s.clear();
    let without = found(&records);
    assert_eq!((without.epochs, without.seconds), (Some(2.0), None));
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
    let ensembles = records.iter().filter(|r| r.method == Method::Ensemble);
    let mut others: Vec<Record> = ensembles.cloned().collect();
    for record in &mut others {
        record.settings.lr = Some(0.5);
        record.curve[2].validation_nll = Some(0.1);
        // Far worse on the test rows, which must not matter.
        record.metrics.insert("nll".to_owned(), Some(100.0));
        samples::rehash(record);
    }
    let better = others[0].config.clone();
    records.extend(others);
    let config = |records: &[Record]| svn(records).0[0].config.clone();
    assert_eq!(config(&records), better);
    let changes: [&dyn Fn(&mut Record); 6] = [
        &|record| record.design.data_sha256 = "other".to_owned(),
        &|record| record.settings.particles = Some(3),
        &|record| record.settings.hidden = Some(vec![9]),
        &|record| record.settings.activation = Some(svn_models::curvature::Activation::Tanh),
        &|record| record.settings.temperature = Some(true),
        &|record| record.settings.predictive = Some(svn_models::recipe::Predictive::Laplace),
    ];
    for change in changes {
        let mut changed = records.clone();
        for record in changed.iter_mut().filter(|r| r.config == better) {
            change(record);
            samples::rehash(record);
        }
        assert_eq!(config(&changed), config(&self::records()));
    }
}

#[test]
fn baselines_are_the_first_order_methods_and_newton_steps_without_a_kernel() {
    let baselines = Method::ALL.map(|method| is_baseline(method.name(), method.is_newton()));
    let named = Method::ALL.iter().zip(baselines).filter(|(_, is)| *is);
    let names: Vec<&str> = named.map(|(method, _)| method.name()).collect();
    assert!(
        ["ensemble", "wgd", "svgd"]
            .iter()
            .all(|name| names.contains(name))
    );
    assert!(
        !["svn", "ll-svn", "ssvn"]
            .iter()
            .any(|name| names.contains(name))
    );
    assert!(is_baseline("newton-ensemble", true));
}
