//! Targets drawn from the model itself, for the Monte-Carlo Fisher.
//!
//! ```text
//! Ŝ = (∇_f ℓ(f, y_1), …, ∇_f ℓ(f, y_s)) / √s,   y_j ~ p(·|f)         E[Ŝ Ŝᵀ] = S Sᵀ
//! ```

use ndarray::{Array1, Array4, ArrayView1, ArrayView3, Axis};
use rand::{Rng, RngExt as _};
use rand_distr::StandardNormal;

use super::logits::{softmax_in_place, softplus_and_sigmoid};
use super::{Loss, blocks};
use crate::Result;

impl Loss {
    /// Gradients at `samples` targets drawn from the model, over `√samples`: an unbiased stand-in for [`Loss::root`]
    /// with fewer columns.
    ///
    /// All random numbers come from `rng`; each particle and row has its own.
    ///
    /// # Shapes
    /// `outputs`: `N × b × c`; result: `N × b × c × samples`. No samples count as one.
    ///
    /// # Errors
    /// As for [`Loss::root`].
    pub fn monte_carlo_root<R: Rng + ?Sized>(
        &self,
        outputs: ArrayView3<'_, f64>,
        samples: usize,
        rng: &mut R,
    ) -> Result<Array4<f64>> {
        self.check_outputs(outputs)?;
        let (c, samples) = (outputs.dim().2, samples.max(1));
        let weight = (samples as f64).sqrt().recip();
        Ok(match self {
            // (f − y) / σ² with y = f − σ ε.
            Self::Gaussian { noise } => blocks(outputs, samples, |mut s, _| {
                for s in &mut s {
                    *s = rng.sample::<f64, _>(StandardNormal) / noise * weight;
                }
            }),
            // ((μ − y) / σ², ½ (1 − (y − μ)² / σ²)) with y = μ + σ ε.
            Self::HeteroscedasticGaussian => blocks(outputs, samples, |mut s, f| {
                let m = c / 2;
                for i in 0..m {
                    let inverse_spread = (-0.5 * f[m + i]).exp();
                    for j in 0..samples {
                        let epsilon: f64 = rng.sample(StandardNormal);
                        s[[i, j]] = -epsilon * inverse_spread * weight;
                        s[[m + i, j]] = 0.5 * (1.0 - epsilon * epsilon) * weight;
                    }
                }
            }),
            // p − e_y.
            Self::Categorical => {
                let mut p = Array1::zeros(c);
                blocks(outputs, samples, |mut s, f| {
                    p.assign(&f);
                    softmax_in_place(p.view_mut());
                    s.assign(&p.view().insert_axis(Axis(1)));
                    for j in 0..samples {
                        s[[draw_class(p.view(), rng), j]] -= 1.0;
                    }
                    s *= weight;
                })
            }
            // p − y.
            Self::Bernoulli => blocks(outputs, samples, |mut s, f| {
                for (mut row, &f) in s.outer_iter_mut().zip(f) {
                    let (p, not_p) = (softplus_and_sigmoid(f).1, softplus_and_sigmoid(-f).1);
                    for s in &mut row {
                        let one = rng.random::<f64>() < p;
                        *s = if one { -not_p } else { p } * weight;
                    }
                }
            }),
        })
    }
}

/// A class index from the probabilities of all classes, by inversion.
fn draw_class<R: Rng + ?Sized>(p: ArrayView1<'_, f64>, rng: &mut R) -> usize {
    let mut left = rng.random::<f64>() * p.sum();
    let class = p.iter().position(|&p| {
        left -= p;
        left < 0.0
    });
    class.unwrap_or(p.len() - 1)
}
