//! How well the predictive entropy tells foreign rows from those of the test set.

use svn_models::ClassPrediction;

use super::auroc::auroc;

/// Area under the ROC curve of telling `foreign` rows from `own` ones by a higher predictive entropy: 1 is perfect, ½
/// is guessing. `None` without rows of either.
///
/// # References
/// Hendrycks and Gimpel, *A baseline for detecting misclassified and out-of-distribution examples*, ICLR 2017, with the
/// entropy for the largest probability.
pub fn out_of_distribution_auroc(own: &ClassPrediction, foreign: &ClassPrediction) -> Option<f64> {
    let (own, foreign) = (own.entropy(), foreign.entropy());
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
