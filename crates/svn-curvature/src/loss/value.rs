//! Values of losses and their gradients with respect to the outputs, both from one pass.

use ndarray::{Array1, Array3, ArrayView1, ArrayView2, ArrayView3, ArrayViewMut1, Axis};

use super::Loss;
use super::logits::{softmax_in_place, softplus_and_sigmoid};
use crate::error::check_shape;
use crate::{CurvatureError, Result};

impl Loss {
    /// `Σ_i ℓ(f_i, y_i)` of each particle, without the constants that depend on no output, and `∇_f ℓ`.
    ///
    /// # Shapes
    /// `outputs`: `N × b × c`. `targets`: `b × c` for the Gaussian and Bernoulli, `b × c/2` for the heteroscedastic
    /// Gaussian, `b × 1` class indices, whole numbers from 0, for the categorical. Results: `N` and `N × b × c`.
    ///
    /// # Errors
    /// As for [`Loss::root`]; targets of a wrong shape; a target that is not finite, no index of a class, or for the
    /// Bernoulli neither 0 nor 1 (row and value).
    pub fn value_and_gradient(
        &self,
        outputs: ArrayView3<'_, f64>,
        targets: ArrayView2<'_, f64>,
    ) -> Result<(Array1<f64>, Array3<f64>)> {
        self.check_outputs(outputs)?;
        let (n, b, c) = outputs.dim();
        self.check_targets(targets, b, c)?;
        let mut values = Array1::zeros(n);
        let mut gradient = outputs.as_standard_layout().into_owned();
        for (value, mut rows) in values.iter_mut().zip(gradient.outer_iter_mut()) {
            for (row, y) in rows.outer_iter_mut().zip(targets.outer_iter()) {
                *value += self.differentiate_row(row, y);
            }
        }
        Ok((values, gradient))
    }

    /// Makes the outputs of one row their gradient, and returns the value.
    fn differentiate_row(&self, mut row: ArrayViewMut1<'_, f64>, y: ArrayView1<'_, f64>) -> f64 {
        let mut value = 0.0;
        match self {
            Self::Gaussian { noise } => {
                for (f, y) in row.iter_mut().zip(y) {
                    let scaled = (*f - y) / noise;
                    *f = scaled / noise;
                    value += 0.5 * scaled * scaled;
                }
            }
            Self::HeteroscedasticGaussian => {
                let (mut mean, mut log_variance) = row.split_at(Axis(0), y.len());
                for ((mean, log_variance), y) in mean.iter_mut().zip(&mut log_variance).zip(y) {
                    let (residual, precision) = (*mean - y, (-*log_variance).exp());
                    let scaled = residual * residual * precision;
                    value += 0.5 * (*log_variance + scaled);
                    (*mean, *log_variance) = (residual * precision, 0.5 * (1.0 - scaled));
                }
            }
            Self::Categorical => {
                let class = y[0] as usize;
                let of_class = row[class];
                let (max, log_sum) = softmax_in_place(row.view_mut());
                value = (max - of_class) + log_sum;
                // p − 1 as minus the sum of the others, so that it does not vanish by cancellation.
                row[class] = 0.0;
                row[class] = -row.sum();
            }
            Self::Bernoulli => {
                for (f, y) in row.iter_mut().zip(y) {
                    let sign = if *y == 1.0 { -1.0 } else { 1.0 };
                    let (softplus, sigmoid) = softplus_and_sigmoid(sign * *f);
                    *f = sign * sigmoid;
                    value += softplus;
                }
            }
        }
        value
    }

    fn check_targets(&self, targets: ArrayView2<'_, f64>, b: usize, c: usize) -> Result<()> {
        let (columns, words) = match self {
            Self::Gaussian { .. } | Self::Bernoulli => (c, "samples × outputs"),
            Self::HeteroscedasticGaussian => (c / 2, "samples × means"),
            Self::Categorical => (1, "samples × 1"),
        };
        check_shape("targets", targets.shape(), &[b, columns], words)?;
        let fits = |y: f64| match self {
            Self::Gaussian { .. } | Self::HeteroscedasticGaussian => y.is_finite(),
            Self::Categorical => y.fract() == 0.0 && (0.0..c as f64).contains(&y),
            Self::Bernoulli => y == 0.0 || y == 1.0,
        };
        match targets.indexed_iter().find(|(_, y)| !fits(**y)) {
            None => Ok(()),
            Some(((row, _), &value)) => Err(CurvatureError::Target {
                row,
                value,
                expected: match self {
                    Self::Gaussian { .. } | Self::HeteroscedasticGaussian => "finite".into(),
                    Self::Categorical => format!("a class index below {c}"),
                    Self::Bernoulli => "0 or 1".into(),
                },
            }),
        }
    }
}
