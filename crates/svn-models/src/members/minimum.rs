//! Minimum of a smooth function of one number on an interval, without derivatives.
//!
//! A coarse scan finds the basin, golden-section search its bottom. A function with one minimum is all it is made for;
//! of several, the one nearest to the best point of the scan is found.

/// Points of the scan less one.
const SCAN: usize = 64;

/// Golden-section steps: each shrinks the bracket to 0.618 of its width, 30 of them to 5e-7.
const STEPS: usize = 30;

/// Minimiser of `loss` in `[low, high]`, to 2e-8 of the interval's width.
pub(super) fn minimum(loss: impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    let at = |k: usize| low + (high - low) * k as f64 / SCAN as f64;
    let best = (0..=SCAN)
        .min_by(|a, b| loss(at(*a)).total_cmp(&loss(at(*b))))
        .unwrap_or(SCAN);
    golden_section(loss, at(best.saturating_sub(1)), at((best + 1).min(SCAN)))
}

/// Minimiser of a function with one minimum in `[a, b]`, to 5e-7 of the bracket's width.
fn golden_section(f: impl Fn(f64) -> f64, mut a: f64, mut b: f64) -> f64 {
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    let (mut c, mut d) = (b - ratio * (b - a), a + ratio * (b - a));
    let (mut f_c, mut f_d) = (f(c), f(d));
    for _ in 0..STEPS {
        if f_c < f_d {
            (b, d, f_d) = (d, c, f_c);
            c = b - ratio * (b - a);
            f_c = f(c);
        } else {
            (a, c, f_c) = (c, d, f_d);
            d = a + ratio * (b - a);
            f_d = f(d);
        }
    }
    0.5 * (a + b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inside_and_at_the_ends() {
        for (place, expected) in [(0.3, 0.3), (-7.0, -1.0), (9.0, 2.0)] {
            let found = minimum(|x| (x - place).powi(2), -1.0, 2.0);
            // Near its bottom a parabola is flat to rounding within the root of it.
            assert!((found - expected).abs() < 1e-6, "{found}");
        }
    }
}
