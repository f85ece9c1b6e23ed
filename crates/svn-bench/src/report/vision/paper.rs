//! The cells the paper prints for MNIST and FashionMNIST, to stand beside ours.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::experiment::Method;
use crate::experiment::vision::{ImageSplit, VisionConfiguration};
use crate::report::{PaperCell, ReportError};
use crate::split::Limits;

const TEXT: &str = include_str!("paper.json");

type Cells = BTreeMap<String, PaperCell>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Paper {
    #[serde(rename = "source")]
    _source: String,
    #[serde(rename = "notes")]
    _notes: BTreeMap<String, String>,
    cells: BTreeMap<String, BTreeMap<Method, Cells>>,
}

/// What the paper prints for a configuration, by our metric keys; `None` where it prints nothing, or where the split is
/// another one or leaves images out.
///
/// # Errors
/// [`ReportError::Paper`] if the embedded file does not parse: a test keeps that from happening.
pub fn paper_cells(configuration: &VisionConfiguration) -> Result<Option<Cells>, ReportError> {
    if configuration.split != ImageSplit::Paper || configuration.limits != Limits::default() {
        return Ok(None);
    }
    let paper: Paper = serde_json::from_str(TEXT).map_err(ReportError::Paper)?;
    let methods = paper.cells.get(&configuration.dataset);
    Ok(methods
        .and_then(|methods| methods.get(&configuration.method))
        .cloned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::vision::samples::record;

    #[test]
    fn cells_stand_beside_the_papers_split_alone() {
        let mut configuration = record(Method::LlSvn, 500, 0).configuration;
        assert_eq!(paper_cells(&configuration).unwrap(), None);
        configuration.split = ImageSplit::Paper;
        assert_eq!(paper_cells(&configuration).unwrap(), None);
        configuration.limits = Limits::default();
        configuration.dataset = "fashion-mnist".to_owned();
        let cells = paper_cells(&configuration).unwrap().unwrap();
        let cell = |mean, se| PaperCell { mean, se };
        assert_eq!(cells["nll_logit"], cell(0.241, 0.002));
        assert_eq!(cells["accuracy"], cell(0.918, 0.001));
        assert_eq!(cells.len(), 5);
        configuration.dataset = "synthetic-digits".to_owned();
        assert_eq!(paper_cells(&configuration).unwrap(), None);
    }

    #[test]
    fn every_method_has_its_row() {
        let paper: Paper = serde_json::from_str(TEXT).unwrap();
        assert_eq!(paper.cells.len(), 2);
        assert!(paper.cells.values().all(|methods| methods.len() == 5));
    }
}
