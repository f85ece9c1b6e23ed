//! Where the file of a named data set is looked for: `--data`, `SVN_DATA_MIRROR`, `SVN_DATA_DIR`, the sets built in.

use std::path::{Path, PathBuf};

use super::{DataError, Dataset, Manifest, dataset};

/// Folders in the order they are searched, each with the name a message calls it by.
#[derive(Debug, Clone, Default)]
pub struct SearchPath {
    folders: Vec<(String, PathBuf)>,
}

impl SearchPath {
    /// The standard order: `data` (from `--data`), `SVN_DATA_MIRROR`, `SVN_DATA_DIR`.
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
        for name in ["SVN_DATA_MIRROR", "SVN_DATA_DIR"] {
            if let Some(folder) = variable(name) {
                path.push(name, &folder);
            }
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
                searched: self.searched(None),
            })
    }

    /// What a message says of folders that were looked into in vain: these, or their subfolders `within`.
    pub(super) fn searched(&self, within: Option<&str>) -> String {
        let shown = |(label, folder): (&str, &Path)| match within {
            Some(name) => format!("{} ({label})", folder.join(name).display()),
            None => format!("{} ({label})", folder.display()),
        };
        match self.folders().map(shown).collect::<Vec<_>>() {
            none if none.is_empty() => "no folder, since none is named".to_owned(),
            folders => folders.join(", "),
        }
    }
}

/// Find, read and check a data set of the manifest; a bundled one that is in no folder is that built in.
///
/// # Errors
/// [`DataError`]: unknown name, no file, a file that is not the set.
pub fn load_named(
    name: &str,
    manifest: &Manifest,
    path: &SearchPath,
) -> Result<Dataset, DataError> {
    let entry = manifest.entry(name)?;
    let options = entry.load_options();
    let mut dataset = match (path.find(name), svn_datasets::bundled(name)) {
        (Err(_), Some(text)) => {
            let shown = PathBuf::from(format!("{name}.csv (built in)"));
            dataset::from_bytes(&shown, text.into(), &options)?
        }
        (found, _) => dataset::load(&found?, &options)?,
    };
    entry.check(&mut dataset)?;
    Ok(dataset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundled_sets_load_and_are_what_they_claim() {
        let manifest = Manifest::embedded().unwrap();
        let entries: Vec<_> = manifest.entries().iter().filter(|e| e.bundled).collect();
        let names: Vec<_> = entries.iter().map(|entry| entry.name.as_str()).collect();
        let built_in = svn_datasets::BUNDLED.iter().map(|(name, _)| *name);
        assert_eq!(names, built_in.collect::<Vec<_>>());
        for entry in entries {
            let data = load_named(&entry.name, &manifest, &SearchPath::default()).unwrap();
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
        path.push("SVN_DATA_DIR", b.path());
        let text = path.find("yacht").unwrap_err().to_string();
        let (pa, pb) = (a.path().display(), b.path().display());
        assert_eq!(
            text,
            format!(
                "data set `yacht` not found: looked for yacht.csv and yacht.csv.gz in {pa} (--data), {pb} (SVN_DATA_DIR); \
                 fetch it with `cargo xtask fetch-data yacht` or name its folder with --data DIR"
            )
        );
        let nowhere = SearchPath::default().find("yacht").unwrap_err().to_string();
        assert!(
            nowhere.contains("in no folder, since none is named; fetch it"),
            "{nowhere}"
        );
        std::fs::write(b.path().join("yacht.csv"), "").unwrap();
        assert_eq!(path.find("yacht").unwrap(), b.path().join("yacht.csv"));
        std::fs::write(a.path().join("yacht.csv.gz"), "").unwrap();
        assert_eq!(path.find("yacht").unwrap(), a.path().join("yacht.csv.gz"));
    }

    #[test]
    fn a_changed_file_is_noticed() {
        let manifest = Manifest::embedded().unwrap();
        let text = svn_datasets::bundled("autompg").unwrap();
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
