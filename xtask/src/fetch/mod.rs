//! Data sets: official file → verified → converted to the common CSV form → verified → cache.
//!
//! Where a set comes from, first match wins: the cache → the checkout (`bundled`) → the mirror folder,
//! if one is named → the official address. A file in the cache is checked on every use. Image sets are not converted.

mod convert;
mod download;
mod images;
mod manifest;
mod mirror;
mod number;
mod raw;
mod store;
#[cfg(feature = "fetch")]
mod workbook;

pub(crate) use images::{ImageSet, Images};
pub(crate) use manifest::Manifest;

use crate::cli::FetchArgs;
use crate::complete;
use crate::failure::{BadInput, bad_input};
use crate::paths::Place;
use crate::{nearest, say};
use anyhow::{Context, Result, bail};
use manifest::Dataset;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::Cached;

/// Where data sets are looked for.
pub(crate) struct Sources<'a> {
    /// Folder that is filled.
    pub data: &'a Path,
    /// Folder of the sets that are part of the checkout.
    pub bundled: &'a Path,
    /// Folder of converted files used instead of the network.
    pub mirror: Option<&'a Path>,
    /// Whether nothing may be downloaded.
    pub offline: bool,
}

/// Where one data set came from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// It was there already.
    Cache,
    /// Copied from the checkout.
    Bundled,
    /// Copied from this file of the mirror.
    Mirror(PathBuf),
    /// Downloaded and converted.
    Official(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Cache => f.write_str("already in the cache"),
            Origin::Bundled => f.write_str("from the checkout"),
            Origin::Mirror(file) => write!(f, "from {}", file.display()),
            Origin::Official(url) => write!(f, "from {url}"),
        }
    }
}

/// `cargo xtask fetch-data`.
pub(crate) fn run(place: &Place, args: &FetchArgs, offline: bool) -> Result<ExitCode> {
    let path = args.manifest.clone().unwrap_or_else(|| place.manifest());
    let manifest = Manifest::read(&path)?;
    let bundled = path.parent().unwrap_or(Path::new("."));
    let mirror = args
        .mirror
        .as_deref()
        .filter(|folder| !folder.as_os_str().is_empty());
    let sources = Sources {
        data: &place.data,
        bundled,
        mirror,
        offline,
    };
    let images = Images::beside(&path)?;
    if args.list {
        say::out(listing(&manifest, &images, &sources).trim_end());
        return Ok(ExitCode::SUCCESS);
    }
    let sets: Vec<Wanted<'_>> = if args.all {
        manifest.datasets().map(Wanted::Table).collect()
    } else {
        args.names
            .iter()
            .map(|name| find(name, &manifest, &images))
            .collect::<Result<_>>()?
    };
    if sets.is_empty() {
        return Err(bad_input(format!(
            "name data sets, or --all; known: {}",
            names(&manifest, &images).join(", ")
        )));
    }
    require_for(&sets, &sources)?;
    let mut failed = Vec::new();
    for set in &sets {
        match set.obtain(&sources) {
            Ok(origin) => say::out(format_args!("{}: {origin}", set.name())),
            Err(error) => {
                say::error(format_args!("{}: {error:#}", set.name()));
                failed.push(error);
            }
        }
    }
    let text = format!("{} of {} data sets failed", failed.len(), sets.len());
    match failed
        .iter()
        .any(|error| error.chain().any(|cause| cause.is::<BadInput>()))
    {
        true => Err(bad_input(text)),
        false if !failed.is_empty() => bail!(text),
        false => Ok(ExitCode::SUCCESS),
    }
}

/// A set that was asked for by name.
pub(crate) enum Wanted<'a> {
    /// A converted table.
    Table(&'a Dataset),
    /// Images as they are.
    Images(&'a ImageSet),
}

impl Wanted<'_> {
    /// What the command line calls it.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Table(set) => &set.name,
            Self::Images(set) => &set.name,
        }
    }

    /// Whether [`Wanted::obtain`] would download it.
    fn is_far(&self, sources: &Sources<'_>) -> Result<bool> {
        if sources.offline || sources.mirror.is_some() {
            return Ok(false);
        }
        match self {
            Self::Table(set) => {
                let cached = store::look(&sources.data.join(set.file_name()), &set.sha256)?;
                Ok(!set.bundled && cached != Cached::Good)
            }
            Self::Images(set) => set.is_cached(sources).map(|cached| !cached),
        }
    }

    /// Puts it into the data folder unless a good copy is there.
    pub(crate) fn obtain(&self, sources: &Sources<'_>) -> Result<Origin> {
        match self {
            Self::Table(set) => obtain(set, sources),
            Self::Images(set) => images::obtain(set, sources),
        }
    }
}

/// The complete build is there, or no set needs it; to be asked before the first is obtained.
pub(crate) fn require_for<'a>(
    sets: impl IntoIterator<Item = &'a Wanted<'a>>,
    sources: &Sources<'_>,
) -> Result<()> {
    for set in sets {
        if set.is_far(sources)? {
            return complete::require();
        }
    }
    Ok(())
}

