//! Scores of one row at a time, also where the model is of logarithms and the numbers are not.
//!
//! ```text
//! of y               the mixture of the members' densities, each with components w_i, N(m_i, v_i) or Student t
//! of ln (1 + y)      1 + y is a mixture of log-normals, with m_i and v_i of the logarithm
//!   quantile  e^q − 1, q that of the logarithm         −ln p(y) = −ln p(t) + t,  t = ln (1 + y)
//!   mean      Σ w_i e^(m_i + v_i/2) − 1
//!   crps      Σ_i w_i E|U_i − u| − ½ Σ_ij w_i w_j E|U_i − U_j|,   u = 1 + y
//!     E|U_i − u|   = u (2Φ(z) − 1) + μ_i (1 − 2Φ(z − s_i)),   z = (ln u − m_i)/s_i, s_i = √v_i, μ_i = e^(m_i + v_i/2)
//!     E|U_i − U_j| = μ_i (2Φ((d + v_i)/s) − 1) + μ_j (2Φ((v_j − d)/s) − 1),   d = m_i − m_j, s² = v_i + v_j
//! ```
//!
//! The exponential of a Student t has neither a mean nor a score: its error is that from the mean of the log-normal with its
//! moments, its `crps` is not defined.
//!
//! # References
//! Baran and Lerch, *Log-normal distribution based EMOS models for probabilistic wind-speed forecasting*, 2015, eq. 2.6.

use std::collections::BTreeMap;
use std::f64::consts::FRAC_1_SQRT_2;

use ndarray::{Array1, array};
use svn_models::members::{Component, Family};
use svn_models::{ModelError, Prediction};

use super::gaussian::{gaussian_nll, half_nll};
use super::regression::PAPER_VARIANCE_FLOOR;

/// Levels whose quantiles are known of each row.
pub(super) const LEVELS: [f64; 7] = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95];
/// Where in them the median is.
pub(super) const MEDIAN: usize = 3;
/// Where in them the ends of intervals with 50, 80 and 90 % are.
const ENDS: [(usize, usize); 3] = [(2, 4), (1, 5), (0, 6)];

/// What is predicted of each row.
#[derive(Debug, Clone)]
pub struct Density {
    prediction: Prediction,
    /// Of [`LEVELS`], in the units of `y`.
    quantiles: Vec<Array1<f64>>,
    log: bool,
}

/// Of one row.
#[derive(Debug, Clone, Copy)]
pub struct Scores {
    /// From the predictive mean.
    pub error: f64,
    /// From the predictive median.
    pub from_median: f64,
    /// Negative log density, nats.
    pub nll: f64,
    /// That of the Gaussian with the moments of the mixture.
    pub nll_moments: f64,
    /// The paper's: of the members' spread alone, without the constant; NaN for one member.
    pub nll_paper: f64,
    /// Continuous ranked probability score.
    pub crps: f64,
    /// Whether it lies in the central interval of 50, 80 and 90 %.
    pub covered: [bool; 3],
    /// Width of that of 90 %.
    pub width90: f64,
}

/// What the model is of: `y`, or `ln (1 + y)`.
pub fn target(y: f64, log: bool) -> f64 {
    if log { y.ln_1p() } else { y }
}

impl Density {
    /// Of a prediction of `y`, or of `ln (1 + y)`.
    ///
    /// # Errors
    /// None that a prediction can have: the levels of the quantiles are within 0 and 1.
    pub fn new(prediction: &Prediction, log: bool) -> Result<Self, ModelError> {
        let quantile = |level| {
            let found = prediction.quantile(level)?;
            Ok(if log {
                found.mapv_into(f64::exp_m1)
            } else {
                found
            })
        };
        Ok(Self {
            prediction: prediction.clone(),
            quantiles: LEVELS
                .into_iter()
                .map(quantile)
                .collect::<Result<_, ModelError>>()?,
            log,
        })
    }

    /// The quantile of one of [`LEVELS`], by its place among them.
    pub(super) fn at(&self, row: usize, level: usize) -> f64 {
        self.quantiles[level][row]
    }

