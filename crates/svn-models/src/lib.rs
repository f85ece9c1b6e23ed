#![doc = include_str!("../README.md")]
//!
//!
//! ```text
//! network × likelihood × prior × rows → Posterior (a Curved target) → fit → Members → Prediction, ClassPrediction
//! ```
//!
//! - [`network`]: multilayer perceptrons, LeNet, and their starting weights
//! - [`likelihood`]: Gaussian with one noise level, Gaussian with predicted noise, Student t, mixture density, levels, Bernoulli,
//!   softmax
//! - [`linear`]: ridge and logistic regression, which a network has to beat
//! - [`posterior`]: minibatches, full, diagonal or Kronecker-factored curvature of the last batches, score and curvature of the same energy
//! - [`fit`]: train an ensemble, epoch by epoch, and restore the weights that were best on validation rows
//! - [`recipe`]: the list of training settings, their defaults for each method and problem, and the settings of a fit from them
//! - [`members`]: predictions of trained members, their moments and mixture
//! - [`predictive`]: from members to the predictive density, what it needs chosen on validation rows
//! - [`scaling`]: standardisation of features and targets, and the way back

#![deny(missing_docs)]
#![warn(clippy::unwrap_used, clippy::print_stdout)]

mod error;
pub mod fit;
mod labels;
pub mod likelihood;
pub mod linear;
pub mod members;
mod model;
pub mod network;
pub mod posterior;
pub mod predictive;
pub mod recipe;
mod rows;
pub mod scaling;
mod task;
mod threads;

pub use error::ModelError;
pub use labels::LabelEncoding;
pub use likelihood::Likelihood;
pub use members::{ClassPrediction, Members, Predicted, Prediction, Tails};
pub use model::{Builder, Candidate, Ensemble, ModelFileError, OutOfFold, Training, Tried};
pub use recipe::Recipe;
pub use rows::Rows;
pub use svn_curvature::{Backend, BackendKind, Device, Precision};
pub use task::Task;
pub use threads::{set_library_threads, set_threads};

/// The curvature crate, whose networks and layers appear in this crate's interface.
pub use svn_curvature as curvature;
/// The particle methods, whose settings appear in this crate's interface.
pub use svn_stein as stein;
