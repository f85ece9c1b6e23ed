//! The Newton system as an operator: `N` curvature products an application, nothing of size `d × d`.

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};
use svn_linalg::{LinearOperator, SelfAdjoint, dense};

use super::{Scratch, SvnSystem, for_each_row};
use crate::field::norm;
use crate::repulsion::coefficients;

impl SvnSystem<'_> {
    /// `out = A α` for `α`, `out`: `N × d`.
    pub fn multiply_into(&self, alpha: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        let mut scratch = Scratch::default();
        scratch.fit(self.shape());
        self.multiply_with(alpha, &mut scratch, out);
    }

    /// [`Self::multiply_into`] with `mixed` and `product` of the scratch.
    pub(super) fn multiply_with(
        &self,
        alpha: ArrayView2<'_, f64>,
        scratch: &mut Scratch,
        mut out: ArrayViewMut2<'_, f64>,
    ) {
        let n = self.shape().0;
        let inverse = 1.0 / n as f64;
        let Scratch { mixed, product, .. } = scratch;
        if self.is_block_diagonal() {
            let k = self.kernel.kernel;
            let work = n.saturating_mul(self.product_work());
            for_each_row(out.view_mut(), work, |m, mut out| {
                let input = alpha.slice(s![m..=m, ..]);
                let mut image = Array2::zeros(input.raw_dim());
                out.fill(0.0);
                for p in (0..n).filter(|&p| k[(p, m)] != 0.0) {
                    self.curvature
                        .multiply_into(p, self.damping, input, image.view_mut());
                    out.scaled_add(inverse * k[(p, m)] * k[(p, m)], &image);
                }
            });
        } else {
            dense::multiply(1.0, self.mixing.view(), alpha.view(), 0.0, mixed.view_mut());
            let mixed = mixed.view();
            for_each_row(product.view_mut(), self.product_work(), |p, row| {
                let x = mixed.slice(s![p..=p, ..]);
                self.curvature.multiply_into(p, self.damping, x, row);
            });
            dense::multiply(
                inverse,
                self.mixing.view(),
                product.view(),
                0.0,
                out.view_mut(),
            );
        }
        if self.kernel.slope.iter().any(|&g| g != 0.0) {
            let t = dense::product(alpha, self.kernel.transformed.t());
            let b = coefficients(self.coupling, self.kernel.slope, t.view());
            dense::multiply(
                1.0,
                b.view(),
                self.kernel.transformed.view(),
                1.0,
                out.view_mut(),
            );
        }
    }

    /// `‖rhs − A α‖ / ‖rhs‖`, leaving the residual in the scratch; zero for `rhs = 0`.
    pub(super) fn residual(
        &self,
        alpha: ArrayView2<'_, f64>,
        rhs: ArrayView2<'_, f64>,
        scratch: &mut Scratch,
    ) -> f64 {
        let mut residual = std::mem::take(&mut scratch.residual);
        self.multiply_with(alpha, scratch, residual.view_mut());
        residual.zip_mut_with(&rhs, |r, &b| *r = b - *r);
        let (size, error) = (norm(rhs), norm(residual.view()));
        scratch.residual = residual;
        if size == 0.0 { 0.0 } else { error / size }
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
        let mut scratch = Scratch::default();
        scratch.fit(shape);
        for (x, mut out) in x.axis_iter(Axis(1)).zip(out.axis_iter_mut(Axis(1))) {
            alpha.iter_mut().zip(x).for_each(|(a, &x)| *a = x);
            self.multiply_with(alpha.view(), &mut scratch, product.view_mut());
            out.iter_mut().zip(&product).for_each(|(o, &p)| *o = p);
        }
    }

    fn apply_transpose_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.apply_into(x, out);
    }
}

impl SelfAdjoint for SvnSystem<'_> {}
