//! Factored curvature that counts products and factorisations.

use std::sync::atomic::{AtomicUsize, Ordering};

use ndarray::{Array1, ArrayView2, ArrayViewMut2};
use svn_linalg::{Factor, FactorError, LinearOperator, ParticleOperators, SelfAdjoint};

/// The same curvature with counters.
#[derive(Debug)]
pub(super) struct Counted<'a> {
    inner: &'a dyn ParticleOperators,
    columns: AtomicUsize,
    factors: AtomicUsize,
}

impl<'a> Counted<'a> {
    pub fn new(inner: &'a dyn ParticleOperators) -> Self {
        Self {
            inner,
            columns: AtomicUsize::new(0),
            factors: AtomicUsize::new(0),
        }
    }

    /// Products `H_p u` and factors of `H_p + λ I` since the last call.
    pub fn take(&self) -> (usize, usize) {
        (
            self.columns.swap(0, Ordering::Relaxed),
            self.factors.swap(0, Ordering::Relaxed),
        )
    }
}

impl ParticleOperators for Counted<'_> {
    fn particles(&self) -> usize {
        self.inner.particles()
    }

    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn operator(&self, particle: usize) -> Box<dyn SelfAdjoint + '_> {
        Box::new(CountedOperator {
            inner: self.inner.operator(particle),
            columns: &self.columns,
        })
    }

    fn factor(&self, particle: usize, damping: f64) -> Result<Box<dyn Factor + '_>, FactorError> {
        self.factors.fetch_add(1, Ordering::Relaxed);
        self.inner.factor(particle, damping)
    }

    fn diagonal(&self, particle: usize) -> Array1<f64> {
        self.inner.diagonal(particle)
    }

    fn factor_size(&self) -> usize {
        self.inner.factor_size()
    }
}

struct CountedOperator<'a> {
    inner: Box<dyn SelfAdjoint + 'a>,
    columns: &'a AtomicUsize,
}

impl LinearOperator for CountedOperator<'_> {
    fn nrows(&self) -> usize {
        self.inner.nrows()
    }

    fn ncols(&self) -> usize {
        self.inner.ncols()
    }

    fn apply_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.columns.fetch_add(x.ncols(), Ordering::Relaxed);
        self.inner.apply_into(x, out);
    }

    fn apply_transpose_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.columns.fetch_add(x.ncols(), Ordering::Relaxed);
        self.inner.apply_transpose_into(x, out);
    }
}

impl SelfAdjoint for CountedOperator<'_> {}
