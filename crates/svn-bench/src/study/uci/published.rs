//! The best cells of the wider literature by the `standard` protocol, to stand beside ours.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::UciDesign;
use crate::engine::Design;
use crate::report::{Anchor, PaperCell, ReportError};

const TEXT: &str = include_str!("published.json");

/// By data set and method.
type Table = BTreeMap<String, BTreeMap<String, PaperCell>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Literature {
    #[serde(rename = "source")]
    _source: String,
    nll: Table,
    rmse: Table,
}

/// The best cells of `nll`, with its constant, and `rmse`; none where nothing is printed or the protocol is another one.
///
/// # Errors
/// [`ReportError::Printed`] if the embedded file does not parse: a test keeps that from happening.
pub(super) fn published(design: &UciDesign) -> Result<BTreeMap<String, Anchor>, ReportError> {
    if design.protocol() != "standard" {
        return Ok(BTreeMap::new());
    }
    let literature: Literature = serde_json::from_str(TEXT).map_err(ReportError::Printed)?;
    let best = |(key, table): (&str, &Table)| {
        let cells = table.get(&design.dataset)?.iter();
        let (method, &cell) = cells.min_by(|a, b| a.1.mean.total_cmp(&b.1.mean))?;
        let method = method.clone();
        Some((key.to_owned(), Anchor { cell, method }))
    };
    let tables = [("nll", &literature.nll), ("rmse", &literature.rmse)];
    Ok(tables.into_iter().filter_map(best).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::Protocol;
    use crate::study::uci::samples;

    #[test]
    fn the_least_cell_is_the_anchor() {
        let standard = Protocol::standard(768);
        let of = |dataset, protocol| {
            let design = UciDesign {
                protocol,
                ..samples::design(dataset)
            };
            published(&design).unwrap()
        };
        let anchor = |mean, se| Anchor {
            cell: PaperCell { mean, se },
            method: "w-evidential".to_owned(),
        };
        let energy = of("energy", standard);
        assert_eq!(energy["nll"], anchor(0.53, 0.08));
        assert_eq!(energy["rmse"], anchor(0.42, 0.07));
        assert!(of("heart", standard).is_empty());
        assert!(of("energy", Protocol::Paper { folds: 5 }).is_empty());
    }

    #[test]
    fn every_set_is_one_of_the_manifest() {
        let literature: Literature = serde_json::from_str(TEXT).unwrap();
        let manifest = crate::data::Manifest::embedded().unwrap();
        for name in literature.nll.keys().chain(literature.rmse.keys()) {
            manifest.entry(name).unwrap();
        }
    }
}
