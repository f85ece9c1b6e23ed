//! The study's part of its report.

use super::bands::bands;
use super::{Curve, ToyDesign};
use crate::data::Task;
use crate::report::{Detail, Figure, Page, ReportError, Row};

/// The report of the toy study.
#[derive(Debug)]
pub struct ToyPage;

impl Page for ToyPage {
    const STUDY: &'static str = super::NAME;
    const TITLE: &'static str = "Toy regression";
    const INTRO: &'static str = "y = (x − 3)³ with noise of 0.25, 150 rows in [2, 3] and [4.5, 6]. `mean_…` and `sd_…` are root mean \
                                 square distances of the mean and the standard deviation of the function from those of a long \
                                 Hamiltonian Monte Carlo run, over the points of [0, 7] inside the data and outside, in units of \
                                 y; `nll` is that of the curve itself on [0, 7].";

    type Design = ToyDesign;
    type Extra = Curve;

    fn metrics(_: Task, detail: Detail) -> &'static [&'static str] {
        match detail {
            Detail::Brief => &["mean_inside", "sd_inside", "sd_outside"],
            Detail::Full => &[
                "mean_inside",
                "sd_inside",
                "mean_outside",
                "sd_outside",
                "nll",
                "rmse",
            ],
        }
    }

    fn figures(rows: &[Row<Self>]) -> Result<Vec<Figure>, ReportError> {
        Ok(vec![bands(rows)?])
    }
}
