//! The study's part of its report.

use std::collections::BTreeMap;

use svn_models::recipe::Method;

use super::{UciDesign, published};
use crate::data::Task;
use crate::engine::Design;
use crate::report::{Anchor, Beside, Cells, Detail, Page, ReportError, paper_cells};

const PAPER: &str = include_str!("paper.json");

/// `½ ln 2π`, which the paper leaves out of its NLL.
const NLL_CONSTANT: f64 = 0.918_938_533_204_672_7;

/// The report of UCI experiments.
#[derive(Debug)]
pub struct UciPage;

impl Page for UciPage {
    const STUDY: &'static str = super::NAME;
    const TITLE: &'static str = "UCI benchmark";
    const INTRO: &'static str = "Means over folds ± standard error, original units, NLL in nats. `nll_paper` and `nll_logit` \
                                 follow the paper's protocol, the cells it prints are beside them.";

    type Design = UciDesign;
    type Extra = ();

    fn metrics(task: Task, detail: Detail) -> &'static [&'static str] {
        match (task, detail) {
            (Task::Regression, Detail::Brief) => &["nll", "nll_paper", "rmse"],
            (Task::Regression, Detail::Full) => &[
                "nll",
                "nll_moments",
                "nll_paper",
                "nll_epistemic",
                "rmse",
                "mse",
                "crps",
                "coverage90",
                "width90",
            ],
            (Task::Classification, Detail::Brief) => &["nll", "nll_logit", "accuracy", "ece"],
            (Task::Classification, Detail::Full) => &[
                "nll",
                "nll_logit",
                "accuracy",
                "ece",
                "brier",
                "auroc",
                "entropy",
            ],
        }
    }

    fn paper(design: &UciDesign, method: Method) -> Result<Option<Cells>, ReportError> {
        if design.protocol() != "paper" {
            return Ok(None);
        }
        paper_cells(PAPER, &design.dataset, method)
    }

    fn beside(task: Task) -> &'static [Beside] {
        match task {
            Task::Regression => {
                const {
                    &[
                        Beside {
                            printed: "nll_paper",
                            ours: "nll",
                            less: NLL_CONSTANT,
                            title: "nll − ½ ln 2π",
                        },
                        Beside::same("nll_paper"),
                        Beside {
                            ours: "nll_epistemic",
                            title: "nll_epistemic",
                            ..Beside::same("nll_paper")
                        },
                    ]
                }
            }
            Task::Classification => {
                const {
                    &[
                        Beside {
                            ours: "nll",
                            title: "nll",
                            ..Beside::same("nll_logit")
                        },
                        Beside::same("nll_logit"),
                        Beside::same("accuracy"),
                        Beside::same("ece"),
                        Beside::same("brier"),
                        Beside::same("auroc"),
                    ]
                }
            }
        }
    }

    fn published(design: &UciDesign) -> Result<BTreeMap<String, Anchor>, ReportError> {
        published::published(design)
    }
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
