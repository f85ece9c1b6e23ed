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

use ndarray::{Array1, Array3, Axis};
use svn_linalg::{
    BlockDiagonal, Factor, FactorizeDamped, KroneckerEigen, SelfAdjoint, SymmetricEigen,
};
use tch::{Kind, TchError, Tensor};

use super::{
    Accumulate, AccumulatedSums, Homogeneous, ParticleCurvature, check_decay, copy_of, scale,
};
use crate::affine::AffineBlock;
use crate::moments::{homogeneous_second_moment, second_moment};
use crate::subject::{Subject, check_layer_finite};
use crate::{CurvatureError, Linearization, Result, convert};

/// Collects [`Kfac`].
#[derive(Debug)]
pub struct KfacAccumulator {
    subject: Subject,
    moments: Vec<Moments>,
    samples: f64,
}

/// Sums of one layer: `Σ a aᵀ`, `N × K' × K'`, and `Σ δ δᵀ`, `N × O × O`.
#[derive(Debug)]
struct Moments {
    inputs: Tensor,
    cotangents: Tensor,
}

impl KfacAccumulator {
    /// Nothing yet, about the network, layers and particles of `like`.
    ///
    /// # Errors
    /// libtorch's, such as running out of memory.
    pub fn new(like: &Linearization) -> Result<Self> {
        let subject = like.subject().clone();
        let moments = zeros(&subject)?;
        Ok(Self {
            subject,
            moments,
            samples: 0.0,
        })
    }
}

fn zeros(subject: &Subject) -> Result<Vec<Moments>> {
    let square = |side: usize| {
        let size = [subject.particles as i64, side as i64, side as i64];
        Tensor::f_zeros(size, (Kind::Double, subject.device))
    };
    let moments = subject.blocks().iter().map(|block| {
        Ok(Moments {
            inputs: square(block.homogeneous_fan_in())?,
            cotangents: square(block.outputs)?,
        })
    });
    moments.collect()
}

/// A matrix product rounds `M_ij` and `M_ji` apart, in single precision visibly.
fn symmetric(moments: &Tensor) -> std::result::Result<Tensor, TchError> {
    Ok((moments + moments.f_transpose(1, 2)?) * 0.5)
}

impl Accumulate for KfacAccumulator {
    type Curvature = Kfac;

    fn accumulate(&mut self, linearization: &Linearization, root: &Tensor) -> Result<()> {
        self.subject
            .check_same("linearization", linearization.subject())?;
        tch::no_grad(|| {
            let batch = zeros(&self.subject)?;
            linearization.pull_back_in_groups(root, |first_column, index, block, a, delta| {
                let sums = &batch[index];
                if first_column == 0 {
                    let moment = if block.has_bias() {
                        homogeneous_second_moment(a)?
                    } else {
                        second_moment(a)?
                    };
                    check_layer_finite("curvature factor A", block, &moment)?;
                    let _ = sums.inputs.shallow_clone().f_add_(&moment)?;
                }
                let moment = second_moment(&delta.f_flatten(1, 3)?)?;
                check_layer_finite("curvature factor G", block, &moment)?;
                let _ = sums.cotangents.shallow_clone().f_add_(&moment)?;
                Ok(())
            })?;
            self.add(&batch, linearization.batch() as f64)
        })
    }

    fn decay(&mut self, factor: f64) -> Result<()> {
        check_decay(factor)?;
        for sums in &mut self.moments {
            let _ = sums.inputs.f_mul_scalar_(factor)?;
            let _ = sums.cotangents.f_mul_scalar_(factor)?;
        }
        self.samples *= factor;
        Ok(())
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        self.subject.check_same("accumulator", &other.subject)?;
        self.add(&other.moments, other.samples)
    }

    fn samples(&self) -> f64 {
        self.samples
    }

    fn try_clone(&self) -> Result<Self> {
        let copies = self.moments.iter().map(|sums| {
            Ok(Moments {
                inputs: copy_of(&sums.inputs)?,
                cotangents: copy_of(&sums.cotangents)?,
            })
        });
        Ok(Self {
            subject: self.subject.clone(),
            moments: copies.collect::<Result<_>>()?,
            samples: self.samples,
        })
    }

    fn finish_for(self, rows: f64) -> Result<Kfac> {
        let scale = scale(rows, self.samples)?;
        let mut layers = Vec::with_capacity(self.moments.len());
        for (block, sums) in self.subject.blocks().iter().zip(&self.moments) {
            let inputs: Array3<f64> = convert::array(&symmetric(&sums.inputs)?)?;
            let cotangents: Array3<f64> = convert::array(&symmetric(&sums.cotangents)?)?;
            let inputs = inputs / (self.samples * block.positions() as f64);
            let cotangents = cotangents * scale;
            layers.push(
                (0..self.subject.particles)
                    .map(|p| Layer::new(block, p, &inputs, &cotangents))
                    .collect::<Result<_>>()?,
            );
        }
        Ok(Kfac {
            layers,
            subject: self.subject,
            bases: Arc::new(()),
        })
    }
}

impl KfacAccumulator {
    fn add(&mut self, other: &[Moments], samples: f64) -> Result<()> {
        for (sums, more) in self.moments.iter_mut().zip(other) {
            let _ = sums.inputs.f_add_(&more.inputs)?;
            let _ = sums.cotangents.f_add_(&more.cotangents)?;
        }
        self.samples += samples;
        Ok(())
    }
}

impl KfacAccumulator {
    /// Copies of the sums, for a checkpoint.
    ///
    /// # Errors
    /// libtorch's.
    pub fn sums(&self) -> Result<AccumulatedSums> {
        let pairs = self.moments.iter();
        AccumulatedSums::new(
            self.samples,
            pairs.flat_map(|sums| [&sums.inputs, &sums.cotangents]),
        )
    }

