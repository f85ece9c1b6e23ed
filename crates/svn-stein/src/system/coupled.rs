//! The coupled system solved exactly: particles decoupled by `K̃`, the repulsion by Woodbury on top.
//!
//! ```text
//! A₀   = (1/N) K̃ blockdiag(H_p + λ I) K̃,   A₀⁻¹ = N K̃⁻¹ blockdiag(H_p + λ I)⁻¹ K̃⁻¹
//! A    = A₀ + (I ⊗ Yᵀ) F S Fᵀ (I ⊗ Y)
//! A⁻¹v = A₀⁻¹ [ v − (I ⊗ Yᵀ) F (I + S T)⁻¹ S Fᵀ (I ⊗ Y) A₀⁻¹ v ]
//! T    = Fᵀ (I ⊗ Y) A₀⁻¹ (I ⊗ Yᵀ) F = N Σ_p W_pᵀ Θ_p W_p,   W_p[a, f] = Σ_m K̃⁻¹_pm F_(m,a),f        r × r
//! (I + S T)⁻¹ S = S − S L (I + Lᵀ S L)⁻¹ Lᵀ S,   T = L Lᵀ                               symmetric, for any S
//! ```
//!
//! The data part falls apart because `H_p` enters every block through `k_p k_pᵀ` alone: `N` factors of size `R`, not one
//! of size `N R`. With `S = I` (PSD couplings) `I + T` is factorised by Cholesky, with the indefinite core of `exact`
//! `I + Lᵀ S L` by Bunch and Kaufman.

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, s};
use svn_linalg::{Cholesky, CholeskyParams, SymmetricIndefinite, Woodbury, dense, parallel};

use super::decoupled::{Factors, Spanned};
use super::inverse::Inverse;
use super::{Scratch, SvnSystem, for_each_row, symmetrise, vector_product};
use crate::error::SteinError;
use crate::repulsion::RepulsionFactor;

pub(super) struct Coupled<'s> {
    factors: Factors<'s>,
    /// `K̃⁻¹`.
    inverse: Array2<f64>,
    repulsion: Option<Repulsion<'s>>,
    /// Of the largest factor of a particle.
    size: usize,
    /// About the multiplications of one solve.
    work: usize,
}

struct Repulsion<'s> {
    y: Spanned<'s>,
    factor: RepulsionFactor,
    small: Small,
    coupling: &'static str,
}

/// `I + S T`.
enum Small {
    Positive(Woodbury),
    Indefinite {
        core: Array2<f64>,
        /// `S L` and the factor of `I + Lᵀ S L`.
        cross: Array2<f64>,
        factor: SymmetricIndefinite,
    },
}

impl<'s> Coupled<'s> {
    pub(super) fn new(
        system: &'s SvnSystem<'_>,
        repulsion: Option<RepulsionFactor>,
    ) -> Result<Self, SteinError> {
        let inverse = system.mixing_inverse()?;
        let factors = Factors::new(system)?;
        let repulsion = match repulsion {
            Some(factor) => Some(Repulsion::new(system, &inverse, &factors, factor)?),
            None => None,
        };
        Ok(Self {
            factors,
            inverse,
            repulsion,
            size: system.curvature.factor_size(),
            work: system.product_work(),
        })
    }
}

impl Inverse for Coupled<'_> {
    fn solve_into(
        &self,
        rhs: ArrayView2<'_, f64>,
        scratch: &mut Scratch,
        mut out: ArrayViewMut2<'_, f64>,
    ) -> Result<(), SteinError> {
        let n = rhs.nrows() as f64;
        let Scratch { mixed, solved, .. } = scratch;
        dense::multiply(1.0, self.inverse.view(), rhs.view(), 0.0, mixed.view_mut());
        match (&self.repulsion, &self.factors) {
            (None, factors) => factors.solve_rows_into(mixed.view(), self.work, solved),
            (Some(repulsion), Factors::Rows(factors)) => {
                // t_ma = y_a · (A₀⁻¹ v)_m, then the correction, both without leaving the span of the rows and of Y.
                let inner = dense::product(mixed.view(), repulsion.y.rows.t());
                let images = parallel::map(mixed.nrows(), self.work, |p| {
                    factors[p].project(mixed.slice(s![p..=p, ..]))
                });
                let mut t = Array2::zeros(inner.dim());
                for (p, image) in images.iter().enumerate() {
                    let inner = inner.slice(s![p..=p, ..]);
                    let projected = repulsion.y.projected[p].view();
                    t.slice_mut(s![p..=p, ..]).assign(&factors[p].inner(
                        inner,
                        image.view(),
                        projected,
                    ));
                }
                let t = dense::product(self.inverse.view(), t.view()) * n;
                let b = dense::product(self.inverse.view(), repulsion.coefficients(&t)?.view());
                dense::multiply(
                    -1.0,
                    b.view(),
                    repulsion.y.rows.view(),
                    1.0,
                    mixed.view_mut(),
                );
                solved.assign(mixed);
                for_each_row(solved.view_mut(), self.work, |p, row| {
                    let mut image = images[p].clone();
                    let (b, projected) = (b.slice(s![p..=p, ..]), &repulsion.y.projected[p]);
                    dense::multiply(-1.0, b, projected.view(), 1.0, image.view_mut());
                    factors[p].finish(image.view(), row);
                });
            }
            (Some(repulsion), factors) => {
                factors.solve_rows_into(mixed.view(), self.work, solved);
                let t = dense::product(
                    self.inverse.view(),
                    dense::product(solved.view(), repulsion.y.rows.t()).view(),
                ) * n;
                let b = dense::product(self.inverse.view(), repulsion.coefficients(&t)?.view());
                dense::multiply(
                    -1.0,
                    b.view(),
                    repulsion.y.rows.view(),
                    1.0,
                    mixed.view_mut(),
                );
                factors.solve_rows_into(mixed.view(), self.work, solved);
            }
        }
        dense::multiply(n, self.inverse.view(), solved.view(), 0.0, out.view_mut());
        Ok(())
    }

    fn size(&self) -> usize {
        let rank = self.repulsion.as_ref().map_or(0, |r| r.factor.rank());
        self.size.max(rank)
    }
}

