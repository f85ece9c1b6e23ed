//! The cells the paper prints, to stand beside ours. The numbers are facts read from its tables.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ReportError;
use crate::experiment::Method;
use crate::split::Protocol;

const TEXT: &str = include_str!("paper_uci.json");

/// Mean and standard error as printed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(from = "(f64, f64)")]
pub struct PaperCell {
    /// Mean.
    pub mean: f64,
    /// Standard error.
    pub se: f64,
}

impl From<(f64, f64)> for PaperCell {
    fn from((mean, se): (f64, f64)) -> Self {
        Self { mean, se }
    }
}

type Cells = BTreeMap<String, PaperCell>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Paper {
    #[serde(rename = "source")]
    _source: String,
    #[serde(rename = "notes")]
    _notes: BTreeMap<String, String>,
    cells: BTreeMap<String, BTreeMap<String, Cells>>,
}

/// What the paper prints for a data set and a method, by our metric keys; `None` where it prints nothing or the
/// protocol is another one.
///
/// # Errors
/// [`ReportError::Paper`] if the embedded file does not parse: a test keeps that from happening.
pub fn paper_cells(
    dataset: &str,
    method: Method,
    protocol: Protocol,
) -> Result<Option<Cells>, ReportError> {
    if protocol.name() != "paper" {
        return Ok(None);
    }
    let paper: Paper = serde_json::from_str(TEXT).map_err(ReportError::Paper)?;
    Ok(paper
        .cells
        .get(dataset)
        .and_then(|methods| methods.get(method.name()))
        .cloned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPER: Protocol = Protocol::Paper { folds: 5 };

    #[test]
    fn cells_go_by_our_keys() {
        let yacht = paper_cells("yacht", Method::Svn, PAPER).unwrap().unwrap();
        assert_eq!(
            yacht["nll_paper"],
            PaperCell {
                mean: -0.36,
                se: 0.19
            }
        );
        let heart = paper_cells("heart", Method::Wgd, PAPER).unwrap().unwrap();
        assert_eq!(
            heart["nll_logit"],
            PaperCell {
                mean: 2.02,
                se: 0.19
            }
        );
        assert_eq!(heart.len(), 5);
    }

    #[test]
    fn nothing_where_nothing_is_printed() {
        assert_eq!(
            paper_cells("energy_y1y2", Method::Svn, PAPER).unwrap(),
            None
        );
        assert_eq!(
            paper_cells("yacht", Method::Svn, Protocol::Standard { splits: 20 }).unwrap(),
            None
        );
    }

    #[test]
    fn every_set_is_one_of_the_manifest() {
        let paper: Paper = serde_json::from_str(TEXT).unwrap();
        let manifest = crate::data::Manifest::embedded().unwrap();
        assert_eq!(paper.cells.len(), 14);
        for name in paper.cells.keys() {
            manifest.entry(name).unwrap();
        }
    }
}
