//! Rows of low-rank curvature, by what is done with them, however they are kept.
//!
//! ```text
//! H_p = weight · J_pᵀ J_p + shift · I,   J_p ∈ R^{R × d}
//! project   x ↦ x J_pᵀ          k × d → k × R
//! combine   z ↦ z J_p           k × R → k × d
//! gram      J_p J_qᵀ            R × R
//! ```
//!
//! Written-out rows (an `N × R × d` array) implement the trait; rows of a network that are products of layer inputs and
//! cotangents can do the same from far less memory.

use std::fmt::Debug;

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayBase, ArrayView2, ArrayViewMut2, Axis, Data, Ix3};

use crate::finite::first_non_finite;

/// `J_p` of `N` particles. Rows that are not filled yet are zero.
pub trait CurvatureRows: Debug + Sync {
    /// Number of particles `N`.
    fn particles(&self) -> usize;

    /// Number of rows `R` of each particle.
    fn count(&self) -> usize;

    /// Dimension `d`.
    fn dim(&self) -> usize;

    /// `out = x J_pᵀ`.
    ///
    /// # Shapes
    /// `x`: `k × d`, `out`: `k × R`.
    fn project_into(&self, particle: usize, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>);

    /// `out = scale · z J_p + beta · out`.
    ///
    /// # Shapes
    /// `z`: `k × R`, `out`: `k × d`.
    fn combine_into(
        &self,
        particle: usize,
        scale: f64,
        z: ArrayView2<'_, f64>,
        beta: f64,
        out: ArrayViewMut2<'_, f64>,
    );

    /// `out = J_p J_qᵀ`, `R × R`.
    fn gram_into(&self, p: usize, q: usize, out: ArrayViewMut2<'_, f64>);

    /// `Σ_i J_p[i]²` coordinate by coordinate, `d`: the diagonal of `J_pᵀ J_p`.
    fn squared_columns(&self, particle: usize) -> Array1<f64>;

    /// A particle with a row that is not finite. Implementations that checked their rows when they were made say none.
    fn non_finite(&self) -> Option<usize>;

    /// `J_p` written out, `R × d`.
    fn written_out(&self, particle: usize) -> Array2<f64> {
        let mut out = Array2::zeros((self.count(), self.dim()));
        let identity = Array2::eye(self.count());
        self.combine_into(particle, 1.0, identity.view(), 0.0, out.view_mut());
        out
    }
}

/// Rows written out, `N × R × d`.
impl<S: Data<Elem = f64> + Sync> CurvatureRows for ArrayBase<S, Ix3> {
    fn particles(&self) -> usize {
        Self::dim(self).0
    }

    fn count(&self) -> usize {
        Self::dim(self).1
    }

    fn dim(&self) -> usize {
        Self::dim(self).2
    }

    fn project_into(
        &self,
        particle: usize,
        x: ArrayView2<'_, f64>,
        mut out: ArrayViewMut2<'_, f64>,
    ) {
        let rows = self.index_axis(Axis(0), particle);
        general_mat_mul(1.0, &x, &rows.t(), 0.0, &mut out);
    }

    fn combine_into(
        &self,
        particle: usize,
        scale: f64,
        z: ArrayView2<'_, f64>,
        beta: f64,
        mut out: ArrayViewMut2<'_, f64>,
    ) {
        general_mat_mul(
            scale,
            &z,
            &self.index_axis(Axis(0), particle),
            beta,
            &mut out,
        );
    }

    fn gram_into(&self, p: usize, q: usize, mut out: ArrayViewMut2<'_, f64>) {
        let left = self.index_axis(Axis(0), p);
        // Half the flops; the shapes fit by construction.
        if p == q && svn_linalg::gram_into(1.0, left, out.view_mut()).is_ok() {
            return;
        }
        general_mat_mul(1.0, &left, &self.index_axis(Axis(0), q).t(), 0.0, &mut out);
    }

    fn squared_columns(&self, particle: usize) -> Array1<f64> {
        let mut out = Array1::zeros(self.shape()[2]);
        for row in self.index_axis(Axis(0), particle).rows() {
            out.zip_mut_with(&row, |o, &j| *o += j * j);
        }
        out
    }

    fn non_finite(&self) -> Option<usize> {
        self.outer_iter()
            .position(|rows| first_non_finite(rows).is_some())
    }

    fn written_out(&self, particle: usize) -> Array2<f64> {
        self.index_axis(Axis(0), particle).to_owned()
    }
}
