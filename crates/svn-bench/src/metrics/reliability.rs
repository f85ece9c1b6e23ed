//! Reliability: how often a class is right that is predicted with some confidence.
//!
//! ```text
//! bin b = ((b−1)/B, b/B]     accuracy_b = hits_b / n_b     confidence_b = Σ_{i ∈ b} max_c p̄_ic / n_b
//! ece = Σ_b (n_b/n) |accuracy_b − confidence_b|
//! ```

use serde::{Deserialize, Serialize};

use super::calibration::{ECE_BINS, bin};
use svn_models::ClassPrediction;

use super::MetricError;

/// One bin of confidence.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReliabilityBin {
    /// Rows in it.
    pub rows: usize,
    /// Mean confidence of these; 0 for none.
    pub confidence: f64,
    /// Share of these that are right; 0 for none.
    pub accuracy: f64,
}

/// The [`ECE_BINS`] bins of the expected calibration error.
///
/// # Shapes
/// `targets`: `n`.
///
/// # Errors
/// [`MetricError::Shape`].
///
/// # References
/// Guo et al., *On calibration of modern neural networks*, ICML 2017.
pub fn reliability(
    prediction: &ClassPrediction,
    targets: &[usize],
) -> Result<Vec<ReliabilityBin>, MetricError> {
    let log_p = prediction.log_mean_probability();
    if targets.len() != log_p.nrows() {
        return Err(MetricError::Shape {
            what: "target",
            found: vec![targets.len()],
            expected: vec![log_p.nrows()],
        });
    }
    let mut bins = vec![ReliabilityBin::default(); ECE_BINS];
    let predicted = prediction.most_probable();
    for ((row, &target), &class) in log_p.rows().into_iter().zip(targets).zip(&predicted) {
        let confidence = row[class].exp().min(1.0);
        let bin = &mut bins[bin(confidence)];
        bin.rows += 1;
        bin.confidence += confidence;
        bin.accuracy += f64::from(class == target);
    }
    for bin in bins.iter_mut().filter(|bin| bin.rows > 0) {
        bin.confidence /= bin.rows as f64;
        bin.accuracy /= bin.rows as f64;
    }
    Ok(bins)
}

#[cfg(test)]
mod tests {
    use ndarray::Array3;

    use super::*;
    use crate::metrics::classification_metrics;

    #[test]
    fn the_bins_give_accuracy_and_calibration_error() {
        let logits = Array3::from_shape_fn((3, 200, 4), |(p, i, c)| {
            3.0 * ((p * 7 + i * 13 + c * 29) as f64).sin()
        });
        let targets: Vec<usize> = (0..200).map(|i| (i * i + 1) % 4).collect();
        let prediction = ClassPrediction::new(logits).unwrap();
        let bins = reliability(&prediction, &targets).unwrap();
        let metrics = classification_metrics(&prediction, &targets).unwrap();
        let over = |term: &dyn Fn(&ReliabilityBin) -> f64| -> f64 {
            bins.iter()
                .map(|bin| bin.rows as f64 / 200.0 * term(bin))
                .sum()
        };
        let ece = over(&|bin| (bin.accuracy - bin.confidence).abs());
        assert!((ece - metrics.value("ece").unwrap()).abs() < 1e-14);
        let accuracy = over(&|bin| bin.accuracy);
        assert!((accuracy - metrics.value("accuracy").unwrap()).abs() < 1e-14);
        assert_eq!(bins.iter().map(|bin| bin.rows).sum::<usize>(), 200);
        // Four classes: no confidence below a quarter.
        assert!(bins[..3].iter().all(|bin| bin.rows == 0));
    }

    #[test]
    fn certainty_is_in_the_last_bin_and_lengths_are_checked() {
        let logits = Array3::from_shape_fn((1, 2, 2), |(_, _, c)| if c == 0 { 1e3 } else { 0.0 });
        let prediction = ClassPrediction::new(logits).unwrap();
        let bins = reliability(&prediction, &[0, 1]).unwrap();
        let last = ReliabilityBin {
            rows: 2,
            confidence: 1.0,
            accuracy: 0.5,
        };
        assert_eq!((bins.len(), bins[14]), (15, last));
        assert!(reliability(&prediction, &[0]).is_err());
    }
}
