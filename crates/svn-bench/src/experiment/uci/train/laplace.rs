//! The prior precision of the members' Laplace approximations that suits the validation rows best.
//!
//! Training's precision is made for finding weights. What it leaves of variance around them may be off by orders of
//! magnitude, so that this one is chosen for the density it goes into (Daxberger et al., *Laplace redux*, 2021).

use ndarray::{Array3, ArrayView2, Axis};
use svn_models::ensemble::Laplace;

use super::failed;
use crate::experiment::{FoldJob, Part, RunError};

/// Validation rows that the choice is made on at most; each candidate costs a product with every parameter for each.
const SAMPLE: usize = 500;

/// Decades that are tried, before the half decades beside the best.
const DECADES: std::ops::RangeInclusive<i32> = -2..=4;

/// Rows of the validation part, evenly spaced, for they may be in an order.
pub(super) fn sample(job: &FoldJob) -> Part {
    let all = job.validation.y.len();
    let count = all.min(SAMPLE);
    let rows: Vec<usize> = (0..count).map(|k| k * all / count).collect();
    Part {
        x: job.validation.x.select(Axis(0), &rows),
        y: job.validation.y.select(Axis(0), &rows),
        original_y: job.validation.original_y.select(Axis(0), &rows),
    }
}

/// The precision of least loss, as a function of the variances at `features`, among powers of the root of ten.
pub(super) fn best_precision(
    laplace: &Laplace<'_>,
    features: ArrayView2<'_, f64>,
    loss: impl Fn(&Array3<f64>) -> Result<f64, RunError>,
) -> Result<f64, RunError> {
    let mut best = (f64::INFINITY, 1.0);
    let mut attempt = |precision: f64| {
        let variances = laplace.variances(precision, &[features]).map_err(failed)?;
        let found = loss(&variances[0])?;
        if found < best.0 {
            best = (found, precision);
        }
        Ok::<f64, RunError>(best.1)
    };
    let mut center = 1.0;
    for decade in DECADES {
        center = attempt(10f64.powi(decade))?;
    }
    attempt(center / 10f64.sqrt())?;
    attempt(center * 10f64.sqrt())
}

/// `N × rows × outputs` at the features of a part.
pub(super) fn variances(
    laplace: &Laplace<'_>,
    precision: f64,
    part: &Part,
) -> Result<Array3<f64>, RunError> {
    let found = laplace
        .variances(precision, &[part.x.view()])
        .map_err(failed)?;
    found
        .into_iter()
        .next()
        .ok_or_else(|| RunError::Unsupported("variances of no part".to_owned()))
}
