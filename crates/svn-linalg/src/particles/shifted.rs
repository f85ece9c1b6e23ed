//! A multiple of curvature plus a multiple of the identity: noise weight and prior around what a network's loss gives.
//!
//! ```text
//! H_p = w C_p + δ I          H_p + λ I = w ( C_p + (δ + λ)/w · I )
//! ```

use ndarray::{Array1, ArrayView1, ArrayView2, ArrayViewMut2};

use super::{MatrixFault, ParticleOperators, check_settings};
use crate::dense;
use crate::factor::{DiagonalFactor, Factor, FactorError, ScaledFactor};
use crate::operator::{Damped, Scaled, SelfAdjoint};

/// `weight · C_p + shift · I` of any curvature `C_p` that is not kept as rows: for those see [`LowRank`](super::LowRank).
#[derive(Debug, Clone)]
pub struct Shifted<T> {
    inner: T,
    weight: f64,
    shift: f64,
}

impl<T: ParticleOperators> Shifted<T> {
    /// `weight · inner + shift · I`; the ranges are looked at by [`check`](ParticleOperators::check).
    pub fn new(inner: T, weight: f64, shift: f64) -> Self {
        Self {
            inner,
            weight,
            shift,
        }
    }

    /// `λ` becomes `(δ + λ)/w` of the inner curvature, whose factor is scaled by `w`.
    fn outer<'f>(
        &self,
        factor: Result<Box<dyn Factor + 'f>, FactorError>,
    ) -> Result<Box<dyn Factor + 'f>, FactorError> {
        Ok(match self.weight {
            1.0 => factor?,
            weight => Box::new(ScaledFactor::new(weight, factor?)?),
        })
    }

    fn inner_damping(&self, damping: f64) -> f64 {
        (self.shift + damping) / self.weight
    }

    /// A multiple of the identity is left where the inner curvature weighs nothing.
    fn constant(&self, damping: f64) -> Result<Box<dyn Factor + '_>, FactorError> {
        let shift = Array1::from_elem(self.dim(), self.shift);
        Ok(Box::new(DiagonalFactor::new(shift.view(), damping)?))
    }
}

impl<T: ParticleOperators> ParticleOperators for Shifted<T> {
    fn particles(&self) -> usize {
        self.inner.particles()
    }

    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn operator(&self, particle: usize) -> Box<dyn SelfAdjoint + '_> {
        let scaled = Scaled::unchecked(self.weight, self.inner.operator(particle));
        Box::new(Damped::unchecked(scaled, self.shift))
    }

    fn factor(&self, particle: usize, damping: f64) -> Result<Box<dyn Factor + '_>, FactorError> {
        if self.weight == 0.0 {
            return self.constant(damping);
        }
        self.outer(self.inner.factor(particle, self.inner_damping(damping)))
    }

    fn diagonal(&self, particle: usize) -> Array1<f64> {
        self.inner.diagonal(particle) * self.weight + self.shift
    }

    fn factor_size(&self) -> usize {
        self.inner.factor_size()
    }

    fn factor_sum(
        &self,
        weights: ArrayView1<'_, f64>,
        damping: f64,
    ) -> Option<Result<Box<dyn Factor + '_>, FactorError>> {
        if self.weight == 0.0 {
            let sum = weights.sum();
            let factor = self.constant(damping);
            return Some(factor.and_then(|f| Ok(Box::new(ScaledFactor::new(sum, f)?) as Box<_>)));
        }
        let factor = self
            .inner
            .factor_sum(weights, self.inner_damping(damping))?;
        Some(self.outer(factor))
    }

    fn restrict(&self, coordinates: &[usize]) -> Box<dyn ParticleOperators + '_> {
        Box::new(Shifted {
            inner: self.inner.restrict(coordinates),
            weight: self.weight,
            shift: self.shift,
        })
    }

    fn multiply_into(
        &self,
        particle: usize,
        damping: f64,
        x: ArrayView2<'_, f64>,
        mut out: ArrayViewMut2<'_, f64>,
    ) {
        self.inner.multiply_into(particle, 0.0, x, out.view_mut());
        let shift = self.shift + damping;
        out.zip_mut_with(&x, |o, &x| *o = self.weight * *o + shift * x);
    }

    fn quadratic(&self, particle: usize, x: ArrayView1<'_, f64>) -> f64 {
        self.weight * self.inner.quadratic(particle, x) + self.shift * dense::dot(x, x)
    }

    fn in_eigenbasis(
        &self,
        particle: usize,
        x: &mut [f64],
        f: &mut dyn FnMut(&mut [f64], &[f64]),
    ) -> bool {
        let mut shifted = Vec::new();
        self.inner.in_eigenbasis(particle, x, &mut |x, s| {
            shifted.clear();
            shifted.extend(s.iter().map(|s| self.weight * s + self.shift));
            f(x, &shifted);
        })
    }

    fn eigenvalues(&self, particle: usize) -> Option<Array1<f64>> {
        let inner = self.inner.eigenvalues(particle)?;
        Some(inner * self.weight + self.shift)
    }

    fn multiply_mean_into(&self, x: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        self.inner.multiply_mean_into(x, out.view_mut());
        out.zip_mut_with(&x, |o, &x| *o = self.weight * *o + self.shift * x);
    }

    fn check(&self) -> Result<(), MatrixFault> {
        check_settings(self.weight, self.shift)?;
        self.inner.check()
    }
}
