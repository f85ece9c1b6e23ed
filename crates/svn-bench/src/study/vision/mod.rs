//! Image experiments: LeNet on MNIST, FashionMNIST or sets drawn here, with few or all images.

mod design;
mod extra;
mod sets;

pub use design::{CorruptionPoint, DeviceKind, ImageSplit, VisionDesign, VisionExtra};
pub use sets::{LOW_DATA, Vision, VisionOptions, image_set_names};
