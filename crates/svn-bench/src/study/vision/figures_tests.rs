//! Which figures there are, and what stands in them.

use std::collections::BTreeMap;

use svn_models::recipe::Method;

use super::*;
use crate::metrics::ReliabilityBin;
use crate::report::{RecordOf, summarise};
use crate::study::vision::{CorruptionPoint, ImageSplit, samples};

fn record(method: Method, size: usize, seed: u64) -> RecordOf<VisionPage> {
    let mut record = samples::record(method, size, seed);
    for (key, value) in [("accuracy", 0.9), ("nll", 0.3), ("ece", 0.02)] {
        let value = value + 0.01 * seed as f64;
        record.metrics.insert(key.to_owned(), Some(value));
    }
    let bins = (0..15).map(|bin| ReliabilityBin {
        rows: bin,
        confidence: (bin as f64 + 0.5) / 15.0,
        accuracy: bin as f64 / 15.0,
    });
    record.extra.reliability = bins.collect();
    for kind in [Corruption::Rotation, Corruption::Noise] {
        for level in [0.0, 0.5, 1.0] {
            record.extra.corruption.push(CorruptionPoint {
                kind,
                level,
                accuracy: 0.9 - 0.3 * level,
                nll: Some(0.3 + level),
                ece: 0.1,
            });
        }
    }
    record
}

fn figures(records: &[RecordOf<VisionPage>]) -> BTreeMap<String, String> {
    let summary = summarise::<VisionPage>(records, BTreeMap::new()).unwrap();
    let figures = draw(&summary.results).unwrap().into_iter();
    figures.map(|figure| (figure.name, figure.svg)).collect()
}

#[test]
fn a_figure_for_each_size_and_one_over_sizes() {
    let mut records = Vec::new();
    for method in [Method::Svgd, Method::LlSvn] {
        for size in [500, 2000] {
            records.extend([0, 1].map(|seed| record(method, size, seed)));
        }
    }
    let figures = figures(&records);
    assert_eq!(
        figures.keys().collect::<Vec<_>>(),
        [
            "corruption-mnist-2000.svg",
            "corruption-mnist-500.svg",
            "low-data-mnist.svg",
            "reliability-mnist-2000.svg",
            "reliability-mnist-500.svg",
        ]
    );
    let low = &figures["low-data-mnist.svg"];
    for text in ["svgd", "ll-svn", "mnist: ECE", "500", "2000"] {
        assert!(low.contains(text), "{text}");
    }
    let reliability = &figures["reliability-mnist-500.svg"];
    // A diagram a method, each with its 14 bins of accuracy that hold rows.
    for text in ["mnist: svgd, ECE 0.025", "mnist: ll-svn, ECE 0.025"] {
        assert!(reliability.contains(text), "{text}");
    }
    assert_eq!(reliability.matches("<circle").count(), 28);
    assert!(figures["corruption-mnist-500.svg"].contains("mnist-500, rotation: accuracy"));
}

#[test]
fn splits_and_test_parts_have_figures_of_their_own_and_nothing_measured_none() {
    let mut folds = record(Method::Svgd, 500, 0);
    folds.design.split = ImageSplit::Paper;
    folds.extra.corruption.clear();
    let mut fewer = record(Method::Svgd, 500, 0);
    fewer.design.limits.test = Some(100);
    for record in [&mut folds, &mut fewer] {
        samples::rehash(record);
    }
    let figures = figures(&[record(Method::Svgd, 500, 0), folds, fewer]);
    assert_eq!(
        figures.keys().collect::<Vec<_>>(),
        [
            "corruption-mnist-500-official-100.svg",
            "corruption-mnist-500-official-no-test.svg",
            "reliability-mnist-500-official-100.svg",
            "reliability-mnist-500-official-no-test.svg",
            "reliability-mnist-500-paper.svg"
        ]
    );
}