    /// Of what it was.
    ///
    /// # Panics
    /// For what is no row.
    pub fn scores(&self, row: usize, y: f64) -> Scores {
        let own = self.prediction.select(&[row]);
        let t = target(y, self.log);
        // One target beside one row.
        let of = |found: Result<Array1<f64>, ModelError>| found.map_or(f64::NAN, |found| found[0]);
        let (m, v) = (own.mean()[0], own.variance()[0]);
        let slope = if self.log { t } else { 0.0 };
        let (mean, crps) = match self.log {
            true => log_normals(&own, y + 1.0, (m + v / 2.0).exp_m1()),
            false => (m, of(own.crps(array![t].view()))),
        };
        let covered = |(low, high)| self.at(row, low) <= y && y <= self.at(row, high);
        let [.., (low, high)] = ENDS;
        Scores {
            error: y - mean,
            from_median: y - self.at(row, MEDIAN),
            nll: slope - of(own.log_density(array![t].view())),
            nll_moments: slope + gaussian_nll(t, m, v),
            nll_paper: self.nll_paper(&own, y),
            crps,
            covered: ENDS.map(covered),
            width90: self.at(row, high) - self.at(row, low),
        }
    }

    /// The paper's protocol: the spread of the members' means alone, without the constant; NaN for one member.
    fn nll_paper(&self, own: &Prediction, y: f64) -> f64 {
        let members = own.means().column(0).to_owned();
        let noise = own.noise_variances().column(0).to_owned();
        let of = |(&m, &v): (&f64, &f64)| if self.log { (m + v / 2.0).exp_m1() } else { m };
        let means: Vec<f64> = members.iter().zip(&noise).map(of).collect();
        let n = means.len() as f64;
        let mean = means.iter().sum::<f64>() / n;
        let spread = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (n - 1.0);
        half_nll(y, mean, spread + PAPER_VARIANCE_FLOOR)
    }
}

/// Means over rows, by key; what is not finite is not defined.
pub fn mean_scores(scores: &[Scores]) -> BTreeMap<String, Option<f64>> {
    let mean = |score: &dyn Fn(&Scores) -> f64| {
        let mean = scores.iter().map(score).sum::<f64>() / scores.len() as f64;
        Some(mean).filter(|mean| mean.is_finite())
    };
    let covered = |level: usize| mean(&|s| f64::from(s.covered[level]));
    let mse = mean(&|s| s.error * s.error);
    let values = [
        ("mse", mse),
        ("rmse", mse.map(f64::sqrt)),
        ("mae", mean(&|s| s.from_median.abs())),
        ("nll", mean(&|s| s.nll)),
        ("nll_moments", mean(&|s| s.nll_moments)),
        ("nll_paper", mean(&|s| s.nll_paper)),
        ("crps", mean(&|s| s.crps)),
        ("coverage50", covered(0)),
        ("coverage80", covered(1)),
        ("coverage90", covered(2)),
        ("width90", mean(&|s| s.width90)),
    ];
    values.map(|(key, value)| (key.to_owned(), value)).into()
}

/// Mean of `y` and score of `u = 1 + y` under the exponentials of the components; not those of a Student t, whose mean is `instead`.
fn log_normals(own: &Prediction, u: f64, instead: f64) -> (f64, f64) {
    if own.family() != Family::Gaussian {
        return (instead, f64::NAN);
    }
    let members = own.members() as f64;
    let all: Vec<(f64, Component)> = own
        .components(0)
        .map(|component| (component.log_weight.exp() / members, component))
        .collect();
    let centre = |of: &Component| (of.location + of.squared_scale / 2.0).exp();
    let mean: f64 = all.iter().map(|(weight, of)| weight * centre(of)).sum();
    let within = |z: f64| libm::erf(z * FRAC_1_SQRT_2);
    let distance = all.iter().map(|(weight, of)| {
        let s = of.squared_scale.sqrt();
        let z = (u.ln() - of.location) / s;
        weight * (u * within(z) - centre(of) * within(z - s))
    });
    let mut spread = 0.0;
    for (weight, one) in &all {
        for (other_weight, other) in &all {
            let s = (one.squared_scale + other.squared_scale).sqrt();
            let above = (one.location - other.location + one.squared_scale) / s;
            // The two halves of a pair are alike.
            spread += 2.0 * weight * other_weight * centre(one) * within(above);
        }
    }
    (mean - 1.0, distance.sum::<f64>() - 0.5 * spread)
}

#[cfg(test)]
#[path = "density_tests.rs"]
mod tests;
