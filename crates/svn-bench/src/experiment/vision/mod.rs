//! Image experiments: LeNet by every method on MNIST, FashionMNIST or sets drawn here, with few or all images.

mod choice;
mod plan;
mod record;
mod run;
pub mod train;

pub use choice::{DeviceKind, ImageSplit};
pub use plan::{Images, LOW_DATA, VisionGroup, VisionOptions, VisionPlan, image_set_names};
#[cfg(test)]
pub(crate) use record::samples;
pub use record::{CorruptionPoint, VisionConfiguration, VisionRecord};
pub use run::{Unwatched, VisionObserver, VisionStore, run};
