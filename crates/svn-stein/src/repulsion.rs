//! The repulsion part of the Newton system, held as coefficients on `Y`.
//!
//! ```text
//! R_mn = Σ_ab Q_(m,a),(n,b) y_a y_bᵀ,   R α = (I ⊗ Yᵀ) Q vec(T),   T_na = α_n·y_a          Q: N² × N²
//!
//! exact            R_mn = (1/N) Σ_p G_pn G_pmᵀ        symmetric, often indefinite
//! gram             R_mn = (1/N) Σ_p G_pm G_pnᵀ        PSD, rank ≤ N
//! block-repulsion  R_mm = (1/N) Σ_p G_pm G_pmᵀ        PSD, rank ≤ N (N−1)
//! ```
//!
//! With `G_pm = g_pm (y_p − y_m)` every one of them is a few `N × N` tables; `d` never enters.

use ndarray::{Array2, Array3, ArrayView2, Axis};
use serde::{Deserialize, Serialize};
use svn_linalg::dense;

/// Which blocks `h_mn` of the Stein variational Newton Hessian are kept, and in which form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Coupling {
    /// The true second variation of the KL divergence. Symmetric, often indefinite.
    Exact,
    /// Repulsion transposed to a Gram matrix. PSD.
    Gram,
    /// Repulsion on the diagonal blocks only. PSD.
    BlockRepulsion,
    /// Only the diagonal blocks. PSD, `N` independent systems.
    BlockDiagonal,
}

impl Coupling {
    /// Whether the system is positive semi-definite for every set of particles.
    pub fn is_psd(self) -> bool {
        self != Self::Exact
    }

    /// Name as written in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Gram => "gram",
            Self::BlockRepulsion => "block-repulsion",
            Self::BlockDiagonal => "block-diagonal",
        }
    }
}

/// `Q = F S Fᵀ` with columns of `F` as `N × N` tables of coefficients.
#[derive(Debug, Clone)]
pub(crate) struct RepulsionFactor {
    /// `F`, `r × N × N`: entry `[f, m, a]` is the coefficient of `y_a` in block `m`.
    pub columns: Array3<f64>,
    /// `S`, `r × r`; `None` stands for the identity.
    pub core: Option<Array2<f64>>,
}

impl RepulsionFactor {
    pub(crate) fn rank(&self) -> usize {
        self.columns.dim().0
    }
}

/// `B = Q vec(T)` as an `N × N` table: block `m` of `R α` is `Σ_a B_ma y_a`.
pub(crate) fn coefficients(
    coupling: Coupling,
    slope: ArrayView2<'_, f64>,
    t: ArrayView2<'_, f64>,
) -> Array2<f64> {
    let n = slope.nrows();
    let inverse = 1.0 / n as f64;
    let mut b = Array2::zeros((n, n));
    match coupling {
        Coupling::Gram => {
            for p in 0..n {
                let c: f64 = (0..n)
                    .map(|k| slope[(p, k)] * (t[(k, p)] - t[(k, k)]))
                    .sum();
                for m in 0..n {
                    let x = inverse * c * slope[(p, m)];
                    b[(m, p)] += x;
                    b[(m, m)] -= x;
                }
            }
        }
        Coupling::BlockRepulsion | Coupling::BlockDiagonal => {
            for m in 0..n {
                for p in 0..n {
                    let x = inverse * slope[(p, m)] * slope[(p, m)] * (t[(m, p)] - t[(m, m)]);
                    b[(m, p)] += x;
                    b[(m, m)] -= x;
                }
            }
        }
        Coupling::Exact => {
            // Σ_k g_pk t_kp, Σ_k g_pk t_km, Σ_p g_pm g_pk t_kp and Σ_p g_pm g_pk.
            let own = &slope * &t.t();
            let (with_own, with_other) = (own.sum_axis(Axis(1)), dense::product(slope, t));
            let (mixed, squares) = (
                dense::product(slope.t(), own.view()),
                dense::product(slope.t(), slope),
            );
            for m in 0..n {
                for p in 0..n {
                    let x = slope[(p, m)] * (with_own[p] - with_other[(p, m)]);
                    b[(m, p)] = inverse * (x - mixed[(m, p)] + t[(p, m)] * squares[(m, p)]);
                }
            }
        }
    }
    b
}

/// Rank of the factor [`factor`] would build.
pub(crate) fn rank(coupling: Coupling, particles: usize) -> usize {
    match coupling {
        Coupling::Gram => particles,
        Coupling::BlockRepulsion | Coupling::BlockDiagonal => particles * (particles - 1),
        Coupling::Exact => particles * particles,
    }
}

/// Explicit factor of `Q`, or `None` where there is no repulsion.
pub(crate) fn factor(coupling: Coupling, slope: ArrayView2<'_, f64>) -> Option<RepulsionFactor> {
    let n = slope.nrows();
    if slope.iter().all(|&g| g == 0.0) {
        return None;
    }
    let root = (n as f64).sqrt().recip();
    let mut columns = Array3::zeros((rank(coupling, n), n, n));
    let mut core = None;
    match coupling {
        Coupling::Gram => {
            for p in 0..n {
                for m in (0..n).filter(|&m| m != p) {
                    columns[(p, m, p)] = root * slope[(p, m)];
                    columns[(p, m, m)] = -root * slope[(p, m)];
                }
            }
        }
        Coupling::BlockRepulsion | Coupling::BlockDiagonal => {
            let mut f = 0;
            for m in 0..n {
                for p in (0..n).filter(|&p| p != m) {
                    columns[(f, m, p)] = root * slope[(p, m)];
                    columns[(f, m, m)] = -root * slope[(p, m)];
                    f += 1;
                }
            }
        }
        Coupling::Exact => {
            let at = |m: usize, a: usize| m * n + a;
            let mut q = Array2::zeros((n * n, n * n));
            for m in 0..n {
                for a in 0..n {
                    columns[(at(m, a), m, a)] = 1.0;
                }
            }
            for p in 0..n {
                for k in 0..n {
                    for m in 0..n {
                        let x = slope[(p, k)] * slope[(p, m)] / n as f64;
                        q[(at(m, p), at(k, p))] += x;
                        q[(at(m, p), at(k, m))] -= x;
                        q[(at(m, k), at(k, p))] -= x;
                        q[(at(m, k), at(k, m))] += x;
                    }
                }
            }
            core = Some(q);
        }
    }
    Some(RepulsionFactor { columns, core })
}
