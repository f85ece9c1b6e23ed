//! What a run says about a case, however it was measured.

use serde::Serialize;
use svn_models::stein::SolveInfo;

/// One case with one number of threads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct CaseResult {
    /// `shape/method/…`.
    pub id: String,
    /// `N`.
    pub particles: usize,
    /// `d`.
    pub dim: usize,
    /// Threads of rayon, libtorch and OpenBLAS.
    pub threads: usize,
    /// Steps measured.
    pub steps: usize,
    /// Wall time of a step in milliseconds.
    pub step_ms: Spread,
    /// What a step costs in milliseconds: the mean where steps differ by design, as with curvature that is refreshed now
    /// and then, else the median.
    pub cost_ms: f64,
    /// Median number of allocations of a step in Rust code.
    pub allocations: Option<u64>,
    /// Operation counts; `null` for first-order methods.
    pub operations: Option<Operations>,
}

/// Median, smallest and largest of some times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Spread {
    pub median: f64,
    pub min: f64,
    pub max: f64,
}

impl Spread {
    /// Of at least one value; `None` for no values.
    pub(super) fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let (low, high) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
        let median = 0.5 * (low + high);
        Some(Self { median, min, max })
    }
}

/// Counts of one step that do not depend on the machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Operations {
    #[serde(flatten)]
    pub solve: SolveInfo,
    /// Products of a particle's curvature with a vector in one solve; `null` for curvature that is not factored.
    pub products: Option<usize>,
    /// Factors of a particle's damped curvature in one solve; `null` likewise.
    pub factors: Option<usize>,
    /// Flops of the Cholesky factors, in millions; `null` for other families than Full.
    pub factor_mflop: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::Spread;

    #[test]
    fn medians_of_even_and_odd_numbers() {
        let spread = Spread::of(&[3.0, 1.0, 2.0]).unwrap();
        assert_eq!((spread.median, spread.min, spread.max), (2.0, 1.0, 3.0));
        assert_eq!(Spread::of(&[4.0, 1.0, 2.0, 3.0]).unwrap().median, 2.5);
        assert!(Spread::of(&[]).is_none());
    }
}
