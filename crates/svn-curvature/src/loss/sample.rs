//! Targets drawn from the model itself, in Rust, for the Monte-Carlo Fisher.
//!
//! ```text
//! Ŝ = (∇_f ℓ(f, y_1), …, ∇_f ℓ(f, y_s)) / √s,   y_j ~ p(·|f)         E[Ŝ Ŝᵀ] = S Sᵀ
//! ```

use rand::{Rng, RngExt as _};
use rand_distr::StandardNormal;
use tch::{Kind, Tensor};

use super::Loss;
use crate::{Result, convert};

impl Loss {
    /// Gradients at `samples` targets drawn from the model, over `√samples`: an unbiased stand-in for [`Loss::root`]
    /// with fewer columns.
    ///
    /// All random numbers come from `rng`, never from libtorch; each particle and row has its own.
    ///
    /// # Shapes
    /// `outputs`: `N × b × c`; result: `N × b × c × samples`. No samples count as one.
    ///
    /// # Errors
    /// As for [`Loss::root`].
    pub fn monte_carlo_root<R: Rng + ?Sized>(
        &self,
        outputs: &Tensor,
        samples: usize,
        rng: &mut R,
    ) -> Result<Tensor> {
        let c = self.check_outputs(outputs)?;
        let samples = samples.max(1);
        let size = [outputs.size(), vec![samples as i64]].concat();
        let normals = |rng: &mut R, size: &[i64]| -> Result<Tensor> {
            let count = size.iter().product::<i64>() as usize;
            let values: Vec<f64> = (0..count).map(|_| rng.sample(StandardNormal)).collect();
            Ok(Tensor::f_from_slice(&values)?
                .f_view(size)?
                .f_to(outputs.device())?
                .f_to_kind(outputs.kind())?)
        };
        let gradients = tch::no_grad(|| -> Result<Tensor> {
            match self {
                // (f − y) / σ² with y = f + σ ε.
                Self::Gaussian { noise } => Ok(normals(rng, &size)? / *noise),
                // ((μ − y) / σ², ½ (1 − (y − μ)² / σ²)) with y = μ + σ ε.
                Self::HeteroscedasticGaussian => {
                    let m = c / 2;
                    let epsilon = normals(rng, &[size[0], size[1], m, size[3]])?;
                    let inverse_spread = (outputs.f_narrow(2, m, m)? * -0.5)
                        .f_exp()?
                        .f_unsqueeze(3)?;
                    let to_log_variance = (epsilon.f_square()?.f_neg()? + 1.0) * 0.5;
                    Ok(Tensor::f_cat(
                        &[epsilon.f_mul(&inverse_spread)?.f_neg()?, to_log_variance],
                        2,
                    )?)
                }
                Self::Categorical => {
                    let p = outputs.f_softmax(2, None)?;
                    let drawn = draw_classes(&p, samples, rng)?.f_to(outputs.device())?;
                    let one_hot = drawn
                        .f_one_hot(c)?
                        .f_to_kind(outputs.kind())?
                        .f_transpose(2, 3)?;
                    Ok(p.f_unsqueeze(3)?.f_sub(&one_hot)?)
                }
                Self::Bernoulli => {
                    let count = size.iter().product::<i64>() as usize;
                    let uniform: Vec<f64> = (0..count).map(|_| rng.random()).collect();
                    let uniform = Tensor::f_from_slice(&uniform)?
                        .f_view(size.as_slice())?
                        .f_to(outputs.device())?;
                    let p = outputs
                        .f_to_kind(Kind::Double)?
                        .f_sigmoid()?
                        .f_unsqueeze(3)?;
                    let y = uniform.f_lt_tensor(&p)?.f_to_kind(Kind::Double)?;
                    Ok(p.f_sub(&y)?.f_to_kind(outputs.kind())?)
                }
            }
        })?;
        Ok(gradients / (samples as f64).sqrt())
    }
}

/// Class indices from probabilities `N × b × c` by inversion: `N × b × samples`.
fn draw_classes<R: Rng + ?Sized>(p: &Tensor, samples: usize, rng: &mut R) -> Result<Tensor> {
    let p: ndarray::Array3<f64> = convert::array(p)?;
    let mut drawn = Vec::with_capacity(p.shape()[0] * p.shape()[1] * samples);
    for row in p.rows() {
        for _ in 0..samples {
            let mut left = rng.random::<f64>() * row.sum();
            let class = row.iter().position(|&p| {
                left -= p;
                left < 0.0
            });
            drawn.push(class.unwrap_or(row.len() - 1) as i64);
        }
    }
    let size = [p.shape()[0] as i64, p.shape()[1] as i64, samples as i64];
    Ok(Tensor::f_from_slice(&drawn)?.f_view(size)?)
}
