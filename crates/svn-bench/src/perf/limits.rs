//! Limits on operation counts, generous enough for rounding to move them, tight enough for a change of algorithm to show.
//!
//! The counts depend on the code, hardly on the machine, so that a regression shows on a noisy one. Times have no limits.

use super::error::PerfError;
use super::result::CaseResult;

/// Beginning and end of the identifiers of cases, and their largest [`COUNTS`].
pub(super) type Limit = (&'static str, &'static str, [f64; 4]);

const COUNTS: [&str; 4] = [
    "allocations per step",
    "iterations per solve",
    "curvature products per solve",
    "Mflop of factorisations per step",
];

/// The first entry that fits a case counts.
#[rustfmt::skip]
pub(super) const LIMITS: &[Limit] = &[
    ("yacht/ensemble", "", [200.0, 0.0, 0.0, 0.0]),
    ("yacht/svgd", "", [200.0, 0.0, 0.0, 0.0]),
    ("yacht/svn/diag", "", [12_000.0, 5.0, 10.0, 0.0]),
    ("yacht/svn/kfac", "", [5000.0, 60.0, 600.0, 0.0]),
    ("yacht/svn/full", "/cg", [10_000.0, 50.0, 400.0, 0.0]),
    ("yacht/svn/full/block-diagonal", "/inactive", [3000.0, 0.0, 0.0, 4.0]),
    ("yacht/svn/full/block-diagonal/ring-1", "", [3000.0, 0.0, 0.0, 2.0]),
    ("yacht/svn/full/block-diagonal/ring-8", "", [3000.0, 0.0, 0.0, 500.0]),
    ("yacht/svn/full/gram", "", [3000.0, 1.0, 0.0, 4.0]),
];

fn find(limits: &[Limit], id: &str) -> Option<[f64; 4]> {
    let fits = |(begin, end, _): &&Limit| id.starts_with(begin) && id.ends_with(end);
    limits.iter().find(fits).map(|(_, _, largest)| *largest)
}

/// Check every case against the first entry that fits it.
///
/// # Errors
/// [`PerfError::Limit`] naming the first case and count above its limit.
pub(super) fn check(limits: &[Limit], cases: &[CaseResult]) -> Result<(), PerfError> {
    for case in cases {
        let Some(limits) = find(limits, &case.id) else {
            continue;
        };
        let operations = case.operations;
        let counts = [
            case.allocations.map(|count| count as f64),
            operations.map(|o| o.solve.iterations as f64),
            operations.and_then(|o| o.products).map(|n| n as f64),
            operations.and_then(|o| o.factor_mflop),
        ];
        for ((count, found), limit) in COUNTS.into_iter().zip(counts).zip(limits) {
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
    use super::super::{case::cases, measure, shape::Shape};
    use super::*;

    #[test]
    fn every_yacht_case_has_a_limit() {
        for case in cases(Shape::Yacht).unwrap() {
            assert!(find(LIMITS, &case.id).is_some(), "{}", case.id);
        }
    }

    #[test]
    fn the_case_and_count_above_a_limit_are_named() {
        let case = cases(Shape::Yacht).unwrap().swap_remove(4);
        let quick = measure::Effort::QUICK;
        let mut results = measure::measure(&[case], 1, quick, || None).unwrap();
        check(LIMITS, &results).unwrap();
        let tight = [("yacht/svn", "", [50.0, 0.0, 0.0, 0.0])];
        let text = check(&tight, &results).unwrap_err().to_string();
        let name = "yacht/svn/full/gram/ring-1/curvature: ";
        assert!(text.starts_with(name), "{text}");
        assert!(text.ends_with(", limit 0"), "{text}");
        results[0].allocations = Some(51);
        let text = check(&tight, &results).unwrap_err().to_string();
        assert_eq!(text, format!("{name}allocations per step is 51, limit 50"));
    }
}