/// The set of that name, or an error with the known names.
fn find<'a>(name: &str, manifest: &'a Manifest, images: &'a Images) -> Result<Wanted<'a>> {
    if let Some(set) = images.find(name) {
        return Ok(Wanted::Images(set));
    }
    if let Some(set) = manifest.datasets().find(|set| set.name == name) {
        return Ok(Wanted::Table(set));
    }
    Err(nearest::unknown("data set", name, &names(manifest, images)))
}

/// All names.
fn names<'a>(manifest: &'a Manifest, images: &'a Images) -> Vec<&'a str> {
    let images = images.sets().map(|set| set.name.as_str());
    let tables = manifest.datasets().map(|set| set.name.as_str());
    tables.chain(images).collect()
}

/// Puts one data set into the data folder unless a good copy is there.
pub(crate) fn obtain(set: &Dataset, sources: &Sources<'_>) -> Result<Origin> {
    let target = sources.data.join(set.file_name());
    match store::look(&target, &set.sha256)? {
        Cached::Good => return Ok(Origin::Cache),
        Cached::Missing => {}
        Cached::Damaged(sum) => say::error(format_args!(
            "{}: {} is damaged (sha-256 {sum}, expected {}): getting it again",
            set.name,
            target.display(),
            set.sha256
        )),
    }
    if set.bundled {
        let file = sources.bundled.join(set.file_name());
        let text = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        store::verify(&text, &set.sha256, &file)
            .map_err(|error| bad_input(format!("{error:#}; restore it with git")))?;
        store::write(&target, &text)?;
        return Ok(Origin::Bundled);
    }
    if let Some(folder) = sources.mirror {
        let (file, text) = mirror::read(folder, set)?;
        if let Err(error) = store::verify(&text, &set.sha256, &file) {
            let kept = store::reject(&target, &text)?;
            return Err(bad_input(format!(
                "{error:#}\n  kept as {}",
                kept.display()
            )));
        }
        store::write(&target, &text)?;
        return Ok(Origin::Mirror(file));
    }
    if sources.offline {
        bail!(
            "not in {} and --offline forbids downloading it; {}",
            sources.data.display(),
            download::HINT
        );
    }
    store::prepare(&target)?;
    say::error(format_args!("{}: downloading {}", set.name, set.raw.url));
    let raw = download::get(&set.raw.url, download::HINT)?;
    convert_and_store(set, &raw, &target)?;
    Ok(Origin::Official(set.raw.url.clone()))
}

/// Checks the raw file, converts it, checks the result; what does not fit is kept aside.
fn convert_and_store(set: &Dataset, raw: &[u8], target: &Path) -> Result<()> {
    let raw_file = target.with_file_name(set.raw.file_name());
    let made = match &set.raw.sha256 {
        Some(sum) => store::verify(raw, sum, Path::new(&set.raw.url)),
        None => Ok(()),
    }
    .and_then(|()| convert::convert(set, raw).with_context(|| set.raw.url.clone()))
    .and_then(|text| {
        let what = format!("{}, as converted", set.file_name());
        store::verify(text.as_bytes(), &set.sha256, Path::new(&what)).map(|()| text)
    });
    match made {
        Ok(text) => store::write(target, text.as_bytes()),
        Err(error) => {
            let kept = store::reject(&raw_file, raw)?;
            bail!("{error:#}\n  the download was kept as {}", kept.display())
        }
    }
}

fn listing(manifest: &Manifest, images: &Images, sources: &Sources<'_>) -> String {
    let mut text = format!(
        "{:<12} {:<15} {:>6} {:>9}  here\n",
        "name", "task", "rows", "features"
    );
    for set in manifest.datasets() {
        let here = match store::look(&sources.data.join(set.file_name()), &set.sha256) {
            Ok(Cached::Good) => "in the cache",
            Ok(Cached::Damaged(_)) => "damaged in the cache",
            _ if set.bundled => "in the checkout",
            _ if sources
                .mirror
                .is_some_and(|folder| mirror::find(folder, set).is_some()) =>
            {
                "in the mirror"
            }
            _ => "no",
        };
        text += &format!(
            "{:<12} {:<15} {:>6} {:>9}  {here}\n",
            set.name,
            set.task,
            set.rows,
            set.columns.len() - 1
        );
    }
    for set in images.sets() {
        let here = set.whereabouts(sources);
        let (name, items) = (&set.name, set.items());
        text += &format!(
            "{name:<13} {:<14} {items:>6} {:>9}  {here}\n",
            "images", "28 x 28"
        );
    }
    text
}

/// One line about the data sets at hand, for `doctor`.
pub(crate) fn summary(manifest: &Manifest, place: &Place) -> String {
    let good = |set: &&Dataset| {
        matches!(
            store::look(&place.data.join(set.file_name()), &set.sha256),
            Ok(Cached::Good)
        )
    };
    let names = |sets: Vec<&Dataset>| match sets.is_empty() {
        true => "none".to_string(),
        false => sets
            .iter()
            .map(|set| set.name.as_str())
            .collect::<Vec<_>>()
            .join(", "),
    };
    let bundled = names(manifest.datasets().filter(|set| set.bundled).collect());
    format!(
        "in the checkout: {bundled}; in the cache: {}",
        names(manifest.datasets().filter(good).collect())
    )
}

#[cfg(all(test, feature = "fetch"))]
mod tests;
