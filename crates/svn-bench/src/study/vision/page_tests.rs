//! Pairs, sizes, labels and printed cells against numbers worked out by hand.

use crate::terminal::without_padding;
use std::collections::BTreeMap;

use super::*;
use crate::report::{PaperCell, RecordOf, Summary, losses, markdown, results, summarise, tables};
use crate::study::vision::samples;

type Record = RecordOf<VisionPage>;

fn record(method: Method, seed: u64, nll: f64) -> Record {
    let mut record = samples::record(method, 500, seed);
    for (key, value) in [("nll", nll), ("accuracy", 1.0 - nll), ("nll_logit", nll)] {
        record.metrics.insert(key.to_owned(), Some(value));
    }
    record
}

fn summary(records: &[Record]) -> Summary<VisionPage> {
    summarise(records, BTreeMap::new()).unwrap()
}

#[test]
fn differences_are_paired_by_seed() {
    // Seed 2 of the Newton method has no partner.
    let summary = summary(&[
        record(Method::Svgd, 0, 0.50),
        record(Method::Svgd, 1, 0.30),
        record(Method::LlSvn, 0, 0.46),
        record(Method::LlSvn, 1, 0.24),
        record(Method::LlSvn, 2, 9.0),
    ]);
    let [svgd, ll_svn] = summary.results.as_slice() else {
        panic!("two configurations");
    };
    assert_eq!((svgd.runs, ll_svn.runs, ll_svn.planned), (2, 3, 3));
    assert!(svgd.versus.is_empty());
    assert_eq!(ll_svn.seeds, [0, 1, 2]);
    let nll = ll_svn.versus[0].difference("nll").unwrap();
    // −0.04 and −0.06: mean −0.05, standard error 0.01.
    assert!((nll.mean + 0.05).abs() < 1e-12 && (nll.se.unwrap() - 0.01).abs() < 1e-12);
    assert_eq!((ll_svn.versus.len(), nll.n), (1, 2));
    let table = tables(&summary)
        .into_iter()
        .find(|grid| grid.title.starts_with("Paired"))
        .unwrap();
    assert_eq!(
        table.rows[0][3..6],
        ["svgd", "0.050 ± 0.010", "-0.050 ± 0.010"].map(String::from)
    );
    assert_eq!(table.rows[0].last().unwrap(), "better beyond 2 se");
    assert!(losses(&summary.results).is_empty());
}

#[test]
fn losses_say_of_how_many_images() {
    let records = [
        record(Method::Ensemble, 0, 0.3),
        record(Method::Svn, 0, 0.4),
    ];
    assert_eq!(
        losses(&summary(&records).results),
        ["mnist, svn, images 500: nll above ensemble's by 0.100"]
    );
}

#[test]
fn other_images_are_no_baseline_and_smaller_sets_come_first() {
    let sized = |method, size| {
        let mut record = record(method, 0, 0.5);
        record.design.limits.learning = size;
        samples::rehash(&mut record);
        record
    };
    let summary = summary(&[
        sized(Method::Svgd, None),
        sized(Method::Svgd, Some(2000)),
        sized(Method::Svn, Some(500)),
    ]);
    assert!(summary.results.iter().all(|row| row.versus.is_empty()));
    let sizes: Vec<_> = summary
        .results
        .iter()
        .map(|row| row.design.size())
        .collect();
    assert_eq!(sizes, ["500", "2000", "all"]);
    let labels: Vec<_> = summary
        .results
        .iter()
        .map(|row| row.label.as_str())
        .collect();
    assert_eq!(
        labels,
        ["svn", "svgd", "svgd"],
        "the images tell them apart"
    );
}

#[test]
fn brief_tables_fit_a_terminal_whatever_the_names() {
    let mut records: Vec<Record> = Vec::new();
    for method in Method::ALL {
        for seed in 0..10 {
            let mut record = record(method, seed, 0.25 + 0.01 * seed as f64);
            record.metrics.insert("ece".to_owned(), Some(0.1));
            record.design.dataset = "synthetic-letters".to_owned();
            record.design.limits.learning = Some(10_000);
            samples::rehash(&mut record);
            records.push(record);
        }
    }
    let grid = &results(&summary(&records).results, Detail::Brief)[0];
    assert!(grid.width() <= 80, "{grid:?}");
    assert!(
        grid.header.len() > 4 && grid.rows[0][3] == "10/10",
        "{grid:?}"
    );
}

#[test]
fn labels_have_what_the_paper_has_not() {
    let settings = Recipe {
        hessian: Some(CurvatureFamily::Full),
        ll_mode: Some(LastLayerMode::Pretrained),
        activation: Some(Activation::Tanh),
        temperature: Some(true),
        ..Recipe::default()
    };
    assert_eq!(
        VisionPage::label(Method::LlSvn, &settings),
        "ll-svn, full, pretrained, tanh, temperature"
    );
    let usual = samples::record(Method::LlSvn, 500, 0).settings;
    assert_eq!(VisionPage::label(Method::LlSvn, &usual), "ll-svn");
}

#[test]
fn cells_stand_beside_the_papers_split_of_all_images_alone() {
    let mut design = samples::record(Method::LlSvn, 500, 0).design;
    let of = |design: &VisionDesign| VisionPage::paper(design, Method::LlSvn).unwrap();
    assert_eq!(of(&design), None);
    design.split = ImageSplit::Paper;
    assert_eq!(of(&design), None);
    design.limits = Limits::default();
    design.dataset = "fashion-mnist".to_owned();
    let cells = of(&design).unwrap();
    let cell = |mean, se| PaperCell { mean, se };
    assert_eq!(cells["nll_logit"], cell(0.241, 0.002));
    assert_eq!(cells["accuracy"], cell(0.918, 0.001));
    assert_eq!(cells.len(), 5);
    design.dataset = "synthetic-digits".to_owned();
    assert_eq!(of(&design), None);
    let paper: serde_json::Value = serde_json::from_str(PAPER).unwrap();
    let sets = paper["cells"].as_object().unwrap();
    assert_eq!(sets.len(), 2);
    assert!(
        sets.values()
            .all(|methods| methods.as_object().unwrap().len() == 5)
    );
}

#[test]
fn the_report_has_the_papers_cells_settings_and_warnings() {
    let mut record = record(Method::LlSvn, 0, 0.05);
    record.design.split = ImageSplit::Paper;
    record.design.limits = Limits::default();
    samples::rehash(&mut record);
    record.warnings = vec!["the kernel is the identity".to_owned()];
    let text = without_padding(&markdown(&summary(&[record]), &[]));
    for part in [
        "## Beside the paper",
        "| 0.991 ± 0.000 | 0.950 ▼ | 0.038 ± 0.000 | 0.050 ▲ |",
        "| mnist | ll-svn | all | paper × 5 | `ab` | 0 |",
        "hessian kfac",
        "ll_mode joint",
        "* mnist, ll-svn, images all (1 of 1 runs): the kernel is the identity",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}
