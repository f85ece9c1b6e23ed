//! Image sets, each read once, and the set whose images are foreign to another.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::data::SearchPath;
use crate::data::images::{
    Catalogue, ImageSet, Synthetic, holds_images, load_images, read_images, synthetic,
};
use crate::engine::EngineError;

/// An image set, with the one whose images are foreign to it.
#[derive(Debug, Clone)]
pub(super) struct Images {
    pub(super) own: Arc<ImageSet>,
    pub(super) foreign: Option<Arc<ImageSet>>,
}

/// The set whose images are foreign to another one.
fn partner(name: &str) -> Option<&'static str> {
    match name {
        "mnist" => Some("fashion-mnist"),
        "fashion-mnist" => Some("mnist"),
        "synthetic-digits" => Some("synthetic-letters"),
        "synthetic-letters" => Some("synthetic-digits"),
        _ => None,
    }
}

/// Names of all sets, those in files first.
///
/// # Errors
/// [`DataError::Catalogue`](crate::data::DataError::Catalogue).
pub fn image_set_names() -> Result<Vec<String>, EngineError> {
    let files = Catalogue::embedded()?;
    let drawn = [Synthetic::Digits, Synthetic::Letters].map(|set| set.name().to_owned());
    let names = files.entries().iter().map(|entry| entry.name.clone());
    Ok(names.chain(drawn).collect())
}

/// The sets of these names, each with its foreign one, and what a user should know. A folder that is given has to hold them.
///
/// # Errors
/// [`EngineError`] for a set that is not there or cannot be read.
pub(super) fn load(
    names: &[String],
    folder: Option<&Path>,
    foreign: bool,
    path: &SearchPath,
) -> Result<(Vec<Images>, Vec<String>), EngineError> {
    let mut loader = Loader {
        path,
        loaded: BTreeMap::new(),
    };
    // Files without the name of a set beside them can only be those of a single one.
    if let ([name], Some(folder)) = (names, folder)
        && Synthetic::named(name).is_none()
        && holds_images(folder)
    {
        let set = Arc::new(read_images(name, folder)?);
        loader.loaded.insert(name.clone(), set);
    }
    let (mut images, mut warnings) = (Vec::new(), Vec::new());
    for name in names {
        if let Some(folder) = folder
            && Synthetic::named(name).is_none()
            && !loader.loaded.contains_key(name)
            && !holds_images(&folder.join(name))
        {
            // What is nowhere is told in full.
            loader.load(name)?;
            return Err(EngineError::Arguments(no_use(name, folder, names.len())));
        }
        images.push(loader.with_partner(name, foreign, &mut warnings)?);
    }
    Ok((images, warnings))
}

/// Why a folder that was named has nothing for a set.
fn no_use(name: &str, folder: &Path, sets: usize) -> String {
    let folder_text = folder.display();
    match sets > 1 && holds_images(folder) {
        true => format!("--data {folder_text} has the files of one set; name one --dataset"),
        false => format!(
            "--data {folder_text} has no {name}: no folder {name} with its IDX files; leave out --data, or name only what is there"
        ),
    }
}

/// Reads each set once.
struct Loader<'a> {
    path: &'a SearchPath,
    loaded: BTreeMap<String, Arc<ImageSet>>,
}

impl Loader<'_> {
    fn load(&mut self, name: &str) -> Result<Arc<ImageSet>, EngineError> {
        if let Some(set) = self.loaded.get(name) {
            return Ok(Arc::clone(set));
        }
        let set = Arc::new(match Synthetic::named(name) {
            Some(kind) => synthetic(kind, Synthetic::TRAIN, Synthetic::TEST, 0),
            None => load_images(name, self.path)?,
        });
        self.loaded.insert(name.to_owned(), Arc::clone(&set));
        Ok(set)
    }

    /// The foreign set is an extra: without it the rest is measured, with a warning.
    fn with_partner(
        &mut self,
        name: &str,
        foreign: bool,
        warnings: &mut Vec<String>,
    ) -> Result<Images, EngineError> {
        let own = self.load(name)?;
        let foreign = match partner(name).filter(|_| foreign) {
            None => None,
            Some(partner) => match self.load(partner) {
                Ok(set) => Some(set),
                Err(error) => {
                    warnings.push(format!("no out-of-distribution score for {name}: {error}"));
                    None
                }
            },
        };
        Ok(Images { own, foreign })
    }
}
