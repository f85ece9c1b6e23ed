//! Which figures there are, and what stands in them.

use super::*;
use crate::experiment::vision::{CorruptionPoint, VisionRecord, samples};
use crate::metrics::ReliabilityBin;
use crate::report::vision::summarise;

fn record(method: Method, size: usize, seed: u64) -> VisionRecord {
    let mut record = samples::record(method, size, seed);
    for (key, value) in [("accuracy", 0.9), ("nll", 0.3), ("ece", 0.02)] {
        record
            .metrics
            .insert(key.to_owned(), Some(value + 0.01 * seed as f64));
    }
    record.reliability = (0..15)
        .map(|bin| ReliabilityBin {
            rows: bin,
            confidence: (bin as f64 + 0.5) / 15.0,
            accuracy: bin as f64 / 15.0,
        })
        .collect();
    for kind in [Corruption::Rotation, Corruption::Noise] {
        for level in [0.0, 0.5, 1.0] {
            record.corruption.push(CorruptionPoint {
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

#[test]
fn a_figure_for_each_size_and_one_over_sizes() {
    let mut records = Vec::new();
    for method in [Method::Svgd, Method::LlSvn] {
        for size in [500, 2000] {
            records.extend([0, 1].map(|seed| record(method, size, seed)));
        }
    }
    let summary = summarise(&records, Default::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let names = figures(folder.path(), &summary).unwrap();
    assert_eq!(
        names,
        [
            "low-data-mnist.svg",
            "reliability-mnist-500.svg",
            "corruption-mnist-500.svg",
            "reliability-mnist-2000.svg",
            "corruption-mnist-2000.svg",
        ]
    );
    let svg = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let low = svg("low-data-mnist.svg");
    for text in ["svgd", "ll-svn", "mnist: ECE", "500", "2000"] {
        assert!(low.contains(text), "{text}");
    }
    let reliability = svg("reliability-mnist-500.svg");
    // A diagram a method, each with its 14 bins of accuracy that hold rows.
    for text in ["mnist: svgd, ECE 0.025", "mnist: ll-svn, ECE 0.025"] {
        assert!(reliability.contains(text), "{text}");
    }
    assert_eq!(reliability.matches("<circle").count(), 28);
    assert!(svg("corruption-mnist-500.svg").contains("mnist, rotation: accuracy"));
}

#[test]
fn splits_have_figures_of_their_own_and_nothing_measured_none() {
    let mut folds = record(Method::Svgd, 500, 0);
    folds.configuration.split = crate::experiment::vision::ImageSplit::Paper;
    folds.config = folds.configuration.hash();
    folds.corruption.clear();
    let summary = summarise(&[record(Method::Svgd, 500, 0), folds], Default::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let names = figures(folder.path(), &summary).unwrap();
    assert_eq!(
        names,
        [
            "reliability-mnist-official-500.svg",
            "corruption-mnist-official-500.svg",
            "reliability-mnist-paper-500.svg"
        ]
    );
}
