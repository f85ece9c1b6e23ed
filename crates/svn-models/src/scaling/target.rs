//! Standardisation of a regression target `z = (y − m) / s` and the way back for means and variances.

use ndarray::{Array, Array1, ArrayView1, Dimension};
use serde::{Deserialize, Serialize};

use super::{ScaleError, moments};

/// Mean `m` and population standard deviation `s` of the target over the training rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TargetScaler {
    /// Mean `m`, original units.
    pub mean: f64,
    /// Standard deviation `s > 0`, original units.
    pub scale: f64,
}

impl TargetScaler {
    /// The scaler that changes nothing: for class indices, and for whole numbers that are to stay so.
    pub const IDENTITY: Self = Self {
        mean: 0.0,
        scale: 1.0,
    };

    /// Fit on the training rows.
    ///
    /// # Errors
    /// [`ScaleError::NoRows`], [`ScaleError::NotFinite`], [`ScaleError::ConstantTarget`].
    pub fn fit(y: ArrayView1<'_, f64>) -> Result<Self, ScaleError> {
        if y.is_empty() {
            return Err(ScaleError::NoRows);
        }
        if let Some((row, &value)) = y.iter().enumerate().find(|(_, value)| !value.is_finite()) {
            return Err(ScaleError::NotFinite {
                row,
                column: 0,
                value,
            });
        }
        match moments(y.iter().copied()) {
            (value, None) => Err(ScaleError::ConstantTarget {
                rows: y.len(),
                value,
            }),
            (mean, Some(scale)) if mean.is_finite() && scale.is_finite() && scale > 0.0 => {
                Ok(Self { mean, scale })
            }
            (value, Some(_)) => Err(ScaleError::NotFinite {
                row: 0,
                column: 0,
                value,
            }),
        }
    }

    /// Standardise targets.
    pub fn transform(&self, y: ArrayView1<'_, f64>) -> Array1<f64> {
        y.mapv(|y| (y - self.mean) / self.scale)
    }

    /// Variances in original units, `s² v`.
    pub fn inverse_variances<D: Dimension>(&self, variances: Array<f64, D>) -> Array<f64, D> {
        variances.mapv_into(|v| self.scale * self.scale * v)
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn there_and_back() {
        let y = array![3.0, -1.0, 10.0, 0.5];
        let scaler = TargetScaler::fit(y.view()).unwrap();
        let z = scaler.transform(y.view());
        let back = z.mapv(|z| scaler.mean + scaler.scale * z);
        assert!(back.iter().zip(&y).all(|(a, b)| (a - b).abs() < 1e-14));
        assert_eq!(
            scaler.inverse_variances(array![1.0]),
            array![scaler.scale * scaler.scale]
        );
        assert!(z.sum().abs() < 1e-14);
    }

    #[test]
    fn constant_or_empty_target_is_an_error() {
        assert_eq!(
            TargetScaler::fit(array![2.0, 2.0].view())
                .unwrap_err()
                .to_string(),
            "the target is 2 in all 2 training rows: there is nothing to learn"
        );
        assert_eq!(
            TargetScaler::fit(Array1::zeros(0).view()),
            Err(ScaleError::NoRows)
        );
        assert!(matches!(
            TargetScaler::fit(array![1.0, f64::NAN].view()),
            Err(ScaleError::NotFinite { row: 1, .. })
        ));
    }
}
