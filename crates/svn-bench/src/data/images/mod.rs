//! Image sets: MNIST and FashionMNIST from IDX files, digits and letters drawn here, and corruptions of either.

mod catalogue;
mod corrupt;
mod glyphs;
mod set;
mod synthetic;

pub use catalogue::{Catalogue, ImageEntry, ImageFile};
pub use corrupt::{Corruption, add_noise, rotate};
pub use set::{CLASSES, ImageSet, PIXELS, SIDE, holds_images, load_images, read_images};
pub use synthetic::{Synthetic, synthetic};
