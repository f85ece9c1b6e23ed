//! Step size `ε_t` over time and the rules that turn a first-order field into a step.
//!
//! ```text
//! constant  ε_t = ε
//! cosine    ε_t = ε [ f + (1 − f) ½ (1 + cos(π min(t, T)/T)) ]
//! decay     ε_t = ε γ^⌊t/T⌋
//!
//! plain     Δ = ε_t v
//! RMSProp   s ← β s + (1−β) v²,                       Δ = ε_t v / (√s + η)
//! Adam      m ← β₁ m + (1−β₁) v,  s ← β₂ s + (1−β₂) v²,  Δ = ε_t m̂ / (√ŝ + η)
//! ```
//!
//! Reference: Kingma & Ba (2015), arXiv 1412.6980.

use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};
use svn_linalg::dense;

use crate::error::SteinError;
use crate::subnormal::flush;

/// How the step size changes with the step count.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Schedule {
    /// Never.
    Constant,
    /// Half a cosine from the initial value down to `floor` times it.
    Cosine {
        /// Steps until the floor is reached.
        steps: u64,
        /// Final value as a fraction of the initial one, in `[0, 1]`.
        floor: f64,
    },
    /// Multiplied by `factor` every `every` steps.
    Decay {
        /// Steps between two changes.
        every: u64,
        /// Factor, in `(0, 1]`.
        factor: f64,
    },
}

/// Step size `ε` and its schedule.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// `ε` at step zero; positive.
    pub initial: f64,
    /// Change over time.
    pub schedule: Schedule,
}

impl Rate {
    /// The same step size throughout.
    pub fn constant(initial: f64) -> Self {
        Self {
            initial,
            schedule: Schedule::Constant,
        }
    }

    /// Half a cosine down to zero over `steps`.
    pub fn cosine(initial: f64, steps: u64) -> Self {
        Self {
            initial,
            schedule: Schedule::Cosine { steps, floor: 0.0 },
        }
    }

    /// `ε_t`.
    pub fn at(&self, step: u64) -> f64 {
        self.initial
            * match self.schedule {
                Schedule::Constant => 1.0,
                Schedule::Cosine { steps, floor } => {
                    let phase = step.min(steps) as f64 / steps.max(1) as f64;
                    floor + (1.0 - floor) * 0.5 * (1.0 + (std::f64::consts::PI * phase).cos())
                }
                Schedule::Decay { every, factor } => {
                    factor.powi((step / every.max(1)).min(1 << 20) as i32)
                }
            }
    }

    /// Check the ranges.
    ///
    /// # Errors
    /// [`SteinError::Setting`].
    pub fn validate(&self) -> Result<(), SteinError> {
        let setting = |name, value: f64, expected| {
            Err(SteinError::Setting {
                name,
                value: value.to_string(),
                expected,
            })
        };
        if !(self.initial.is_finite() && self.initial > 0.0) {
            return setting("rate.initial", self.initial, "a positive number");
        }
        match self.schedule {
            Schedule::Cosine { steps: 0, .. } => {
                setting("rate.cosine.steps", 0.0, "at least one step")
            }
            Schedule::Cosine { floor, .. } if !(0.0..=1.0).contains(&floor) => {
                setting("rate.cosine.floor", floor, "a number in [0, 1]")
            }
            Schedule::Decay { every: 0, .. } => {
                setting("rate.decay.every", 0.0, "at least one step")
            }
            Schedule::Decay { factor, .. } if !(factor > 0.0 && factor <= 1.0) => {
                setting("rate.decay.factor", factor, "a number in (0, 1]")
            }
            _ => Ok(()),
        }
    }
}

/// Rule that turns a field into a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum StepRule {
    /// `ε v`.
    Plain,
    /// Adam with the usual constants where not said otherwise.
    Adam {
        /// Decay `β₁` of the first moment, in `[0, 1)`.
        beta1: f64,
        /// Decay `β₂` of the second moment, in `[0, 1)`.
        beta2: f64,
        /// `η > 0`.
        epsilon: f64,
    },
    /// RMSProp.
    RmsProp {
        /// Decay `β` of the second moment, in `[0, 1)`.
        decay: f64,
        /// `η > 0`.
        epsilon: f64,
    },
}

impl StepRule {
    /// Adam with `β₁ = 0.9`, `β₂ = 0.999`, `η = 1e-8`.
    pub fn adam() -> Self {
        Self::Adam {
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
        }
    }

