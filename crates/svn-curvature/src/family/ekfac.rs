//! Eigenvalue-corrected Kronecker factors: the eigenbases of KFAC with the curvature's exact diagonal in them.
//!
//! ```text
//! H_p ≈ diag over layers ( (U ⊗ V) diag(vec Λ) (U ⊗ V)ᵀ )       G = U diag(g) Uᵀ,  A = V diag(a) Vᵀ
//! Λ = Σ_{i,j} ( Uᵀ ( Σ_l δ_ijl a_ilᵀ ) V )²                     elementwise square, O × K'
//! ```
//!
//! Among all matrices with these eigenvectors it is the nearest to the layer's block in the Frobenius norm, so never
//! further away than KFAC's. The bases must be known first: it takes a second pass over the data.
//!
//! # References
//! - T. George et al., *Fast approximate natural gradient descent in a Kronecker-factored eigenbasis*, NeurIPS 2018.

use std::sync::Arc;

use ndarray::{Array3, Axis};
use svn_linalg::KroneckerEigen;
use tch::{Kind, Tensor};

use super::{
    Accumulate, AccumulatedSums, KfacAccumulator, KroneckerCurvature, check_decay, copy_of, scale,
};
use crate::moments::{homogeneous, squared_gradients};
use crate::subject::{Subject, check_layer_finite};
use crate::{CurvatureError, Linearization, Result, convert};

/// Collects another spectrum in the eigenbases of a [`KroneckerCurvature`].
#[derive(Debug)]
pub struct EkfacAccumulator {
    subject: Subject,
    layers: Vec<Layer>,
    samples: f64,
    bases: Arc<()>,
}

/// One layer: `U` (`N × O × O`) and `V` (`N × K' × K'`) as the network's kind of tensor, and the sum of squares.
#[derive(Debug)]
struct Layer {
    left: Tensor,
    right: Tensor,
    products: Vec<KroneckerEigen>,
    sum: Tensor,
}

impl EkfacAccumulator {
    /// Nothing yet, in the eigenbases of `bases`, which the data of a first pass gave.
    ///
    /// # Errors
    /// libtorch's, such as running out of memory.
    pub fn new(bases: &KroneckerCurvature) -> Result<Self> {
        let subject = bases.subject().clone();
        let layer = |index: usize| -> Result<Layer> {
            let products: Vec<KroneckerEigen> = bases.products(index).cloned().collect();
            let basis = |vectors: Vec<_>| -> Result<Tensor> {
                let tensors = vectors
                    .into_iter()
                    .map(|v| convert::tensor_on(v, subject.kind, subject.device));
                Ok(Tensor::f_stack(&tensors.collect::<Result<Vec<_>>>()?, 0)?)
            };
            let left = basis(products.iter().map(|product| product.vectors().0).collect())?;
            let right = basis(products.iter().map(|product| product.vectors().1).collect())?;
            let size = [left.size()[0], left.size()[1], right.size()[1]];
            let sum = Tensor::f_zeros(size, (Kind::Double, subject.device))?;
            Ok(Layer {
                left,
                right,
                products,
                sum,
            })
        };
        let layers = (0..subject.blocks().len())
            .map(layer)
            .collect::<Result<_>>()?;
        Ok(Self {
            subject,
            layers,
            samples: 0.0,
            bases: Arc::clone(bases.bases()),
        })
    }

    /// In new eigenbases, with what `past` has seen on their diagonal: the sums of an exponential average when its bases
    /// are renewed.
    ///
    /// # Errors
    /// libtorch's; `past` of another network, of other layers or particles.
    pub fn with_past(bases: &KroneckerCurvature, past: &KfacAccumulator) -> Result<Self> {
        let mut accumulator = Self::new(bases)?;
        for (layer, spectra) in accumulator.layers.iter_mut().zip(past.spectra_in(bases)?) {
            layer.sum = convert::tensor_on(spectra.view(), Kind::Double, layer.sum.device())?;
        }
        accumulator.samples = past.samples();
        Ok(accumulator)
    }
}

