//! Length of intensive-care stays, predicted 24 hours after they begin.

mod design;
mod extra;
mod page;
mod stays;

pub use design::{LosTask, MimicDesign};
pub use extra::{Band, Beside, MimicExtra};
pub use page::{MimicPage, cohort_table};
pub use stays::{Mimic, MimicOptions};

/// Name of the study.
pub const NAME: &str = "mimic";