    /// RMSProp with `β = 0.9`, `η = 1e-8`.
    pub fn rms_prop() -> Self {
        Self::RmsProp {
            decay: 0.9,
            epsilon: 1e-8,
        }
    }

    /// Check the ranges.
    ///
    /// # Errors
    /// [`SteinError::Setting`].
    pub fn validate(&self) -> Result<(), SteinError> {
        let (decays, epsilon) = match *self {
            Self::Plain => return Ok(()),
            Self::Adam {
                beta1,
                beta2,
                epsilon,
            } => ([beta1, beta2], epsilon),
            Self::RmsProp { decay, epsilon } => ([decay, decay], epsilon),
        };
        for value in decays {
            if !(0.0..1.0).contains(&value) {
                return Err(SteinError::Setting {
                    name: "rule.beta",
                    value: value.to_string(),
                    expected: "a number in [0, 1)",
                });
            }
        }
        if !(epsilon.is_finite() && epsilon > 0.0) {
            return Err(SteinError::Setting {
                name: "rule.epsilon",
                value: epsilon.to_string(),
                expected: "a positive number",
            });
        }
        Ok(())
    }

    /// Fresh moments for `N × d` particles.
    pub(crate) fn init(&self, shape: (usize, usize)) -> Moments {
        match self {
            Self::Plain => Moments::None,
            Self::RmsProp { .. } => Moments::Second {
                second: Array2::zeros(shape),
            },
            Self::Adam { .. } => Moments::Both {
                first: Array2::zeros(shape),
                second: Array2::zeros(shape),
                count: 0,
            },
        }
    }

    /// `v ← Δ`, advancing the moments; `rate` is `ε_t`. Moments so small that arithmetic with them is slow become zero.
    pub(crate) fn precondition(&self, moments: &mut Moments, rate: f64, v: &mut Array2<f64>) {
        let Some(v) = v.as_slice_mut() else { return };
        match (self, moments) {
            (&Self::RmsProp { decay, epsilon }, Moments::Second { second }) => {
                let Some(second) = second.as_slice_mut() else {
                    return;
                };
                dense::vectorized(
                    #[inline(always)]
                    || {
                        for (v, s) in v.iter_mut().zip(second) {
                            *s = flush(decay * *s + (1.0 - decay) * *v * *v);
                            *v = rate * *v / (s.sqrt() + epsilon);
                        }
                    },
                );
            }
            (
                &Self::Adam {
                    beta1,
                    beta2,
                    epsilon,
                },
                Moments::Both {
                    first,
                    second,
                    count,
                },
            ) => {
                *count += 1;
                let power = (*count).min(i32::MAX as u64) as i32;
                let (c1, c2) = (1.0 - beta1.powi(power), (1.0 - beta2.powi(power)).sqrt());
                // (m / c₁) / (√(s / c₂) + ε) with one division.
                let (scale, shift) = (rate * c2 / c1, epsilon * c2);
                let (Some(first), Some(second)) = (first.as_slice_mut(), second.as_slice_mut())
                else {
                    return;
                };
                dense::vectorized(
                    #[inline(always)]
                    || {
                        for ((v, m), s) in v.iter_mut().zip(first).zip(second) {
                            *m = flush(beta1 * *m + (1.0 - beta1) * *v);
                            *s = flush(beta2 * *s + (1.0 - beta2) * *v * *v);
                            *v = *m * scale / (s.sqrt() + shift);
                        }
                    },
                );
            }
            _ => dense::vectorized(
                #[inline(always)]
                || v.iter_mut().for_each(|v| *v *= rate),
            ),
        }
    }
}

/// Moments of a [`StepRule`]; part of the state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Moments {
    /// The rule keeps none.
    None,
    /// Running mean of `v²`.
    Second { second: Array2<f64> },
    /// Running means of `v` and `v²` and how many were taken.
    Both {
        first: Array2<f64>,
        second: Array2<f64>,
        count: u64,
    },
}

impl Moments {
    /// Whether the moments belong to this rule and these particles.
    pub(crate) fn fits(&self, rule: StepRule, particles: ArrayView2<'_, f64>) -> bool {
        let shape = particles.dim();
        match (rule, self) {
            (StepRule::Plain, Self::None) => true,
            (StepRule::RmsProp { .. }, Self::Second { second }) => second.dim() == shape,
            (StepRule::Adam { .. }, Self::Both { first, second, .. }) => {
                first.dim() == shape && second.dim() == shape
            }
            _ => false,
        }
    }
}