impl Accumulate for EkfacAccumulator {
    type Curvature = KroneckerCurvature;

    fn accumulate(&mut self, linearization: &Linearization, root: &Tensor) -> Result<()> {
        self.subject
            .check_same("linearization", linearization.subject())?;
        tch::no_grad(|| {
            let batch = self
                .layers
                .iter()
                .map(|layer| layer.sum.f_zeros_like())
                .collect::<std::result::Result<Vec<_>, _>>()?;
            linearization.pull_back_in_groups(root, |_, index, block, a, delta| {
                let layer = &self.layers[index];
                let (n, b, k, l, o) = delta.size5()?;
                let a = if block.has_bias() {
                    homogeneous(a)?
                } else {
                    a.shallow_clone()
                };
                let a = a.f_expand([n, -1, -1], false)?.f_bmm(&layer.right)?;
                let delta = delta
                    .f_reshape([n, b * k * l, o])?
                    .f_bmm(&layer.left)?
                    .f_view([n, b, k, l, o])?;
                let squares = squared_gradients(&a, &delta)?;
                check_layer_finite("curvature", block, &squares)?;
                let _ = batch[index].shallow_clone().f_add_(&squares)?;
                Ok(())
            })?;
            for (layer, batch) in self.layers.iter_mut().zip(&batch) {
                let _ = layer.sum.f_add_(batch)?;
            }
            self.samples += linearization.batch() as f64;
            Ok(())
        })
    }

    fn decay(&mut self, factor: f64) -> Result<()> {
        check_decay(factor)?;
        for layer in &mut self.layers {
            let _ = layer.sum.f_mul_scalar_(factor)?;
        }
        self.samples *= factor;
        Ok(())
    }

    /// Both must stand in the same eigenbases, from one [`KroneckerCurvature`] or its clones.
    fn merge(&mut self, other: Self) -> Result<()> {
        self.subject.check_same("accumulator", &other.subject)?;
        if !Arc::ptr_eq(&self.bases, &other.bases) {
            return Err(CurvatureError::OtherEigenbases);
        }
        for (layer, more) in self.layers.iter_mut().zip(&other.layers) {
            let _ = layer.sum.f_add_(&more.sum)?;
        }
        self.samples += other.samples;
        Ok(())
    }

    fn samples(&self) -> f64 {
        self.samples
    }

    fn try_clone(&self) -> Result<Self> {
        let copies = self.layers.iter().map(|layer| {
            Ok(Layer {
                left: layer.left.shallow_clone(),
                right: layer.right.shallow_clone(),
                products: layer.products.clone(),
                sum: copy_of(&layer.sum)?,
            })
        });
        Ok(Self {
            subject: self.subject.clone(),
            layers: copies.collect::<Result<_>>()?,
            samples: self.samples,
            bases: Arc::clone(&self.bases),
        })
    }

    fn sums(&self) -> Result<AccumulatedSums> {
        let sums = self.layers.iter().map(|layer| &layer.sum);
        AccumulatedSums::new(self.samples, sums)
    }

    fn set_sums(&mut self, sums: &AccumulatedSums) -> Result<()> {
        let mut targets: Vec<&mut Tensor> = self.layers.iter_mut().map(|l| &mut l.sum).collect();
        self.samples = sums.copy_to(&mut targets)?;
        Ok(())
    }

    fn finish_for(self, rows: f64) -> Result<KroneckerCurvature> {
        let scale = scale(rows, self.samples)?;
        let mut products = vec![Vec::new(); self.subject.particles];
        for layer in &self.layers {
            let spectra: Array3<f64> = convert::array(&layer.sum)?;
            let layers = layer.products.iter().zip(spectra.axis_iter(Axis(0)));
            for (products, (product, spectrum)) in products.iter_mut().zip(layers) {
                products.push(product.with_spectrum(&spectrum * scale)?);
            }
        }
        KroneckerCurvature::new(self.subject, products, self.bases)
    }
}
