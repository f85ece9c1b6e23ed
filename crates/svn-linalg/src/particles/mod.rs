//! One symmetric positive semi-definite matrix `H_p` for each of `N` particles: the contract between whoever keeps
//! curvature and whoever steps particles with it.
//!
//! ```text
//! operator   x ↦ H_p x                       undamped
//! factor     H_p + λ I = …                    solves, draws, log-determinants
//! diagonal   diag H_p
//! rows       H_p = w J_pᵀ J_p + δ I           only where the family has that form
//! ```
//!
//! | family | kept as | factor |
//! |---|---|---|
//! | [`LowRank`] | rows `J_p` | on the smaller side, `R × R` or `d × d` |
//! | [`DiagonalMatrices`] | diagonals | elementwise |
//! | [`DenseMatrices`] | matrices | Cholesky |
//! | Kronecker-factored | eigenbases of each layer | in the eigenbasis |
//! | [`Shifted`] | `w H_p + δ I` of any other | of the other |
//!
//! Everything that belongs to `H_p`, such as the prior precision, is in the operator; damping is not.

mod dense;
mod diagonal;
mod kept;
mod low_rank;
mod rows;
mod shifted;

pub use dense::DenseMatrices;
pub use diagonal::DiagonalMatrices;
pub use kept::KeptFactors;
pub use low_rank::{LowRank, LowRankView};
pub use rows::ParticleRows;
pub use shifted::Shifted;

use std::fmt::Debug;

use ndarray::{Array1, Array2, Array3, ArrayView1, ArrayView2, ArrayViewMut2, Axis, s};

use crate::dense::dot;
use crate::factor::{Factor, FactorError, ScaledFactor};
use crate::operator::SelfAdjoint;

/// `H_p` of `N` particles, by what is done with it.
///
/// Six methods make a family; the others have a default that is right for every one and that a family overrides where
/// its form allows less work.
pub trait ParticleOperators: Debug + Send + Sync {
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

    /// Diagonal of `H_p`, `d`.
    fn diagonal(&self, particle: usize) -> Array1<f64>;

    /// Side of the largest matrix that [`factor`](Self::factor) decomposes.
    fn factor_size(&self) -> usize;

