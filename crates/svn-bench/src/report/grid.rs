//! Numbers in tables.

use super::PaperCell;
use crate::metrics::Estimate;

/// What stands where there is nothing.
pub fn dash() -> String {
    "–".to_owned()
}

/// ` ▼` or ` ▲` if ours is below or above the paper's beyond two standard errors of the difference; else nothing.
pub(super) fn mark(ours: Estimate, paper: PaperCell) -> &'static str {
    let error = ours.se.unwrap_or(0.0).hypot(paper.se);
    match ours.mean - paper.mean {
        difference if difference < -2.0 * error => " ▼",
        difference if difference > 2.0 * error => " ▲",
        _ => "",
    }
}

/// `mean ± standard error`, or a dash. Both have the decimals that show two digits of the error, at least 3.
pub fn with_error(estimate: Option<Estimate>) -> String {
    match estimate {
        None => dash(),
        Some(Estimate {
            mean, se: Some(se), ..
        }) if is_plain(mean) && is_plain(10.0 * se) => {
            let decimals = if se > 0.0 {
                (1.0 - se.log10().floor()).clamp(3.0, 6.0) as usize
            } else {
                3
            };
            format!("{mean:.decimals$} ± {se:.decimals$}")
        }
        Some(Estimate {
            mean, se: Some(se), ..
        }) => format!("{} ± {}", number(mean), number(se)),
        Some(Estimate { mean, se: None, .. }) => number(mean),
    }
}

/// The same with 3 decimals, where these do not hide the mean.
pub(super) fn with_short_error(estimate: Option<Estimate>) -> String {
    match estimate {
        Some(Estimate {
            mean, se: Some(se), ..
        }) if is_plain(mean) && se < 100.0 => format!("{mean:.3} ± {se:.3}"),
        other => with_error(other),
    }
}

/// Three decimals, or three significant digits where three decimals would hide or drown the number.
pub fn number(value: f64) -> String {
    if is_plain(value) {
        format!("{value:.3}")
    } else {
        format!("{value:.2e}")
    }
}

/// A number that there may be.
pub(super) fn maybe(value: Option<f64>) -> String {
    value.map_or_else(dash, number)
}

/// Whether a number is readable without an exponent.
fn is_plain(value: f64) -> bool {
    value == 0.0 || (1e-2..1e4).contains(&value.abs())
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn numbers_are_readable_at_any_scale() {
        for (value, text) in [
            (0.0, "0.000"),
            (-0.36, "-0.360"),
            (1234.5678, "1234.568"),
            (12345.0, "1.23e4"),
            (0.000_012_3, "1.23e-5"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn two_standard_errors_of_the_difference_are_marked() {
        let ours = |mean, se| Estimate { mean, se, n: 5 };
        let paper = PaperCell { mean: 1.0, se: 0.3 };
        // √(0.3² + 0.4²) = 0.5.
        for (mean, se, expected) in [
            (2.01, Some(0.4), " ▲"),
            (1.99, Some(0.4), ""),
            (0.01, Some(0.4), ""),
            (-0.01, Some(0.4), " ▼"),
            (1.61, None, " ▲"),
        ] {
            assert_eq!(mark(ours(mean, se), paper), expected);
        }
    }

    #[test]
    fn decimals_follow_the_error() {
        let estimate = |mean, se| Some(Estimate { mean, se, n: 5 });
        for (mean, se, full, short) in [
            (2.0, Some(1.0), "2.000 ± 1.000", "2.000 ± 1.000"),
            (0.96, Some(0.00985), "0.9600 ± 0.0098", "0.960 ± 0.010"),
            (-5.38, Some(0.0), "-5.380 ± 0.000", "-5.380 ± 0.000"),
            (1.2e-7, Some(3e-8), "1.20e-7 ± 3.00e-8", "1.20e-7 ± 3.00e-8"),
            (20_000.0, Some(15.0), "2.00e4 ± 15.000", "2.00e4 ± 15.000"),
            (1.0, None, "1.000", "1.000"),
        ] {
            assert_eq!(with_error(estimate(mean, se)), full);
            assert_eq!(with_short_error(estimate(mean, se)), short);
        }
        assert_eq!(with_error(None), "–");
    }
}
