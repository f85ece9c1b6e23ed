//! Curvature families that are sums of moments: what is kept of `H_p = Σ_i J_iᵀ S_i S_iᵀ J_i`, and how it is collected.
//!
//! ```text
//! accumulate (a batch's linearisation and root)  →  finish  →  ParticleOperators (svn-linalg)
//! ```
//!
//! | family | keeps of each particle | memory |
//! |---|---|---|
//! | [`Diag`] | the diagonal, exact | `d` |
//! | KFAC, by [`KfacAccumulator`] | one Kronecker product per layer | `Σ (K² + O²)` |
//! | EKFAC, by [`EkfacAccumulator`] | the same eigenbases, exact diagonal in them | `Σ (K² + O² + K O)` |
//!
//! The exact curvature is no sum of this size; it is kept batch by batch, see [`BatchSlots`](crate::BatchSlots).
//! Each can be restricted to the last layer by [`Linearized::last_layer`]. Everything is a *sum* over the samples
//! seen, however they are cut into batches; [`Accumulate::finish_for`] scales it to a data set of another size.
//! Damping is no part of a curvature: it is given when a factor is made.

mod diag;
mod ekfac;
mod homogeneous;
mod kfac;
mod kronecker;
mod sums;

use ndarray::ArrayView4;
use svn_linalg::ParticleOperators;

pub use diag::{Diag, DiagAccumulator};
pub use ekfac::EkfacAccumulator;
pub use homogeneous::{Homogeneous, HomogeneousFactor};
pub use kfac::KfacAccumulator;
pub use kronecker::KroneckerCurvature;
pub use sums::AccumulatedSums;

use crate::{CurvatureError, Linearized, Result};

/// Collects a curvature over batches.
pub trait Accumulate: std::fmt::Debug + Clone + Send {
    /// What comes out.
    type Curvature: ParticleOperators + 'static;

    /// Adds one batch. On an error nothing was added.
    ///
    /// # Shapes
    /// `root`: `S`, `N × b × c × k`, such as [`Loss::root`](crate::Loss::root) gives it.
    ///
    /// # Errors
    /// A linearisation of another network, of other layers or particles; a wrong shape of the root; NaN or infinity
    /// (particle and layer).
    fn accumulate(&mut self, linear: &dyn Linearized, root: ArrayView4<'_, f64>) -> Result<()>;

    /// Forgets: everything seen so far counts `factor` as much from now on. Once before each batch it makes an
    /// exponential moving sum, and [`Accumulate::finish_for`] of that a moving average.
    ///
    /// # Errors
    /// A factor outside `[0, 1]`.
    fn decay(&mut self, factor: f64) -> Result<()>;

    /// Adds what another has collected. Associative up to rounding, and in which order sums are merged makes no
    /// difference either.
    ///
    /// # Errors
    /// An accumulator of another network, of other layers or particles.
    fn merge(&mut self, other: Self) -> Result<()>;

    /// Number of samples seen, those before a decay in part.
    fn samples(&self) -> f64;

    /// Copies of the sums, for a checkpoint.
    fn sums(&self) -> AccumulatedSums;

    /// Put back what [`Self::sums`] gave.
    ///
    /// # Errors
    /// [`CurvatureError::Shape`] for sums of another network or number of particles.
    fn set_sums(&mut self, sums: &AccumulatedSums) -> Result<()>;

    /// The curvature of a data set of `rows` samples, of which the samples seen stand for all.
    ///
    /// # Errors
    /// Nothing accumulated; `rows` not positive; a decomposition that fails (particle and layer).
    fn finish_for(self, rows: f64) -> Result<Self::Curvature>;

    /// The curvature summed over the samples seen.
    ///
    /// # Errors
    /// As for [`Accumulate::finish_for`].
    fn finish(self) -> Result<Self::Curvature> {
        let samples = self.samples();
        self.finish_for(samples)
    }
}

/// `rows / samples`, both checked.
fn scale(rows: f64, samples: f64) -> Result<f64> {
    if samples <= 0.0 {
        return Err(CurvatureError::NothingAccumulated);
    }
    if !(rows.is_finite() && rows > 0.0) {
        return Err(CurvatureError::OutOfRange {
            name: "rows",
            range: "positive and finite",
            found: rows,
        });
    }
    Ok(rows / samples)
}

fn check_decay(factor: f64) -> Result<()> {
    if (0.0..=1.0).contains(&factor) {
        return Ok(());
    }
    Err(CurvatureError::OutOfRange {
        name: "decay factor",
        range: "between 0 and 1",
        found: factor,
    })
}
