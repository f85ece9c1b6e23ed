//! What the particle methods need to know of a posterior: its score, and for the Newton ones its curvature.
//!
//! Both traits speak of *all* particles at once, so that a target that batches them (a network on libtorch)
//! pays for one pass, and a target that does not can loop.

use ndarray::{Array1, ArrayView2, ArrayView3, ArrayViewMut1, ArrayViewMut2};
use svn_linalg::{Factor, FactorError, SelfAdjoint};

pub use crate::rows::CurvatureRows;

/// A log density `log π(φ)` on `R^d`, known up to a constant, with its gradient.
///
/// Everything is on the scale of the *whole* log posterior (the sum over the data set plus the log prior),
/// in nats; a target that sees a minibatch of `b` of `n` rows scales its likelihood by `n/b`.
pub trait Score {
    /// Dimension `d` of one particle.
    fn dim(&self) -> usize;

    /// Move on to fresh data, once before each step. Deterministic targets have nothing to do.
    fn next_batch(&mut self) -> Result<(), TargetError> {
        Ok(())
    }

    /// Log density and score `s_p = ∇ log π(φ_p)` of every particle.
    ///
    /// # Shapes
    /// `particles` and `score`: `N × d`, one particle a row; `log_density`: `N`.
    ///
    /// # Errors
    /// [`TargetError::NonFinite`] is recoverable: the step that led there is rejected.
    fn score_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        log_density: ArrayViewMut1<'_, f64>,
        score: ArrayViewMut2<'_, f64>,
    ) -> Result<(), TargetError>;
}

/// A [`Score`] that also knows a positive semi-definite curvature `H_p ≈ −∇² log π(φ_p)` at each particle.
pub trait Curved: Score {
    /// Log density, score and curvature of every particle, from the same data.
    ///
    /// The view is valid until the target is used again. Shapes and errors as for [`Score::score_into`].
    fn curvature_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        log_density: ArrayViewMut1<'_, f64>,
        score: ArrayViewMut2<'_, f64>,
    ) -> Result<Curvature<'_>, TargetError>;
}

/// Curvature of all `N` particles, in the form its family stores it. `H_p` is symmetric and, with `shift > 0`,
/// positive definite. Damping is no part of it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Curvature<'a> {
    /// `H_p = weight · J_pᵀ J_p + shift · I`, the Full Gauss-Newton / Fisher matrix kept as its rows.
    LowRank(LowRank<'a>),
    /// `H_p = diag(h_p)`; `N × d`, prior precision included.
    Diagonal(ArrayView2<'a, f64>),
    /// Dense `H_p`, for small `d`; `N × d × d`.
    Dense(ArrayView3<'a, f64>),
    /// `H_p` known by its action and by a factor of each `H_p + λ I`, as Kronecker-factored families are.
    Factored(&'a dyn FactoredCurvature),
}

/// Curvature that multiplies and factorises particle by particle; see [`Curvature::Factored`].
///
/// Everything that belongs to `H_p`, such as the prior precision, is in the operator; damping is not.
pub trait FactoredCurvature: std::fmt::Debug + Sync {
    /// Number of particles `N`.
    fn particles(&self) -> usize;

    /// Dimension `d`.
    fn dim(&self) -> usize;

    /// `H_p`, undamped.
    fn operator(&self, particle: usize) -> Box<dyn SelfAdjoint + '_>;

    /// A factor of `H_p + damping · I`.
    ///
    /// # Errors
    /// If the damped matrix is not positive definite.
    fn factor(&self, particle: usize, damping: f64) -> Result<Box<dyn Factor + '_>, FactorError>;

    /// Diagonal of `H_p`, for the diagonal kernel metric.
    fn diagonal(&self, particle: usize) -> Array1<f64>;
}

/// See [`Curvature::LowRank`].
#[derive(Debug, Clone, Copy)]
pub struct LowRank<'a> {
    /// `J_p`, `R × d` for each of `N` particles: an `N × R × d` array, or whatever else multiplies like one.
    pub rows: &'a dyn CurvatureRows,
    /// The factor before `J_pᵀ J_p`; non-negative.
    pub weight: f64,
    /// The multiple of the identity, usually the prior precision `δ`; positive.
    pub shift: f64,
}

/// Why a target could not be evaluated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// Log density, score or curvature is NaN or infinite at a particle.
    #[error("{quantity} of particle {particle} is not finite")]
    NonFinite {
        /// Index of the particle.
        particle: usize,
        /// What was not finite: `log density`, `score`, `curvature`.
        quantity: &'static str,
    },
    /// Anything the target cannot recover from.
    #[error(transparent)]
    Fatal(Box<dyn std::error::Error + Send + Sync>),
}

impl TargetError {
    /// Whether moving the particles elsewhere may help.
    pub fn is_recoverable(&self) -> bool {
        matches!(self, Self::NonFinite { .. })
    }
}
