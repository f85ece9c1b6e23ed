//! Scores of one row at a time, also where the model is of logarithms and the numbers are not.
//!
//! ```text
//! of y               N(m, v), m and v as in `nll`
//! of ln (1 + y)      1 + y is log-normal, with m and v of the logarithm
//!   median  e^m − 1      mean  e^(m + v/2) − 1      quantile  e^(m + z √v) − 1      −ln p(y) = −ln N(t; m, v) + t,  t = ln (1 + y)
//!   crps    u (2Φ(w) − 1) − 2 e^(m + v/2) [Φ(w − s) + Φ(s/√2) − 1],   u = 1 + y, s = √v, w = (t − m)/s
//! ```
//!
//! # References
//! Baran and Lerch, *Log-normal distribution based EMOS models for probabilistic wind-speed forecasting*, 2015, eq. 2.6.

use std::collections::BTreeMap;
use std::f64::consts::FRAC_1_SQRT_2;

use ndarray::Array1;
use svn_models::Prediction;

use super::gaussian::{gaussian_crps, gaussian_nll, half_nll};
use super::regression::PAPER_VARIANCE_FLOOR;

/// `Φ⁻¹` of 0.75, 0.9 and 0.95: half the widths, in standard deviations, of intervals with 50, 80 and 90 %.
pub(super) const Z: [f64; 3] = [
    0.674_489_750_196_081_7,
    1.281_551_565_544_600_5,
    1.644_853_626_951_472_7,
];

/// What is predicted of each row.
#[derive(Debug, Clone)]
pub struct Density {
    m: Array1<f64>,
    v: Array1<f64>,
    /// Members' means, one array a member.
    members: Vec<Array1<f64>>,
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
    pub fn new(prediction: &Prediction, log: bool) -> Self {
        let (means, noise) = (prediction.means(), prediction.noise_variances());
        let members = means.rows().into_iter().zip(noise.rows());
        let hours = |(&m, &v): (&f64, &f64)| if log { (m + v / 2.0).exp_m1() } else { m };
        Self {
            m: prediction.mean(),
            v: prediction.variance(),
            members: members
                .map(|(m, v)| m.iter().zip(v).map(hours).collect())
                .collect(),
            log,
        }
    }

    /// The quantile at so many standard deviations from the median.
    pub fn at(&self, row: usize, z: f64) -> f64 {
        let target = self.m[row] + z * self.v[row].sqrt();
        if self.log { target.exp_m1() } else { target }
    }

    /// Of what it was.
    pub fn scores(&self, row: usize, y: f64) -> Scores {
        let (m, v, t) = (self.m[row], self.v[row], target(y, self.log));
        let z = (t - m).abs() / v.sqrt();
        let (mean, nll, crps) = match self.log {
            true => (
                (m + v / 2.0).exp_m1(),
                gaussian_nll(t, m, v) + t,
                log_normal_crps(y + 1.0, m, v),
            ),
            false => (m, gaussian_nll(t, m, v), gaussian_crps(t, m, v)),
        };
        let [.., z90] = Z;
        Scores {
            error: y - mean,
            from_median: y - self.at(row, 0.0),
            nll,
            nll_paper: self.nll_paper(row, y),
            crps,
            covered: Z.map(|most| z <= most),
            width90: self.at(row, z90) - self.at(row, -z90),
        }
    }

    /// The paper's protocol: the spread of the members' means alone, without the constant; NaN for one member.
    fn nll_paper(&self, row: usize, y: f64) -> f64 {
        let n = self.members.len() as f64;
        let means = || self.members.iter().map(|member| member[row]);
        let mean = means().sum::<f64>() / n;
        let spread = means().map(|m| (m - mean).powi(2)).sum::<f64>() / (n - 1.0);
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
        ("nll_paper", mean(&|s| s.nll_paper)),
        ("crps", mean(&|s| s.crps)),
        ("coverage50", covered(0)),
        ("coverage80", covered(1)),
        ("coverage90", covered(2)),
        ("width90", mean(&|s| s.width90)),
    ];
    values.map(|(key, value)| (key.to_owned(), value)).into()
}

fn log_normal_crps(y: f64, m: f64, v: f64) -> f64 {
    let s = v.sqrt();
    let w = (y.ln() - m) / s;
    let phi = |z: f64| 0.5 * libm::erfc(-z * FRAC_1_SQRT_2);
    y * (2.0 * phi(w) - 1.0)
        - 2.0 * (m + v / 2.0).exp() * (phi(w - s) + phi(s * FRAC_1_SQRT_2) - 1.0)
}

#[cfg(test)]
#[path = "density_tests.rs"]
mod tests;
