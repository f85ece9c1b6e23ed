//! Quality of an ensemble's predictions, computed once over the whole test set, in original units.
//!
//! Regression, with members' means `μ_p`, noise variances `σ²_p`, `μ = (1/N) Σ_p μ_p`:
//!
//! | key | definition |
//! |---|---|
//! | `nll` | `−ln (1/N) Σ_p p_p(y)`, the density of the mixture over members, each with its noise and, where asked for, its Laplace variance |
//! | `nll_moments` | `½ ln 2πv + (y−μ)²/2v`, moment-matched `v = (1/N) Σ_p [σ²_p + (μ_p − μ)²]`: `nll` of records without this key |
//! | `nll_paper` | `½ (ln v + (y−μ)²/v)`, `v = 1/(N−1) Σ_p (μ_p − μ)² + 1e-6`: the paper's protocol; undefined for N = 1 |
//! | `nll_epistemic` | the same formula, `v` + mean Laplace variance of the members; N = 1 has no spread |
//! | `rmse`, `mse` | of `μ` |
//! | `crps` | `∫ (F(t) − 1[t ≥ y])² dt` of the mixture's distribution `F` |
//! | `coverage90`, `width90` | of the interval between its quantiles 5 and 95 % |
//! | `mae`, `coverage50`, `coverage80` | where a study measures row by row, see [`Scores`]: of the median, of other intervals |
//!
//! Classification, with members' logits `z_p`, `p̄ = (1/N) Σ_p softmax z_p`:
//!
//! | key | definition |
//! |---|---|
//! | `nll` | mean of `−ln p̄_y` |
//! | `nll_logit` | mean of `−ln softmax(z̄)_y`, `z̄ = (1/N) Σ_p z_p`: the paper's |
//! | `accuracy` | share of `argmax p̄ = y` |
//! | `ece` | `Σ_b (n_b/n) · abs(accuracy_b − confidence_b)`, 15 bins of equal width, closed on the right |
//! | `brier` | mean of `Σ_c (p̄_c − 1[y = c])²`, in `[0, 2]` |
//! | `auroc` | macro average one-vs-rest by midranks; null if a class is absent |
//! | `entropy` | mean of `−Σ_c p̄_c ln p̄_c`, nats |
//! | `ood_auroc`, `…_information`, `…_probability` | how well entropy, mutual information and largest probability tell rows of another set from test rows; see [`out_of_distribution_auroc`] |

mod auroc;
mod calibration;
mod classification;
mod density;
mod error;
mod gaussian;
mod intervals;
mod regression;
mod reliability;
mod summary;
mod uncertainty;

pub use auroc::auroc;
pub use calibration::{ECE_BINS, expected_calibration_error};
pub use classification::classification_metrics;
pub use density::{Density, Scores, mean_scores, target};
pub use error::MetricError;
pub use gaussian::gaussian_nll;
pub use intervals::{IntervalBin, interval_bins, mean_bins};
pub use regression::{PAPER_VARIANCE_FLOOR, RegressionRows, regression_metrics};
pub use reliability::{ReliabilityBin, reliability};
pub(crate) use summary::quantile;
pub use summary::{Estimate, Metrics};
pub use uncertainty::out_of_distribution_auroc;

#[cfg(test)]
mod reference;
