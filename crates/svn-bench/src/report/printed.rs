//! Printed cells, to stand beside ours. The numbers are facts read from tables of the literature.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use svn_models::recipe::Method;

use super::ReportError;

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

impl fmt::Display for PaperCell {
    /// With the decimals of the longer number, at least 2.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = |value: f64| {
            let text = value.to_string();
            text.split_once('.').map_or(0, |(_, digits)| digits.len())
        };
        let decimals = decimals(self.mean).max(decimals(self.se)).max(2);
        write!(f, "{:.decimals$} ± {:.decimals$}", self.mean, self.se)
    }
}

/// Printed cells by our metric keys.
pub type Cells = BTreeMap<String, PaperCell>;

/// The best published mean of a metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Anchor {
    /// The cell.
    #[serde(flatten)]
    pub cell: PaperCell,
    /// Whose it is.
    pub method: String,
}

/// Cells of the paper by data set and name of a method.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Paper {
    #[serde(rename = "source")]
    _source: String,
    #[serde(rename = "notes")]
    _notes: BTreeMap<String, String>,
    cells: BTreeMap<String, BTreeMap<String, Cells>>,
}

/// What an embedded file of the paper's cells has for a data set and a method; `None` for nothing.
///
/// # Errors
/// [`ReportError::Printed`] if the file does not parse: tests keep that from happening.
pub fn paper_cells(
    text: &str,
    dataset: &str,
    method: Method,
) -> Result<Option<Cells>, ReportError> {
    let mut paper: Paper = serde_json::from_str(text).map_err(ReportError::Printed)?;
    let methods = paper.cells.get_mut(dataset);
    Ok(methods.and_then(|methods| methods.remove(method.name())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_have_the_decimals_of_the_longer_number() {
        for ((mean, se), text) in [
            ((2.9, 0.61), "2.90 ± 0.61"),
            ((0.991, 0.0), "0.991 ± 0.000"),
            ((-5.0, 1.0), "-5.00 ± 1.00"),
        ] {
            assert_eq!(PaperCell { mean, se }.to_string(), text);
        }
    }

    #[test]
    fn cells_go_by_set_and_method() {
        let text = r#"{"source": "s", "notes": {}, "cells": {"a": {"ll-svn": {"nll": [1, 2]}}}}"#;
        let of = |set, method| paper_cells(text, set, method).unwrap();
        let cells = of("a", Method::LlSvn).unwrap();
        assert_eq!(cells["nll"], PaperCell { mean: 1.0, se: 2.0 });
        assert_eq!((of("a", Method::Svn), of("b", Method::LlSvn)), (None, None));
        assert!(paper_cells("{}", "a", Method::Svn).is_err());
    }
}
