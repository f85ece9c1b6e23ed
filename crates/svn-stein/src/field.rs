//! First-order fields: the direction each particle moves in, ascent on the log density plus repulsion.
//!
//! ```text
//! ensemble  v_m = s_m
//! SVGD      v_m = (1/N) Σ_p [ K_pm s_p + G_pm ]
//! WGD, KDE  v_m = s_m + Σ_p G_pm / Σ_p K_mp                 (G_pm = −G_mp = −∇_{φ_m} k(φ_m, φ_p))
//! WGD, SGE  v_m = s_m + [ (K + η I)⁻¹ Σ_p G_p· ]_m
//! ```
//!
//! References: Liu & Wang (2016), arXiv 1608.04471; D'Angelo & Fortuin (2021), arXiv 2106.11642 (WGD);
//! Li & Turner (2018), arXiv 1705.07107 (the Stein gradient estimator).

use ndarray::{Array2, ArrayView2, ArrayViewMut2};
use serde::{Deserialize, Serialize};
use svn_linalg::{Cholesky, CholeskyParams, Factor as _, dense};

use crate::error::SteinError;
use crate::gram::KernelGram;
use crate::passes::{Scales, field};

/// Estimate of `∇ log q` of the particles' own density in [`wgd_into`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DensityEstimator {
    /// Kernel density estimate.
    Kde,
    /// Stein gradient estimator with ridge `η > 0`.
    Sge {
        /// Ridge `η` added to `K`.
        ridge: f64,
    },
}

/// Sizes of the two parts of a field, from which kernel health is judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FieldNorms {
    /// Frobenius norm of the drive (the part with the score).
    pub drive: f64,
    /// Frobenius norm of the repulsion.
    pub repulsion: f64,
}

/// SVGD field with the drive scaled by `temper` (one for SVGD, below one while annealing).
///
/// # Shapes
/// `score`, `out`: `N × d`.
pub fn svgd_into(
    gram: &KernelGram,
    score: ArrayView2<'_, f64>,
    temper: f64,
    out: ArrayViewMut2<'_, f64>,
) -> FieldNorms {
    svgd(gram, gram.images(), score, temper, out)
}

/// [`svgd_into`] with `y`, what the repulsion takes differences of.
pub(crate) fn svgd(
    gram: &KernelGram,
    y: ArrayView2<'_, f64>,
    score: ArrayView2<'_, f64>,
    temper: f64,
    out: ArrayViewMut2<'_, f64>,
) -> FieldNorms {
    let inverse = 1.0 / gram.particles() as f64;
    let scales = Scales {
        drive: inverse * temper,
        repulsion: inverse,
    };
    let kernels = (gram.kernel(), gram.slope());
    let (drive, repulsion) = field(kernels, (score, y), scales, out);
    FieldNorms {
        drive: drive.sqrt(),
        repulsion: repulsion.sqrt(),
    }
}

/// WGD field.
///
/// # Shapes
/// `score`, `repulsion` (scratch, left holding the repulsion), `out`: `N × d`.
///
/// # Errors
/// [`SteinError::Singular`] if the Stein gradient estimator's matrix cannot be factorised.
pub fn wgd_into(
    gram: &KernelGram,
    score: ArrayView2<'_, f64>,
    estimator: DensityEstimator,
    repulsion: ArrayViewMut2<'_, f64>,
    out: ArrayViewMut2<'_, f64>,
) -> Result<FieldNorms, SteinError> {
    wgd(gram, gram.images(), score, estimator, repulsion, out)
}

/// [`wgd_into`] with `y`, what the repulsion takes differences of.
pub(crate) fn wgd(
    gram: &KernelGram,
    y: ArrayView2<'_, f64>,
    score: ArrayView2<'_, f64>,
    estimator: DensityEstimator,
    mut repulsion: ArrayViewMut2<'_, f64>,
    mut out: ArrayViewMut2<'_, f64>,
) -> Result<FieldNorms, SteinError> {
    gram.repulsion_of(y, repulsion.view_mut());
    match estimator {
        DensityEstimator::Kde => {
            for (m, mut row) in repulsion.rows_mut().into_iter().enumerate() {
                row /= gram.kernel().row(m).sum();
            }
        }
        DensityEstimator::Sge { ridge } => {
            stein_gradient(gram, ridge, &mut repulsion)?;
        }
    }
    out.assign(&score);
    out += &repulsion;
    Ok(FieldNorms {
        drive: norm(score),
        repulsion: norm(repulsion.view()),
    })
}

/// `(K + η I)⁻¹ G` in place of the repulsion `G`: the Stein gradient estimator of `−∇ log q`.
pub(crate) fn stein_gradient(
    gram: &KernelGram,
    ridge: f64,
    repulsion: &mut ArrayViewMut2<'_, f64>,
) -> Result<(), SteinError> {
    let mut matrix: Array2<f64> = gram.kernel().to_owned();
    matrix.diag_mut().mapv_inplace(|x| x + ridge);
    let singular = |reason: String| SteinError::Singular {
        coupling: "Stein gradient estimator",
        size: gram.particles(),
        reason,
    };
    let factor = Cholesky::factorize(matrix.view(), &CholeskyParams::default())
        .map_err(|e| singular(e.to_string()))?;
    let solved = factor
        .solve(repulsion.view())
        .map_err(|e| singular(e.to_string()))?;
    repulsion.assign(&solved);
    Ok(())
}

/// Frobenius norm.
pub(crate) fn norm(x: ArrayView2<'_, f64>) -> f64 {
    x.rows()
        .into_iter()
        .map(|row| dense::dot(row, row))
        .sum::<f64>()
        .sqrt()
}
