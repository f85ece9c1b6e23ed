//! A layer's curvature in homogeneous coordinates, where the bias is one more column of the weight, as an operator on
//! the layer's part of the flat vector, where the bias comes behind.
//!
//! ```text
//! flat: [ vec W | β ]        homogeneous: vec [ W β ]        both row-major, W: O × K
//! ```

use std::ops::Range;

use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, s};
use svn_linalg::{
    Factor, FactorError, FactorizeDamped, KroneckerEigen, LinearOperator, SelfAdjoint, dense,
};

/// An operator on `vec [W β]` acting on `[vec W | β]`; without bias the two are the same.
#[derive(Debug, Clone)]
pub struct Homogeneous<A> {
    inner: A,
    order: Order,
}

/// A [`Factor`] of a [`Homogeneous`] operator.
#[derive(Debug, Clone)]
pub struct HomogeneousFactor<F> {
    inner: F,
    order: Order,
}

#[derive(Debug, Clone, Copy)]
struct Order {
    outputs: usize,
    fan_in: usize,
    bias: bool,
}

impl<A> Homogeneous<A> {
    pub(crate) fn new(inner: A, outputs: usize, fan_in: usize, bias: bool) -> Self {
        Self {
            inner,
            order: Order {
                outputs,
                fan_in,
                bias,
            },
        }
    }

    /// The operator on `vec [W β]`.
    pub fn inner(&self) -> &A {
        &self.inner
    }
}

impl Homogeneous<KroneckerEigen> {
    /// Diagonal in the order of the flat vector, `(U∘U) Λ (V∘V)ᵀ`.
    pub(super) fn diagonal(&self) -> Vec<f64> {
        let (left, right) = self.inner.vectors();
        let square = |x: &f64| x * x;
        let left = dense::product(left.map(square).view(), self.inner.spectrum());
        let entries = dense::product(left.view(), right.map(square).t());
        let weights = entries.slice(s![.., ..self.order.fan_in]);
        let biases = entries.slice(s![.., self.order.fan_in..]);
        weights.iter().chain(&biases).copied().collect()
    }

    /// See [`ParticleOperators::in_eigenbasis`](svn_linalg::ParticleOperators::in_eigenbasis).
    pub(super) fn in_eigenbasis(&self, x: &mut [f64], f: &mut dyn FnMut(&mut [f64], &[f64])) {
        if !self.order.bias {
            return self.inner.in_eigenbasis(x, f);
        }
        let mut homogeneous = vec![0.0; x.len()];
        for (flat, place) in self.order.places().flatten() {
            homogeneous[place].copy_from_slice(&x[flat]);
        }
        self.inner.in_eigenbasis(&mut homogeneous, f);
        for (flat, place) in self.order.places().flatten() {
            x[flat].copy_from_slice(&homogeneous[place]);
        }
    }

    /// `xᵀ H x`.
    pub(super) fn quadratic(&self, x: ArrayView1<'_, f64>) -> f64 {
        let x = x.insert_axis(Axis(1));
        match self.order.bias {
            false => self.inner.quadratic(x),
            true => self.inner.quadratic(self.order.homogeneous(x).view()),
        }
    }
}

impl Order {
    /// Rows of the flat vector, of weights and the bias, and where they stand in the homogeneous one, for each output.
    fn places(&self) -> impl Iterator<Item = [(Range<usize>, Range<usize>); 2]> {
        let (outputs, fan_in) = (self.outputs, self.fan_in);
        (0..outputs).map(move |o| {
            let (flat, homogeneous) = (o * fan_in, o * (fan_in + 1));
            let bias = (outputs * fan_in + o, homogeneous + fan_in);
            [
                (flat..flat + fan_in, homogeneous..homogeneous + fan_in),
                (bias.0..bias.0 + 1, bias.1..bias.1 + 1),
            ]
        })
    }

    /// The rows of `x` in homogeneous order; there must be a bias.
    fn homogeneous(&self, x: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut homogeneous = Array2::zeros(x.raw_dim());
        for (flat, place) in self.places().flatten() {
            homogeneous
                .slice_mut(s![place, ..])
                .assign(&x.slice(s![flat, ..]));
        }
        homogeneous
    }

    /// Calls `f(homogeneous x, homogeneous out)` and brings the result back.
    fn wrap(
        &self,
        x: ArrayView2<'_, f64>,
        mut out: ArrayViewMut2<'_, f64>,
        f: impl FnOnce(ArrayView2<'_, f64>, ArrayViewMut2<'_, f64>),
    ) {
        if !self.bias {
            return f(x, out);
        }
        let homogeneous = self.homogeneous(x);
        let mut image = Array2::zeros(x.raw_dim());
        f(homogeneous.view(), image.view_mut());
        for (flat, place) in self.places().flatten() {
            out.slice_mut(s![flat, ..])
                .assign(&image.slice(s![place, ..]));
        }
    }
}

impl<A: SelfAdjoint> LinearOperator for Homogeneous<A> {
    fn nrows(&self) -> usize {
        self.inner.nrows()
    }

    fn ncols(&self) -> usize {
        self.inner.ncols()
    }

    fn apply_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.order
            .wrap(x, out, |x, out| self.inner.apply_into(x, out));
    }

    fn apply_transpose_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.apply_into(x, out);
    }
}

impl<A: SelfAdjoint> SelfAdjoint for Homogeneous<A> {}

impl<A: FactorizeDamped> FactorizeDamped for Homogeneous<A> {
    type Factor = HomogeneousFactor<A::Factor>;

    fn factorize_damped(&self, damping: f64) -> Result<Self::Factor, FactorError> {
        Ok(HomogeneousFactor {
            inner: self.inner.factorize_damped(damping)?,
            order: self.order,
        })
    }
}

impl<F: Factor> Factor for HomogeneousFactor<F> {
    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn solve_into(&self, b: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.order
            .wrap(b, out, |b, out| self.inner.solve_into(b, out));
    }

    fn inverse_sqrt_into(&self, z: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.order
            .wrap(z, out, |z, out| self.inner.inverse_sqrt_into(z, out));
    }

    fn log_det(&self) -> f64 {
        self.inner.log_det()
    }
}
