//! Many runs from one plan: what they are, who does them, and one file of records at the end.
//!
//! ```text
//! Plan          the file: studies, options, grids, random draws           plan.rs, draw.rs
//! Combination   one setting of all options, as a command line             expand.rs
//! Job           configuration, seed, fold: named by what it depends on    job.rs
//! Folder        one folder for all plans                                  folder.rs
//! perform       a job, to the file of its record                          task.rs
//! collect       these files into one, and what is wrong with them         collect.rs
//! probe         how long a run takes                                      estimate.rs
//! Local         worker processes on this machine                          local.rs
//! Array         tasks for others: Slurm, GNU parallel                     batch.rs, slurm.rs
//! ```
//!
//! Which study a job is of, only its command line says: who calls this module parses it, and hands the study in.

mod batch;
mod collect;
mod draw;
mod error;
mod estimate;
mod expand;
mod folder;
mod job;
mod local;
mod plan;
mod slurm;
mod task;

pub use batch::Array;
pub use collect::{Collected, collect};
pub use error::SweepError;
pub use estimate::{Estimate, Estimates, Known, known, probe};
pub use expand::Combination;
pub use folder::Folder;
pub(crate) use folder::put;
pub use job::{Job, Jobs};
pub use local::{Errand, Local, serve};
pub use plan::Plan;
pub use slurm::{Request, queued};
pub use task::{Done, Lack, perform};