    /// Put back what [`Self::sums`] gave.
    ///
    /// # Errors
    /// [`CurvatureError::Shape`] for sums of another network or number of particles.
    pub fn set_sums(&mut self, sums: &AccumulatedSums) -> Result<()> {
        let mut targets: Vec<&mut Tensor> = self
            .moments
            .iter_mut()
            .flat_map(|sums| [&mut sums.inputs, &mut sums.cotangents])
            .collect();
        self.samples = sums.copy_to(&mut targets)?;
        Ok(())
    }
}

/// One layer of one particle: the factors' eigenvalues, and the product in the eigenbasis.
#[derive(Debug, Clone)]
struct Layer {
    inputs: Array1<f64>,
    cotangents: Array1<f64>,
    product: KroneckerEigen,
}

impl Layer {
    fn new(
        block: &AffineBlock,
        particle: usize,
        inputs: &Array3<f64>,
        cotangents: &Array3<f64>,
    ) -> Result<Self> {
        let eigen = |factor, moments: &Array3<f64>| {
            SymmetricEigen::factorize(moments.index_axis(Axis(0), particle)).map_err(|source| {
                CurvatureError::Factor {
                    factor,
                    particle,
                    layer: block.label.clone(),
                    source,
                }
            })
        };
        let (inputs, cotangents) = (eigen("A", inputs)?, eigen("G", cotangents)?);
        let product = KroneckerEigen::from_eigen(&cotangents, &inputs);
        Ok(Self {
            inputs: inputs.values().to_owned(),
            cotangents: cotangents.values().to_owned(),
            product,
        })
    }

    /// `(G + √λ/π I) ⊗ (A + π√λ I)`, `π² = mean eigenvalue of A / that of G`.
    fn balanced(&self, damping: f64) -> Result<KroneckerEigen> {
        let mean = |values: &Array1<f64>| values.mean().unwrap_or(0.0);
        let ratio = (mean(&self.inputs) / mean(&self.cotangents)).sqrt();
        let pi = if ratio.is_finite() && ratio > 0.0 {
            ratio
        } else {
            1.0
        };
        let left = (&self.cotangents + damping.sqrt() / pi).insert_axis(Axis(1));
        let right = (&self.inputs + pi * damping.sqrt()).insert_axis(Axis(0));
        Ok(self.product.with_spectrum(left * right)?)
    }
}

/// Kronecker-factored curvature of all particles.
#[derive(Debug, Clone)]
pub struct Kfac {
    /// By layer, then particle.
    layers: Vec<Vec<Layer>>,
    subject: Subject,
    /// Shared by clones: one token for one set of eigenbases.
    bases: Arc<()>,
}

impl Kfac {
    /// `H_p`: one Kronecker product per layer, in its eigenbasis.
    ///
    /// # Errors
    /// No such particle.
    pub fn blocks(&self, particle: usize) -> Result<BlockDiagonal<Homogeneous<KroneckerEigen>>> {
        self.blocks_with(particle, |layer| Ok(layer.product.clone()))
    }

    /// The π-balanced damping of Martens & Grosse, which damps the factors and so stays a Kronecker product:
    /// `(G + √λ/π I) ⊗ (A + π√λ I)` per layer, `π² = (tr A / dim A) / (tr G / dim G)`. It exceeds `H_p + λ I`;
    /// [`ParticleCurvature::factor`] damps exactly, at the same price. Factor the result with damping 0.
    ///
    /// # Errors
    /// No such particle; a negative or non-finite damping.
    pub fn balanced(
        &self,
        particle: usize,
        damping: f64,
    ) -> Result<BlockDiagonal<Homogeneous<KroneckerEigen>>> {
        if !(damping.is_finite() && damping >= 0.0) {
            let (name, range) = ("damping", "finite and non-negative");
            return Err(CurvatureError::OutOfRange {
                name,
                range,
                found: damping,
            });
        }
        self.blocks_with(particle, |layer| layer.balanced(damping))
    }

    pub(super) fn bases(&self) -> &Arc<()> {
        &self.bases
    }

    pub(super) fn subject(&self) -> &Subject {
        &self.subject
    }

    /// The product of one layer, by particle.
    pub(super) fn products(&self, layer: usize) -> impl Iterator<Item = &KroneckerEigen> {
        self.layers[layer].iter().map(|layer| &layer.product)
    }

    fn blocks_with(
        &self,
        particle: usize,
        product: impl Fn(&Layer) -> Result<KroneckerEigen>,
    ) -> Result<BlockDiagonal<Homogeneous<KroneckerEigen>>> {
        self.subject.check_particle(particle)?;
        let blocks = self
            .subject
            .blocks()
            .iter()
            .zip(&self.layers)
            .map(|(block, layer)| {
                Ok(Homogeneous::new(
                    product(&layer[particle])?,
                    block.outputs,
                    block.fan_in,
                    block.has_bias(),
                ))
            });
        Ok(BlockDiagonal::new(blocks.collect::<Result<Vec<_>>>()?)?)
    }
}

impl ParticleCurvature for Kfac {
    fn particles(&self) -> usize {
        self.subject.particles
    }

    fn dim(&self) -> usize {
        self.subject.dim()
    }

    fn operator(&self, particle: usize) -> Result<Box<dyn SelfAdjoint + '_>> {
        Ok(Box::new(self.blocks(particle)?))
    }

    fn factor(&self, particle: usize, damping: f64) -> Result<Box<dyn Factor + '_>> {
        Ok(Box::new(self.blocks(particle)?.factorize_damped(damping)?))
    }
}
