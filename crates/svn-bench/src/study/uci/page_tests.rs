//! Snapshots of the report and the summary of fixed records; the printed cells.

use crate::terminal::without_padding;
use svn_models::recipe::Predictive;

use super::*;
use crate::report::{Figure, PaperCell, Summary, markdown, summarise};
use crate::split::Protocol;
use crate::study::uci::samples;

/// Under a name of its own, wherever the module lies.
macro_rules! snapshot {
    ($assert:ident, $name:literal, $value:expr) => {
        insta::with_settings!({prepend_module_to_snapshot => false}, {
            insta::$assert!($name, $value);
        })
    };
}

fn summary() -> Summary<UciPage> {
    let env =
        [("os", "linux"), ("cores", "2")].map(|(key, value)| (key.to_owned(), value.to_owned()));
    summarise(&samples::records(), BTreeMap::from(env)).unwrap()
}

#[test]
fn report_of_fixed_records() {
    let figures = ["nll.svg", "curve-yacht.svg"].map(|name| Figure {
        name: name.to_owned(),
        svg: String::new(),
    });
    snapshot!(assert_snapshot, "report", markdown(&summary(), &figures));
}

#[test]
fn summary_of_fixed_records() {
    snapshot!(assert_json_snapshot, "summary", summary());
}

#[test]
fn what_was_done_to_predictions_stands_beside_the_method() {
    let mut records = samples::records();
    for record in &mut records {
        let heart = record.design.dataset == "heart";
        record.settings.temperature = heart.then_some(true);
        record.settings.predictive = (!heart).then_some(Predictive::Laplace);
    }
    let summary = summarise(&records, BTreeMap::new()).unwrap();
    let text = without_padding(&markdown::<UciPage>(&summary, &[]));
    assert!(
        text.contains("| heart | svn, temperature | 3/5 |"),
        "{text}"
    );
    assert!(text.contains("| yacht | svn, laplace | 3/5 |"), "{text}");
    assert!(!text.contains("| svn | 3/5 |"));
}

#[test]
fn cells_go_by_our_keys() {
    let of = |dataset, method| UciPage::paper(&samples::design(dataset), method).unwrap();
    let cell = |mean, se| PaperCell { mean, se };
    let yacht = of("yacht", Method::Svn).unwrap();
    assert_eq!(yacht["nll_paper"], cell(-0.36, 0.19));
    let heart = of("heart", Method::Wgd).unwrap();
    assert_eq!((heart["nll_logit"], heart.len()), (cell(2.02, 0.19), 5));
    assert_eq!(of("energy_y1y2", Method::Svn), None);
    let standard = UciDesign {
        protocol: Protocol::Standard { splits: 20 },
        ..samples::design("yacht")
    };
    assert_eq!(UciPage::paper(&standard, Method::Svn).unwrap(), None);
}

#[test]
fn every_printed_set_is_one_of_the_manifest() {
    let paper: serde_json::Value = serde_json::from_str(PAPER).unwrap();
    let manifest = crate::data::Manifest::embedded().unwrap();
    let sets = paper["cells"].as_object().unwrap();
    assert_eq!(sets.len(), 14);
    for name in sets.keys() {
        manifest.entry(name).unwrap();
        let design = samples::design(name);
        assert!(UciPage::paper(&design, Method::Svn).unwrap().is_some());
    }
}

#[test]
fn the_constant_is_half_the_logarithm_of_two_pi() {
    assert!((NLL_CONSTANT - 0.5 * (2.0 * std::f64::consts::PI).ln()).abs() < 1e-16);
}
