//! Limits on operation counts, generous enough for rounding to move them, tight enough for a change of algorithm to show.
//!
//! The counts depend on the code, hardly on the machine, so that a regression shows on a noisy one. Times have no limits.

use super::error::PerfError;
use super::outcome::CaseResult;

/// Largest counts of one step of the cases whose identifier begins and ends as given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// Beginning of the identifier.
    pub prefix: &'static str,
    /// End of the identifier.
    pub suffix: &'static str,
    /// Allocations in Rust code.
    pub allocations: u64,
    /// Iterations or refinement steps of the Newton system.
    pub iterations: usize,
    /// Curvature products with single particles in a solve.
    pub products: usize,
    /// Flops of Cholesky factorisations, in millions.
    pub factor_mflop: f64,
}

const fn limit(
    prefix: &'static str,
    suffix: &'static str,
    allocations: u64,
    iterations: usize,
    products: usize,
    factor_mflop: f64,
) -> Limit {
    Limit {
        prefix,
        suffix,
        allocations,
        iterations,
        products,
        factor_mflop,
    }
}

/// The first entry that fits a case counts.
pub const LIMITS: &[Limit] = &[
    limit("yacht/ensemble", "", 200, 0, 0, 0.0),
    limit("yacht/svgd", "", 200, 0, 0, 0.0),
    limit("yacht/svn/diag", "", 12_000, 5, 0, 0.0),
    limit("yacht/svn/kfac", "", 5000, 60, 600, 0.0),
    limit("yacht/svn/full", "/cg", 10_000, 50, 400, 0.0),
    limit(
        "yacht/svn/full/block-diagonal",
        "/inactive",
        3000,
        0,
        0,
        4.0,
    ),
    limit("yacht/svn/full/block-diagonal/ring-1", "", 3000, 0, 0, 2.0),
    limit(
        "yacht/svn/full/block-diagonal/ring-8",
        "",
        3000,
        0,
        0,
        500.0,
    ),
    limit("yacht/svn/full/gram", "", 3000, 1, 0, 4.0),
];

/// Check every case against the first entry that fits it.
///
/// # Errors
/// [`PerfError::Limit`] naming the first case and count above its limit.
pub(super) fn check(limits: &[Limit], cases: &[CaseResult]) -> Result<(), PerfError> {
    for case in cases {
        let fits =
            |limit: &&Limit| case.id.starts_with(limit.prefix) && case.id.ends_with(limit.suffix);
        let Some(limit) = limits.iter().find(fits) else {
            continue;
        };
        let operations = case.operations.as_ref();
        for (count, found, limit) in [
            (
                "allocations per step",
                case.allocations.map(|count| count as f64),
                limit.allocations as f64,
            ),
            (
                "iterations per solve",
                operations.map(|o| o.iterations as f64),
                limit.iterations as f64,
            ),
            (
                "curvature products per solve",
                operations
                    .and_then(|o| o.products)
                    .map(|count| count as f64),
                limit.products as f64,
            ),
            (
                "Mflop of factorisations per step",
                operations.and_then(|o| o.factor_mflop),
                limit.factor_mflop,
            ),
        ] {
            if let Some(found) = found.filter(|found| *found > limit) {
                return Err(PerfError::Limit {
                    case: case.id.clone(),
                    count,
                    found,
                    limit,
                });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::case::{Shape, cases};
    use super::*;
    use crate::perf::{Effort, measure};

    #[test]
    fn every_yacht_case_has_a_limit_that_allows_something_finite() {
        for case in cases(Shape::Yacht) {
            let id = case.id();
            assert!(
                LIMITS
                    .iter()
                    .any(|limit| id.starts_with(limit.prefix) && id.ends_with(limit.suffix)),
                "{id}"
            );
        }
    }

    #[test]
    fn the_case_and_count_above_a_limit_are_named() {
        let case = cases(Shape::Yacht).swap_remove(4);
        let mut results = measure(&[case], 1, Effort::QUICK, || None).unwrap();
        check(LIMITS, &results).unwrap();
        let tight = [limit("yacht/svn", "", 50, 0, 0, 0.0)];
        let error = check(&tight, &results).unwrap_err().to_string();
        assert!(
            error.starts_with("yacht/svn/full/gram/ring-1/curvature: ")
                && error.contains(", limit 0"),
            "{error}"
        );
        results[0].allocations = Some(51);
        let error = check(&tight, &results).unwrap_err().to_string();
        assert_eq!(
            error,
            "yacht/svn/full/gram/ring-1/curvature: allocations per step is 51, limit 50"
        );
    }
}
