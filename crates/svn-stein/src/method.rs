//! The particle methods and their settings.

use serde::{Deserialize, Serialize};

use crate::annealing::Annealing;
use crate::damping::Damping;
use crate::error::SteinError;
use crate::field::DensityEstimator;
use crate::function::FunctionRepulsion;
use crate::gram::KernelSettings;
use crate::momentum::Momentum;
use crate::newton_ensemble::NewtonEnsemble;
use crate::rate::{Rate, StepRule};
use crate::repulsion::Coupling;
use crate::restrict::Coordinates;
use crate::system::Solver;

/// Step of a first-order method.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FirstOrder {
    /// How the field becomes a step.
    pub rule: StepRule,
    /// Step size.
    pub rate: Rate,
}

impl FirstOrder {
    /// Plain steps of constant size.
    pub fn plain(rate: f64) -> Self {
        Self {
            rule: StepRule::Plain,
            rate: Rate::constant(rate),
        }
    }

    /// Adam with a constant rate.
    pub fn adam(rate: f64) -> Self {
        Self {
            rule: StepRule::adam(),
            rate: Rate::constant(rate),
        }
    }
}

/// Settings of the Stein variational Newton methods.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `kernel` | RBF, curvature metric, median | interaction | [`KernelSettings`] |
/// | `coupling` | `block-repulsion` | blocks of the Hessian kept | [`Coupling`] |
/// | `solver` | `auto` | how the system is solved | [`Solver`] |
/// | `ridge` | 1 | added to the eigenvalues of `K²`: how much the modes of a nearly singular `K` move | ≥ 0 |
/// | `rate` | 1, constant | largest step size `ε` | > 0 |
/// | `control` | `slope` | whether the whole step size has to be earned | [`StepControl`] |
/// | `damping` | adaptive from 1 | Levenberg `λ` on the scale of the log posterior | ≥ 0 |
/// | `trust_region` | 10 | bound in nats on `ε² V_mᵀ H_m V_m` | > 0, or none |
/// | `lift` | `kernel` | how `α` becomes a step | [`Lift`] |
/// | `momentum` | 0 | `β` of the average of the field over batches | 0 to below 1 |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Newton {
    /// Interaction.
    pub kernel: KernelSettings,
    /// Blocks of the Hessian that are kept.
    pub coupling: Coupling,
    /// How the system is solved.
    pub solver: Solver,
    /// Ridge, relative to the eigenvalues of `K²`. It shortens a step: one along which the particles move independently by
    /// `1 / (1 + ridge)`. Particles that do not interact at all have none.
    pub ridge: f64,
    /// Largest step size.
    pub rate: Rate,
    /// Whether the whole of it has to be earned.
    pub control: StepControl,
    /// Levenberg damping.
    pub damping: Damping,
    /// Largest predicted change `ε² V_mᵀ H_m V_m` of a particle, in nats (for example `0.05 n` for `n` data rows).
    pub trust_region: Option<f64>,
    /// How the solution becomes a step.
    pub lift: Lift,
    /// `β`: the field is averaged over the batches of about `1/(1 − β)` steps before the system is solved. Only where a target is
    /// [stochastic](crate::Score::is_stochastic).
    #[serde(skip_serializing_if = "is_zero")]
    pub momentum: f64,
}

impl Newton {
    /// The bare method: every step as long as the rate says, no damping, no trust region, next to no ridge. For settings of
    /// one's own, such as those of minibatches, and for theory; the [default](Newton::default) is safeguarded.
    pub fn plain() -> Self {
        Self {
            ridge: 1e-6,
            control: StepControl::Fixed,
            damping: Damping::Constant(0.0),
            trust_region: None,
            ..Self::default()
        }
    }
}

impl Default for Newton {
    fn default() -> Self {
        Self {
            kernel: KernelSettings {
                metric: crate::gram::Metric::Curvature,
                ..KernelSettings::default()
            },
            coupling: Coupling::BlockRepulsion,
            solver: Solver::Auto,
            ridge: 1.0,
            rate: Rate::constant(1.0),
            control: StepControl::Slope,
            damping: Damping::Adaptive {
                initial: 1.0,
                min: 1e-6,
                max: 1e12,
            },
            // Three standard deviations of a normal density.
            trust_region: Some(10.0),
            lift: Lift::Kernel,
            momentum: 0.0,
        }
    }
}

pub(crate) fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// Whether a Newton step is as long as its rate says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StepControl {
    /// As the rate says.
    Fixed,
    /// Shorter while the slope of the KL divergence turns negative along the last step, and the whole rate again when it
    /// does not. Targets that are [stochastic](crate::Score::is_stochastic) are stepped as the rate says.
    Slope,
}

/// How the solution `α` of the Newton system becomes the step `V`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Lift {
    /// `V_m = Σ_n K_mn α_n`: the map in the space of the kernel.
    Kernel,
    /// `V_m = α_m`, for block-diagonal coupling only: its blocks ignore each other, and summing their solutions
    /// overshoots by up to `N` when the particles are close in the kernel's metric.
    Particle,
}

