//! How well what a prediction says of its own doubt tells foreign rows from those of the test set.
//!
//! | key | a row is foreign the higher |
//! |---|---|
//! | `ood_auroc` | the entropy of the mean probability: all that is uncertain |
//! | `ood_auroc_information` | the mutual information of class and member: what the members disagree about |
//! | `ood_auroc_probability` | one less the largest mean probability |
//!
//! # References
//! Hendrycks and Gimpel, *A baseline for detecting misclassified and out-of-distribution examples*, ICLR 2017 (the largest
//! probability); Smith and Gal, *Understanding measures of uncertainty for adversarial example detection*, UAI 2018 (the other two).

use ndarray::{Array1, Axis};
use svn_models::ClassPrediction;

use super::auroc::auroc;

/// A number a row, the higher the more foreign.
type Score = fn(&ClassPrediction) -> Array1<f64>;

const SCORES: [(&str, Score); 3] = [
    ("ood_auroc", ClassPrediction::entropy),
    ("ood_auroc_information", ClassPrediction::mutual_information),
    ("ood_auroc_probability", doubt),
];

fn doubt(prediction: &ClassPrediction) -> Array1<f64> {
    let probability = prediction.mean_probability();
    probability.map_axis(Axis(1), |row| 1.0 - row.iter().copied().fold(0.0, f64::max))
}

/// Area under the ROC curve of telling `foreign` rows from `own` ones by each score: 1 is perfect, ½ is guessing. `None` without
/// rows of either.
pub fn out_of_distribution_auroc(
    own: &ClassPrediction,
    foreign: &ClassPrediction,
) -> [(&'static str, Option<f64>); 3] {
    SCORES.map(|(key, score)| {
        let (own, foreign) = (score(own), score(foreign));
        let scores: Vec<f64> = own.iter().chain(&foreign).copied().collect();
        let positive: Vec<bool> = (0..scores.len()).map(|row| row >= own.len()).collect();
        (key, auroc(&scores, &positive))
    })
}

#[cfg(test)]
mod tests {
    use ndarray::{Array3, array};

    use super::*;

    fn prediction(logits: Array3<f64>) -> ClassPrediction {
        ClassPrediction::new(logits).unwrap()
    }

    fn found(own: &ClassPrediction, foreign: &ClassPrediction) -> [Option<f64>; 3] {
        out_of_distribution_auroc(own, foreign).map(|(_, auroc)| auroc)
    }

    #[test]
    fn foreign_rows_of_more_doubt_are_told() {
        let own = prediction(array![[[9.0, 0.0], [1.0, 0.0]]]);
        let foreign = prediction(array![[[0.5, 0.0], [0.1, 0.0]]]);
        // One member does not disagree with itself.
        assert_eq!(found(&own, &foreign), [Some(1.0), Some(0.5), Some(1.0)]);
        assert_eq!(found(&foreign, &own), [Some(0.0), Some(0.5), Some(0.0)]);
        assert_eq!(found(&own, &own), [Some(0.5); 3]);
        let mixed = prediction(array![[[0.5, 0.0], [3.0, 0.0]]]);
        assert_eq!(found(&own, &mixed)[0], Some(0.75));
    }

    /// Members who agree that a row could be either have no information, two who contradict each other have much.
    #[test]
    fn disagreement_is_what_mutual_information_tells() {
        let own = prediction(array![[[0.0, 0.0]], [[0.0, 0.0]]]);
        let foreign = prediction(array![[[4.0, 0.0]], [[0.0, 4.0]]]);
        assert_eq!(found(&own, &foreign)[1], Some(1.0));
        assert_eq!(
            found(&own, &foreign)[0],
            Some(0.5),
            "both means are one half"
        );
    }

    /// With three classes entropy and the largest probability order rows differently.
    #[test]
    fn the_largest_probability_is_another_order_than_entropy() {
        let logits = |p: [f64; 3]| prediction(array![[[p[0].ln(), p[1].ln(), p[2].ln()]]]);
        let two = logits([0.5, 0.4999, 0.0001]);
        let three = logits([0.55, 0.225, 0.225]);
        assert_eq!(found(&two, &three)[0], Some(1.0));
        assert_eq!(found(&two, &three)[2], Some(0.0));
    }
}
