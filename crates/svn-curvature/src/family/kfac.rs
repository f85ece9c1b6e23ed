//! Kronecker-factored curvature: for each layer the product of the moments instead of the moment of the products.
//!
//! ```text
//! H_p ≈ diag over layers ( G ⊗ A )     on vec [W β], row-major
//! A = 1/(n L) Σ_{i,l} a_il a_ilᵀ       K' × K', inputs in homogeneous coordinates (a last 1 if there is a bias)
//! G = Σ_{i,l,j} δ_ijl δ_ijlᵀ           O × O, cotangents of root column j
//! ```
//!
//! `L` counts positions: convolutions are treated as in Grosse & Martens (KFC; "expand" elsewhere), as if positions were
//! independent. The product is exact for a single sample and one position, and for deep linear networks with squared
//! loss.
//!
//! # References
//! - J. Martens, R. Grosse, *Optimizing neural networks with Kronecker-factored approximate curvature*, ICML 2015.
//! - R. Grosse, J. Martens, *A Kronecker-factored approximate Fisher matrix for convolution layers*, ICML 2016.

use std::sync::Arc;

use ndarray::{Array1, Array3, ArrayView2, ArrayView4, Axis};
use svn_linalg::{KroneckerEigen, SymmetricEigen, dense};

use super::{Accumulate, AccumulatedSums, KroneckerCurvature, check_decay, scale};
use crate::block::AffineBlock;
use crate::linearized::LayerMoments;
use crate::subject::Subject;
use crate::{CurvatureError, Linearized, Result};

/// Collects [`KroneckerCurvature`] with the spectrum of the product.
#[derive(Debug, Clone)]
pub struct KfacAccumulator {
    subject: Subject,
    moments: Vec<LayerMoments>,
    samples: f64,
}

impl KfacAccumulator {
    /// Nothing yet, about the network, layers and particles of `like`.
    pub fn new(like: &dyn Linearized) -> Self {
        let subject = like.subject().clone();
        Self {
            moments: zeros(&subject),
            subject,
            samples: 0.0,
        }
    }
}

fn zeros(subject: &Subject) -> Vec<LayerMoments> {
    let square = |side: usize| Array3::zeros((subject.particles, side, side));
    let moments = subject.blocks().iter().map(|block| LayerMoments {
        inputs: square(block.homogeneous_fan_in()),
        cotangents: square(block.outputs),
    });
    moments.collect()
}

/// A matrix product rounds `M_ij` and `M_ji` apart, in single precision visibly.
fn symmetric(moments: &Array3<f64>) -> Array3<f64> {
    let mut mean = moments.view().permuted_axes([0, 2, 1]).to_owned();
    mean.zip_mut_with(moments, |m, other| *m = 0.5 * (*m + other));
    mean
}

impl Accumulate for KfacAccumulator {
    type Curvature = KroneckerCurvature;

    fn accumulate(&mut self, linear: &dyn Linearized, root: ArrayView4<'_, f64>) -> Result<()> {
        self.subject.check_same("linearization", linear.subject())?;
        linear.check_root(root)?;
        let mut batch = zeros(&self.subject);
        linear.add_moments(root, &mut batch)?;
        self.add(&batch, linear.batch() as f64);
        Ok(())
    }

    fn decay(&mut self, factor: f64) -> Result<()> {
        check_decay(factor)?;
        for sums in &mut self.moments {
            sums.inputs *= factor;
            sums.cotangents *= factor;
        }
        self.samples *= factor;
        Ok(())
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        self.subject.check_same("accumulator", &other.subject)?;
        self.add(&other.moments, other.samples);
        Ok(())
    }

    fn samples(&self) -> f64 {
        self.samples
    }

