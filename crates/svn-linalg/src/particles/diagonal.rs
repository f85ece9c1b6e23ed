//! Diagonal curvature.

use std::fmt;

use ndarray::{
    Array1, Array2, ArrayBase, ArrayView1, ArrayView2, ArrayViewMut2, Axis, Data, Ix2, Zip,
};

use super::{MatrixFault, ParticleOperators};
use crate::dense::all_finite;
use crate::factor::{DiagonalFactor, Factor, FactorError};
use crate::operator::{Diagonal, SelfAdjoint};

/// `H_p = diag(h_p)`, `N × d`, owned or borrowed.
pub struct DiagonalMatrices<S: Data<Elem = f64>>(ArrayBase<S, Ix2>);

impl<S: Data<Elem = f64>> fmt::Debug for DiagonalMatrices<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DiagonalMatrices{:?}", self.0.dim())
    }
}

impl<S: Data<Elem = f64>> DiagonalMatrices<S> {
    /// # Shapes
    /// `diagonals`: `N × d`; nothing is checked before [`check`](ParticleOperators::check).
    pub fn new(diagonals: ArrayBase<S, Ix2>) -> Self {
        Self(diagonals)
    }
}

impl<S: Data<Elem = f64> + Send + Sync> ParticleOperators for DiagonalMatrices<S> {
    fn particles(&self) -> usize {
        self.0.nrows()
    }

    fn dim(&self) -> usize {
        self.0.ncols()
    }

    fn operator(&self, particle: usize) -> Box<dyn SelfAdjoint + '_> {
        Box::new(Diagonal::unchecked(self.diagonal(particle)))
    }

    fn factor(&self, particle: usize, damping: f64) -> Result<Box<dyn Factor + '_>, FactorError> {
        let factor = DiagonalFactor::new(self.0.row(particle), damping)?;
        Ok(Box::new(factor))
    }

    fn diagonal(&self, particle: usize) -> Array1<f64> {
        self.0.row(particle).to_owned()
    }

    fn factor_size(&self) -> usize {
        1
    }

    fn factor_sum(
        &self,
        weights: ArrayView1<'_, f64>,
        damping: f64,
    ) -> Option<Result<Box<dyn Factor + '_>, FactorError>> {
        let mut sum = Array1::zeros(self.dim());
        for (h, &weight) in self.0.rows().into_iter().zip(weights) {
            sum.zip_mut_with(&h, |o: &mut f64, &h| *o += weight * (h + damping));
        }
        let factor = DiagonalFactor::new(sum.view(), 0.0);
        Some(factor.map(|factor| Box::new(factor) as Box<dyn Factor>))
    }

    fn restrict(&self, coordinates: &[usize]) -> Box<dyn ParticleOperators + '_> {
        let selected: Array2<f64> = self.0.select(Axis(1), coordinates);
        Box::new(DiagonalMatrices::new(selected))
    }

    fn multiply_into(
        &self,
        particle: usize,
        damping: f64,
        x: ArrayView2<'_, f64>,
        mut out: ArrayViewMut2<'_, f64>,
    ) {
        for (mut out, x) in out.rows_mut().into_iter().zip(x.rows()) {
            Zip::from(&mut out)
                .and(&x)
                .and(&self.0.row(particle))
                .for_each(|o, &x, &h| *o = (h + damping) * x);
        }
    }

    fn quadratic(&self, particle: usize, x: ArrayView1<'_, f64>) -> f64 {
        let terms = self.0.row(particle).into_iter().zip(x);
        terms.map(|(&h, &x)| h * x * x).sum()
    }

    fn in_eigenbasis(
        &self,
        particle: usize,
        x: &mut [f64],
        f: &mut dyn FnMut(&mut [f64], &[f64]),
    ) -> bool {
        let row = self.0.row(particle);
        row.to_slice().map(|h| f(x, h)).is_some()
    }

    fn eigenvalues(&self, particle: usize) -> Option<Array1<f64>> {
        Some(self.0.row(particle).to_owned())
    }

    fn multiply_mean_into(&self, x: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        let mean = self.mean_diagonal();
        Zip::from(out.rows_mut())
            .and(x.rows())
            .for_each(|mut o, x| {
                Zip::from(&mut o)
                    .and(&x)
                    .and(&mean)
                    .for_each(|o, &x, &m| *o = x * m);
            });
    }

    fn check(&self) -> Result<(), MatrixFault> {
        for (particle, h) in self.0.outer_iter().enumerate() {
            if !all_finite(h) {
                return Err(MatrixFault::NonFinite { particle });
            }
            let is_negative = |x: &f64| *x < 0.0;
            // Looking at all of them is what takes no branch.
            if h.iter().fold(false, |any, x| any | is_negative(x))
                && let Some(coordinate) = h.iter().position(is_negative)
            {
                return Err(MatrixFault::Indefinite {
                    particle,
                    coordinate,
                });
            }
        }
        Ok(())
    }
}
