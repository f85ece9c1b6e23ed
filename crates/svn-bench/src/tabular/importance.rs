//! Which columns a model lives by: how much worse its validation rows get when a column is shuffled among them.
//!
//! ```text
//! importance(column) = mean over shuffles of  nll(column shuffled) − nll,  nats a row
//! ```
//!
//! Columns that say the same share what they are worth: each alone may be done without.
//!
//! # References
//! Breiman, *Random forests*, 2001; Fisher, Rudin and Dominici, *All models are wrong, but many are useful*, JMLR 2019.

use ndarray::{Array1, Array2, ArrayView2, Axis};
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use svn_models::Ensemble;

use super::bootstrap::Truth;
use super::predicted;
use crate::data::UsedColumn;
use crate::engine::{Predicted, RunError};
use crate::split::stream;

/// What a column is worth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Importance {
    /// Name of the column.
    pub column: String,
    /// Rise of the NLL, nats a row.
    pub nll: f64,
}

/// Rows that are used at most, and shuffles of each column.
const ROWS: usize = 500;
const SHUFFLES: u64 = 3;

/// Of each column, the largest first.
///
/// # Shapes
/// `x`: `n × p`; the features that a column makes lie beside each other.
///
/// # Errors
/// [`RunError::Failed`].
pub(super) fn importance(
    ensemble: &Ensemble,
    x: ArrayView2<'_, f64>,
    truth: &Truth,
    columns: &[UsedColumn],
) -> Result<Vec<Importance>, RunError> {
    // Evenly spread: the rows may be sorted.
    let n = x.nrows().min(ROWS);
    let rows: Vec<usize> = (0..n).map(|row| row * x.nrows() / n).collect();
    let truth = truth.select(&rows);
    let x = x.select(Axis(0), &rows);
    let nll = |x: &Array2<f64>| {
        let found = match (predicted(ensemble, x.view())?, &truth) {
            (Predicted::Numbers(found), Truth::Numbers(y)) => {
                found.negative_log_density(y.as_slice().into())
            }
            (Predicted::Classes(found), Truth::Classes(y)) => {
                let y = y.iter().map(|&class| class as f64);
                found.negative_log_likelihood(Array1::from_iter(y).view())
            }
            _ => Ok(f64::INFINITY),
        };
        found.map_err(RunError::failed)
    };
    let base = nll(&x)?;
    let mut found = Vec::new();
    for UsedColumn { name, features, .. } in columns {
        let mut rise = 0.0;
        for shuffle in 0..SHUFFLES {
            let mut order: Vec<usize> = (0..n).collect();
            order.shuffle(&mut stream(shuffle, &["importance", name]));
            let mut shuffled = x.clone();
            for feature in features.clone() {
                let values = x.column(feature).select(Axis(0), &order);
                shuffled.column_mut(feature).assign(&values);
            }
            rise += (nll(&shuffled)? - base) / SHUFFLES as f64;
        }
        found.push(Importance {
            column: name.clone(),
            nll: rise,
        });
    }
    found.sort_by(|a, b| {
        b.nll
            .total_cmp(&a.nll)
            .then_with(|| a.column.cmp(&b.column))
    });
    Ok(found)
}