    /// The rows of `H_p = w J_pᵀ J_p + δ I`, for families of that form.
    fn low_rank(&self) -> Option<LowRankView<'_>> {
        None
    }

    /// A factor of `Σ_p weights_p (H_p + damping · I)`, or `None` where the family has none: Kronecker factors of several
    /// particles have no common eigenbasis.
    fn factor_sum(
        &self,
        weights: ArrayView1<'_, f64>,
        damping: f64,
    ) -> Option<Result<Box<dyn Factor + '_>, FactorError>> {
        let mut active = weights.iter().enumerate().filter(|(_, w)| **w != 0.0);
        match (active.next(), active.next()) {
            (Some((p, &weight)), None) => Some(self.factor(p, damping).and_then(|factor| {
                Ok(Box::new(ScaledFactor::new(weight, factor)?) as Box<dyn Factor>)
            })),
            _ => None,
        }
    }

    /// Curvature of some coordinates alone, ascending: the principal minors.
    fn restrict(&self, coordinates: &[usize]) -> Box<dyn ParticleOperators + '_> {
        let side = coordinates.len();
        let mut minors = Array3::zeros((self.particles(), side, side));
        // A few columns at a time: all of them are as many numbers as the matrices have rows.
        for first in (0..side).step_by(64) {
            let columns = &coordinates[first..(first + 64).min(side)];
            let mut select = Array2::zeros((self.dim(), columns.len()));
            for (column, &i) in columns.iter().enumerate() {
                select[(i, column)] = 1.0;
            }
            let mut product = Array2::zeros(select.raw_dim());
            for (p, mut minor) in minors.outer_iter_mut().enumerate() {
                self.operator(p)
                    .apply_into(select.view(), product.view_mut());
                minor
                    .slice_mut(s![.., first..first + columns.len()])
                    .assign(&product.select(Axis(0), coordinates));
            }
        }
        // Minors of what is checked itself.
        Box::new(DenseMatrices::trusted(minors))
    }

    /// `out = (H_p + damping · I) x` for the `k` *rows* of `x`.
    ///
    /// # Shapes
    /// `x` and `out`: `k × d`.
    fn multiply_into(
        &self,
        particle: usize,
        damping: f64,
        x: ArrayView2<'_, f64>,
        mut out: ArrayViewMut2<'_, f64>,
    ) {
        self.operator(particle)
            .apply_into(x.t(), out.view_mut().reversed_axes());
        out.scaled_add(damping, &x);
    }

    /// `xᵀ H_p x`, undamped.
    fn quadratic(&self, particle: usize, x: ArrayView1<'_, f64>) -> f64 {
        let mut product = Array2::zeros((x.len(), 1));
        self.operator(particle)
            .apply_into(x.insert_axis(Axis(1)), product.view_mut());
        dot(x, product.column(0))
    }

    /// `x ← B f(Bᵀ x, s)` where an eigenbasis is at hand, `H_p = B diag(s) Bᵀ` with orthogonal `B`: the `f` is given coordinates of `x` to
    /// change, and their eigenvalues, part by part. Any function of `H_p` takes two changes of basis so, and what else is a sum over them nothing.
    ///
    /// `false`, and `x` as it was, for a family that would have to decompose something first.
    fn in_eigenbasis(
        &self,
        _particle: usize,
        _x: &mut [f64],
        _f: &mut dyn FnMut(&mut [f64], &[f64]),
    ) -> bool {
        false
    }

    /// All eigenvalues of `H_p`, `d`, in no order, where they are at hand.
    ///
    /// `None` for a family that would have to decompose something first.
    fn eigenvalues(&self, _particle: usize) -> Option<Array1<f64>> {
        None
    }

    /// `out = x M` with the mean `M = (1/N) Σ_p H_p`, for the rows of `x`.
    ///
    /// # Shapes
    /// `x` and `out`: `k × d`.
    fn multiply_mean_into(&self, x: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        let inverse = 1.0 / self.particles() as f64;
        out.fill(0.0);
        let mut product = Array2::zeros(x.raw_dim());
        for p in 0..self.particles() {
            self.multiply_into(p, 0.0, x, product.view_mut());
            out.scaled_add(inverse, &product);
        }
    }

    /// Diagonal of the mean `M = (1/N) Σ_p H_p`, `d`.
    fn mean_diagonal(&self) -> Array1<f64> {
        let inverse = 1.0 / self.particles() as f64;
        let mut mean = Array1::zeros(self.dim());
        for p in 0..self.particles() {
            mean.scaled_add(inverse, &self.diagonal(p));
        }
        mean
    }

    /// Look at all numbers once: what a matrix that is no curvature would otherwise do to a step is hard to read.
    ///
    /// Families that were checked when they were made say nothing.
    ///
    /// # Errors
    /// [`MatrixFault`] naming the particle.
    fn check(&self) -> Result<(), MatrixFault> {
        Ok(())
    }
}

/// What is wrong with the matrix of a particle.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MatrixFault {
    /// NaN or an infinity.
    #[error("curvature of particle {particle} is not finite")]
    NonFinite {
        /// The particle.
        particle: usize,
    },
    /// A negative diagonal entry, eigenvalue or minor.
    #[error(
        "curvature of particle {particle} is not positive semi-definite (seen at coordinate {coordinate}); \
         give a Gauss-Newton or Fisher matrix, not a Hessian"
    )]
    Indefinite {
        /// The particle.
        particle: usize,
        /// Coordinate where it was seen: the pivot of a factorisation, or the diagonal entry.
        coordinate: usize,
    },
    /// A matrix that does not equal its transpose.
    #[error("curvature of particle {particle} is not symmetric")]
    NotSymmetric {
        /// The particle.
        particle: usize,
    },
    /// Weight or shift of low-rank curvature out of range.
    #[error("{name} of the curvature is {value}, expected {expected}")]
    Setting {
        /// `weight` or `shift`.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The allowed range.
        expected: &'static str,
    },
}

