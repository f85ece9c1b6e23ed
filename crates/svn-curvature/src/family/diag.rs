//! The diagonal of the curvature, `h_p = Σ_i Σ_j (S_iᵀ J_i)²_j` elementwise.

use ndarray::{Array2, ArrayView4, OwnedRepr};
use svn_linalg::DiagonalMatrices;

use super::{Accumulate, AccumulatedSums, check_decay, scale};
use crate::subject::Subject;
use crate::{Linearized, Result};

/// Collects [`Diag`].
#[derive(Debug, Clone)]
pub struct DiagAccumulator {
    subject: Subject,
    /// `N × d`.
    sum: Array2<f64>,
    samples: f64,
}

impl DiagAccumulator {
    /// Nothing yet, about the network, layers and particles of `like`.
    pub fn new(like: &dyn Linearized) -> Self {
        let subject = like.subject().clone();
        Self {
            sum: Array2::zeros((subject.particles, subject.dim())),
            subject,
            samples: 0.0,
        }
    }
}

impl Accumulate for DiagAccumulator {
    type Curvature = Diag;

    fn accumulate(&mut self, linear: &dyn Linearized, root: ArrayView4<'_, f64>) -> Result<()> {
        self.subject.check_same("linearization", linear.subject())?;
        linear.check_root(root)?;
        let mut batch = Array2::zeros(self.sum.raw_dim());
        linear.add_squares(root, batch.view_mut())?;
        self.sum += &batch;
        self.samples += linear.batch() as f64;
        Ok(())
    }

    fn decay(&mut self, factor: f64) -> Result<()> {
        check_decay(factor)?;
        self.sum *= factor;
        self.samples *= factor;
        Ok(())
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        self.subject.check_same("accumulator", &other.subject)?;
        self.sum += &other.sum;
        self.samples += other.samples;
        Ok(())
    }

    fn samples(&self) -> f64 {
        self.samples
    }

    fn sums(&self) -> AccumulatedSums {
        AccumulatedSums::new(self.samples, [self.sum.view().into_dyn()])
    }

    fn set_sums(&mut self, sums: &AccumulatedSums) -> Result<()> {
        self.samples = sums.copy_to(vec![self.sum.view_mut().into_dyn()])?;
        Ok(())
    }

    fn finish_for(self, rows: f64) -> Result<Diag> {
        let scale = scale(rows, self.samples)?;
        Ok(Diag::new(self.sum * scale))
    }
}

/// The exact diagonal of the curvature of all particles, without prior.
pub type Diag = DiagonalMatrices<OwnedRepr<f64>>;
