//! A network linearised at `N` particles and `b` samples: products with its per-sample Jacobians.
//!
//! ```text
//! J_i = ∂f(φ_p, x_i)/∂φ_p ∈ R^{c × d}
//! vjp:     Σ_i J_iᵀ r_i
//! rows:    S_iᵀ J_i = ⊕_l Σ_positions ( vec(δ_l a_lᵀ), δ_l ),  one row per sample and root column
//! squares: Σ_rows (S_iᵀ J_i)²                        the diagonal of the curvature
//! moments: A_l = Σ ã ãᵀ,  G_l = Σ δ δᵀ                KFAC's
//! spectra: Λ_l = Σ_rows ( Uᵀ (Σ_positions δ ãᵀ) V )²  EKFAC's; ã = (a, 1) with a bias
//! ```
//!
//! A backend has to give outputs, gradients, rows, and for layers of one position a sample their inputs `a` and cotangents
//! `δ`; the sums follow from these by plain matrix products, unless the backend has a way of its own.

use std::fmt::Debug;

use ndarray::{
    Array2, Array3, ArrayView2, ArrayView3, ArrayView4, ArrayViewMut1, ArrayViewMut2, ArrayViewMut3,
};
use ndarray::{Axis, s};
use svn_linalg::dense;

use crate::Result;
use crate::block::AffineBlock;
use crate::error::{CurvatureError, check_shape};
use crate::subject::Subject;
use svn_linalg::dense::first_non_finite;

/// Takes the affine layers of one particle, each by its index among those covered: inputs `a` (`b × K`) and cotangents
/// `δ` (`bk × O`, row `i k + j` is sample `i`, root column `j`), in any layout.
pub type LayerVisitor<'a> =
    Box<dyn FnMut(usize, ArrayView2<'_, f64>, ArrayView2<'_, f64>) -> Result<()> + Send + 'a>;

/// Sums over samples of one layer, of all particles: `A`, `N × K' × K'`, and `G`, `N × O × O`.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerMoments {
    /// `Σ ã ãᵀ`, over samples and positions.
    pub inputs: Array3<f64>,
    /// `Σ δ δᵀ`, over samples, positions and root columns.
    pub cotangents: Array3<f64>,
}

/// Orthogonal bases of one layer, of all particles: `U`, `N × O × O`, and `V`, `N × K' × K'`, eigenvectors in columns.
#[derive(Debug, Clone)]
pub struct LayerBases {
    /// `U`.
    pub left: Array3<f64>,
    /// `V`.
    pub right: Array3<f64>,
}

/// A network linearised at `N` particles and `b` samples, by any backend. Made by
/// [`Samples::linearize`](crate::Samples::linearize).
pub trait Linearized: Debug + Send {
    /// Particles and layers that it is about.
    fn subject(&self) -> &Subject;

    /// Network outputs, `N × b × c`.
    fn outputs(&self) -> ArrayView3<'_, f64>;

    /// The same with respect to the last affine layer's parameters only: every `d` is then their number.
    fn last_layer(self: Box<Self>) -> Box<dyn Linearized>;

    /// The same about the first `count` samples only, for curvature from fewer samples than the gradient.
    ///
    /// # Errors
    /// [`CurvatureError::Shape`] if there are fewer samples.
    fn first_samples(&self, count: usize) -> Result<Box<dyn Linearized>>;

    /// Gradients `Σ_i J_iᵀ r_i` of all particles.
    ///
    /// # Shapes
    /// `r`: `N × b × c`; `out`: `N × d`, overwritten.
    ///
    /// # Errors
    /// A wrong shape; a gradient that is not finite (particle and layer).
    fn vjp_into(&self, r: ArrayView3<'_, f64>, out: ArrayViewMut2<'_, f64>) -> Result<()>;

    /// Rows `S_iᵀ J_i` of all particles, sample-major: row `i k + j` is sample `i`, root column `j`.
    ///
    /// # Shapes
    /// `root`: `S`, `N × b × c × k`; `out`: `N × bk × d`, overwritten.
    ///
    /// # Errors
    /// A wrong shape; a row that is not finite (particle and layer).
    fn rows_into(&self, root: ArrayView4<'_, f64>, out: ArrayViewMut3<'_, f64>) -> Result<()>;

    /// Pulls the root (`N × b × c × k`) back and shows each particle's visitor, one for each in order, the affine layers
    /// that are covered, the last layer first. Particles may be visited at the same time.
    ///
    /// # Errors
    /// A wrong shape; a layer with several positions a sample, which has no such form; the first visitor's own.
    fn visit_layers(
        &self,
        root: ArrayView4<'_, f64>,
        visitors: Vec<LayerVisitor<'_>>,
    ) -> Result<()>;

