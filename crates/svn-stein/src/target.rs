//! What the particle methods need to know of a posterior: its score, and for the Newton ones its curvature.
//!
//! Both traits speak of *all* particles at once, so that a target that batches them (a network on libtorch)
//! pays for one pass, and a target that does not can loop.

use ndarray::{ArrayView2, ArrayViewMut1, ArrayViewMut2};
use svn_linalg::ParticleOperators;

use crate::function::FunctionSpace;

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

    /// Whether each batch shows other data, so that two evaluations in a row are of different densities.
    fn is_stochastic(&self) -> bool {
        false
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

    /// What particles are compared by in function space; none for a density of which nothing is predicted.
    fn function_space(&mut self) -> Option<&mut dyn FunctionSpace> {
        None
    }
}

/// A [`Score`] that also knows a positive semi-definite curvature `H_p ≈ −∇² log π(φ_p)` at each particle.
pub trait Curved: Score {
    /// Log density, score and curvature of every particle, from the same data.
    ///
    /// It may borrow from the target, and is valid until that is used again. Shapes and errors as for [`Score::score_into`].
    fn curvature_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        log_density: ArrayViewMut1<'_, f64>,
        score: ArrayViewMut2<'_, f64>,
    ) -> Result<Curvature<'_>, TargetError>;
}

/// Curvature of all `N` particles as the target keeps it: symmetric and positive semi-definite, damping no part of it.
pub type Curvature<'a> = Box<dyn ParticleOperators + 'a>;

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
