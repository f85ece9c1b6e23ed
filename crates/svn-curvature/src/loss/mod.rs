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
//! Gradients at the observed targets, the empirical Fisher, approximate neither (Kunstner et al.) and are not offered.
//!
//! # References
//! - J. Martens, *New insights and perspectives on the natural gradient method*, JMLR 2020.
//! - F. Kunstner, L. Balles, P. Hennig, *Limitations of the empirical Fisher approximation*, NeurIPS 2019.

mod sample;

use tch::{Kind, Tensor};

use crate::error::check_shape;
use crate::{CurvatureError, Result};

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
    /// Noise that is not positive; an odd number of outputs for the heteroscedastic Gaussian; a wrong shape.
    pub fn root(&self, outputs: &Tensor) -> Result<Tensor> {
        let c = self.check_outputs(outputs)?;
        tch::no_grad(|| {
            let diagonal = match self {
                Self::Gaussian { noise } => outputs.f_full_like(1.0 / noise)?,
                Self::HeteroscedasticGaussian => {
                    let log_variance = outputs.f_narrow(2, c / 2, c / 2)?;
                    let mean = (log_variance * -0.5).f_exp()?;
                    let spread = mean.f_full_like(0.5_f64.sqrt())?;
                    Tensor::f_cat(&[mean, spread], 2)?
                }
                Self::Categorical => {
                    let p = outputs.f_softmax(2, None)?;
                    let root = p.f_sqrt()?;
                    return Ok(root
                        .f_diag_embed(0, 2, 3)?
                        .f_sub(&p.f_unsqueeze(3)?.f_mul(&root.f_unsqueeze(2)?)?)?);
                }
                // p (1 − p) as a product of two sigmoids, so that it does not vanish by cancellation.
                Self::Bernoulli => outputs
                    .f_sigmoid()?
                    .f_mul(&outputs.f_neg()?.f_sigmoid()?)?
                    .f_sqrt()?,
            };
            Ok(diagonal.f_diag_embed(0, 2, 3)?)
        })
    }

    /// `∇_f ℓ` at the observed targets.
    ///
    /// # Shapes
    /// `outputs`: `N × b × c`. `targets`: `b × c` of the outputs' kind for the Gaussian and Bernoulli, `b × c/2` for the
    /// heteroscedastic Gaussian, `b` class indices (i64) for the categorical. Result: `N × b × c`.
    ///
    /// # Errors
    /// Wrong shapes or kinds; a class index out of range or a Bernoulli target other than 0 and 1 (row and value).
    pub fn gradient(&self, outputs: &Tensor, targets: &Tensor) -> Result<Tensor> {
        let c = self.check_outputs(outputs)?;
        self.check_targets(outputs, targets)?;
        tch::no_grad(|| match self {
            Self::Gaussian { noise } => Ok(outputs.f_sub(targets)? / (noise * noise)),
            Self::HeteroscedasticGaussian => {
                let (mean, log_variance) = (
                    outputs.f_narrow(2, 0, c / 2)?,
                    outputs.f_narrow(2, c / 2, c / 2)?,
                );
                let (residual, precision) = (mean.f_sub(targets)?, log_variance.f_neg()?.f_exp()?);
                let to_mean = residual.f_mul(&precision)?;
                let to_log_variance = (to_mean.f_mul(&residual)?.f_neg()? + 1.0) * 0.5;
                Ok(Tensor::f_cat(&[to_mean, to_log_variance], 2)?)
            }
            Self::Categorical => {
                let one_hot = targets.f_one_hot(c)?.f_to_kind(outputs.kind())?;
                Ok(outputs.f_softmax(2, None)?.f_sub(&one_hot)?)
            }
            Self::Bernoulli => Ok(outputs.f_sigmoid()?.f_sub(targets)?),
        })
    }

    /// Checks the outputs and returns `c`.
    fn check_outputs(&self, outputs: &Tensor) -> Result<i64> {
        let [_, _, c] = outputs.size()[..] else {
            let expected = "particles × samples × outputs".to_string();
            return Err(CurvatureError::Shape {
                what: "outputs",
                expected,
                found: outputs.size(),
            });
        };
        match self {
            Self::Gaussian { noise } if !(noise.is_finite() && *noise > 0.0) => {
                Err(CurvatureError::Noise { found: *noise })
            }
            Self::HeteroscedasticGaussian if c % 2 == 1 => {
                let expected = "particles × samples × (means, as many log variances)".to_string();
                Err(CurvatureError::Shape {
                    what: "outputs",
                    expected,
                    found: outputs.size(),
                })
            }
            _ => Ok(c),
        }
    }

    fn check_targets(&self, outputs: &Tensor, targets: &Tensor) -> Result<()> {
        let (_, b, c) = outputs.size3()?;
        let (shape, words, kind) = match self {
            Self::Gaussian { .. } | Self::Bernoulli => {
                (vec![b, c], "samples × outputs", outputs.kind())
            }
            Self::HeteroscedasticGaussian => (vec![b, c / 2], "samples × means", outputs.kind()),
            Self::Categorical => (vec![b], "samples", Kind::Int64),
        };
        check_shape("targets", &targets.size(), &shape, words)?;
        if targets.kind() != kind {
            let expected = format!("{kind:?}");
            return Err(CurvatureError::Kind {
                what: "targets",
                expected,
                found: targets.kind(),
            });
        }
        if targets.device() != outputs.device() {
            let (expected, found) = (outputs.device(), targets.device());
            return Err(CurvatureError::Device {
                what: "targets",
                expected,
                found,
            });
        }
        let (bad, expected) = match self {
            Self::Categorical => (
                targets.f_lt(0)?.f_logical_or(&targets.f_ge(c)?)?,
                format!("a class index below {c}"),
            ),
            Self::Bernoulli => (
                targets.f_ne(0)?.f_logical_and(&targets.f_ne(1)?)?,
                "0 or 1".into(),
            ),
            _ => (targets.f_isfinite()?.f_logical_not()?, "finite".into()),
        };
        if bad.f_any()?.f_int64_value(&[])? == 0 {
            return Ok(());
        }
        let first = bad
            .f_flatten(0, -1)?
            .f_to_kind(Kind::Int64)?
            .f_argmax(None, false)?
            .f_int64_value(&[])?;
        let value = targets.f_flatten(0, -1)?.f_double_value(&[first])?;
        let per_row = (targets.numel() as i64 / b).max(1);
        Err(CurvatureError::Target {
            row: (first / per_row) as usize,
            value,
            expected,
        })
    }
}
