//! Snapshots of the report and the summary of fixed records.

use std::collections::BTreeMap;

use super::super::{samples, summarise};
use super::*;
use svn_models::recipe::Predictive;

fn summary() -> Summary {
    let env =
        [("os", "linux"), ("cores", "2")].map(|(key, value)| (key.to_owned(), value.to_owned()));
    summarise(&samples::records(), BTreeMap::from(env)).unwrap()
}

#[test]
fn report_of_fixed_records() {
    insta::assert_snapshot!(markdown(
        &summary(),
        &["nll.svg".to_owned(), "curve-yacht.svg".to_owned()]
    ));
}

#[test]
fn summary_of_fixed_records() {
    insta::assert_json_snapshot!(summary());
}

#[test]
fn means_are_over_the_folds_where_the_metric_is_defined() {
    let mut records = samples::records();
    records.retain(|record| record.dataset == "yacht");
    records[1].metrics.insert("nll".to_owned(), None);
    let summary = summarise(&records, BTreeMap::new()).unwrap();
    let nll = summary.results[0].metrics["nll"].unwrap();
    // Folds 0 and 2: 0.5 and 0.75.
    assert_eq!((nll.mean, nll.n), (0.625, 2));
    assert_eq!(summary.results[0].folds, 3);
    assert_eq!(summary.results[0].metrics["coverage90"], None);
}

#[test]
fn what_was_done_to_predictions_stands_beside_the_method() {
    let mut records = samples::records();
    for record in &mut records {
        record.settings.temperature = (record.dataset == "heart").then_some(true);
        record.settings.predictive = (record.dataset == "yacht").then_some(Predictive::Laplace);
    }
    let text = markdown(&summarise(&records, BTreeMap::new()).unwrap(), &[]);
    assert!(
        text.contains("| heart | svn, temperature | 3/5 |"),
        "{text}"
    );
    assert!(text.contains("| yacht | svn, laplace | 3/5 |"), "{text}");
    assert!(!text.contains("| svn | 3/5 |"));
}
