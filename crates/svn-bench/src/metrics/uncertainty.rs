//! Predictive entropy, and how well it tells foreign rows from those of the test set.

use ndarray::{Array1, Axis};

use svn_models::ClassPrediction;

use super::auroc::auroc;

/// Entropy `−Σ_c p̄_c ln p̄_c` of the mean probability, nats.
///
/// # Shapes
/// The result: `n`, each in `[0, ln C]`.
pub fn predictive_entropy(prediction: &ClassPrediction) -> Array1<f64> {
    let log_p = prediction.log_mean_probability();
    log_p.map_axis(Axis(1), |row| {
        let terms = row
            .iter()
            .map(|l| if l.is_finite() { -l.exp() * l } else { 0.0 });
        terms.sum::<f64>().max(0.0)
    })
}

/// Area under the ROC curve of telling `foreign` rows from `own` ones by a higher predictive entropy: 1 is perfect, ½
/// is guessing. `None` without rows of either.
///
/// # References
/// Hendrycks and Gimpel, *A baseline for detecting misclassified and out-of-distribution examples*, ICLR 2017, with the
/// entropy for the largest probability.
pub fn out_of_distribution_auroc(own: &ClassPrediction, foreign: &ClassPrediction) -> Option<f64> {
    let (own, foreign) = (predictive_entropy(own), predictive_entropy(foreign));
    let scores: Vec<f64> = own.iter().chain(&foreign).copied().collect();
    let positive: Vec<bool> = (0..scores.len()).map(|row| row >= own.len()).collect();
    auroc(&scores, &positive)
}

#[cfg(test)]
mod tests {
    use ndarray::{Array3, array};

    use super::*;

    fn prediction(logits: Array3<f64>) -> ClassPrediction {
        ClassPrediction::new(logits).unwrap()
    }

    #[test]
    fn entropies_in_closed_form() {
        let uniform = prediction(Array3::zeros((2, 1, 10)));
        assert!((predictive_entropy(&uniform)[0] - 10f64.ln()).abs() < 1e-14);
        // Members that are certain of different classes: ln 2 together. A probability of e^−2000 is none.
        let split = prediction(array![[[2000.0, 0.0]], [[0.0, 2000.0]]]);
        assert!((predictive_entropy(&split)[0] - 2f64.ln()).abs() < 1e-14);
        let certain = prediction(array![[[0.0, 2000.0]]]);
        assert_eq!(predictive_entropy(&certain)[0], 0.0);
        // p = 1/4: −¼ ln ¼ − ¾ ln ¾.
        let quarter = prediction(array![[[0.0, 3f64.ln()]]]);
        let expected = 0.25 * 4f64.ln() + 0.75 * (4.0f64 / 3.0).ln();
        assert!((predictive_entropy(&quarter)[0] - expected).abs() < 1e-14);
    }

    #[test]
    fn foreign_rows_of_higher_entropy_are_told() {
        let own = prediction(array![[[9.0, 0.0], [1.0, 0.0]]]);
        let foreign = prediction(array![[[0.5, 0.0], [0.1, 0.0]]]);
        assert_eq!(out_of_distribution_auroc(&own, &foreign), Some(1.0));
        assert_eq!(out_of_distribution_auroc(&foreign, &own), Some(0.0));
        assert_eq!(out_of_distribution_auroc(&own, &own), Some(0.5));
        let mixed = prediction(array![[[0.5, 0.0], [3.0, 0.0]]]);
        assert_eq!(out_of_distribution_auroc(&own, &mixed), Some(0.75));
    }
}
