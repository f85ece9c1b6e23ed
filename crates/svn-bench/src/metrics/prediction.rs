//! What an ensemble predicts for the rows of a test set, in original units.

use ndarray::{Array2, Array3, ArrayView2, ArrayView3, Axis, concatenate};

use super::MetricError;

/// Means and variances of the members, original units.
///
/// # Shapes
/// All `N × n`: members by rows.
#[derive(Debug, Clone, PartialEq)]
pub struct RegressionPrediction {
    means: Array2<f64>,
    noise_variances: Array2<f64>,
    laplace_variances: Option<Array2<f64>>,
}

impl RegressionPrediction {
    /// Members' means `μ_p`, noise variances `σ²_p > 0` and, where the curvature was used for prediction, Laplace
    /// variances `J H⁻¹ Jᵀ ≥ 0`.
    ///
    /// # Errors
    /// [`MetricError`] for an empty or non-finite prediction, shapes that differ, a variance that is none.
    pub fn new(
        means: Array2<f64>,
        noise_variances: Array2<f64>,
        laplace_variances: Option<Array2<f64>>,
    ) -> Result<Self, MetricError> {
        let (members, rows) = means.dim();
        if members == 0 || rows == 0 {
            return Err(MetricError::Empty {
                members,
                rows,
                outputs: 1,
            });
        }
        same_shape("noise variance", &noise_variances, &means)?;
        check("mean", &means, "finite", f64::is_finite)?;
        check("noise variance", &noise_variances, "finite positive", |v| {
            v.is_finite() && v > 0.0
        })?;
        if let Some(laplace) = &laplace_variances {
            same_shape("Laplace variance", laplace, &means)?;
            check("Laplace variance", laplace, "finite non-negative", |v| {
                v.is_finite() && v >= 0.0
            })?;
        }
        Ok(Self {
            means,
            noise_variances,
            laplace_variances,
        })
    }

    /// Join predictions for consecutive batches of rows.
    ///
    /// # Errors
    /// [`MetricError::NoParts`], [`MetricError::Members`]; parts with and without Laplace variances: none is kept.
    pub fn concatenate(parts: &[Self]) -> Result<Self, MetricError> {
        let first = parts.first().ok_or(MetricError::NoParts)?;
        let join = |arrays: Vec<ArrayView2<'_, f64>>| {
            concatenate(Axis(1), &arrays).map_err(|_| MetricError::Members {
                first: first.members(),
                other: arrays
                    .iter()
                    .map(|a| a.nrows())
                    .find(|&n| n != first.members())
                    .unwrap_or(0),
            })
        };
        let laplace: Option<Vec<_>> = parts
            .iter()
            .map(|p| p.laplace_variances.as_ref().map(|v| v.view()))
            .collect();
        Self::new(
            join(parts.iter().map(|p| p.means.view()).collect())?,
            join(parts.iter().map(|p| p.noise_variances.view()).collect())?,
            laplace.map(join).transpose()?,
        )
    }

    /// Members `N`.
    pub fn members(&self) -> usize {
        self.means.nrows()
    }

    /// Rows `n`.
    pub fn rows(&self) -> usize {
        self.means.ncols()
    }

    /// Means `μ_p`, `N × n`.
    pub fn means(&self) -> ArrayView2<'_, f64> {
        self.means.view()
    }

    /// Noise variances `σ²_p`, `N × n`.
    pub fn noise_variances(&self) -> ArrayView2<'_, f64> {
        self.noise_variances.view()
    }

    /// Laplace variances, `N × n`.
    pub fn laplace_variances(&self) -> Option<ArrayView2<'_, f64>> {
        self.laplace_variances.as_ref().map(|v| v.view())
    }
}

/// Logits of the members.
///
/// # Shapes
/// `N × n × C`: members by rows by classes.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassPrediction {
    logits: Array3<f64>,
}

impl ClassPrediction {
    /// Members' logits for `C ≥ 2` classes.
    ///
    /// # Errors
    /// [`MetricError::Empty`], [`MetricError::Value`] for a logit that is not finite.
    pub fn new(logits: Array3<f64>) -> Result<Self, MetricError> {
        let (members, rows, outputs) = logits.dim();
        if members == 0 || rows == 0 || outputs < 2 {
            return Err(MetricError::Empty {
                members,
                rows,
                outputs,
            });
        }
        match logits.indexed_iter().find(|(_, value)| !value.is_finite()) {
            Some(((member, row, _), &value)) => Err(MetricError::Value {
                what: "logit",
                member,
                row,
                value,
                expected: "finite",
            }),
            None => Ok(Self { logits }),
        }
    }

    /// Two classes from the one logit `ln p₁/p₀` of a Bernoulli likelihood.
    ///
    /// # Shapes
    /// `logit`: `N × n`.
    ///
    /// # Errors
    /// As [`ClassPrediction::new`].
    pub fn bernoulli(logit: ArrayView2<'_, f64>) -> Result<Self, MetricError> {
        let (members, rows) = logit.dim();
        Self::new(Array3::from_shape_fn(
            (members, rows, 2),
            |(p, i, class)| {
                if class == 1 { logit[[p, i]] } else { 0.0 }
            },
        ))
    }

    /// Join predictions for consecutive batches of rows.
    ///
    /// # Errors
    /// [`MetricError::NoParts`], [`MetricError::Members`].
    pub fn concatenate(parts: &[Self]) -> Result<Self, MetricError> {
        let first = parts.first().ok_or(MetricError::NoParts)?;
        let members = first.logits.len_of(Axis(0));
        let views: Vec<_> = parts.iter().map(|p| p.logits.view()).collect();
        let logits = concatenate(Axis(1), &views).map_err(|_| MetricError::Members {
            first: members,
            other: views
                .iter()
                .map(|v| v.len_of(Axis(0)))
                .find(|&n| n != members)
                .unwrap_or(members),
        })?;
        Self::new(logits)
    }

    /// Logits, `N × n × C`.
    pub fn logits(&self) -> ArrayView3<'_, f64> {
        self.logits.view()
    }
}

fn same_shape(
    what: &'static str,
    found: &Array2<f64>,
    expected: &Array2<f64>,
) -> Result<(), MetricError> {
    if found.dim() == expected.dim() {
        return Ok(());
    }
    Err(MetricError::Shape {
        what,
        found: found.shape().to_vec(),
        expected: expected.shape().to_vec(),
    })
}

fn check(
    what: &'static str,
    values: &Array2<f64>,
    expected: &'static str,
    good: impl Fn(f64) -> bool,
) -> Result<(), MetricError> {
    match values.indexed_iter().find(|(_, value)| !good(**value)) {
        Some(((member, row), &value)) => Err(MetricError::Value {
            what,
            member,
            row,
            value,
            expected,
        }),
        None => Ok(()),
    }
}
