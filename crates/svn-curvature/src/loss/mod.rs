//! Losses `ℓ(f, y) = −log p(y | f)` as functions of a network's outputs, and roots of their curvature there.
//!
//! ```text
//! S Sᵀ = E_{y ~ p(·|f)} [ ∇_f ℓ ∇_f ℓᵀ ]         the Fisher information of the outputs, which is ∇²_f ℓ for all but
//!                                              the heteroscedastic Gaussian (there: its expectation)
//! H_p  = Σ_i J_iᵀ S_i S_iᵀ J_i                  generalised Gauss-Newton matrix = Fisher matrix of the parameters
//! ```
//!
//! | loss | outputs `f` | `S` |
//! |---|---|---|
//! | Gaussian, noise `σ` | means | `I / σ` |
//! | heteroscedastic Gaussian | means `μ`, then `log σ²` | `diag(1/σ, √½)` |
//! | categorical | logits, `p = softmax f` | `diag(√p) − p √pᵀ` |
//! | Bernoulli | logits, `p = 1/(1 + e⁻ᶠ)` | `diag(√(p(1 − p)))` |
//!
//! [`Loss::root`] is exact, [`Loss::monte_carlo_root`] has gradients at drawn targets for columns and the same expectation.
//! Outputs are few, so all of this is plain f64, whatever evaluates the network.
//! Gradients at the observed targets, the empirical Fisher, approximate neither (Kunstner et al.) and are not offered.
//!
//! # References
//! - J. Martens, *New insights and perspectives on the natural gradient method*, JMLR 2020.
//! - F. Kunstner, L. Balles, P. Hennig, *Limitations of the empirical Fisher approximation*, NeurIPS 2019.

mod logits;
mod sample;
mod value;

use std::f64::consts::FRAC_1_SQRT_2;

use ndarray::{Array1, Array4, ArrayView1, ArrayView3, ArrayViewMut2};

use crate::{CurvatureError, Result};
use logits::softmax_in_place;

/// A negative log-likelihood of the outputs of one sample, summed over samples.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Loss {
    /// `½ Σ_c ((y_c − f_c) / σ)²` and constants.
    Gaussian {
        /// Standard deviation `σ` of the noise, fixed or the present value of a learned one; positive.
        noise: f64,
    },
    /// `½ Σ_m (η_m + (y_m − μ_m)² e^{−η_m})` with outputs `f = (μ_1 … μ_m, η_1 … η_m)`, `η = log σ²`.
    HeteroscedasticGaussian,
    /// `log Σ_c e^{f_c} − f_y`.
    Categorical,
    /// `Σ_c (log(1 + e^{f_c}) − y_c f_c)`, `y_c ∈ {0, 1}`.
    Bernoulli,
}

impl Loss {
    /// `S` at the outputs.
    ///
    /// # Shapes
    /// `outputs`: `N × b × c`; result: `N × b × c × c`.
    ///
    /// # Errors
    /// Noise that is not positive; an odd number of outputs for the heteroscedastic Gaussian, none for the categorical.
    pub fn root(&self, outputs: ArrayView3<'_, f64>) -> Result<Array4<f64>> {
        self.check_outputs(outputs)?;
        let c = outputs.dim().2;
        Ok(match self {
            Self::Gaussian { noise } => {
                blocks(outputs, c, |mut s, _| s.diag_mut().fill(noise.recip()))
            }
            Self::HeteroscedasticGaussian => blocks(outputs, c, |mut s, f| {
                let m = c / 2;
                for i in 0..m {
                    s[[i, i]] = (-0.5 * f[m + i]).exp();
                    s[[m + i, m + i]] = FRAC_1_SQRT_2;
                }
            }),
            Self::Categorical => {
                let (mut p, mut root) = (Array1::zeros(c), Array1::zeros(c));
                blocks(outputs, c, |mut s, f| {
                    p.assign(&f);
                    softmax_in_place(p.view_mut());
                    root.zip_mut_with(&p, |root, p: &f64| *root = p.sqrt());
                    for ((i, mut row), p) in s.outer_iter_mut().enumerate().zip(&p) {
                        row.zip_mut_with(&root, |s, root| *s = -p * root);
                        row[i] += root[i];
                    }
                })
            }
            // √(p (1 − p)) = 1 / (2 cosh(f/2)), in which nothing cancels.
            Self::Bernoulli => blocks(outputs, c, |mut s, f| {
                for (s, f) in s.diag_mut().iter_mut().zip(f) {
                    *s = 0.5 / (0.5 * f).cosh();
                }
            }),
        })
    }

    fn check_outputs(&self, outputs: ArrayView3<'_, f64>) -> Result<()> {
        let wrong = |expected: &str| {
            Err(CurvatureError::Shape {
                what: "outputs",
                expected: expected.into(),
                found: outputs.shape().to_vec(),
            })
        };
        let c = outputs.dim().2;
        match self {
            Self::Gaussian { noise } if !(noise.is_finite() && *noise > 0.0) => {
                Err(CurvatureError::Noise { found: *noise })
            }
            Self::HeteroscedasticGaussian if c % 2 == 1 => {
                wrong("particles × samples × (means, as many log variances)")
            }
            Self::Categorical if c == 0 => wrong("particles × samples × at least one class"),
            _ => Ok(()),
        }
    }
}

/// `N × b × c × columns` from one `c × columns` block, zero before, for the outputs of each particle and row, in order.
fn blocks(
    outputs: ArrayView3<'_, f64>,
    columns: usize,
    mut fill: impl FnMut(ArrayViewMut2<'_, f64>, ArrayView1<'_, f64>),
) -> Array4<f64> {
    let (n, b, c) = outputs.dim();
    let mut all = Array4::zeros((n, b, c, columns));
    for (mut of_particle, outputs) in all.outer_iter_mut().zip(outputs.outer_iter()) {
        for (block, f) in of_particle.outer_iter_mut().zip(outputs.outer_iter()) {
            fill(block, f);
        }
    }
    all
}
