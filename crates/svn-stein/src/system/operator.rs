//! The Newton system as an operator: `N` curvature products an application, nothing of size `d × d`.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis};
use svn_linalg::{LinearOperator, SelfAdjoint};

use super::SvnSystem;
use crate::repulsion::{Coupling, coefficients};

impl SvnSystem<'_> {
    /// `out = A α` for `α`, `out`: `N × d`.
    pub fn multiply_into(&self, alpha: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        let (n, d) = self.shape();
        let inverse = 1.0 / n as f64;
        let k = self.kernel.kernel;
        let mut product = Array2::zeros((n, d));
        if self.coupling == Coupling::BlockDiagonal {
            out.fill(0.0);
            for p in 0..n {
                self.curvature
                    .apply_one_into(p, alpha, self.damping, product.view_mut());
                for m in 0..n {
                    out.row_mut(m)
                        .scaled_add(inverse * k[(p, m)] * k[(p, m)], &product.row(m));
                }
            }
        } else {
            let u = k.dot(&alpha);
            self.curvature
                .apply_into(u.view(), self.damping, product.view_mut());
            general_mat_mul(inverse, &k, &product, 0.0, &mut out);
        }
        out.scaled_add(self.ridge, &alpha);
        if self.kernel.slope.iter().any(|&g| g != 0.0) {
            let t = alpha.dot(&self.kernel.transformed.t());
            let b = coefficients(self.coupling, self.kernel.slope, t.view());
            general_mat_mul(1.0, &b, &self.kernel.transformed, 1.0, &mut out);
        }
    }

    /// `‖rhs − A α‖ / ‖rhs‖`, leaving the residual in `residual`; zero for `rhs = 0`.
    pub(super) fn residual_into(
        &self,
        alpha: ArrayView2<'_, f64>,
        rhs: ArrayView2<'_, f64>,
        mut residual: ArrayViewMut2<'_, f64>,
    ) -> f64 {
        self.multiply_into(alpha, residual.view_mut());
        residual.zip_mut_with(&rhs, |r, &b| *r = b - *r);
        let size = crate::field::norm(rhs);
        if size == 0.0 {
            0.0
        } else {
            crate::field::norm(residual.view()) / size
        }
    }
}

/// On vectors: the `N × d` array in row-major order.
impl LinearOperator for SvnSystem<'_> {
    fn nrows(&self) -> usize {
        let (n, d) = self.shape();
        n * d
    }

    fn ncols(&self) -> usize {
        self.nrows()
    }

    fn apply_into(&self, x: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        let shape = self.shape();
        let mut alpha = Array2::zeros(shape);
        let mut product = Array2::zeros(shape);
        for (x, mut out) in x.axis_iter(Axis(1)).zip(out.axis_iter_mut(Axis(1))) {
            alpha.iter_mut().zip(x).for_each(|(a, &x)| *a = x);
            self.multiply_into(alpha.view(), product.view_mut());
            out.iter_mut().zip(&product).for_each(|(o, &p)| *o = p);
        }
    }

    fn apply_transpose_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.apply_into(x, out);
    }
}

impl SelfAdjoint for SvnSystem<'_> {}
