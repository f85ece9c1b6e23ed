//! `datasets/manifest.toml`: what each converted file looks like and how it is made.

use crate::failure::bad_input;
use crate::nearest;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// All data sets, in the order of the file.
#[derive(Debug, Deserialize)]
pub(crate) struct Manifest {
    schema: u32,
    #[serde(rename = "dataset")]
    sets: Vec<Dataset>,
}

/// One data set.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Dataset {
    /// What the command line calls it.
    pub name: String,
    /// `regression` or `classification`.
    pub task: String,
    /// Rows without the header.
    pub rows: usize,
    /// Header of the converted file, target last.
    pub columns: Vec<String>,
    /// Of the converted file, uncompressed.
    pub sha256: String,
    /// Whether the converted file is part of the checkout.
    #[serde(default)]
    pub bundled: bool,
    /// Whether a feature gives the target away.
    #[serde(default)]
    pub leaky: bool,
    /// The official file.
    pub raw: Raw,
}

/// The official file and how to read it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Raw {
    pub url: String,
    /// Of the file as downloaded, where it is published.
    pub sha256: Option<String>,
    pub format: Format,
    /// The file inside a ZIP archive.
    pub member: Option<String>,
    pub delimiter: Option<char>,
    /// Of a workbook; the first one where it is left out.
    pub sheet: Option<String>,
    /// Whether the first row holds names.
    #[serde(default)]
    pub header: bool,
    /// Names in the order of the raw file; `-` marks a column to drop.
    pub columns: Option<Vec<String>>,
    /// A cell like this drops its row.
    pub missing: Option<String>,
    /// Raw label → class.
    #[serde(default)]
    pub labels: BTreeMap<String, u32>,
}

/// How the cells of a raw file are laid out.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    Whitespace,
    Delimited,
    Arff,
    Workbook,
}

impl Manifest {
    /// Reads and checks a manifest.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| bad_input(format!("{}: {error}", path.display())))?;
        Self::parse(&text).with_context(|| path.display().to_string())
    }

    /// As [`Manifest::read`], from text.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let manifest: Self = toml::from_str(text).map_err(|error| bad_input(error.to_string()))?;
        if manifest.schema != 1 {
            return Err(bad_input(format!("schema {}, expected 1", manifest.schema)));
        }
        let mut names = HashSet::new();
        for set in &manifest.sets {
            set.check()
                .map_err(|fault| bad_input(format!("data set `{}`: {fault}", set.name)))?;
            if !names.insert(&set.name) {
                return Err(bad_input(format!("data set `{}` appears twice", set.name)));
            }
        }
        Ok(manifest)
    }

    pub(crate) fn datasets(&self) -> impl Iterator<Item = &Dataset> {
        self.sets.iter()
    }

    /// The data set of that name, or an error with the known names.
    pub(crate) fn find(&self, name: &str) -> Result<&Dataset> {
        let found = self.sets.iter().find(|set| set.name == name);
        found.ok_or_else(|| {
            let known: Vec<_> = self.sets.iter().map(|set| set.name.as_str()).collect();
            nearest::unknown("data set", name, &known)
        })
    }

    /// All names, for messages.
    pub(crate) fn names(&self) -> String {
        self.sets
            .iter()
            .map(|set| set.name.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    }
}

impl Dataset {
    /// Name of the converted file.
    pub(crate) fn file_name(&self) -> String {
        format!("{}.csv", self.name)
    }

    /// Names of the raw columns in their order.
    pub(crate) fn raw_columns(&self) -> &[String] {
        self.raw.columns.as_deref().unwrap_or(&self.columns)
    }