    /// Adds squares of the rows to `out`, `N × d`.
    ///
    /// # Errors
    /// A wrong shape; NaN or infinity (particle and layer). `out` is then undefined.
    fn add_squares(
        &self,
        root: ArrayView4<'_, f64>,
        mut out: ArrayViewMut2<'_, f64>,
    ) -> Result<()> {
        let subject = self.subject();
        let parts = out.outer_iter_mut().collect();
        let visit = |p: usize,
                     out: &mut ArrayViewMut1<'_, f64>,
                     layer: usize,
                     a: Values<'_>,
                     delta: Values<'_>| {
            let block = &subject.blocks()[layer];
            let mut out = out.slice_mut(s![subject.columns(block)]);
            let squares = squared_gradients(a, delta);
            out.iter_mut().zip(&squares).for_each(|(o, s)| *o += s);
            if block.has_bias() {
                let biases = out.iter_mut().skip(block.weight.len());
                for (o, delta) in biases.zip(delta.columns()) {
                    *o += dense::dot(delta, delta);
                }
            }
            check_layer_finite("curvature", block, p, out.view().insert_axis(Axis(0)))
        };
        self.visit_layers(root, visitors(parts, &visit))
    }

    /// Adds KFAC's moments of each layer.
    ///
    /// # Errors
    /// As for [`Self::add_squares`].
    fn add_moments(&self, root: ArrayView4<'_, f64>, sums: &mut [LayerMoments]) -> Result<()> {
        let subject = self.subject();
        let arrays = sums.iter_mut();
        let arrays = arrays.flat_map(|sums| [&mut sums.inputs, &mut sums.cotangents]);
        let parts = by_particle(arrays, self.particles());
        let visit = |p: usize,
                     parts: &mut Vec<ArrayViewMut2<'_, f64>>,
                     layer: usize,
                     a: Values<'_>,
                     delta: Values<'_>| {
            let block = &subject.blocks()[layer];
            let inputs = &mut parts[2 * layer];
            let a = homogeneous(a, block);
            dense::multiply(1.0, a.t(), a.view(), 1.0, inputs.view_mut());
            check_layer_finite("curvature factor A", block, p, inputs.view())?;
            let cotangents = &mut parts[2 * layer + 1];
            dense::multiply(1.0, delta.t(), delta, 1.0, cotangents.view_mut());
            check_layer_finite("curvature factor G", block, p, cotangents.view())
        };
        self.visit_layers(root, visitors(parts, &visit))
    }

    /// Adds EKFAC's squares in the bases of each layer to `sums`, each `N × O × K'`.
    ///
    /// # Errors
    /// As for [`Self::add_squares`].
    fn add_spectra(
        &self,
        root: ArrayView4<'_, f64>,
        bases: &[LayerBases],
        sums: &mut [Array3<f64>],
    ) -> Result<()> {
        let subject = self.subject();
        let parts = by_particle(sums, self.particles());
        let visit = |p: usize,
                     sums: &mut Vec<ArrayViewMut2<'_, f64>>,
                     layer: usize,
                     a: Values<'_>,
                     delta: Values<'_>| {
            let (block, bases) = (&subject.blocks()[layer], &bases[layer]);
            let a = homogeneous(a, block);
            let a = dense::product(a.view(), bases.right.index_axis(Axis(0), p));
            let delta = dense::product(delta, bases.left.index_axis(Axis(0), p));
            sums[layer] += &squared_gradients(a.view(), delta.view());
            check_layer_finite("curvature", block, p, sums[layer].view())
        };
        self.visit_layers(root, visitors(parts, &visit))
    }

    /// `b`.
    fn batch(&self) -> usize {
        self.outputs().dim().1
    }

    /// `N`.
    fn particles(&self) -> usize {
        self.subject().particles()
    }

    /// `d`: all parameters, or the last layer's after [`Self::last_layer`].
    fn dim(&self) -> usize {
        self.subject().dim()
    }

    /// [`Self::vjp_into`] a new array, `N × d`.
    ///
    /// # Errors
    /// As for [`Self::vjp_into`].
    fn vjp(&self, r: ArrayView3<'_, f64>) -> Result<Array2<f64>> {
        let mut out = Array2::zeros((self.particles(), self.dim()));
        self.vjp_into(r, out.view_mut())?;
        Ok(out)
    }

    /// [`Self::rows_into`] a new array, `N × bk × d`.
    ///
    /// # Errors
    /// As for [`Self::rows_into`].
    fn rows(&self, root: ArrayView4<'_, f64>) -> Result<Array3<f64>> {
        let rows = self.batch() * root.dim().3;
        let mut out = Array3::zeros((self.particles(), rows, self.dim()));
        self.rows_into(root, out.view_mut())?;
        Ok(out)
    }

    /// Checks the shape of `S` and gives `k`.
    ///
    /// # Errors
    /// [`CurvatureError::Shape`].
    fn check_root(&self, root: ArrayView4<'_, f64>) -> Result<usize> {
        let columns = root.dim().3.max(1);
        let expected = [self.outputs().shape(), &[columns]].concat();
        let words = "particles × samples × outputs × columns";
        check_shape("root", root.shape(), &expected, words)?;
        Ok(columns)
    }
}

