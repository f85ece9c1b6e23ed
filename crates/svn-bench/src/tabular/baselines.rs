//! What people compare with: the mean or the base rate, and a linear model, both of the training rows.

use ndarray::{Array2, Array3, ArrayView2};
use svn_models::linear::{Linear, PENALTY};
use svn_models::{ClassPrediction, ModelError, Prediction};

use super::Truth;
use crate::engine::Predicted;

/// Name of the linear model of a task.
pub(super) fn linear_name(truth: &Truth) -> &'static str {
    match truth {
        Truth::Numbers(_) => "ridge regression",
        Truth::Classes(_) => "logistic regression",
    }
}

/// Name of the model that does not look at the features.
pub(super) fn constant_name(truth: &Truth) -> &'static str {
    match truth {
        Truth::Numbers(_) => "mean",
        Truth::Classes(_) => "base rate",
    }
}

/// Ridge or logistic regression, trained on `(x, y)`, at `at`.
///
/// # Errors
/// As for [`Linear`].
pub(super) fn linear(
    x: ArrayView2<'_, f64>,
    y: &Truth,
    classes: usize,
    at: ArrayView2<'_, f64>,
) -> Result<Predicted, ModelError> {
    Ok(match y {
        Truth::Numbers(y) => {
            let model = Linear::ridge(x, y.as_slice().into(), PENALTY)?;
            Predicted::Numbers(model.predict(at)?)
        }
        Truth::Classes(y) => {
            let model = Linear::logistic(x, y, classes, PENALTY)?;
            Predicted::Classes(model.predict_classes(at)?)
        }
    })
}

/// The mean with the variance, or the shares of the classes, each counted once more than it is there.
///
/// # Errors
/// [`ModelError::Predicted`] for targets that do not vary, or overflow.
pub(super) fn constant(y: &Truth, classes: usize, rows: usize) -> Result<Predicted, ModelError> {
    Ok(match y {
        Truth::Numbers(y) => {
            let n = y.len().max(1) as f64;
            let mean = y.iter().map(|y| y / n).sum::<f64>();
            let variance = y.iter().map(|y| (y - mean).powi(2) / n).sum::<f64>();
            Predicted::Numbers(Prediction::new(
                Array2::from_elem((1, rows), mean),
                Array2::from_elem((1, rows), variance),
            )?)
        }
        Truth::Classes(y) => {
            let mut counts = vec![1.0_f64; classes];
            for &class in y {
                if let Some(count) = counts.get_mut(class) {
                    *count += 1.0;
                }
            }
            let logits = Array3::from_shape_fn((1, rows, classes), |(_, _, c)| counts[c].ln());
            Predicted::Classes(ClassPrediction::new(logits)?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tabular::bootstrap::metrics;

    #[test]
    fn constants_are_the_mean_and_the_base_rate() {
        let y = Truth::Numbers(vec![1.0, 3.0]);
        let found = metrics(&constant(&y, 0, 2).unwrap(), &y).unwrap();
        assert_eq!(found.value("rmse"), Some(1.0));
        let y = Truth::Classes(vec![0, 0, 1, 0]);
        let Predicted::Classes(found) = constant(&y, 2, 4).unwrap() else {
            panic!("classes")
        };
        // Counts 3 + 1 and 1 + 1.
        assert!((found.mean_probability()[[0, 0]] - 4.0 / 6.0).abs() < 1e-15);
        assert!(constant(&Truth::Numbers(vec![2.0; 3]), 0, 1).is_err());
    }
}
