//! Products with a particle's curvature, and factors of it, that one Newton solve takes.

use std::sync::atomic::{AtomicUsize, Ordering};

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2};
use svn_linalg::{Factor, FactorError, LinearOperator, ParticleOperators, SelfAdjoint};
use svn_models::stein::{
    Curved, KernelGram, Method, Score, Scratch, SteinError, SvnSystem, svgd_into,
};

use super::rig::Rig;

/// Products and factors of the system of a fresh batch where the particles stand, kernel and its metric left out; `None`
/// for methods without SVN, and for curvature that is not factored.
///
/// # Errors
/// [`SteinError`] as in a step.
pub(super) fn solve(rig: &mut Rig) -> Result<Option<(usize, usize)>, SteinError> {
    let Method::Svn(newton) = rig.method().clone() else {
        return Ok(None);
    };
    let (particles, damping) = (rig.state.particles(), rig.state.damping());
    let (n, d) = particles.dim();
    let [mut score, mut field, mut alpha] = std::array::from_fn(|_| Array2::zeros((n, d)));
    let mut log_density = Array1::zeros(n);
    let mut kernel = KernelGram::new(n, d);
    rig.target.next_batch()?;
    let curvature =
        rig.target
            .curvature_into(particles, log_density.view_mut(), score.view_mut())?;
    let Some(counted) = Counted::of(&*curvature) else {
        return Ok(None);
    };
    kernel.update(&newton.kernel, particles, Some(&*curvature))?;
    svgd_into(&kernel, score.view(), 1.0, field.view_mut());
    let system = SvnSystem::new(
        kernel.view(),
        &counted,
        newton.coupling,
        damping,
        newton.ridge,
    )?;
    let mut scratch = Scratch::default();
    system.solve_into(field.view(), newton.solver, &mut scratch, alpha.view_mut())?;
    Ok(Some(counted.counts()))
}

/// The same curvature with counters.
#[derive(Debug)]
struct Counted<'a> {
    inner: &'a dyn ParticleOperators,
    columns: AtomicUsize,
    factors: AtomicUsize,
}

impl<'a> Counted<'a> {
    /// With counters, where the curvature is not kept as rows, which are multiplied without an operator.
    fn of(curvature: &'a dyn ParticleOperators) -> Option<Self> {
        match curvature.low_rank() {
            Some(_) => None,
            None => Some(Self {
                inner: curvature,
                columns: AtomicUsize::new(0),
                factors: AtomicUsize::new(0),
            }),
        }
    }

    /// Products `H_p u` and factors of `H_p + λ I`.
    fn counts(&self) -> (usize, usize) {
        (
            self.columns.load(Ordering::Relaxed),
            self.factors.load(Ordering::Relaxed),
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

    fn factor_sum(
        &self,
        weights: ArrayView1<'_, f64>,
        damping: f64,
    ) -> Option<Result<Box<dyn Factor + '_>, FactorError>> {
        let factor = self.inner.factor_sum(weights, damping)?;
        self.factors.fetch_add(1, Ordering::Relaxed);
        Some(factor)
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
