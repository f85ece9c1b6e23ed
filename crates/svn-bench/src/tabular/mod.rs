//! One's own table: fit it, keep the model, predict new files, evaluate.
//!
//! ```text
//! file → data::TableReader → data::Schema → svn_models::Ensemble → folder { model.json, model.safetensors, table.json }
//! folder + new file → features by name → predictions, row by row
//! ```
//!
//! | file of a model's folder | holds |
//! |---|---|
//! | `model.json`, `model.safetensors` | the ensemble, see [`svn_models::Ensemble::save`] |
//! | `table.json` | how a row becomes features, what was read, scores on validation rows, what intervals need |
//! | `cost.json` | seconds; the only file that two runs of one fit do not have in common |
//! | `.fit/` | of a fit that is not done: what was asked for, a checkpoint, the lock |

mod baselines;
mod bootstrap;
mod conformal;
mod error;
mod evaluate;
mod figures;
mod fit;
mod folder;
mod importance;
mod judge;
mod kept;
mod novelty;
mod page;
mod predict;

pub use bootstrap::{Measured, Truth, bootstrap};
pub use conformal::{Conformal, Level, TooFew};
pub use error::TabularError;
pub use evaluate::{Evaluation, evaluate};
pub use figures::of_evaluation;
pub use fit::{Fitted, Request, Watch, afterwards, fit, resume, tried};
pub use folder::{Cost, Folder, State, cost, load};
pub use importance::Importance;
pub use kept::{Coverage, Kept, Read, Score};
pub use novelty::Novelty;
pub use page::page;
pub use predict::{Columns, Predictions, predict};

use ndarray::ArrayView2;
use svn_models::{Ensemble, Task};

use crate::engine::{Predicted, RunError};

/// Predictions of numbers or of classes, whichever the ensemble is of.
fn predicted(ensemble: &Ensemble, x: ArrayView2<'_, f64>) -> Result<Predicted, RunError> {
    match ensemble.task() {
        Task::Regression => ensemble.predict(x).map(Predicted::Numbers),
        Task::Classification => ensemble.predict_classes(x).map(Predicted::Classes),
    }
    .map_err(RunError::failed)
}
