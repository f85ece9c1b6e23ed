//! The data sets of the benchmark, as `datasets/manifest.toml` describes their converted files.

use serde::Deserialize;

use super::{DataError, Dataset, HeaderMode, LoadOptions, Task};

/// All known data sets, in the order of the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    schema: u32,
    #[serde(rename = "dataset")]
    entries: Vec<Entry>,
}

/// One data set.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// What the command line calls it; the file is `NAME.csv` or `NAME.csv.gz`.
    pub name: String,
    /// For headings.
    pub title: String,
    /// What is predicted.
    pub task: Task,
    /// Rows without the header.
    pub rows: usize,
    /// Header of the file; the last column is the target.
    pub columns: Vec<String>,
    /// SHA-256 of the uncompressed text, in hex.
    pub sha256: String,
    /// Whether the file is built in.
    #[serde(default)]
    pub bundled: bool,
    /// Whether a feature gives the target away; left out of `--all`.
    #[serde(default)]
    pub leaky: bool,
    /// Where it comes from.
    pub source: String,
    /// Its licence.
    pub licence: String,
    /// What a reader should know.
    #[serde(default)]
    pub note: Option<String>,
    /// Statistics of the target.
    pub target_stats: TargetStats,
    /// How the file is made from the official one: the business of the task runner.
    #[serde(rename = "raw")]
    _raw: toml::Table,
}

/// Statistics of a target, six significant digits.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetStats {
    /// Mean.
    pub mean: f64,
    /// Standard deviation with `n − 1`.
    pub std: f64,
    /// Least value.
    pub min: f64,
    /// Greatest value.
    pub max: f64,
}

impl Manifest {
    /// The manifest this program was built with.
    ///
    /// # Errors
    /// [`DataError::Manifest`] if it does not parse: a test keeps that from happening.
    pub fn embedded() -> Result<Self, DataError> {
        Self::parse(svn_datasets::MANIFEST)
    }

    /// Parse a manifest.
    ///
    /// # Errors
    /// [`DataError::Manifest`] for unknown fields, an unknown schema, an entry without a feature.
    pub fn parse(text: &str) -> Result<Self, DataError> {
        let wrong = |message: String| DataError::Manifest { message };
        let manifest: Self = toml::from_str(text).map_err(|e| wrong(e.to_string()))?;
        if manifest.schema != 1 {
            return Err(wrong(format!(
                "expected schema 1, found {}",
                manifest.schema
            )));
        }
        if let Some(entry) = manifest
            .entries
            .iter()
            .find(|entry| entry.columns.len() < 2)
        {
            return Err(wrong(format!(
                "`{}` needs a feature and a target column",
                entry.name
            )));
        }
        Ok(manifest)
    }

    /// All entries.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// One entry by name.
    ///
    /// # Errors
    /// [`DataError::Unknown`] lists the known names.
    pub fn entry(&self, name: &str) -> Result<&Entry, DataError> {
        self.entries
            .iter()
            .find(|entry| entry.name == name)
            .ok_or_else(|| DataError::Unknown {
                name: name.to_owned(),
                known: self
                    .entries
                    .iter()
                    .map(|entry| entry.name.as_str())
                    .collect::<Vec<_>>()
                    .join(", "),
            })
    }
}

impl Entry {
    /// How to read its file.
    pub fn load_options(&self) -> LoadOptions {
        LoadOptions {
            target: self.columns.last().cloned(),
            header: HeaderMode::Present,
            ..LoadOptions::new(&self.name, self.task)
        }
    }

    /// Is this the set it claims to be? Another text of the same values (line ends, `1.0` for `1`) is a warning.
    ///
    /// # Errors
    /// [`DataError::Mismatch`] for other columns, another number of rows, another target.
    pub fn check(&self, dataset: &mut Dataset) -> Result<(), DataError> {
        let mut columns = dataset.features.clone();
        columns.push(dataset.target.clone());
        let mismatch = |what, expected: String, found: String| DataError::Mismatch {
            path: dataset.path.clone(),
            name: self.name.clone(),
            what,
            expected,
            found,
        };
        if columns != self.columns {
            return Err(mismatch(
                "the columns",
                self.columns.join(", "),
                columns.join(", "),
            ));
        }
        if dataset.rows() != self.rows {
            return Err(mismatch(
                "the number of rows",
                self.rows.to_string(),
                dataset.rows().to_string(),
            ));
        }
        let mean = dataset.y.sum() / self.rows as f64;
        // The manifest has six significant digits.
        if (mean - self.target_stats.mean).abs() > 1e-5 * self.target_stats.mean.abs() {
            return Err(mismatch(
                "the target mean",
                self.target_stats.mean.to_string(),
                mean.to_string(),
            ));
        }
        if dataset.sha256 != self.sha256 {
            dataset.report.warnings.push(format!(
                "{}: the file is not byte for byte the expected one (SHA-256 {}…, expected {}…)",
                self.name,
                dataset.sha256.get(..12).unwrap_or_default(),
                self.sha256.get(..12).unwrap_or_default(),
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_manifest_parses() {
        let manifest = Manifest::embedded().unwrap();
        assert!(manifest.entry("yacht").unwrap().rows == 308);
        assert!(manifest.entries().iter().any(|entry| entry.leaky));
        assert!(
            manifest.entry("ycht").unwrap_err().to_string().starts_with(
                "unknown data set `ycht`, did you mean `yacht`?; known: yacht, energy,"
            )
        );
    }

    #[test]
    fn unknown_fields_and_schemas_are_refused() {
        let with_field = svn_datasets::MANIFEST.replacen("title =", "titel =", 1);
        assert!(
            Manifest::parse(&with_field)
                .unwrap_err()
                .to_string()
                .contains("unknown field `titel`")
        );
        let other = svn_datasets::MANIFEST.replacen("schema = 1", "schema = 2", 1);
        assert_eq!(
            Manifest::parse(&other).unwrap_err().to_string(),
            "datasets/manifest.toml: expected schema 1, found 2"
        );
    }
}
