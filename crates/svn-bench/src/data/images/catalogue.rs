//! The image sets of the benchmark, as `datasets/images.toml` describes their files.

use serde::Deserialize;

use crate::data::DataError;

/// All image sets that come in files, in the order of the description.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    schema: u32,
    images: Vec<ImageEntry>,
}

/// One image set.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageEntry {
    /// What the command line calls it, and the folder of its files.
    pub name: String,
    /// For headings.
    pub title: String,
    /// Its licence.
    pub licence: String,
    /// Its files.
    #[serde(rename = "file")]
    pub files: Vec<ImageFile>,
    /// Where the files come from: the business of the task runner.
    #[serde(rename = "urls")]
    _urls: Vec<String>,
}

/// One IDX file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageFile {
    /// Start of its name, such as `train-images`.
    pub stem: String,
    /// Number of dimensions.
    pub dims: usize,
    /// Images or labels in it.
    pub items: usize,
    /// SHA-256 of the file, uncompressed, in hex.
    pub sha256: String,
    /// Published MD5 of the official packed file: the business of the task runner.
    #[serde(rename = "md5")]
    _md5: String,
}

impl Catalogue {
    /// The description this program was built with.
    ///
    /// # Errors
    /// [`DataError::Catalogue`] if it does not parse: a test keeps that from happening.
    pub fn embedded() -> Result<Self, DataError> {
        let wrong = |message: String| DataError::Catalogue { message };
        let catalogue: Self =
            toml::from_str(svn_datasets::IMAGES).map_err(|error| wrong(error.to_string()))?;
        if catalogue.schema != 1 {
            let found = catalogue.schema;
            return Err(wrong(format!("expected schema 1, found {found}")));
        }
        Ok(catalogue)
    }

    /// All entries.
    pub fn entries(&self) -> &[ImageEntry] {
        &self.images
    }

    /// One entry by name; `None` for a set that is not in files.
    pub fn entry(&self, name: &str) -> Option<&ImageEntry> {
        self.images.iter().find(|entry| entry.name == name)
    }
}

impl ImageEntry {
    /// The published SHA-256 of a file.
    pub fn sha256(&self, stem: &str) -> Option<&str> {
        let file = self.files.iter().find(|file| file.stem == stem);
        file.map(|file| file.sha256.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_description_parses() {
        let catalogue = Catalogue::embedded().unwrap();
        let names: Vec<_> = catalogue.entries().iter().map(|e| &e.name).collect();
        assert_eq!(names, ["mnist", "fashion-mnist"]);
        for entry in catalogue.entries() {
            let items: Vec<_> = entry.files.iter().map(|f| (f.dims, f.items)).collect();
            assert_eq!(items, [(3, 60000), (1, 60000), (3, 10000), (1, 10000)]);
            assert!(entry.files.iter().all(|file| file.sha256.len() == 64));
        }
        assert!(catalogue.entry("emnist").is_none());
    }
}
