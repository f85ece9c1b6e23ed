//! How unlike the training data a row is: what the members disagree about, ranked among the validation rows.
//!
//! ```text
//! numbers   d = epistemic variance / total variance      classes   d = mutual information of class and member
//! novelty(x) = share of the validation rows with a smaller d
//! ```
//!
//! 0.5 is as usual, 1 is more disagreement than at any validation row. It is a rank, not a probability: members that have
//! learnt the same wrong thing do not disagree.

use ndarray::Array1;
use serde::{Deserialize, Serialize};
use svn_models::{ClassPrediction, Prediction};

use crate::engine::Predicted;

/// Disagreement at the validation rows, ascending, thinned to at most [`Novelty::KEPT`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Novelty {
    ascending: Vec<f64>,
}

/// Epistemic share of the variance, `n`.
fn epistemic_share(prediction: &Prediction) -> Array1<f64> {
    let epistemic = prediction.epistemic_sd().mapv_into(|sd| sd * sd);
    epistemic / prediction.variance()
}

/// What the members disagree about, `n`.
pub(super) fn disagreement(predicted: &Predicted) -> Array1<f64> {
    match predicted {
        Predicted::Numbers(prediction) => epistemic_share(prediction),
        Predicted::Classes(prediction) => ClassPrediction::mutual_information(prediction),
    }
}

impl Novelty {
    /// Values that are kept.
    pub const KEPT: usize = 1001;

    /// Of the validation rows.
    pub fn new(predicted: &Predicted) -> Self {
        let mut values = disagreement(predicted).to_vec();
        values.sort_by(f64::total_cmp);
        let last = values.len().saturating_sub(1);
        if values.len() > Self::KEPT {
            let at = |place: usize| values[place * last / (Self::KEPT - 1)];
            values = (0..Self::KEPT).map(at).collect();
        }
        Self { ascending: values }
    }

    /// Share of the validation rows with a smaller disagreement, in `[0, 1]`.
    pub fn rank(&self, disagreement: f64) -> f64 {
        let below = self
            .ascending
            .partition_point(|&value| value < disagreement);
        below as f64 / self.ascending.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};

    use super::*;

    #[test]
    fn ranks_are_shares_of_the_validation_rows() {
        let means = array![[0.0, 1.0, 2.0, 3.0], [0.0, 3.0, 6.0, 9.0]];
        let prediction = Prediction::new(means, Array2::ones((2, 4))).unwrap();
        // Epistemic variances 0, 1, 4, 9 beside a noise of 1.
        let share = epistemic_share(&prediction);
        assert_eq!(share, array![0.0, 0.5, 0.8, 0.9]);
        let novelty = Novelty::new(&Predicted::Numbers(prediction));
        let ranks = [0.0, 0.3, 0.5, 0.85, 0.95].map(|value| novelty.rank(value));
        assert_eq!(ranks, [0.0, 0.25, 0.25, 0.75, 1.0]);
    }

    #[test]
    fn many_rows_are_thinned_and_keep_their_ends() {
        let means = Array2::from_shape_fn((2, 5000), |(p, i)| (p * i) as f64);
        let prediction = Prediction::new(means, Array2::ones((2, 5000))).unwrap();
        let share = epistemic_share(&prediction);
        let novelty = Novelty::new(&Predicted::Numbers(prediction));
        assert_eq!(novelty.ascending.len(), Novelty::KEPT);
        assert_eq!(novelty.rank(share[0]), 0.0);
        assert!((novelty.rank(share[2500]) - 0.5).abs() < 2e-3);
        assert_eq!(novelty.rank(1.0), 1.0);
    }
}
