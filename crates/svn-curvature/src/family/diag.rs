//! The diagonal of the curvature, `h_p = Σ_i Σ_j (S_iᵀ J_i)²_j` elementwise.

use ndarray::{Array2, OwnedRepr};
use svn_linalg::DiagonalMatrices;
use tch::{Kind, Tensor};

use super::{Accumulate, AccumulatedSums, check_decay, copy_of, scale};
use crate::moments::squared_gradients;
use crate::subject::{Subject, check_layer_finite};
use crate::{Linearization, Result, convert};

/// Collects [`Diag`].
#[derive(Debug)]
pub struct DiagAccumulator {
    subject: Subject,
    sum: Tensor,
    samples: f64,
}

impl DiagAccumulator {
    /// Nothing yet, about the network, layers and particles of `like`.
    ///
    /// # Errors
    /// libtorch's, such as running out of memory.
    pub fn new(like: &Linearization) -> Result<Self> {
        let subject = like.subject().clone();
        let size = [subject.particles as i64, subject.dim() as i64];
        let sum = Tensor::f_zeros(size, (Kind::Double, subject.device))?;
        Ok(Self {
            subject,
            sum,
            samples: 0.0,
        })
    }
}

impl Accumulate for DiagAccumulator {
    type Curvature = Diag;

    fn accumulate(&mut self, linearization: &Linearization, root: &Tensor) -> Result<()> {
        self.subject
            .check_same("linearization", linearization.subject())?;
        tch::no_grad(|| {
            let batch = self.sum.f_zeros_like()?;
            let start = self.subject.start();
            linearization.pull_back_in_groups(root, |_, _, block, a, delta| {
                let squares = squared_gradients(a, delta)?;
                check_layer_finite("curvature", block, &squares)?;
                let (offset, count) = (
                    (block.weight.start - start) as i64,
                    block.weight.len() as i64,
                );
                let _ = batch
                    .f_narrow(1, offset, count)?
                    .f_add_(&squares.f_flatten(1, 2)?)?;
                if block.has_bias() {
                    let (offset, count) =
                        ((block.bias.start - start) as i64, block.bias.len() as i64);
                    let per_sample = delta.f_sum_dim_intlist([3i64].as_slice(), false, None)?;
                    let squares = per_sample.f_square()?.f_sum_dim_intlist(
                        [1i64, 2].as_slice(),
                        false,
                        None,
                    )?;
                    let _ = batch.f_narrow(1, offset, count)?.f_add_(&squares)?;
                }
                Ok(())
            })?;
            let _ = self.sum.f_add_(&batch)?;
            self.samples += linearization.batch() as f64;
            Ok(())
        })
    }

    fn decay(&mut self, factor: f64) -> Result<()> {
        check_decay(factor)?;
        let _ = self.sum.f_mul_scalar_(factor)?;
        self.samples *= factor;
        Ok(())
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        self.subject.check_same("accumulator", &other.subject)?;
        let _ = self.sum.f_add_(&other.sum)?;
        self.samples += other.samples;
        Ok(())
    }

    fn samples(&self) -> f64 {
        self.samples
    }

    fn try_clone(&self) -> Result<Self> {
        Ok(Self {
            subject: self.subject.clone(),
            sum: copy_of(&self.sum)?,
            samples: self.samples,
        })
    }

    fn sums(&self) -> Result<AccumulatedSums> {
        AccumulatedSums::new(self.samples, [&self.sum])
    }

    fn set_sums(&mut self, sums: &AccumulatedSums) -> Result<()> {
        self.samples = sums.copy_to(&mut [&mut self.sum])?;
        Ok(())
    }

    fn finish_for(self, rows: f64) -> Result<Diag> {
        let diagonal: Array2<f64> = convert::array(&self.sum)?;
        Ok(Diag::new(diagonal * scale(rows, self.samples)?))
    }
}

/// The exact diagonal of the curvature of all particles, without prior.
pub type Diag = DiagonalMatrices<OwnedRepr<f64>>;