/// Ranges of a noise weight and a prior precision.
fn check_settings(weight: f64, shift: f64) -> Result<(), MatrixFault> {
    for (name, value, fits, expected) in [
        ("weight", weight, weight >= 0.0, "a non-negative number"),
        ("shift", shift, shift > 0.0, "a positive number"),
    ] {
        if !(value.is_finite() && fits) {
            return Err(MatrixFault::Setting {
                name,
                value,
                expected,
            });
        }
    }
    Ok(())
}

/// `out_p = (H_p + damping · I) x_p`: each particle's matrix times its own row.
///
/// # Shapes
/// `x` and `out`: `N × d`.
pub fn multiply_each_into(
    operators: &dyn ParticleOperators,
    damping: f64,
    x: ArrayView2<'_, f64>,
    mut out: ArrayViewMut2<'_, f64>,
) {
    for p in 0..x.nrows() {
        let row = s![p..=p, ..];
        operators.multiply_into(p, damping, x.slice(row), out.slice_mut(row));
    }
}

macro_rules! forward_to_pointee {
    ($($pointer:ty),*) => {$(
        impl<T: ParticleOperators + ?Sized> ParticleOperators for $pointer {
            fn particles(&self) -> usize {
                (**self).particles()
            }
            fn dim(&self) -> usize {
                (**self).dim()
            }
            fn operator(&self, particle: usize) -> Box<dyn SelfAdjoint + '_> {
                (**self).operator(particle)
            }
            fn factor(
                &self,
                particle: usize,
                damping: f64,
            ) -> Result<Box<dyn Factor + '_>, FactorError> {
                (**self).factor(particle, damping)
            }
            fn diagonal(&self, particle: usize) -> Array1<f64> {
                (**self).diagonal(particle)
            }
            fn factor_size(&self) -> usize {
                (**self).factor_size()
            }
            fn low_rank(&self) -> Option<LowRankView<'_>> {
                (**self).low_rank()
            }
            fn factor_sum(
                &self,
                weights: ArrayView1<'_, f64>,
                damping: f64,
            ) -> Option<Result<Box<dyn Factor + '_>, FactorError>> {
                (**self).factor_sum(weights, damping)
            }
            fn restrict(&self, coordinates: &[usize]) -> Box<dyn ParticleOperators + '_> {
                (**self).restrict(coordinates)
            }
            fn multiply_into(
                &self,
                particle: usize,
                damping: f64,
                x: ArrayView2<'_, f64>,
                out: ArrayViewMut2<'_, f64>,
            ) {
                (**self).multiply_into(particle, damping, x, out);
            }
            fn quadratic(&self, particle: usize, x: ArrayView1<'_, f64>) -> f64 {
                (**self).quadratic(particle, x)
            }
            fn in_eigenbasis(
                &self,
                particle: usize,
                x: &mut [f64],
                f: &mut dyn FnMut(&mut [f64], &[f64]),
            ) -> bool {
                (**self).in_eigenbasis(particle, x, f)
            }
            fn eigenvalues(&self, particle: usize) -> Option<Array1<f64>> {
                (**self).eigenvalues(particle)
            }
            fn multiply_mean_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
                (**self).multiply_mean_into(x, out);
            }
            fn mean_diagonal(&self) -> Array1<f64> {
                (**self).mean_diagonal()
            }
            fn check(&self) -> Result<(), MatrixFault> {
                (**self).check()
            }
        }
    )*};
}
forward_to_pointee!(&T, Box<T>);
