//! Means, pairs and tables against numbers worked out by hand.

use super::*;
use crate::data::images::Corruption;
use crate::experiment::Method;
use crate::experiment::vision::{CorruptionPoint, ImageSplit, VisionRecord, samples};
use crate::metrics::ReliabilityBin;
use crate::split::Limits;

fn record(method: Method, seed: u64, nll: f64) -> VisionRecord {
    let mut record = samples::record(method, 500, seed);
    for (key, value) in [("nll", nll), ("accuracy", 1.0 - nll), ("nll_logit", nll)] {
        record.metrics.insert(key.to_owned(), Some(value));
    }
    record
}

/// Seeds 0 and 1 of two methods; seed 2 of the Newton method has no partner.
fn summary() -> VisionSummary {
    let records = [
        record(Method::Svgd, 0, 0.50),
        record(Method::Svgd, 1, 0.30),
        record(Method::LlSvn, 0, 0.46),
        record(Method::LlSvn, 1, 0.24),
        record(Method::LlSvn, 2, 9.0),
    ];
    summarise(&records, Default::default()).unwrap()
}

#[test]
fn differences_are_paired_by_seed() {
    let summary = summary();
    let [svgd, ll_svn] = summary.results.as_slice() else {
        panic!("two configurations");
    };
    assert_eq!((svgd.folds, ll_svn.folds), (2, 3));
    assert!(svgd.versus.is_empty());
    assert_eq!(ll_svn.seeds, [0, 1, 2]);
    let nll = ll_svn.versus[0].differences["nll"].unwrap();
    // −0.04 and −0.06: mean −0.05, standard error 0.01.
    assert!((nll.mean + 0.05).abs() < 1e-12 && (nll.se.unwrap() - 0.01).abs() < 1e-12);
    assert_eq!((ll_svn.versus.len(), nll.n), (1, 2));
    let table = sections(&summary)
        .into_iter()
        .find(|grid| grid.title.starts_with("Paired"))
        .unwrap();
    assert_eq!(
        table.rows[0][3..6],
        ["svgd", "0.050 ± 0.010", "-0.050 ± 0.010"].map(String::from)
    );
    assert_eq!(table.rows[0].last().unwrap(), "better beyond 2 se");
    assert!(losses(&summary).is_empty());
}

#[test]
fn losses_are_said() {
    let records = [
        record(Method::Ensemble, 0, 0.3),
        record(Method::Svn, 0, 0.4),
    ];
    let summary = summarise(&records, Default::default()).unwrap();
    assert_eq!(
        losses(&summary),
        ["mnist, svn, 500 images: nll above ensemble's by 0.100"]
    );
}

#[test]
fn other_images_are_no_baseline() {
    let mut other = record(Method::Svgd, 0, 0.5);
    other.configuration.limits.learning = Some(2000);
    other.config = other.configuration.hash();
    let summary = summarise(&[other, record(Method::Svn, 0, 0.4)], Default::default()).unwrap();
    assert!(summary.results.iter().all(|row| row.versus.is_empty()));
    // Smaller sets first.
    assert_eq!(summary.results[0].method, Method::Svn);
}

#[test]
fn bins_are_pooled_by_their_rows_and_levels_averaged() {
    let bin = |rows, confidence, accuracy| ReliabilityBin {
        rows,
        confidence,
        accuracy,
    };
    let point = |accuracy| CorruptionPoint {
        kind: Corruption::Noise,
        level: 0.1,
        accuracy,
        nll: None,
        ece: 0.2,
    };
    let (mut a, mut b) = (record(Method::Svgd, 0, 0.1), record(Method::Svgd, 1, 0.1));
    a.reliability = vec![bin(1, 0.5, 1.0), bin(0, 0.0, 0.0)];
    b.reliability = vec![bin(3, 0.7, 0.0), bin(0, 0.0, 0.0)];
    (a.corruption, b.corruption) = (vec![point(0.4)], vec![point(0.6)]);
    let summary = summarise(&[a, b], Default::default()).unwrap();
    let row = &summary.results[0];
    let pooled = row.reliability[0];
    assert_eq!((pooled.rows, pooled.accuracy), (4, 0.25));
    assert!((pooled.confidence - 0.65).abs() < 1e-15);
    assert_eq!(row.reliability[1], bin(0, 0.0, 0.0));
    let noisy = row.corruption[0];
    assert_eq!((noisy.accuracy.unwrap().mean, noisy.nll), (0.5, None));
}

#[test]
fn the_report_has_the_papers_cells_settings_and_warnings() {
    let mut record = record(Method::LlSvn, 0, 0.05);
    record.configuration.split = ImageSplit::Paper;
    record.configuration.limits = Limits::default();
    record.config = record.configuration.hash();
    record.warnings = vec!["the kernel is the identity".to_owned()];
    let summary = summarise(&[record], Default::default()).unwrap();
    let text = markdown(&summary, &["reliability-mnist-all.svg".to_owned()]);
    for part in [
        "## Beside the paper",
        "| 0.950 | 0.991 ± 0.000 | 0.050 | 0.038 ± 0.000 |",
        "![reliability mnist all](reliability-mnist-all.svg)",
        "hessian kfac",
        "ll_mode joint",
        "* mnist ll-svn, all images (1 of 1 runs): the kernel is the identity",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}