/// A particle method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "name")]
#[non_exhaustive]
pub enum Method {
    /// Independent particles climbing the log density: a deep ensemble of MAP estimates.
    Ensemble {
        /// Step.
        step: FirstOrder,
    },
    /// Wasserstein gradient descent: score minus an estimate of `∇ log q` of the particles.
    Wgd {
        /// Interaction.
        kernel: KernelSettings,
        /// Estimate of `∇ log q`.
        estimator: DensityEstimator,
        /// Step.
        step: FirstOrder,
    },
    /// Stein variational gradient descent.
    Svgd {
        /// Interaction.
        kernel: KernelSettings,
        /// Step.
        step: FirstOrder,
    },
    /// SVGD with the drive annealed.
    AnnealedSvgd {
        /// Interaction.
        kernel: KernelSettings,
        /// Schedule of the drive.
        annealing: Annealing,
        /// Step.
        step: FirstOrder,
    },
    /// Independent particles, each by Newton steps of its own: Stein variational Newton without a kernel, the control that
    /// tells what the interaction adds.
    NewtonEnsemble(NewtonEnsemble),
    /// First-order steps of particles that are driven apart and repel each other by what they predict: Wasserstein gradient
    /// descent in function space, see [`FunctionRepulsion`].
    #[serde(rename = "f-wgd")]
    FunctionWgd {
        /// Interaction.
        repulsion: FunctionRepulsion,
        /// Step.
        step: FirstOrder,
    },
    /// Newton steps of particles that are driven apart and repel each other by what they predict: `(H_m + λI) V_m = s_m + γ J_mᵀ r_m`,
    /// see [`FunctionRepulsion`].
    #[serde(rename = "f-svn")]
    FunctionSvn {
        /// Interaction.
        repulsion: FunctionRepulsion,
        /// Step.
        newton: NewtonEnsemble,
    },
    /// Stein variational Newton.
    Svn(Newton),
    /// SVGD on all coordinates, Stein variational Newton on some, as on the last layer of a network.
    ///
    /// The kernel acts on whole particles. The target's curvature is that of all coordinates, or of the selected ones
    /// alone, in which case the kernel metric has to be the identity.
    LlSvn {
        /// Settings of the Newton part; its kernel serves both.
        newton: Newton,
        /// The coordinates that take Newton steps.
        coordinates: Coordinates,
        /// Step of the other coordinates.
        rest: FirstOrder,
    },
    /// Stochastic Stein variational Newton: the Newton step plus noise `√(2ε/N) K U⁻¹ B`, `UᵀU = A`, so that the
    /// particles sample (Leviyev et al. 2022, arXiv 2204.09039).
    Ssvn(Newton),
}

