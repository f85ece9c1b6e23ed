//! Where the file of a named data set is looked for: `--data`, `SVN_DATA_MIRROR`, the checkout, `SVN_DATA_DIR`.

use std::path::{Path, PathBuf};

use super::{DataError, Dataset, Manifest, dataset};

/// Folders in the order they are searched, each with the name a message calls it by.
#[derive(Debug, Clone, Default)]
pub struct SearchPath {
    folders: Vec<(String, PathBuf)>,
}

impl SearchPath {
    /// The standard order: `data` (from `--data`), `SVN_DATA_MIRROR`, the bundled sets, `SVN_DATA_DIR`.
    pub fn standard(data: Option<&Path>) -> Self {
        let variable = |name: &str| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let mut path = Self::default();
        if let Some(folder) = data {
            path.push("--data", folder);
        }
        if let Some(folder) = variable("SVN_DATA_MIRROR") {
            path.push("SVN_DATA_MIRROR", &folder);
        }
        path.push("bundled", &bundled());
        if let Some(folder) = variable("SVN_DATA_DIR") {
            path.push("SVN_DATA_DIR", &folder);
        }
        path
    }

    /// Search one more folder, after all others.
    pub fn push(&mut self, label: &str, folder: &Path) {
        self.folders.push((label.to_owned(), folder.to_owned()));
    }

    /// The folders in order, each with the name a message calls it by.
    pub fn folders(&self) -> impl Iterator<Item = (&str, &Path)> {
        let folders = self.folders.iter();
        folders.map(|(label, folder)| (label.as_str(), folder.as_path()))
    }

    /// The file of a data set.
    ///
    /// # Errors
    /// [`DataError::NotFound`] says what was looked for where and how to get it.
    pub fn find(&self, name: &str) -> Result<PathBuf, DataError> {
        self.folders
            .iter()
            .flat_map(|(_, folder)| {
                [format!("{name}.csv"), format!("{name}.csv.gz")].map(|file| folder.join(file))
            })
            .find(|path| path.is_file())
            .ok_or_else(|| DataError::NotFound {
                name: name.to_owned(),
                searched: self
                    .folders
                    .iter()
                    .map(|(label, folder)| format!("{} ({label})", folder.display()))
                    .collect::<Vec<_>>()
                    .join(", "),
            })
    }
}

/// The folder of sets that are part of the checkout.
fn bundled() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    crates
        .and_then(Path::parent)
        .unwrap_or(Path::new("."))
        .join("datasets")
}

/// Find, read and check a data set of the manifest.
///
/// # Errors
/// [`DataError`]: unknown name, no file, a file that is not the set.
pub fn load_named(
    name: &str,
    manifest: &Manifest,
    path: &SearchPath,
) -> Result<Dataset, DataError> {
    let entry = manifest.entry(name)?;
    let mut dataset = dataset::load(&path.find(name)?, &entry.load_options())?;
    entry.check(&mut dataset)?;
    Ok(dataset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundled_sets_load_and_are_what_they_claim() {
        let manifest = Manifest::embedded().unwrap();
        for entry in manifest.entries().iter().filter(|entry| entry.bundled) {
            let mut path = SearchPath::default();
            path.push("bundled", &bundled());
            let data = load_named(&entry.name, &manifest, &path).unwrap();
            assert_eq!(
                (data.rows(), data.x.ncols()),
                (entry.rows, entry.columns.len() - 1)
            );
            assert_eq!(data.report.warnings, Vec::<String>::new(), "{}", entry.name);
            let n = data.rows() as f64;
            let mean = data.y.sum() / n;
            let std = (data.y.mapv(|y| (y - mean).powi(2)).sum() / (n - 1.0)).sqrt();
            // Six significant digits in the manifest.
            assert!((std / entry.target_stats.std - 1.0).abs() < 1e-5);
            assert_eq!(
                data.y.iter().copied().fold(f64::MAX, f64::min),
                entry.target_stats.min
            );
            assert_eq!(
                data.y.iter().copied().fold(f64::MIN, f64::max),
                entry.target_stats.max
            );
        }
    }

    #[test]
    fn earlier_folders_win_and_what_is_missing_is_said() {
        let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut path = SearchPath::default();
        path.push("--data", a.path());
        path.push("bundled", b.path());
        let text = path.find("yacht").unwrap_err().to_string();
        let (pa, pb) = (a.path().display(), b.path().display());
        assert_eq!(
            text,
            format!(
                "data set `yacht` not found: looked for yacht.csv and yacht.csv.gz in {pa} (--data), {pb} (bundled); \
                 fetch it with `cargo xtask fetch-data yacht` or name its folder with --data DIR"
            )
        );
        std::fs::write(b.path().join("yacht.csv"), "").unwrap();
        assert_eq!(path.find("yacht").unwrap(), b.path().join("yacht.csv"));
        std::fs::write(a.path().join("yacht.csv.gz"), "").unwrap();
        assert_eq!(path.find("yacht").unwrap(), a.path().join("yacht.csv.gz"));
    }

    #[test]
    fn a_changed_file_is_noticed() {
        let manifest = Manifest::embedded().unwrap();
        let text = std::fs::read_to_string(bundled().join("autompg.csv")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut path = SearchPath::default();
        path.push("--data", folder.path());
        let file = folder.path().join("autompg.csv");
        let load = |text: String| {
            std::fs::write(&file, text).unwrap();
            load_named("autompg", &manifest, &path)
        };
        let same_values = load(text.replace('\n', "\r\n")).unwrap();
        assert!(
            same_values.report.warnings[0]
                .starts_with("autompg: the file is not byte for byte the expected one (SHA-256 ")
        );

        let short = load(text.lines().take(101).collect::<Vec<_>>().join("\n"))
            .unwrap_err()
            .to_string();
        let file = file.display();
        assert_eq!(
            short,
            format!(
                "{file}: expected the number of rows 392 for data set `autompg`, found 100; it is another version of \
                 the set, fetch it with `cargo xtask fetch-data autompg`"
            )
        );
        let renamed = load(text.replacen("mpg\n", "consumption\n", 1))
            .unwrap_err()
            .to_string();
        assert!(renamed.contains("no column `mpg`"), "{renamed}");
        let shifted = load(text.replace(",18\n", ",180\n"))
            .unwrap_err()
            .to_string();
        assert!(
            shifted.contains("expected the target mean 23.4459"),
            "{shifted}"
        );
    }
}
