//! Radial kernels as functions of the squared metric distance.
//!
//! ```text
//! k(x, y) = κ(q),  q = (x−y)ᵀ M (x−y),  ∇ₓ k(x, y) = 2 κ'(q) M (x−y)
//! RBF  κ(q) = exp(−q/h)          κ'(q) = −κ(q)/h
//! IMQ  κ(q) = (1 + q/h)^(−1/2)   κ'(q) = −½ (1 + q/h)^(−3/2) / h
//! ```
//!
//! All kernels are normalised, `κ(0) = 1`. References: Liu & Wang (2016), arXiv 1608.04471 (RBF); Gorham & Mackey
//! (2017), arXiv 1703.01717 (IMQ).

use serde::{Deserialize, Serialize};

use crate::error::SteinError;

/// Shape of a radial kernel; the metric and the bandwidth `h` are chosen separately.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kernel {
    /// `exp(−q/h)`.
    Rbf,
    /// `(1 + q/h)^(−1/2)`: heavy tails, particles far apart still interact.
    Imq,
    /// `k(φ_p, φ_m) = δ_pm`: particles do not interact; SVN becomes an ensemble of Newton methods.
    #[serde(rename = "none")]
    Delta,
    /// A convex combination; the weights are normalised to sum one.
    Sum(Vec<Component>),
}

/// One term of [`Kernel::Sum`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Component {
    /// Shape of the term.
    pub kernel: Kernel,
    /// Weight before normalisation; positive.
    pub weight: f64,
    /// Multiple of the common bandwidth `h` this term uses; positive.
    pub bandwidth_scale: f64,
}

/// `κ` and `κ'` at one distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Profile {
    /// `κ(q)`.
    pub value: f64,
    /// `κ'(q) ≤ 0`.
    pub slope: f64,
}

impl Kernel {
    /// `κ(q)` and `κ'(q)` between two *different* particles for bandwidth `h > 0`.
    ///
    /// Every kernel has value one between a particle and itself; [`Kernel::Delta`] is zero here even at `q = 0`.
    pub fn profile(&self, q: f64, h: f64) -> Profile {
        match self {
            Self::Rbf => {
                let value = (-q / h).exp();
                Profile {
                    value,
                    slope: -value / h,
                }
            }
            Self::Imq => {
                let base = 1.0 + q / h;
                let value = base.sqrt().recip();
                Profile {
                    value,
                    slope: -0.5 * value / (base * h),
                }
            }
            Self::Delta => Profile {
                value: 0.0,
                slope: 0.0,
            },
            Self::Sum(terms) => {
                let total: f64 = terms.iter().map(|t| t.weight).sum();
                let mut sum = Profile {
                    value: 0.0,
                    slope: 0.0,
                };
                for t in terms {
                    let p = t.kernel.profile(q, h * t.bandwidth_scale);
                    sum.value += t.weight / total * p.value;
                    sum.slope += t.weight / total * p.slope;
                }
                sum
            }
        }
    }

    /// Whether particles interact at all.
    pub fn couples(&self) -> bool {
        match self {
            Self::Delta => false,
            Self::Sum(terms) => terms.iter().any(|t| t.kernel.couples()),
            Self::Rbf | Self::Imq => true,
        }
    }

    /// Check the weights and scales of sums.
    ///
    /// # Errors
    /// [`SteinError::Setting`] for an empty sum or a weight or scale that is not positive and finite.
    pub fn validate(&self) -> Result<(), SteinError> {
        let Self::Sum(terms) = self else {
            return Ok(());
        };
        if terms.is_empty() {
            return Err(SteinError::Setting {
                name: "kernel.sum",
                value: "empty".into(),
                expected: "at least one term",
            });
        }
        for t in terms {
            for (name, value) in [
                ("kernel.sum.weight", t.weight),
                ("kernel.sum.bandwidth_scale", t.bandwidth_scale),
            ] {
                if !(value.is_finite() && value > 0.0) {
                    return Err(SteinError::Setting {
                        name,
                        value: value.to_string(),
                        expected: "a positive number",
                    });
                }
            }
            t.kernel.validate()?;
        }
        Ok(())
    }
}
