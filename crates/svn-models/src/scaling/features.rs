//! Standardisation of features `z_ij = (x_ij − m_j) / s_j`; a column that is constant in training becomes 0.

use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

use super::{ScaleError, moments};

/// Mean and population standard deviation of each feature over the training rows.
///
/// A missing value (NaN) is left out of the fit and becomes 0, the training mean. A feature that does not vary in
/// training carries no information and becomes 0 everywhere, whatever its value elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeatureScaler {
    means: Vec<f64>,
    scales: Vec<Option<f64>>,
}

impl FeatureScaler {
    /// Fit on the training rows.
    ///
    /// # Shapes
    /// `x`: `n × d`.
    ///
    /// # Errors
    /// [`ScaleError::NoRows`]; [`ScaleError::NotFinite`] for an infinite value or an overflow of the mean.
    pub fn fit(x: ArrayView2<'_, f64>) -> Result<Self, ScaleError> {
        if x.nrows() == 0 {
            return Err(ScaleError::NoRows);
        }
        if let Some(((row, column), &value)) =
            x.indexed_iter().find(|(_, value)| value.is_infinite())
        {
            return Err(ScaleError::NotFinite { row, column, value });
        }
        let (mut means, mut scales) = (Vec::new(), Vec::new());
        for (column, values) in x.columns().into_iter().enumerate() {
            let (mean, scale) = moments(values.iter().copied());
            if !mean.is_finite() || scale.is_some_and(|scale| !scale.is_finite() || scale == 0.0) {
                return Err(ScaleError::NotFinite {
                    row: 0,
                    column,
                    value: values[0],
                });
            }
            means.push(mean);
            scales.push(scale);
        }
        Ok(Self { means, scales })
    }

    /// Of `features` that stay as they are.
    pub fn identity(features: usize) -> Self {
        Self {
            means: vec![0.0; features],
            scales: vec![Some(1.0); features],
        }
    }

    /// Number of features `d`.
    pub fn features(&self) -> usize {
        self.means.len()
    }

    /// Means `m_j`.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// Standard deviations `s_j`; `None` for a feature that was constant in training.
    pub fn scales(&self) -> &[Option<f64>] {
        &self.scales
    }

    /// Standardise rows.
    ///
    /// # Shapes
    /// `x` and the result: `n × d`.
    ///
    /// # Errors
    /// [`ScaleError::Features`].
    pub fn transform(&self, x: ArrayView2<'_, f64>) -> Result<Array2<f64>, ScaleError> {
        if x.ncols() != self.features() {
            return Err(ScaleError::Features {
                expected: self.features(),
                found: x.ncols(),
            });
        }
        Ok(Array2::from_shape_fn(x.dim(), |(row, column)| {
            match self.scales[column] {
                Some(scale) if !x[[row, column]].is_nan() => {
                    (x[[row, column]] - self.means[column]) / scale
                }
                _ => 0.0,
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Axis, array};
    use proptest::prelude::*;

    use super::*;

    fn scaled(x: &Array2<f64>) -> Array2<f64> {
        FeatureScaler::fit(x.view())
            .unwrap()
            .transform(x.view())
            .unwrap()
    }

    #[test]
    fn constant_column_is_zero_also_when_it_varies_later() {
        // 0.1 + 0.1 + 0.1 ≠ 3 · 0.1: a mean by summation would leave ±1e-17 / 1e-17 = ±1 here.
        let x = array![[0.1, 1.0], [0.1, 2.0], [0.1, 3.0]];
        assert!(scaled(&x).column(0).iter().all(|&z| z == 0.0));
        let scaler = FeatureScaler::fit(x.view()).unwrap();
        assert_eq!(
            scaler.transform(array![[9.0, 2.0]].view()).unwrap(),
            array![[0.0, 0.0]]
        );
    }

    #[test]
    fn any_scale_that_varies_is_scaled() {
        let expected = scaled(&array![[1.0], [2.0], [4.0], [8.0]]);
        for scale in [1e-300, 1e-200, 1e-20, 1.0, 1e200] {
            let z = scaled(&(array![[1.0], [2.0], [4.0], [8.0]] * scale));
            // A few roundings of the mean and the deviations.
            assert!(
                z.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-14),
                "{scale}: {z}"
            );
        }
    }

    #[test]
    fn missing_becomes_the_training_mean() {
        let x = array![[1.0], [f64::NAN], [3.0]];
        assert_eq!(scaled(&x), array![[-1.0], [0.0], [1.0]]);
        assert_eq!(
            scaled(&array![[f64::NAN], [f64::NAN]]),
            array![[0.0], [0.0]]
        );
    }

    #[test]
    fn faults() {
        assert_eq!(
            FeatureScaler::fit(Array2::zeros((0, 2)).view()),
            Err(ScaleError::NoRows)
        );
        let infinite = FeatureScaler::fit(array![[1.0, 2.0], [1.0, f64::INFINITY]].view());
        assert_eq!(
            infinite.unwrap_err().to_string(),
            "training row 1, feature 1: inf cannot be scaled"
        );
        let scaler = FeatureScaler::fit(array![[1.0], [2.0]].view()).unwrap();
        assert_eq!(
            scaler
                .transform(array![[1.0, 2.0]].view())
                .unwrap_err()
                .to_string(),
            "the scaler was fitted on 1 features, found 2"
        );
    }

    proptest! {
        #[test]
        fn scaled_columns_have_mean_zero_and_variance_one(
            values in proptest::collection::vec(-1e3..1e3_f64, 3..40), exponent in -30..30_i32
        ) {
            let distinct = values.iter().any(|v| (v - values[0]).abs() > 1e-3);
            prop_assume!(distinct);
            let n = values.len();
            let x = Array2::from_shape_vec((n, 1), values).unwrap() * 10f64.powi(exponent);
            let z = scaled(&x);
            // Rounding of the mean, 1e3 · eps relative to a spread of at least 1e-3 / √n.
            prop_assert!(z.mean_axis(Axis(0)).unwrap()[0].abs() < 1e-8);
            prop_assert!((z.mapv(|v| v * v).sum() / n as f64 - 1.0).abs() < 1e-8);
        }
    }
}