    fn finish_for(self, rows: f64) -> Result<KroneckerCurvature> {
        let scale = scale(rows, self.samples)?;
        let mut products = vec![Vec::new(); self.subject.particles];
        for (block, sums) in self.subject.blocks().iter().zip(&self.moments) {
            let (inputs, cotangents) = factors(sums, block, self.samples);
            for (p, products) in products.iter_mut().enumerate() {
                let a = eigen("A", p, block, &inputs)?;
                let g = eigen("G", p, block, &(&cotangents * scale))?;
                products.push(KroneckerEigen::from_eigen(&g, &a));
            }
        }
        KroneckerCurvature::new(self.subject, products, Arc::new(()))
    }

    fn sums(&self) -> AccumulatedSums {
        let pairs = self.moments.iter();
        let arrays = pairs.flat_map(|sums| [&sums.inputs, &sums.cotangents]);
        AccumulatedSums::new(self.samples, arrays.map(|array| array.view().into_dyn()))
    }

    fn set_sums(&mut self, sums: &AccumulatedSums) -> Result<()> {
        let pairs = self.moments.iter_mut();
        let arrays = pairs.flat_map(|sums| [&mut sums.inputs, &mut sums.cotangents]);
        self.samples = sums.copy_to(arrays.map(|array| array.view_mut().into_dyn()).collect())?;
        Ok(())
    }
}

/// `A`, a mean over samples and positions, and `G`, a sum over samples: `N × K' × K'` and `N × O × O`.
fn factors(sums: &LayerMoments, block: &AffineBlock, samples: f64) -> (Array3<f64>, Array3<f64>) {
    let inputs = symmetric(&sums.inputs) / (samples * block.positions() as f64);
    (inputs, symmetric(&sums.cotangents))
}

fn eigen(
    factor: &'static str,
    particle: usize,
    block: &AffineBlock,
    moments: &Array3<f64>,
) -> Result<SymmetricEigen> {
    SymmetricEigen::factorize(moments.index_axis(Axis(0), particle)).map_err(|source| {
        CurvatureError::Factor {
            factor,
            particle,
            layer: block.label.clone(),
            source,
        }
    })
}

impl KfacAccumulator {
    fn add(&mut self, other: &[LayerMoments], samples: f64) {
        for (sums, more) in self.moments.iter_mut().zip(other) {
            sums.inputs += &more.inputs;
            sums.cotangents += &more.cotangents;
        }
        self.samples += samples;
    }

    /// What was seen so far, as the product of the moments, on the diagonal in other eigenbases: `(uᵀ G u) (vᵀ A v)` for each
    /// layer, `N × O × K'`; zeros where nothing was seen.
    ///
    /// # Errors
    /// Bases of another network, of other layers or particles.
    pub(super) fn spectra_in(&self, bases: &KroneckerCurvature) -> Result<Vec<Array3<f64>>> {
        self.subject.check_same("eigenbases", bases.subject())?;
        let layers = self.subject.blocks().iter().zip(&self.moments).enumerate();
        layers
            .map(|(layer, (block, sums))| {
                let sides = (block.outputs, block.homogeneous_fan_in());
                let mut spectra = Array3::zeros((self.subject.particles, sides.0, sides.1));
                if self.samples <= 0.0 {
                    return Ok(spectra);
                }
                let (a, g) = factors(sums, block, self.samples);
                for (p, product) in bases.products(layer).enumerate() {
                    let (u, v) = product.vectors();
                    let left = projected_diagonal(u, g.index_axis(Axis(0), p));
                    let right = projected_diagonal(v, a.index_axis(Axis(0), p));
                    spectra
                        .index_axis_mut(Axis(0), p)
                        .assign(&(left.insert_axis(Axis(1)) * right.insert_axis(Axis(0))));
                }
                Ok(spectra)
            })
            .collect()
    }
}

/// `uᵢᵀ M uᵢ` for the columns of `U`.
fn projected_diagonal(u: ArrayView2<'_, f64>, matrix: ArrayView2<'_, f64>) -> Array1<f64> {
    let image = dense::product(matrix, u);
    let pairs = u.columns().into_iter().zip(image.columns());
    pairs.map(|(u, mu)| dense::dot(u, mu)).collect()
}