impl Method {
    /// Name as written in settings.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ensemble { .. } => "ensemble",
            Self::Wgd { .. } => "wgd",
            Self::Svgd { .. } => "svgd",
            Self::AnnealedSvgd { .. } => "annealed-svgd",
            Self::NewtonEnsemble(_) => "newton-ensemble",
            Self::FunctionWgd { .. } => "f-wgd",
            Self::FunctionSvn { .. } => "f-svn",
            Self::Svn(_) => "svn",
            Self::LlSvn { .. } => "ll-svn",
            Self::Ssvn(_) => "ssvn",
        }
    }

    /// Whether a step asks the target for curvature.
    pub fn needs_curvature(&self) -> bool {
        match self {
            Self::Ensemble { .. } | Self::FunctionWgd { .. } => false,
            Self::Wgd { kernel, .. }
            | Self::Svgd { kernel, .. }
            | Self::AnnealedSvgd { kernel, .. } => kernel.needs_curvature(),
            Self::NewtonEnsemble(_)
            | Self::FunctionSvn { .. }
            | Self::Svn(_)
            | Self::LlSvn { .. }
            | Self::Ssvn(_) => true,
        }
    }

    /// Settings of the Newton part, for the methods in which particles interact by one.
    pub fn newton(&self) -> Option<&Newton> {
        match self {
            Self::Svn(newton) | Self::LlSvn { newton, .. } | Self::Ssvn(newton) => Some(newton),
            _ => None,
        }
    }

    /// Repulsion in function space, for the methods that have one.
    pub fn function_repulsion(&self) -> Option<&FunctionRepulsion> {
        match self {
            Self::FunctionWgd { repulsion, .. } | Self::FunctionSvn { repulsion, .. } => {
                Some(repulsion)
            }
            _ => None,
        }
    }

    /// Size of its Newton steps over time, for the methods that have such.
    pub fn newton_rate(&self) -> Option<Rate> {
        self.newton_step().map(|newton| newton.rate)
    }

    /// What the Newton steps of a method are made by, with interaction and without.
    pub(crate) fn newton_step(&self) -> Option<NewtonStep> {
        match self {
            Self::NewtonEnsemble(settings) => Some(settings.into()),
            Self::FunctionSvn { newton, .. } => Some(newton.into()),
            _ => self.newton().map(NewtonStep::from),
        }
    }

    /// First-order step, for the methods that have one.
    pub fn first_order(&self) -> Option<&FirstOrder> {
        match self {
            Self::Ensemble { step }
            | Self::Wgd { step, .. }
            | Self::Svgd { step, .. }
            | Self::AnnealedSvgd { step, .. }
            | Self::FunctionWgd { step, .. }
            | Self::LlSvn { rest: step, .. } => Some(step),
            Self::NewtonEnsemble(_) | Self::FunctionSvn { .. } | Self::Svn(_) | Self::Ssvn(_) => {
                None
            }
        }
    }

    /// Check every setting.
    ///
    /// # Errors
    /// [`SteinError::Setting`].
    pub fn validate(&self) -> Result<(), SteinError> {
        match self {
            Self::Ensemble { step } => step.validate(),
            Self::Wgd {
                kernel,
                estimator,
                step,
            } => {
                if let DensityEstimator::Sge { ridge } = *estimator {
                    positive("estimator.sge.ridge", ridge)?;
                }
                kernel.validate()?;
                step.validate()
            }
            Self::Svgd { kernel, step } => {
                kernel.validate()?;
                step.validate()
            }
            Self::AnnealedSvgd {
                kernel,
                annealing,
                step,
            } => {
                kernel.validate()?;
                annealing.validate()?;
                step.validate()
            }
            Self::NewtonEnsemble(settings) => settings.validate(),
            Self::FunctionWgd { repulsion, step } => {
                repulsion.validate()?;
                step.validate()
            }
            Self::FunctionSvn { repulsion, newton } => {
                repulsion.validate()?;
                newton.validate()
            }
            Self::Svn(newton) => newton.validate(),
            Self::LlSvn { newton, rest, .. } => {
                newton.validate()?;
                rest.validate()
            }
            Self::Ssvn(newton) if newton.lift != Lift::Kernel => Err(SteinError::Setting {
                name: "lift",
                value: format!("{:?}", newton.lift),
                expected: "`kernel`: the noise of ssvn belongs to that step",
            }),
            Self::Ssvn(newton) if newton.momentum != 0.0 => Err(SteinError::Setting {
                name: "momentum",
                value: newton.momentum.to_string(),
                expected: "0: the noise of ssvn belongs to steps of the field as it is",
            }),
            Self::Ssvn(newton) => newton.validate(),
        }
    }
}

impl FirstOrder {
    fn validate(&self) -> Result<(), SteinError> {
        self.rule.validate()?;
        self.rate.validate()
    }
}

impl Newton {
    /// Check every setting.
    ///
    /// # Errors
    /// [`SteinError::Setting`].
    pub fn validate(&self) -> Result<(), SteinError> {
        self.kernel.validate()?;
        if !(self.ridge.is_finite() && self.ridge >= 0.0) {
            return Err(SteinError::Setting {
                name: "ridge",
                value: self.ridge.to_string(),
                expected: "a non-negative number",
            });
        }
        NewtonStep::from(self).validate()
    }
}

/// What one Newton step needs of the settings besides kernel and coordinates.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewtonStep {
    pub coupling: Coupling,
    pub solver: Solver,
    pub ridge: f64,
    pub rate: Rate,
    pub control: StepControl,
    pub damping: Damping,
    pub trust_region: Option<f64>,
    pub lift: Lift,
    pub momentum: f64,
}

impl From<&Newton> for NewtonStep {
    fn from(newton: &Newton) -> Self {
        Self {
            coupling: newton.coupling,
            solver: newton.solver,
            ridge: newton.ridge,
            rate: newton.rate,
            control: newton.control,
            damping: newton.damping,
            trust_region: newton.trust_region,
            lift: newton.lift,
            momentum: newton.momentum,
        }
    }
}

impl NewtonStep {
    /// Check what is no matter of the interaction.
    pub(crate) fn validate(&self) -> Result<(), SteinError> {
        self.rate.validate()?;
        self.damping.validate()?;
        Momentum::validate(self.momentum)?;
        if let Some(bound) = self.trust_region {
            positive("trust_region", bound)?;
        }
        match self.solver {
            Solver::Cg {
                tolerance,
                max_iterations,
            }
            | Solver::Preconditioned {
                tolerance,
                max_iterations,
            }
            | Solver::Minres {
                tolerance,
                max_iterations,
            } => {
                positive("solver.tolerance", tolerance)?;
                positive("solver.max_iterations", max_iterations as f64)
            }
            _ => Ok(()),
        }
    }
}

fn positive(name: &'static str, value: f64) -> Result<(), SteinError> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        Err(SteinError::Setting {
            name,
            value: value.to_string(),
            expected: "a positive number",
        })
    }
}
