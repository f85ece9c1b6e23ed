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

use ndarray::{Array3, ArrayView2, ArrayView4, Axis};
use svn_linalg::KroneckerEigen;

use super::{Accumulate, AccumulatedSums, KfacAccumulator, KroneckerCurvature, check_decay, scale};
use crate::linearized::LayerBases;
use crate::subject::Subject;
use crate::{CurvatureError, Linearized, Result};

/// Collects another spectrum in the eigenbases of a [`KroneckerCurvature`].
#[derive(Debug, Clone)]
pub struct EkfacAccumulator {
    subject: Subject,
    bases: Arc<Bases>,
    /// By layer, `N × O × K'`.
    sums: Vec<Array3<f64>>,
    samples: f64,
}

/// The eigenbases by layer: as products of each particle, and as arrays.
#[derive(Debug)]
struct Bases {
    products: Vec<Vec<KroneckerEigen>>,
    arrays: Vec<LayerBases>,
    token: Arc<()>,
}

impl EkfacAccumulator {
    /// Nothing yet, in the eigenbases of `bases`, which the data of a first pass gave.
    pub fn new(bases: &KroneckerCurvature) -> Self {
        let subject = bases.subject().clone();
        let layers = 0..subject.blocks().len();
        let products: Vec<Vec<KroneckerEigen>> = layers
            .map(|layer| bases.products(layer).cloned().collect())
            .collect();
        let arrays: Vec<LayerBases> = products
            .iter()
            .map(|products| LayerBases {
                left: stack(products.iter().map(|product| product.vectors().0)),
                right: stack(products.iter().map(|product| product.vectors().1)),
            })
            .collect();
        let sums = arrays.iter().map(|bases| {
            let (n, outputs, _) = bases.left.dim();
            Array3::zeros((n, outputs, bases.right.dim().1))
        });
        Self {
            sums: sums.collect(),
            subject,
            bases: Arc::new(Bases {
                products,
                arrays,
                token: Arc::clone(bases.bases()),
            }),
            samples: 0.0,
        }
    }

    /// In new eigenbases, with what `past` has seen on their diagonal: the sums of an exponential average when its bases
    /// are renewed.
    ///
    /// # Errors
    /// `past` of another network, of other layers or particles.
    pub fn with_past(bases: &KroneckerCurvature, past: &KfacAccumulator) -> Result<Self> {
        Ok(Self {
            sums: past.spectra_in(bases)?,
            samples: past.samples(),
            ..Self::new(bases)
        })
    }
}

/// Square matrices of one size, one a particle.
fn stack<'a>(matrices: impl ExactSizeIterator<Item = ArrayView2<'a, f64>>) -> Array3<f64> {
    let count = matrices.len();
    let mut stacked = Array3::zeros((0, 0, 0));
    for (p, matrix) in matrices.enumerate() {
        if p == 0 {
            stacked = Array3::zeros((count, matrix.nrows(), matrix.ncols()));
        }
        stacked.index_axis_mut(Axis(0), p).assign(&matrix);
    }
    stacked
}

impl Accumulate for EkfacAccumulator {
    type Curvature = KroneckerCurvature;

    fn accumulate(&mut self, linear: &dyn Linearized, root: ArrayView4<'_, f64>) -> Result<()> {
        self.subject.check_same("linearization", linear.subject())?;
        linear.check_root(root)?;
        let mut batch: Vec<Array3<f64>> = self
            .sums
            .iter()
            .map(|sum| Array3::zeros(sum.raw_dim()))
            .collect();
        linear.add_spectra(root, &self.bases.arrays, &mut batch)?;
        for (sum, batch) in self.sums.iter_mut().zip(&batch) {
            *sum += batch;
        }
        self.samples += linear.batch() as f64;
        Ok(())
    }

    fn decay(&mut self, factor: f64) -> Result<()> {
        check_decay(factor)?;
        for sum in &mut self.sums {
            *sum *= factor;
        }
        self.samples *= factor;
        Ok(())
    }

    /// Both must stand in the same eigenbases, from one [`KroneckerCurvature`] or its clones.
    fn merge(&mut self, other: Self) -> Result<()> {
        self.subject.check_same("accumulator", &other.subject)?;
        if !Arc::ptr_eq(&self.bases.token, &other.bases.token) {
            return Err(CurvatureError::OtherEigenbases);
        }
        for (sum, more) in self.sums.iter_mut().zip(&other.sums) {
            *sum += more;
        }
        self.samples += other.samples;
        Ok(())
    }

    fn samples(&self) -> f64 {
        self.samples
    }

    fn sums(&self) -> AccumulatedSums {
        let sums = self.sums.iter().map(|sum| sum.view().into_dyn());
        AccumulatedSums::new(self.samples, sums)
    }

    fn set_sums(&mut self, sums: &AccumulatedSums) -> Result<()> {
        let targets = self.sums.iter_mut().map(|sum| sum.view_mut().into_dyn());
        self.samples = sums.copy_to(targets.collect())?;
        Ok(())
    }

    fn finish_for(self, rows: f64) -> Result<KroneckerCurvature> {
        let scale = scale(rows, self.samples)?;
        let mut products = vec![Vec::new(); self.subject.particles];
        for (layer, spectra) in self.bases.products.iter().zip(&self.sums) {
            let layers = layer.iter().zip(spectra.axis_iter(Axis(0)));
            for (products, (product, spectrum)) in products.iter_mut().zip(layers) {
                products.push(product.with_spectrum(&spectrum * scale)?);
            }
        }
        KroneckerCurvature::new(self.subject, products, Arc::clone(&self.bases.token))
    }
}
