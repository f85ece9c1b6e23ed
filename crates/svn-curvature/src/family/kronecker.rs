//! Curvature that is diagonal in a Kronecker eigenbasis of each layer, as KFAC and EKFAC give it.
//!
//! ```text
//! H_p = diag over layers ( (U ⊗ V) diag(vec Λ) (U ⊗ V)ᵀ )        G = U diag(g) Uᵀ,  A = V diag(a) Vᵀ
//! KFAC    Λ = g aᵀ
//! EKFAC   Λ = exact second moments in that basis
//! diag    (U∘U) Λ (V∘V)ᵀ, a layer's as an O × K' matrix
//! ```

use std::sync::Arc;

use ndarray::{Array1, ArrayView1, Axis};
use svn_linalg::{
    BlockDiagonal, Factor, FactorError, FactorizeDamped, KroneckerEigen, LinearOperator,
    ParticleOperators, SelfAdjoint,
};

use super::Homogeneous;
use crate::Result;
use crate::subject::Subject;

/// One Kronecker eigenbasis with a spectrum for each layer of each particle.
#[derive(Debug, Clone)]
pub struct KroneckerCurvature {
    particles: Vec<BlockDiagonal<Homogeneous<KroneckerEigen>>>,
    subject: Subject,
    /// Shared by clones and by other spectra in the same bases: one token for one set of eigenbases.
    bases: Arc<()>,
}

impl KroneckerCurvature {
    /// From the products of all layers of each particle.
    pub(super) fn new(
        subject: Subject,
        products: Vec<Vec<KroneckerEigen>>,
        bases: Arc<()>,
    ) -> Result<Self> {
        let particle = |products: Vec<KroneckerEigen>| {
            let blocks = subject.blocks().iter().zip(products);
            let blocks = blocks.map(|(block, product)| {
                Homogeneous::new(product, block.outputs, block.fan_in, block.has_bias())
            });
            Ok(BlockDiagonal::new(blocks.collect())?)
        };
        Ok(Self {
            particles: products.into_iter().map(particle).collect::<Result<_>>()?,
            subject,
            bases,
        })
    }

    pub(super) fn bases(&self) -> &Arc<()> {
        &self.bases
    }

    pub(super) fn subject(&self) -> &Subject {
        &self.subject
    }

    /// The product of one layer, by particle.
    pub(super) fn products(&self, layer: usize) -> impl Iterator<Item = &KroneckerEigen> {
        let blocks = self.particles.iter();
        blocks.map(move |blocks| blocks.blocks()[layer].inner())
    }
}

impl ParticleOperators for KroneckerCurvature {
    fn particles(&self) -> usize {
        self.particles.len()
    }

    fn dim(&self) -> usize {
        self.subject.dim()
    }

    fn operator(&self, particle: usize) -> Box<dyn SelfAdjoint + '_> {
        Box::new(&self.particles[particle])
    }

    fn factor(
        &self,
        particle: usize,
        damping: f64,
    ) -> std::result::Result<Box<dyn Factor + '_>, FactorError> {
        Ok(Box::new(
            self.particles[particle].factorize_damped(damping)?,
        ))
    }

    fn diagonal(&self, particle: usize) -> Array1<f64> {
        let blocks = self.particles[particle].blocks().iter();
        blocks.flat_map(Homogeneous::diagonal).collect()
    }

    fn quadratic(&self, particle: usize, x: ArrayView1<'_, f64>) -> f64 {
        let mut rest = x;
        let blocks = self.particles[particle].blocks().iter();
        blocks
            .map(|block| {
                let (own, behind) = rest.split_at(Axis(0), block.nrows());
                rest = behind;
                block.quadratic(own)
            })
            .sum()
    }

    fn in_eigenbasis(
        &self,
        particle: usize,
        x: &mut [f64],
        f: &mut dyn FnMut(&mut [f64], &[f64]),
    ) -> bool {
        let mut rest = x;
        for block in self.particles[particle].blocks() {
            let (own, behind) = rest.split_at_mut(block.nrows());
            rest = behind;
            block.in_eigenbasis(own, f);
        }
        true
    }

    fn eigenvalues(&self, particle: usize) -> Option<Array1<f64>> {
        let blocks = self.particles[particle].blocks().iter();
        let spectra = blocks.map(|block| block.inner().spectrum());
        Some(spectra.flat_map(IntoIterator::into_iter).copied().collect())
    }

    /// The bases are there already: a factor is elementwise.
    fn factor_size(&self) -> usize {
        1
    }
}
