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
    /// Flops of Gram matrices formed anew, in millions.
    pub gram_mflop: f64,
}

const fn limit(
    prefix: &'static str,
    suffix: &'static str,
    allocations: u64,
    iterations: usize,
    products: usize,
    gram_mflop: f64,
) -> Limit {
    Limit {
        prefix,
        suffix,
        allocations,
        iterations,
        products,
        gram_mflop,
    }
}

/// The first entry that fits a case counts.
pub const LIMITS: &[Limit] = &[
    limit("yacht/ensemble", "", 1000, 0, 0, 0.0),
    limit("yacht/svgd", "", 1000, 0, 0, 0.0),
    limit("yacht/svn/full", "/cg", 4000, 50, 600, 0.0),
    limit("yacht/svn/full/block-diagonal/ring-1", "", 2000, 0, 0, 4.0),
    limit(
        "yacht/svn/full/block-diagonal/ring-8",
        "",
        2000,
        0,
        0,
        250.0,
    ),
    limit("yacht/svn/full/gram/ring-1", "", 4000, 60, 1500, 20.0),
    limit("yacht/svn/full/gram/ring-8", "", 4000, 60, 1500, 1300.0),
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
                "Gram Mflop per step",
                operations.and_then(|o| o.gram_mflop),
                limit.gram_mflop,
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
