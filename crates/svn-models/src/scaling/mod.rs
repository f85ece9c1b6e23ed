//! Standardisation `z = (x − m) / s`, fitted on training rows only.

mod error;
mod features;
mod target;

pub use error::ScaleError;
pub use features::FeatureScaler;
pub use target::TargetScaler;

/// Mean and population standard deviation of the finite values; `None` for the latter if they do not vary.
///
/// Whether a column varies is decided on its values, not on a threshold, so that a column of scale 1e-20 counts;
/// deviations are divided by the largest one before they are squared, so that none underflows.
fn moments(values: impl Iterator<Item = f64> + Clone) -> (f64, Option<f64>) {
    let finite = values.filter(|value| value.is_finite());
    let (mut n, mut sum, mut least, mut greatest) = (0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY);
    for value in finite.clone() {
        n += 1.0;
        sum += value;
        least = value.min(least);
        greatest = value.max(greatest);
    }
    if n == 0.0 {
        return (0.0, None);
    }
    if least == greatest {
        return (least, None);
    }
    let mean = sum / n;
    let widest = (greatest - mean).max(mean - least);
    let squares: f64 = finite.map(|value| ((value - mean) / widest).powi(2)).sum();
    (mean, Some(widest * (squares / n).sqrt()))
}
