//! Figures of fixed records: complete, well-formed, the same bytes each time, drawn from degenerate data too.

use std::collections::BTreeMap;

use super::*;
use crate::report::{samples, summarise};

#[test]
fn figures_of_sample_records() {
    let records = samples::records();
    let summary = summarise(&records, BTreeMap::new()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let names = figures(folder.path(), &summary, &records).unwrap();
    assert_eq!(names, ["nll.svg", "curve-heart.svg", "curve-yacht.svg"]);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let nll = read("nll.svg");
    for text in ["yacht", "heart", "ensemble", "svn", "test NLL"] {
        assert!(nll.contains(text), "{text}");
    }
    let curve = read("curve-yacht.svg");
    assert!(
        curve.contains("yacht: validation NLL by epoch")
            && curve.contains("svn")
            && curve.contains("<polyline")
    );
    assert!(curve.trim_end().ends_with("</svg>") && !curve.contains("NaN"));
    figures(folder.path(), &summary, &records).unwrap();
    assert_eq!(read("nll.svg"), nll);
}

#[test]
fn one_fold_without_a_curve_still_has_a_figure() {
    let mut records = samples::records();
    records.truncate(1);
    records[0].curve.clear();
    let summary = summarise(&records, BTreeMap::new()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        figures(folder.path(), &summary, &records).unwrap(),
        ["nll.svg"]
    );
}

#[test]
fn several_configurations_of_a_method_are_told_apart() {
    let mut records = samples::records();
    let mut other = records[0].clone();
    other.config = "0123456789abcdef".to_owned();
    records.push(other);
    let summary = summarise(&records, BTreeMap::new()).unwrap();
    let looks = looks(&summary, &records[0].dataset);
    let labels: Vec<_> = looks.iter().map(|look| look.label.as_str()).collect();
    let short = records[0].config.get(..6).unwrap();
    assert_eq!(
        labels,
        [
            format!("ensemble {short}"),
            "svn".to_owned(),
            "ensemble 012345".to_owned()
        ]
    );
    let colours: std::collections::BTreeSet<_> = looks
        .iter()
        .map(|look| (look.colour.0, look.colour.1))
        .collect();
    assert_eq!(colours.len(), 3);
}
