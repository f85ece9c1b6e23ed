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

use ndarray::{Array1, Array3, ArrayView2, Axis};
use svn_linalg::{KroneckerEigen, SymmetricEigen};
use tch::{Kind, TchError, Tensor};

use super::{Accumulate, AccumulatedSums, KroneckerCurvature, check_decay, copy_of, scale};
use crate::affine::AffineBlock;
use crate::moments::{homogeneous_second_moment, second_moment};
use crate::subject::{Subject, check_layer_finite};
use crate::{CurvatureError, Linearization, Result, convert};

/// Collects [`KroneckerCurvature`] with the spectrum of the product.
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
    type Curvature = KroneckerCurvature;

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

    fn finish_for(self, rows: f64) -> Result<KroneckerCurvature> {
        let scale = scale(rows, self.samples)?;
        let mut products = vec![Vec::new(); self.subject.particles];
        for (block, sums) in self.subject.blocks().iter().zip(&self.moments) {
            let (inputs, cotangents) = sums.factors(block, self.samples)?;
            for (p, products) in products.iter_mut().enumerate() {
                let a = eigen("A", p, block, &inputs)?;
                let g = eigen("G", p, block, &(&cotangents * scale))?;
                products.push(KroneckerEigen::from_eigen(&g, &a));
            }
        }
        KroneckerCurvature::new(self.subject, products, Arc::new(()))
    }

    fn sums(&self) -> Result<AccumulatedSums> {
        let pairs = self.moments.iter();
        AccumulatedSums::new(
            self.samples,
            pairs.flat_map(|sums| [&sums.inputs, &sums.cotangents]),
        )
    }

    fn set_sums(&mut self, sums: &AccumulatedSums) -> Result<()> {
        let mut targets: Vec<&mut Tensor> = self
            .moments
            .iter_mut()
            .flat_map(|sums| [&mut sums.inputs, &mut sums.cotangents])
            .collect();
        self.samples = sums.copy_to(&mut targets)?;
        Ok(())
    }
}

impl Moments {
    /// `A`, a mean over samples and positions, and `G`, a sum over samples: `N × K' × K'` and `N × O × O`.
    fn factors(&self, block: &AffineBlock, samples: f64) -> Result<(Array3<f64>, Array3<f64>)> {
        let inputs: Array3<f64> = convert::array(&symmetric(&self.inputs)?)?;
        let cotangents: Array3<f64> = convert::array(&symmetric(&self.cotangents)?)?;
        Ok((inputs / (samples * block.positions() as f64), cotangents))
    }
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
    fn add(&mut self, other: &[Moments], samples: f64) -> Result<()> {
        for (sums, more) in self.moments.iter_mut().zip(other) {
            let _ = sums.inputs.f_add_(&more.inputs)?;
            let _ = sums.cotangents.f_add_(&more.cotangents)?;
        }
        self.samples += samples;
        Ok(())
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
                let (a, g) = sums.factors(block, self.samples)?;
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
    let image = matrix.dot(&u);
    let pairs = u.columns().into_iter().zip(image.columns());
    pairs.map(|(u, mu)| u.dot(&mu)).collect()
}
