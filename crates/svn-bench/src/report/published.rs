//! The best cells of the wider literature by the `standard` protocol, to stand beside ours.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ReportError;
use crate::split::Protocol;

const TEXT: &str = include_str!("published_uci.json");

/// The best published mean of a metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Anchor {
    /// Mean over splits.
    pub mean: f64,
    /// Error as printed.
    pub error: f64,
    /// Whose it is.
    pub method: String,
}

/// Best published cells of a data set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Published {
    /// Of `nll`, with its constant.
    pub nll: Option<Anchor>,
    /// Of `rmse`.
    pub rmse: Option<Anchor>,
}

type Cells = BTreeMap<String, BTreeMap<String, (f64, f64)>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Literature {
    #[serde(rename = "source")]
    _source: String,
    nll: Cells,
    rmse: Cells,
}

/// What the literature prints for a data set; `None` where it prints nothing or the protocol is another one.
///
/// # Errors
/// [`ReportError::Paper`] if the embedded file does not parse: a test keeps that from happening.
pub fn published(dataset: &str, protocol: Protocol) -> Result<Option<Published>, ReportError> {
    if protocol.name() != "standard" {
        return Ok(None);
    }
    let literature: Literature = serde_json::from_str(TEXT).map_err(ReportError::Paper)?;
    let best = |cells: &Cells| {
        let least = cells
            .get(dataset)?
            .iter()
            .min_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
        let (method, &(mean, error)) = least;
        Some(Anchor {
            mean,
            error,
            method: method.clone(),
        })
    };
    let published = Published {
        nll: best(&literature.nll),
        rmse: best(&literature.rmse),
    };
    Ok((published.nll.is_some() || published.rmse.is_some()).then_some(published))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_cell_is_the_anchor() {
        let standard = Protocol::standard(768);
        let energy = published("energy", standard).unwrap().unwrap();
        let anchor = |mean, error| {
            Some(Anchor {
                mean,
                error,
                method: "w-evidential".to_owned(),
            })
        };
        assert_eq!(
            (energy.nll, energy.rmse),
            (anchor(0.53, 0.08), anchor(0.42, 0.07))
        );
        assert_eq!(published("heart", standard).unwrap(), None);
        assert_eq!(
            published("energy", Protocol::Paper { folds: 5 }).unwrap(),
            None
        );
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
