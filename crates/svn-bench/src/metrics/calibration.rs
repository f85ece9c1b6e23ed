//! Expected calibration error over bins `((b−1)/B, b/B]` of the confidence.

/// Number of bins.
pub const ECE_BINS: usize = 15;

/// `Σ_b (n_b/n) · |accuracy_b − confidence_b|` over 15 bins of equal width, closed on the right; confidence 0 is in
/// the first. Zero for no rows.
///
/// # Shapes
/// `confidence`, in `[0, 1]`, and `correct`: `n`; what is beyond the shorter one is ignored.
///
/// # References
/// Guo et al., *On calibration of modern neural networks*, ICML 2017, eq. 3.
pub fn expected_calibration_error(confidence: &[f64], correct: &[bool]) -> f64 {
    let mut bins = [(0.0, 0.0); ECE_BINS];
    let mut n = 0.0;
    for (&confidence, &correct) in confidence.iter().zip(correct) {
        let (confidences, hits) = &mut bins[bin(confidence)];
        *confidences += confidence;
        *hits += f64::from(correct);
        n += 1.0;
    }
    if n == 0.0 {
        return 0.0;
    }
    // (n_b/n) |hits/n_b − confidences/n_b| = |hits − confidences| / n.
    bins.iter()
        .map(|(confidences, hits): &(f64, f64)| (hits - confidences).abs())
        .sum::<f64>()
        / n
}

/// The first bin whose right edge is not below the confidence.
pub(super) fn bin(confidence: f64) -> usize {
    (0..ECE_BINS - 1)
        .find(|b| confidence <= (b + 1) as f64 / ECE_BINS as f64)
        .unwrap_or(ECE_BINS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_right() {
        assert_eq!((bin(0.0), bin(1.0)), (0, 14));
        for b in 0..ECE_BINS {
            let edge = (b + 1) as f64 / ECE_BINS as f64;
            assert_eq!(bin(edge), b, "the right edge belongs to its bin");
            assert_eq!(bin(edge.next_up()), (b + 1).min(14));
        }
        // Rounding above 1 and below 0 does not leave the table.
        assert_eq!((bin(1.0 + 1e-15), bin(-1e-18)), (14, 0));
    }

    #[test]
    fn certain_predictions_count() {
        assert_eq!(expected_calibration_error(&[1.0, 1.0], &[true, true]), 0.0);
        assert_eq!(
            expected_calibration_error(&[1.0, 1.0], &[false, false]),
            1.0
        );
        assert_eq!(expected_calibration_error(&[0.0, 0.0], &[true, false]), 0.5);
    }

    #[test]
    fn bins_do_not_cancel() {
        // Over- and under-confidence in different bins add up; in one bin they would cancel.
        let ece = expected_calibration_error(&[0.5, 0.9], &[true, false]);
        assert!((ece - (0.5 + 0.9) / 2.0).abs() < 1e-15);
    }
}
