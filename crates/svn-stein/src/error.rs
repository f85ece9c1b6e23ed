//! Everything that can go wrong in a particle method, as one typed error.

use svn_linalg::MatrixFault;

use crate::target::TargetError;

/// Error of a particle method.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SteinError {
    /// A setting is outside its range.
    #[error("setting `{name}` is {value}, expected {expected}")]
    Setting {
        /// Path of the setting.
        name: &'static str,
        /// What was given.
        value: String,
        /// The allowed range.
        expected: &'static str,
    },
    /// An array has the wrong shape.
    #[error("{what} has shape {found:?}, expected {expected:?}")]
    Shape {
        /// Which array.
        what: &'static str,
        /// Its shape.
        found: Vec<usize>,
        /// The shape that fits the particles.
        expected: Vec<usize>,
    },
    /// There are no particles, or they have no coordinates.
    #[error(
        "particles have shape {particles} x {dim}; at least one particle with one coordinate is needed"
    )]
    Empty {
        /// Number of particles.
        particles: usize,
        /// Coordinates of a particle.
        dim: usize,
    },
    /// An input holds NaN or infinity.
    #[error("{what} of particle {particle} is not finite")]
    NonFinite {
        /// Which quantity.
        what: &'static str,
        /// Index of the particle.
        particle: usize,
    },
    /// The target is not finite at a particle that has no earlier good position to go back to.
    #[error(
        "{quantity} of particle {particle} is not finite and there is no earlier position to return to; \
         start the particles elsewhere or check the target"
    )]
    NonFiniteStart {
        /// Index of the particle.
        particle: usize,
        /// What was not finite.
        quantity: &'static str,
    },
    /// The method or its kernel metric needs curvature and the target offers only a score.
    #[error("`{what}` needs the curvature of the target, which offers only its score")]
    CurvatureRequired {
        /// The method or metric.
        what: &'static str,
    },
    /// The method compares particles by what they predict and the target predicts nothing.
    #[error(
        "`{method}` repels particles by what they predict, and the target has no function space"
    )]
    FunctionsRequired {
        /// The method.
        method: &'static str,
    },
    /// A particle's curvature is no positive semi-definite matrix.
    #[error(transparent)]
    Curvature(MatrixFault),
    /// The Newton system could not be solved; more damping may help.
    #[error("the {coupling} Newton system of size {size} is singular: {reason}")]
    Singular {
        /// Coupling of the system.
        coupling: &'static str,
        /// Size of the matrix that was factorised.
        size: usize,
        /// What the factorisation said.
        reason: String,
    },
    /// The Newton system was not solved well enough for a step, whatever the damping.
    #[error(
        "the {coupling} Newton system was left with a relative residual of {residual:.1e} by {route} ({status}) at the largest \
         damping tried; take another solver or coupling"
    )]
    Unsolved {
        /// Coupling of the system.
        coupling: &'static str,
        /// Route of the last attempt.
        route: &'static str,
        /// How it ended.
        status: &'static str,
        /// `‖v − A α‖ / ‖v‖`.
        residual: f64,
    },
    /// Particles run away.
    #[error(
        "particle {particle} has run to {size:.1e}, from a start of at most {start:.1e}: the density does not hold it, or the \
         steps are too long; lower the rate, raise the damping or narrow the trust region"
    )]
    Diverged {
        /// Index of the particle.
        particle: usize,
        /// Its largest coordinate.
        size: f64,
        /// Largest coordinate at the start.
        start: f64,
    },
    /// Steps were rejected again and again and the damping is at its maximum.
    #[error(
        "{rejections} steps in a row were rejected and the damping is at its maximum {damping:e}"
    )]
    Stuck {
        /// How many in a row.
        rejections: usize,
        /// Levenberg damping reached.
        damping: f64,
    },
    /// The target failed.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// An observer failed.
    #[error("observer failed: {0}")]
    Observer(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl SteinError {
    /// Whether moving the particles elsewhere, or more damping, may help.
    pub fn is_recoverable(&self) -> bool {
        match self {
            Self::Target(error) => error.is_recoverable(),
            Self::NonFinite { .. } | Self::Singular { .. } => true,
            _ => false,
        }
    }
}