impl<'s> Repulsion<'s> {
    fn new(
        system: &'s SvnSystem<'_>,
        inverse: &Array2<f64>,
        factors: &Factors<'_>,
        factor: RepulsionFactor,
    ) -> Result<Self, SteinError> {
        let coupling = system.coupling.name();
        let particles = system.shape().0;
        let work = particles.saturating_mul(system.product_work());
        let y = Spanned::new(system.kernel.transformed, work, factors);
        let (r, n, _) = factor.columns.dim();
        let mut t = Array2::zeros((r, r));
        let mut w = Array2::zeros((r, n));
        let thetas = parallel::map(n, work, |p| factors.theta(p, &y));
        for (p, theta) in thetas.iter().enumerate() {
            for (mut w, b) in w.rows_mut().into_iter().zip(factor.columns.outer_iter()) {
                dense::multiply_vector(1.0, b.t(), inverse.row(p), 0.0, w.view_mut());
            }
            dense::multiply(
                n as f64,
                dense::product(w.view(), theta.view()).view(),
                w.t(),
                1.0,
                t.view_mut(),
            );
        }
        symmetrise(&mut t);
        let small = match &factor.core {
            None => Small::Positive(Woodbury::new(t.view()).map_err(|e| system.singular(r, e))?),
            Some(core) => {
                let root = Cholesky::factorize(t.view(), &CholeskyParams::default())
                    .map_err(|e| system.singular(r, e))?;
                let cross = dense::product(core.view(), root.lower());
                let mut matrix = dense::product(root.lower().t(), cross.view());
                symmetrise(&mut matrix);
                matrix.diag_mut().mapv_inplace(|x| x + 1.0);
                let factor = SymmetricIndefinite::factorize(matrix.view())
                    .map_err(|e| system.singular(r, e))?;
                Small::Indefinite {
                    core: core.clone(),
                    cross,
                    factor,
                }
            }
        };
        Ok(Self {
            y,
            factor,
            small,
            coupling,
        })
    }

    /// `F (I + S T)⁻¹ S Fᵀ t` as an `N × N` table of coefficients of `Y`.
    fn coefficients(&self, t: &Array2<f64>) -> Result<Array2<f64>, SteinError> {
        let columns = &self.factor.columns;
        let f = Array1::from_shape_fn(columns.dim().0, |f| {
            let column = columns.index_axis(Axis(0), f);
            column.iter().zip(t).map(|(c, t)| c * t).sum()
        });
        let beta = match &self.small {
            Small::Positive(small) => small
                .solve_rows(f.view().insert_axis(Axis(0)))
                .remove_axis(Axis(0)),
            Small::Indefinite {
                core,
                cross,
                factor,
            } => {
                let inner = factor
                    .solve_vec(vector_product(cross.t(), f.view()).view())
                    .map_err(|e| SteinError::Singular {
                        coupling: self.coupling,
                        size: f.len(),
                        reason: e.to_string(),
                    })?;
                vector_product(core.view(), f.view()) - vector_product(cross.view(), inner.view())
            }
        };
        let mut b = Array2::zeros(t.dim());
        for (&beta, column) in beta.iter().zip(columns.outer_iter()) {
            b.scaled_add(beta, &column);
        }
        Ok(b)
    }
}
