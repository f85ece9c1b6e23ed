//! LeNet on images: corrupted and foreign images, calibration, few data.

mod design;
mod extra;
mod figures;
mod images;
mod measure;
mod page;
mod reliability;
mod sets;

#[cfg(test)]
pub(crate) mod samples;

pub use design::{DeviceKind, ImageSplit, PAPER_FOLDS, VisionDesign};
pub use extra::{CorruptionMean, CorruptionPoint, VisionExtra, VisionPooled};
pub use images::image_set_names;
pub use page::VisionPage;
pub use sets::{LOW_DATA, Vision, VisionOptions};

/// Name of the study.
pub const NAME: &str = "vision";
