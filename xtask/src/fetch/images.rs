//! Image sets: four IDX files each, from the cache, the mirror or their official addresses.
//!
//! The cache holds them uncompressed, as `NAME/STEM-idxD-ubyte`, each checked by its SHA-256 on every use. A mirror may
//! have either spelling, plain or gzip. A download is first compared with the published MD5 of the packed file.

use super::raw::refuse_web_page;
use super::store::{self, Cached};
use super::{Origin, Sources, download};
use crate::checksum;
use crate::failure::bad_input;
use crate::say;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// All image sets, in the order of `datasets/images.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Images {
    schema: u32,
    images: Vec<ImageSet>,
}

/// One image set.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImageSet {
    /// What the command line calls it, and its folder.
    pub name: String,
    #[serde(rename = "title")]
    _title: String,
    #[serde(rename = "licence")]
    _licence: String,
    /// Addresses in front of `FILE.gz`, tried in order.
    urls: Vec<String>,
    #[serde(rename = "file")]
    files: Vec<File>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    stem: String,
    dims: usize,
    items: usize,
    /// Published, of the packed file.
    md5: String,
    /// Of the uncompressed file.
    sha256: String,
}

const HINT: &str = "without a network, name a folder that has NAME/train-images-idx3-ubyte.gz and so on with --mirror DIR or SVN_DATA_MIRROR";

impl Images {
    /// Reads `images.toml` in the folder of a manifest; no sets where there is none.
    pub(crate) fn beside(manifest: &Path) -> Result<Self> {
        let path = manifest.with_file_name("images.toml");
        if !path.is_file() {
            return Ok(Self::default());
        }
        let text = fs::read_to_string(&path)
            .map_err(|error| bad_input(format!("{}: {error}", path.display())))?;
        let images: Self = toml::from_str(&text)
            .map_err(|error| bad_input(format!("{}: {error}", path.display())))?;
        if images.schema != 1 {
            let (path, schema) = (path.display(), images.schema);
            return Err(bad_input(format!("{path}: schema {schema}, expected 1")));
        }
        Ok(images)
    }

    /// The set of that name.
    pub(crate) fn find(&self, name: &str) -> Option<&ImageSet> {
        self.images.iter().find(|set| set.name == name)
    }

    /// All sets.
    pub(crate) fn sets(&self) -> impl Iterator<Item = &ImageSet> {
        self.images.iter()
    }
}

impl ImageSet {
    /// Training and test images in all.
    pub(crate) fn items(&self) -> usize {
        let images = self.files.iter().filter(|file| file.dims == 3);
        images.map(|file| file.items).sum()
    }

    /// Whether all files are in the cache and good.
    pub(super) fn is_cached(&self, sources: &Sources<'_>) -> Result<bool> {
        for file in &self.files {
            let target = sources.data.join(&self.name).join(file.name());
            if store::look(&target, &file.sha256)? != Cached::Good {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// `in the cache`, `in the mirror`, …, for a listing.
    pub(crate) fn whereabouts(&self, sources: &Sources<'_>) -> &'static str {
        let mirrored = |file: &File| {
            let folder = sources.mirror.map(|folder| folder.join(&self.name));
            folder.is_some_and(|folder| file.find(&folder).is_some())
        };
        if self.is_cached(sources).unwrap_or(false) {
            "in the cache"
        } else if self.files.iter().all(mirrored) {
            "in the mirror"
        } else {
            "no"
        }
    }
}

impl File {
    fn name(&self) -> String {
        format!("{}-idx{}-ubyte", self.stem, self.dims)
    }

    /// Under any of its names.
    fn find(&self, folder: &Path) -> Option<PathBuf> {
        let dotted = format!("{}.idx{}-ubyte", self.stem, self.dims);
        let names = [self.name(), dotted].into_iter();
        let names = names.flat_map(|name| [name.clone(), format!("{name}.gz")]);
        names
            .map(|name| folder.join(name))
            .find(|path| path.is_file())
    }
}

/// Puts the files of an image set into the data folder unless good copies are there.
pub(super) fn obtain(set: &ImageSet, sources: &Sources<'_>) -> Result<Origin> {
    let mut origin = Origin::Cache;
    for file in &set.files {
        let found = obtain_file(set, file, sources).with_context(|| file.name())?;
        if found != Origin::Cache {
            origin = found;
        }
    }
    Ok(match origin {
        // Of the folder, not of the last file.
        Origin::Mirror(file) => Origin::Mirror(file.parent().map(Into::into).unwrap_or(file)),
        other => other,
    })
}

fn obtain_file(set: &ImageSet, file: &File, sources: &Sources<'_>) -> Result<Origin> {
    let target = sources.data.join(&set.name).join(file.name());
    match store::look(&target, &file.sha256)? {
        Cached::Good => return Ok(Origin::Cache),
        Cached::Missing => {}
        Cached::Damaged(sum) => say::error(format_args!(
            "{}: {} is damaged (sha-256 {sum}, expected {}): getting it again",
            set.name,
            target.display(),
            file.sha256
        )),
    }
    if let Some(mirror) = sources.mirror {
        let folder = mirror.join(&set.name);
        let path = file.find(&folder).ok_or_else(|| {
            let (folder, name) = (folder.display(), file.name());
            bad_input(format!(
                "the mirror {folder} has neither {name} nor {name}.gz"
            ))
        })?;
        let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        keep(&bytes, file, &path, &target).map_err(|error| bad_input(format!("{error:#}")))?;
        return Ok(Origin::Mirror(path));
    }
    if sources.offline {
        let folder = sources.data.join(&set.name);
        bail!(
            "not in {} and --offline forbids downloading it; {HINT}",
            folder.display()
        );
    }
    store::prepare(&target)?;
    let mut faults = Vec::new();
    for address in &set.urls {
        let url = format!("{address}{}.gz", file.name());
        say::error(format_args!("{}: downloading {url}", set.name));
        match from_address(&url, file, &target) {
            Ok(()) => return Ok(Origin::Official(address.clone())),
            Err(error) => faults.push(format!("{error:#}")),
        }
    }
    bail!("{}", faults.join("\n  "))
}

fn from_address(url: &str, file: &File, target: &Path) -> Result<()> {
    let bytes = download::get(url, HINT)?;
    let sum = checksum::md5_of_bytes(&bytes);
    if sum != file.md5 {
        let kept = store::reject(target, &bytes)?;
        bail!(
            "{url}: not the published file\n  expected md5 {}\n  received md5 {sum}\n  kept as {}",
            file.md5,
            kept.display()
        );
    }
    keep(&bytes, file, Path::new(url), target)
}

/// Unpacks, verifies and stores; what is not the file is kept aside.
fn keep(bytes: &[u8], file: &File, from: &Path, target: &Path) -> Result<()> {
    refuse_web_page(bytes).with_context(|| from.display().to_string())?;
    let mut plain = Vec::new();
    let bytes = if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut decoder = flate2::read::MultiGzDecoder::new(bytes);
        let unpacked = decoder.read_to_end(&mut plain);
        unpacked.with_context(|| format!("{}: damaged gzip file", from.display()))?;
        &plain
    } else {
        bytes
    };
    if let Err(error) = store::verify(bytes, &file.sha256, from) {
        let kept = store::reject(target, bytes)?;
        bail!("{error:#}\n  kept as {}", kept.display());
    }
    store::write(target, bytes)
}

#[cfg(test)]
#[path = "tests/images.rs"]
mod tests;
