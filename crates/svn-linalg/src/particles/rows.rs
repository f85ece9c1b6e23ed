//! Rows of low-rank curvature of all particles, however they are kept.

use std::fmt::Debug;

use ndarray::{ArrayBase, ArrayViewMut2, Axis, Data, Ix3};

use super::KeptFactors;
use crate::dense;
use crate::operator::Rows;

/// `J_p`, `R × d` for each of `N` particles. Rows that are not filled yet are zero.
pub trait ParticleRows: Debug + Send + Sync {
    /// Number of particles `N`.
    fn particles(&self) -> usize;

    /// Number of rows `R` of each particle.
    fn count(&self) -> usize;

    /// Dimension `d`.
    fn dim(&self) -> usize;

    /// `J_p`.
    fn rows(&self, particle: usize) -> Box<dyn Rows + '_>;

    /// `out = J_p J_qᵀ`, `R × R`, of two different particles.
    fn cross_gram_into(&self, p: usize, q: usize, out: ArrayViewMut2<'_, f64>);

    /// Whether `J_p J_pᵀ` is kept beside the rows and costs nothing to ask for.
    fn keeps_gram(&self) -> bool {
        false
    }

    /// Factors of these very rows, where they are kept for as long as the rows are.
    fn kept_factors(&self) -> Option<&KeptFactors> {
        None
    }

    /// A particle with a row that is not finite. Implementations that checked their rows when they were made say none.
    fn non_finite(&self) -> Option<usize>;
}

/// Rows written out, `N × R × d`.
impl<S: Data<Elem = f64> + Send + Sync> ParticleRows for ArrayBase<S, Ix3> {
    fn particles(&self) -> usize {
        Self::dim(self).0
    }

    fn count(&self) -> usize {
        Self::dim(self).1
    }

    fn dim(&self) -> usize {
        Self::dim(self).2
    }

    fn rows(&self, particle: usize) -> Box<dyn Rows + '_> {
        Box::new(self.index_axis(Axis(0), particle))
    }

    fn cross_gram_into(&self, p: usize, q: usize, out: ArrayViewMut2<'_, f64>) {
        let (left, right) = (self.index_axis(Axis(0), p), self.index_axis(Axis(0), q));
        dense::multiply(1.0, left, right.t(), 0.0, out);
    }

    fn non_finite(&self) -> Option<usize> {
        self.outer_iter()
            .position(|rows| !rows.iter().all(|x| x.is_finite()))
    }
}

impl<T: ParticleRows + ?Sized> ParticleRows for &T {
    fn particles(&self) -> usize {
        (**self).particles()
    }

    fn count(&self) -> usize {
        (**self).count()
    }

    fn dim(&self) -> usize {
        (**self).dim()
    }

    fn rows(&self, particle: usize) -> Box<dyn Rows + '_> {
        (**self).rows(particle)
    }

    fn cross_gram_into(&self, p: usize, q: usize, out: ArrayViewMut2<'_, f64>) {
        (**self).cross_gram_into(p, q, out);
    }

    fn keeps_gram(&self) -> bool {
        (**self).keeps_gram()
    }

    fn kept_factors(&self) -> Option<&KeptFactors> {
        (**self).kept_factors()
    }

    fn non_finite(&self) -> Option<usize> {
        (**self).non_finite()
    }
}
