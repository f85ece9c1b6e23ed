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
//! | categorical | logits, `p = softmax f` | lower triangular, without its last column, which is zero |
//! | Bernoulli | logits, `p = 1/(1 + e⁻ᶠ)` | `diag(√(p(1 − p)))` |
//!
//! ```text
//! categorical    S_jj = √(p_j q_j / q_{j−1}),   S_ij = −p_i √(p_j / (q_{j−1} q_j)) for i > j,   q_j = Σ_{k>j} p_k
//! ```
//!
//! The categorical root is the Cholesky factor of `diag(p) − p pᵀ` (Tanabe and Sagae), whose rank is one less than the
//! number of classes; nothing in it cancels.
//!
//! [`Loss::root`] is exact, [`Loss::monte_carlo_root`] has gradients at drawn targets for columns and the same expectation.
//! Outputs are few, so all of this is plain f64, whatever evaluates the network.
//! Gradients at the observed targets, the empirical Fisher, approximate neither (Kunstner et al.) and are not offered.
//!
//! # References
//! - J. Martens, *New insights and perspectives on the natural gradient method*, JMLR 2020.
//! - K. Tanabe, M. Sagae, *An exact Cholesky decomposition and the generalized inverse of the variance-covariance matrix of
//!   the multinomial distribution, with applications*, JRSS B 1992.
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
    /// Columns `k` of the exact root for `c` outputs: their number, one less for the categorical.
    pub fn root_columns(&self, outputs: usize) -> usize {
        match self {
            Self::Categorical => outputs.saturating_sub(1).max(1),
            _ => outputs,
        }
    }

    /// `S` at the outputs.
    ///
    /// # Shapes
    /// `outputs`: `N × b × c`; result: `N × b × c × k` with `k` of [`Loss::root_columns`].
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
                let mut p = Array1::zeros(c);
                blocks(outputs, self.root_columns(c), |mut s, f| {
                    p.assign(&f);
                    softmax_in_place(p.view_mut());
                    categorical_root(p.view(), s.view_mut());
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

/// The Cholesky factor of `diag(p) − p pᵀ` into zeros, without its last column.
fn categorical_root(p: ArrayView1<'_, f64>, mut s: ArrayViewMut2<'_, f64>) {
    // q_j, summed from the other end, so that small ones keep their digits.
    let mut rest = 0.0;
    for j in (0..p.len()).rev() {
        let (after, before) = (rest, rest + p[j]);
        rest = before;
        // Without probability left there is no variance either; NaN goes on.
        if j >= s.ncols() || before == 0.0 {
            continue;
        }
        let ratio = (p[j] / before).sqrt();
        s[[j, j]] = ratio * after.sqrt();
        if after != 0.0 {
            let scale = ratio / after.sqrt();
            for i in j + 1..p.len() {
                s[[i, j]] = -p[i] * scale;
            }
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
