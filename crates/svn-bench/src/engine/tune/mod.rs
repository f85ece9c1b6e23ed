//! Choice of settings on validation rows: the same budget for every method, by successive halving over a seeded sample
//! of a grid.
//!
//! ```text
//! rung      configurations     epochs
//!  1        n                  E/9
//!  2        n/3 best           E/3
//!  3        n/9 best, ≥ 2      E
//! ```
//!
//! The method's default is among the configurations and stays until the last rung, so that the winner is no worse than
//! it on the rows it was chosen on. The score is the mean over folds of the best validation NLL. Test rows are never
//! seen: a trial's job does not hold them. In cross-validation the validation rows of one fold are test rows of another,
//! as in every protocol that chooses one setting for all folds.
//!
//! Reference: Jamieson and Talwalkar, *Non-stochastic best arm identification and hyperparameter optimization* (2016).

mod halving;
mod run;
mod space;
mod trial;
mod winner;

pub use halving::{Rung, rungs};
pub use run::{TrialOf, TuneOptions, tune};
pub use space::{Axis, axes, candidates};
pub use trial::Trial;
pub use winner::{Winner, write_winners};
