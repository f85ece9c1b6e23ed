//! The study's part of its report.

use svn_models::curvature::Activation;
use svn_models::posterior::CurvatureFamily;
use svn_models::recipe::{LastLayerMode, Method, Recipe};

use super::{ImageSplit, VisionDesign, VisionExtra, figures};
use crate::data::Task;
use crate::data::images::Corruption;
use crate::metrics::Estimate;
use crate::report::density;
use crate::report::{
    Beside, Cells, Detail, Figure, Grid, Page, ReportError, Row, dash, grid, number, paper_cells,
};
use crate::split::Limits;

const PAPER: &str = include_str!("paper.json");

/// The three metrics of the studies of corruption and few data, with their axis.
pub(super) const SHOWN: [(&str, &str); 3] =
    [("accuracy", "accuracy"), ("nll", "NLL"), ("ece", "ECE")];

/// The report of image experiments.
#[derive(Debug)]
pub struct VisionPage;

impl Page for VisionPage {
    const STUDY: &'static str = super::NAME;
    const TITLE: &'static str = "Image benchmark";
    const INTRO: &'static str = "LeNet. Means over seeds and folds ± standard error; NLL in nats an image, `nll` of the mean \
                                 probability and `nll_logit` of the mean logit, as in the paper; `images` are those for \
                                 training (80 %) and validation (20 %); `ood_auroc` is that of telling another set's \
                                 images by their predictive entropy, `…_information` by the mutual information of class and \
                                 member, `…_probability` by the largest probability.";

    type Design = VisionDesign;
    type Extra = VisionExtra;

    fn metrics(_: Task, detail: Detail) -> &'static [&'static str] {
        match detail {
            Detail::Brief => &["accuracy", "nll", "ece", "ood_auroc"],
            Detail::Full => &[
                "accuracy",
                "nll",
                "nll_logit",
                "ece",
                "brier",
                "auroc",
                "ood_auroc",
                "ood_auroc_information",
                "ood_auroc_probability",
            ],
        }
    }

    /// With what is not as the paper has it: `ll-svn, full, pretrained`.
    fn label(method: Method, settings: &Recipe) -> String {
        let usual = match method.name() {
            "ll-svn" => CurvatureFamily::Kfac,
            _ => CurvatureFamily::Diag,
        };
        let mut parts = vec![method.to_string()];
        let hessian = settings.hessian.filter(|&hessian| hessian != usual);
        parts.extend(hessian.map(|hessian| hessian.to_string()));
        if settings.ll_mode == Some(LastLayerMode::Pretrained) {
            parts.push("pretrained".to_owned());
        }
        let activation = settings.activation.filter(|&a| a != Activation::Sigmoid);
        parts.extend(activation.map(|activation| activation.to_string()));
        parts.extend(density(settings).map(str::to_owned));
        if settings.temperature == Some(true) {
            parts.push("temperature".to_owned());
        }
        parts.join(", ")
    }

    /// Of the paper's split of all images.
    fn paper(design: &VisionDesign, method: Method) -> Result<Option<Cells>, ReportError> {
        if design.split != ImageSplit::Paper || design.limits != Limits::default() {
            return Ok(None);
        }
        paper_cells(PAPER, &design.dataset, method)
    }

    fn beside(_: Task) -> &'static [Beside] {
        const {
            &[
                Beside::same("accuracy"),
                Beside::same("nll_logit"),
                Beside::same("ece"),
                Beside::same("brier"),
                Beside::same("auroc"),
            ]
        }
    }

    fn sections(rows: &[Row<Self>]) -> Vec<Grid> {
        vec![corrupted(rows)]
    }

    fn figures(rows: &[Row<Self>]) -> Result<Vec<Figure>, ReportError> {
        figures::draw(rows)
    }
}

/// Means over the levels above 0.
fn corrupted(rows: &[Row<VisionPage>]) -> Grid {
    let mut cells = Vec::new();
    for row in rows {
        for kind in [Corruption::Rotation, Corruption::Noise] {
            let points = row.extra.corruption.iter();
            let points: Vec<_> = points
                .filter(|point| point.kind == kind && point.level > 0.0)
                .collect();
            if points.is_empty() {
                continue;
            }
            let mean = |(key, _): (&str, &str)| {
                let means = points
                    .iter()
                    .filter_map(|point| Some(point.metric(key)?.mean));
                let mean = Estimate::of(&means.collect::<Vec<f64>>());
                mean.map_or_else(dash, |mean| number(mean.mean))
            };
            let line = [vec![kind.name().to_owned()], SHOWN.map(mean).to_vec()].concat();
            cells.push((row, line));
        }
    }
    let header = ["corruption", "accuracy", "nll", "ece"];
    grid(
        "Corrupted test images, means over the levels",
        &header,
        cells,
    )
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