    fn check(&self) -> Result<(), String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if self.name.is_empty() || !self.name.chars().all(plain) {
            return Err("a name has only letters, digits, `_` and `-`".into());
        }
        if self.columns.len() < 2 {
            return Err("expected at least one feature and the target".into());
        }
        let mut kept: Vec<_> = self
            .raw_columns()
            .iter()
            .filter(|name| *name != "-")
            .collect();
        let mut wanted: Vec<_> = self.columns.iter().collect();
        kept.sort();
        wanted.sort();
        if kept != wanted {
            return Err("raw.columns without `-` are not the names in columns".into());
        }
        if (self.raw.format == Format::Delimited)
            != self.raw.delimiter.is_some_and(|c| c.is_ascii())
        {
            return Err(
                "raw.delimiter, one ASCII character, belongs to the format `delimited`".into(),
            );
        }
        Ok(())
    }
}

impl Raw {
    /// Last part of the address, as a file name.
    pub(crate) fn file_name(&self) -> String {
        let last = self
            .url
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .replace("%20", "_");
        let plain: String = last
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || "._-".contains(*c))
            .collect();
        if plain.trim_matches('.').is_empty() {
            "download".into()
        } else {
            plain
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum;
    use std::path::PathBuf;

    fn datasets() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .unwrap()
            .join("datasets")
    }

    #[test]
    fn the_projects_manifest_is_sound() {
        let manifest = Manifest::read(&datasets().join("manifest.toml")).unwrap();
        assert_eq!(manifest.sets.len(), 15);
        assert_eq!(
            manifest
                .sets
                .iter()
                .filter(|set| set.leaky)
                .map(|set| &set.name)
                .collect::<Vec<_>>(),
            ["energy_y1y2"]
        );
        for set in manifest.datasets() {
            assert_eq!(set.sha256.len(), 64, "{}", set.name);
            assert!(set.raw.url.starts_with("https://"), "{}", set.name);
            assert!(
                ["regression", "classification"].contains(&set.task.as_str()),
                "{}",
                set.name
            );
            assert!(set.rows > 100, "{}", set.name);
        }
    }

    #[test]
    fn bundled_files_are_what_the_manifest_says() {
        let manifest = Manifest::read(&datasets().join("manifest.toml")).unwrap();
        let bundled: Vec<_> = manifest.datasets().filter(|set| set.bundled).collect();
        assert_eq!(
            bundled
                .iter()
                .map(|set| set.name.as_str())
                .collect::<Vec<_>>(),
            ["autompg", "breast"]
        );
        for set in bundled {
            let text = std::fs::read_to_string(datasets().join(set.file_name())).unwrap();
            assert_eq!(checksum::of_bytes(text.as_bytes()), set.sha256);
            assert_eq!(text.lines().next().unwrap(), set.columns.join(","));
            assert_eq!(text.lines().count(), set.rows + 1);
        }
    }

    #[test]
    fn faults_are_named() {
        let set = |extra: &str| {
            format!(
                "schema = 1\n[[dataset]]\nname = \"a\"\ntask = \"regression\"\nrows = 1\ncolumns = [\"x\", \"y\"]\nsha256 = \"0\"\n[dataset.raw]\nurl = \"u\"\n{extra}"
            )
        };
        let fault = |text: &str| format!("{:#}", Manifest::parse(text).unwrap_err());
        assert!(Manifest::parse(&set("format = \"arff\"")).is_ok());
        assert!(fault(&set("format = \"pdf\"")).contains("unknown variant `pdf`"));
        assert!(
            fault(&set("format = \"arff\"\nmising = \"?\"")).contains("unknown field `mising`")
        );
        assert!(fault(&set("format = \"delimited\"")).contains("raw.delimiter"));
        assert!(
            fault(&set("format = \"arff\"\ncolumns = [\"x\", \"-\"]"))
                .contains("are not the names in columns")
        );
        assert_eq!(fault("schema = 2\ndataset = []"), "schema 2, expected 1");
    }

    #[test]
    fn rejected_downloads_get_a_plain_name() {
        let mut raw = Manifest::read(&datasets().join("manifest.toml"))
            .unwrap()
            .find("naval")
            .unwrap()
            .raw
            .clone();
        assert_eq!(raw.file_name(), "UCI_CBM_Dataset.zip");
        raw.url = "https://example.org/..".into();
        assert_eq!(raw.file_name(), "download");
    }
}
