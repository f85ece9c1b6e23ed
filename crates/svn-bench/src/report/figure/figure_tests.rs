//! Figures of fixed records: complete, well-formed, the same bytes each time, drawn from degenerate data too.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{summarise, write};
use super::*;
use crate::split::Protocol;
use crate::study::uci::{UciPage, samples};

fn figures(records: &[RecordOf<UciPage>]) -> Vec<Figure> {
    let summary = summarise::<UciPage>(records, BTreeMap::new()).unwrap();
    common(&summary.results, records).unwrap()
}

fn names(figures: &[Figure]) -> Vec<&str> {
    figures.iter().map(|figure| figure.name.as_str()).collect()
}

#[test]
fn figures_of_sample_records() {
    let records = samples::records();
    let folder = tempfile::tempdir().unwrap();
    write::<UciPage>(folder.path(), &records, BTreeMap::new()).unwrap();
    let drawn = figures(&records);
    assert_eq!(
        names(&drawn),
        [
            "nll.svg",
            "curve-heart.svg",
            "time-heart.svg",
            "curve-yacht.svg",
            "time-yacht.svg"
        ]
    );
    let report = std::fs::read_to_string(folder.path().join("report.md")).unwrap();
    for Figure { name, svg } in &drawn {
        let file = std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(&file, svg, "the same bytes each time");
        assert!(svg.trim_end().ends_with("</svg>") && !svg.contains("NaN"));
        assert!(report.contains(&format!("]({name})")));
    }
    let nll = &drawn[0].svg;
    for text in ["yacht", "heart", "ensemble", "svn", "test NLL"] {
        assert!(nll.contains(text), "{text}");
    }
    for (figure, texts) in [
        (&drawn[3], ["yacht: validation NLL by epoch", "epoch"]),
        (
            &drawn[4],
            ["yacht: validation NLL by time", "seconds of training"],
        ),
    ] {
        let svg = &figure.svg;
        assert!(texts.iter().all(|text| svg.contains(text)), "{svg}");
        assert!(svg.contains("svn") && svg.contains("<polyline"));
    }
}

#[test]
fn what_no_record_has_is_not_drawn() {
    let mut records = samples::records();
    records.truncate(1);
    records[0].timing.epochs_s.clear();
    assert_eq!(names(&figures(&records)), ["nll.svg", "curve-heart.svg"]);
    records[0].curve.clear();
    assert_eq!(names(&figures(&records)), ["nll.svg"]);
    records[0].metrics.clear();
    assert!(figures(&records).is_empty());
}

#[test]
fn designs_of_one_set_are_figures_of_their_own() {
    let mut records = samples::records();
    records.truncate(3);
    records[1].design.protocol = Protocol::Standard { splits: 20 };
    records[2].design.protocol = Protocol::Standard { splits: 20 };
    records[2].design.data_sha256 = "fedcba9876543210".to_owned();
    for record in &mut records {
        samples::rehash(record);
        record.timing.epochs_s.clear();
    }
    let drawn = figures(&records);
    assert_eq!(
        names(&drawn),
        [
            "nll.svg",
            "curve-heart-paper.svg",
            "curve-heart-standard-012345.svg",
            "curve-heart-standard-fedcba.svg"
        ]
    );
    assert!(drawn[0].svg.contains("heart-standard-fedcba"));
}

#[test]
fn a_method_has_one_colour_and_its_further_configurations_have_others() {
    let methods = [Method::Svn, Method::Ensemble, Method::Svn, Method::Svn];
    let found = colours(&methods);
    let distinct: BTreeSet<_> = found.iter().map(|c| (c.0, c.1, c.2)).collect();
    assert_eq!((distinct.len(), found[0]), (4, colours(&[Method::Svn])[0]));
    assert_eq!(colours(&[Method::Svn; 20]).len(), 20);
    assert_eq!(colours(&Method::ALL)[..2], PALETTE[..2]);
}

#[test]
fn what_lies_above_the_figure_is_drawn_along_its_edge() {
    let mut records = samples::records();
    records.truncate(1);
    records[0].curve[0].validation_nll = Some(f64::MAX);
    let drawn = figures(&records);
    assert!(drawn[1].svg.contains("<polyline") && !drawn[1].svg.contains("inf"));
}
