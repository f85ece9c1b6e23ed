//! Grey images with labels, and the checks that make four IDX files one set of them.

use std::path::Path;

use ndarray::{Array1, Array2, ArrayView2};
use sha2::{Digest, Sha256};

use super::Catalogue;
use crate::data::idx::{IdxFile, read_idx_file};
use crate::data::{DataError, SearchPath, find_idx};

/// Height and width of an image.
pub const SIDE: usize = 28;

/// Pixels of an image.
pub const PIXELS: usize = SIDE * SIDE;

/// Number of classes.
pub const CLASSES: usize = 10;

/// `n` images of [`SIDE`] × [`SIDE`] grey levels with a label each: the training images first, then the test images.
#[derive(Debug, Clone)]
pub struct ImageSet {
    /// What the command line calls it.
    pub name: String,
    /// SHA-256 over the values of all files in order: of what was read, not of how it was packed.
    pub sha256: String,
    /// Images of the official training part, the first ones.
    pub train: usize,
    /// Sentences for the user.
    pub warnings: Vec<String>,
    pixels: Array2<u8>,
    labels: Vec<u8>,
}

impl ImageSet {
    /// Join a training and a test part.
    ///
    /// # Shapes
    /// Pixels `n × 784`, row by row; labels `n`, below [`CLASSES`]: both are the caller's to check.
    pub(super) fn join(name: &str, train: Part, test: Part) -> Self {
        let mut hash = Sha256::new();
        for part in [&train, &test] {
            hash.update((part.labels.len() as u64).to_le_bytes());
            hash.update(&part.pixels);
            hash.update(&part.labels);
        }
        let count = train.labels.len();
        let pixels = [train.pixels, test.pixels].concat();
        let labels = [train.labels, test.labels].concat();
        Self {
            name: name.to_owned(),
            sha256: format!("{:x}", hash.finalize()),
            train: count,
            warnings: Vec::new(),
            // Both parts hold 784 pixels a label; were it not so, there would be no images.
            pixels: Array2::from_shape_vec((labels.len(), PIXELS), pixels)
                .unwrap_or_else(|_| Array2::zeros((0, PIXELS))),
            labels,
        }
    }

    /// Number of images `n`.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is no image.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Grey levels, `n × 784`.
    pub fn pixels(&self) -> ArrayView2<'_, u8> {
        self.pixels.view()
    }

    /// Class of each image.
    pub fn classes(&self) -> Vec<usize> {
        self.labels
            .iter()
            .map(|&label| usize::from(label))
            .collect()
    }

    /// Grey levels of some images over 255, in `[0, 1]`.
    ///
    /// # Shapes
    /// `rows.len() × 784`.
    pub fn scaled(&self, rows: &[usize]) -> Array2<f64> {
        let mut scaled = Array2::zeros((rows.len(), PIXELS));
        for (mut out, &row) in scaled.rows_mut().into_iter().zip(rows) {
            out.zip_mut_with(&self.pixels.row(row), |value, &level| {
                *value = f64::from(level) / 255.0;
            });
        }
        scaled
    }

    /// Class indices of some images, as numbers.
    pub fn targets(&self, rows: &[usize]) -> Array1<f64> {
        rows.iter()
            .map(|&row| f64::from(self.labels[row]))
            .collect()
    }
}

/// Images or labels of one part, flat.
#[derive(Debug, Clone, Default)]
pub(super) struct Part {
    pub pixels: Vec<u8>,
    pub labels: Vec<u8>,
}

/// Read the four IDX files of a set from the first folder of the search path that has them in a folder of the set's name.
///
/// # Errors
/// [`DataError::NoImages`], and as for [`read_images`].
pub fn load_images(name: &str, path: &SearchPath) -> Result<ImageSet, DataError> {
    let mut folders = path.folders().map(|(_, folder)| folder.join(name));
    let found = folders.find(|folder| holds_images(folder));
    let folder = found.ok_or_else(|| DataError::NoImages {
        name: name.to_owned(),
        searched: path.searched(Some(name)),
    })?;
    read_images(name, &folder)
}

/// Whether any of the four IDX files of a set is in a folder.
pub fn holds_images(folder: &Path) -> bool {
    let stems = ["train", "t10k"].iter();
    stems
        .flat_map(|part| [(format!("{part}-images"), 3), (format!("{part}-labels"), 1)])
        .any(|(stem, dims)| find_idx(folder, &stem, dims).is_ok())
}

/// Read the four IDX files in a folder.
///
/// Files that are sound but not the published ones give a warning in [`ImageSet::warnings`].
///
/// # Errors
/// [`DataError::NoIdx`] for a folder with some of the files; what [`read_idx`](crate::data::read_idx) says;
/// [`DataError::Idx`] for images that are not 28 × 28, other numbers of images and labels, no image, a label above 9.
pub fn read_images(name: &str, folder: &Path) -> Result<ImageSet, DataError> {
    let catalogue = Catalogue::embedded()?;
    let (train, train_files) = read_part(folder, "train")?;
    let (test, test_files) = read_part(folder, "t10k")?;
    let mut set = ImageSet::join(name, train, test);
    let entry = catalogue.entry(name);
    for (stem, file) in train_files.iter().chain(&test_files) {
        if let Some(expected) = entry.and_then(|entry| entry.sha256(stem))
            && expected != file.sha256
        {
            set.warnings.push(format!(
                "{name}: {} is not the published file (SHA-256 {}…, expected {}…)",
                file.path.display(),
                file.sha256.get(..12).unwrap_or_default(),
                expected.get(..12).unwrap_or_default(),
            ));
        }
    }
    Ok(set)
}

type Files = [(String, IdxFile); 2];

fn read_part(folder: &Path, part: &str) -> Result<(Part, Files), DataError> {
    let stems = [format!("{part}-images"), format!("{part}-labels")];
    let images = read_idx_file(&find_idx(folder, &stems[0], 3)?, 3)?;
    let labels = read_idx_file(&find_idx(folder, &stems[1], 1)?, 1)?;
    let wrong = |file: &IdxFile, message: String| DataError::Idx {
        path: file.path.clone(),
        message,
    };
    let (count, size) = (images.values.shape()[0], &images.values.shape()[1..]);
    if size != [SIDE, SIDE] {
        let message = format!(
            "images of {} × {} pixels, expected {SIDE} × {SIDE}",
            size[0], size[1]
        );
        return Err(wrong(&images, message));
    }
    if count == 0 {
        return Err(wrong(&images, "no images".to_owned()));
    }
    if labels.values.len() != count {
        let message = format!(
            "{} labels for the {count} images of {}; the two files do not belong together",
            labels.values.len(),
            images.path.display()
        );
        return Err(wrong(&labels, message));
    }
    if let Some(row) = labels
        .values
        .iter()
        .position(|&label| usize::from(label) >= CLASSES)
    {
        let label = labels.values[[row]];
        let message = format!("label {label} of image {row} (counted from 0), expected 0 to 9");
        return Err(wrong(&labels, message));
    }
    let [images_stem, labels_stem] = stems;
    let flat = |file: &IdxFile| file.values.iter().copied().collect();
    let part = Part {
        pixels: flat(&images),
        labels: flat(&labels),
    };
    Ok((part, [(images_stem, images), (labels_stem, labels)]))
}

#[cfg(test)]
#[path = "set_tests.rs"]
mod tests;
