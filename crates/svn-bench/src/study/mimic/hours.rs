//! The predictive density in hours.
//!
//! ```text
//! target h            N(m, v), m and v as in `metrics`
//! target ln (1 + h)   1 + h is log-normal, with m and v of the logarithm
//!   median  e^m − 1      mean  e^(m + v/2) − 1      quantile  e^(m + z √v) − 1      −ln p(h) = −ln N(t; m, v) + t,  t = ln (1 + h)
//!   crps    y (2Φ(w) − 1) − 2 e^(m + v/2) [Φ(w − s) + Φ(s/√2) − 1],   y = 1 + h, s = √v, w = (t − m)/s
//! ```
//!
//! # References
//! Baran and Lerch, *Log-normal distribution based EMOS models for probabilistic wind-speed forecasting*, 2015, eq. 2.6.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use ndarray::Array1;
use svn_models::Prediction;

use crate::metrics::{PAPER_VARIANCE_FLOOR, gaussian_crps, gaussian_nll};

/// `Φ⁻¹` of 0.75, 0.9 and 0.95: half the widths, in standard deviations, of intervals with 50, 80 and 90 %.
pub(super) const Z: [f64; 3] = [
    0.674_489_750_196_081_7,
    1.281_551_565_544_600_5,
    1.644_853_626_951_472_7,
];

/// What is predicted of each row.
pub(super) struct Density {
    m: Array1<f64>,
    v: Array1<f64>,
    /// Members' means in hours, one array a member.
    members: Vec<Array1<f64>>,
    log: bool,
}

/// Of one row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scores {
    pub error: f64,
    pub from_median: f64,
    pub nll: f64,
    pub nll_paper: f64,
    pub crps: f64,
    pub covered: [bool; 3],
    pub width90: f64,
}

/// Hours to what networks see.
pub(super) fn target(hours: f64, log: bool) -> f64 {
    if log { hours.ln_1p() } else { hours }
}

impl Density {
    pub(super) fn new(prediction: &Prediction, log: bool) -> Self {
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

    /// Hours at so many standard deviations from the median.
    pub(super) fn at(&self, row: usize, z: f64) -> f64 {
        let target = self.m[row] + z * self.v[row].sqrt();
        if self.log { target.exp_m1() } else { target }
    }

    /// Beside the hours that it was.
    pub(super) fn scores(&self, row: usize, hours: f64) -> Scores {
        let (m, v, t) = (self.m[row], self.v[row], target(hours, self.log));
        let z = (t - m).abs() / v.sqrt();
        let (mean, nll, crps) = match self.log {
            true => (
                (m + v / 2.0).exp_m1(),
                gaussian_nll(t, m, v) + t,
                log_normal_crps(hours + 1.0, m, v),
            ),
            false => (m, gaussian_nll(t, m, v), gaussian_crps(t, m, v)),
        };
        let [.., z90] = Z;
        Scores {
            error: hours - mean,
            from_median: hours - self.at(row, 0.0),
            nll,
            nll_paper: self.nll_paper(row, hours),
            crps,
            covered: Z.map(|most| z <= most),
            width90: self.at(row, z90) - self.at(row, -z90),
        }
    }

    /// The paper's protocol: the spread of the members' means alone, without the constant; NaN for one member.
    fn nll_paper(&self, row: usize, hours: f64) -> f64 {
        let n = self.members.len() as f64;
        let means = || self.members.iter().map(|member| member[row]);
        let mean = means().sum::<f64>() / n;
        let spread = means().map(|m| (m - mean).powi(2)).sum::<f64>() / (n - 1.0);
        gaussian_nll(hours, mean, spread + PAPER_VARIANCE_FLOOR) - 0.5 * (2.0 * PI).ln()
    }
}

fn log_normal_crps(y: f64, m: f64, v: f64) -> f64 {
    let s = v.sqrt();
    let w = (y.ln() - m) / s;
    let phi = |z: f64| 0.5 * libm::erfc(-z * FRAC_1_SQRT_2);
    y * (2.0 * phi(w) - 1.0)
        - 2.0 * (m + v / 2.0).exp() * (phi(w - s) + phi(s * FRAC_1_SQRT_2) - 1.0)
}

#[cfg(test)]
#[path = "hours_tests.rs"]
mod tests;
