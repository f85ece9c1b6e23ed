//! A tall or flat matrix `J` known by its products, as the rows of a Gauss-Newton matrix are.
//!
//! ```text
//! project   x ↦ x Jᵀ          k × d → k × R
//! combine   z ↦ z J           k × R → k × d
//! gram      J Jᵀ              R × R
//! ```
//!
//! An `R × d` array implements it; rows of a network that are products of layer inputs and cotangents can do the same
//! from far less memory.

use std::fmt::Debug;

use ndarray::{Array1, Array2, ArrayBase, ArrayView2, ArrayViewMut2, Data, Ix2};

use crate::dense;

/// `J`, `R × d`.
pub trait Rows: Debug + Send + Sync {
    /// Number of rows `R`.
    fn count(&self) -> usize;

    /// Dimension `d`.
    fn dim(&self) -> usize;

    /// `out = x Jᵀ`.
    ///
    /// # Shapes
    /// `x`: `k × d`, `out`: `k × R`.
    fn project_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>);

    /// `out = scale · z J + beta · out`.
    ///
    /// # Shapes
    /// `z`: `k × R`, `out`: `k × d`.
    fn combine_into(
        &self,
        scale: f64,
        z: ArrayView2<'_, f64>,
        beta: f64,
        out: ArrayViewMut2<'_, f64>,
    );

    /// `out = J Jᵀ`, `R × R`.
    fn gram_into(&self, out: ArrayViewMut2<'_, f64>);

    /// `Σ_i J_i²` coordinate by coordinate, `d`: the diagonal of `Jᵀ J`.
    fn squared_columns(&self) -> Array1<f64>;

    /// `x Jᵀ`, `k × R`, for `x` of `k × d`.
    fn project(&self, x: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut out = Array2::zeros((x.nrows(), self.count()));
        self.project_into(x, out.view_mut());
        out
    }

    /// `J` written out, `R × d`.
    fn written_out(&self) -> Array2<f64> {
        let mut out = Array2::zeros((self.count(), self.dim()));
        let identity = Array2::eye(self.count());
        self.combine_into(1.0, identity.view(), 0.0, out.view_mut());
        out
    }
}

/// Rows written out.
impl<S: Data<Elem = f64> + Send + Sync> Rows for ArrayBase<S, Ix2> {
    fn count(&self) -> usize {
        self.nrows()
    }

    fn dim(&self) -> usize {
        self.ncols()
    }

    fn project_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        dense::multiply(1.0, x, self.t(), 0.0, out);
    }

    fn combine_into(
        &self,
        scale: f64,
        z: ArrayView2<'_, f64>,
        beta: f64,
        out: ArrayViewMut2<'_, f64>,
    ) {
        dense::multiply(scale, z, self.view(), beta, out);
    }

    /// # Panics
    /// If `out` is not `R × R`.
    fn gram_into(&self, out: ArrayViewMut2<'_, f64>) {
        dense::gram(1.0, self.view(), out);
    }

    fn squared_columns(&self) -> Array1<f64> {
        let mut out = Array1::zeros(self.ncols());
        for row in self.rows() {
            out.zip_mut_with(&row, |o, &j| *o += j * j);
        }
        out
    }

    fn written_out(&self) -> Array2<f64> {
        self.to_owned()
    }
}

macro_rules! forward_to_pointee {
    ($($pointer:ty),*) => {$(
        impl<R: Rows + ?Sized> Rows for $pointer {
            fn count(&self) -> usize {
                (**self).count()
            }
            fn dim(&self) -> usize {
                (**self).dim()
            }
            fn project_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
                (**self).project_into(x, out);
            }
            fn combine_into(
                &self,
                scale: f64,
                z: ArrayView2<'_, f64>,
                beta: f64,
                out: ArrayViewMut2<'_, f64>,
            ) {
                (**self).combine_into(scale, z, beta, out);
            }
            fn gram_into(&self, out: ArrayViewMut2<'_, f64>) {
                (**self).gram_into(out);
            }
            fn squared_columns(&self) -> Array1<f64> {
                (**self).squared_columns()
            }
            fn written_out(&self) -> Array2<f64> {
                (**self).written_out()
            }
        }
    )*};
}
forward_to_pointee!(&R, Box<R>);