/// Inputs or cotangents of a layer.
pub(crate) type Values<'a> = ArrayView2<'a, f64>;

/// One visitor a particle, with a part of its own: `visit(particle, part, layer, a, δ)`.
pub(crate) fn visitors<'a, P: Send + 'a>(
    parts: Vec<P>,
    visit: &'a (impl Fn(usize, &mut P, usize, Values<'_>, Values<'_>) -> Result<()> + Sync),
) -> Vec<LayerVisitor<'a>> {
    let visitor = |(p, mut part): (usize, P)| -> LayerVisitor<'a> {
        Box::new(move |layer, a, delta| visit(p, &mut part, layer, a, delta))
    };
    parts.into_iter().enumerate().map(visitor).collect()
}

/// Of each particle its matrix in each array.
pub(crate) fn by_particle<'a>(
    arrays: impl IntoIterator<Item = &'a mut Array3<f64>>,
    particles: usize,
) -> Vec<Vec<ArrayViewMut2<'a, f64>>> {
    let mut all: Vec<Vec<_>> = (0..particles).map(|_| Vec::new()).collect();
    for array in arrays {
        for (own, matrix) in all.iter_mut().zip(array.outer_iter_mut()) {
            own.push(matrix);
        }
    }
    all
}

/// `(a, 1)` if the layer has a bias, else `a`.
pub(crate) fn homogeneous(a: ArrayView2<'_, f64>, block: &AffineBlock) -> Array2<f64> {
    let mut out = Array2::ones((a.nrows(), block.homogeneous_fan_in()));
    out.slice_mut(s![.., ..a.ncols()]).assign(&a);
    out
}

/// `Σ_{i,j} δ_ij² (a_i²)ᵀ`, elementwise squares: `O × K`. With one position a sample the square of the product is the
/// product of the squares.
fn squared_gradients(a: ArrayView2<'_, f64>, delta: ArrayView2<'_, f64>) -> Array2<f64> {
    let (samples, outputs) = (a.nrows(), delta.ncols());
    let columns = delta.nrows() / samples.max(1);
    let mut squares = Array2::zeros((samples, outputs));
    for (row, delta) in delta.outer_iter().enumerate() {
        squares
            .row_mut(row / columns.max(1))
            .zip_mut_with(&delta, |s, d| *s += d * d);
    }
    dense::product(squares.t(), a.mapv(|a| a * a).view())
}

/// Refuses NaN and infinity in one layer's numbers of one particle.
pub(crate) fn check_layer_finite(
    quantity: &'static str,
    block: &AffineBlock,
    particle: usize,
    values: ArrayView2<'_, f64>,
) -> Result<()> {
    match first_non_finite([values]) {
        None => Ok(()),
        Some(_) => Err(CurvatureError::NonFinite {
            quantity,
            particle,
            layer: block.label.clone(),
        }),
    }
}

/// Refuses NaN and infinity in a particle's numbers, one column a parameter covered; names the first layer that has some.
pub(crate) fn check_particle_finite(
    quantity: &'static str,
    subject: &Subject,
    particle: usize,
    values: ArrayView2<'_, f64>,
) -> Result<()> {
    if first_non_finite([values]).is_none() {
        return Ok(());
    }
    subject.blocks().iter().try_for_each(|block| {
        let part = values.slice(s![.., subject.columns(block)]);
        check_layer_finite(quantity, block, particle, part)
    })
}

/// Refuses another number of samples than there are.
pub(crate) fn check_first_samples(count: usize, batch: usize) -> Result<()> {
    if (1..=batch).contains(&count) {
        return Ok(());
    }
    Err(CurvatureError::Shape {
        what: "first samples",
        expected: format!("1 to {batch} of them"),
        found: vec![count],
    })
}
