//! The Rust files of a crate, as text.

use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// One file.
pub(super) struct Source {
    /// The path that a message names.
    pub shown: String,
    /// The path below `src`, its parts divided by `/`.
    pub path: String,
    text: String,
}

impl Source {
    #[cfg(test)]
    pub(super) fn new(shown: &str, path: &str, text: &str) -> Self {
        let [shown, path, text] = [shown, path, text].map(str::to_string);
        Self { shown, path, text }
    }

    /// Its lines without `//` comments. A `//` within a string takes the rest of its line along.
    pub(super) fn code(&self) -> impl Iterator<Item = &str> {
        self.text
            .lines()
            .map(|line| line.split("//").next().unwrap_or_default())
    }
}

/// All files below the folder `src` but those of tests, which may look at modules from outside, by name; a message names them relative to `root`.
pub(super) fn read(src: &Path, root: &Path) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    collect(src, "", root, &mut sources)?;
    Ok(sources)
}

fn collect(folder: &Path, prefix: &str, root: &Path, sources: &mut Vec<Source>) -> Result<()> {
    let context = || format!("cannot read {}", folder.display());
    let entries = fs::read_dir(folder).with_context(context)?;
    let mut entries = entries
        .collect::<std::io::Result<Vec<_>>>()
        .with_context(context)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let file = entry.path();
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if file.is_dir() {
            collect(&file, &format!("{path}/"), root, sources)?;
        } else if path.ends_with(".rs") && !path.ends_with("tests.rs") {
            let shown = file.strip_prefix(root).unwrap_or(&file).display();
            let shown = shown.to_string();
            let text = fs::read_to_string(&file).with_context(|| shown.clone())?;
            sources.push(Source { shown, path, text });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rust_file_is_read_with_both_its_paths() {
        let root = tempfile::tempdir().unwrap();
        let src = root.path().join("crates/a/src");
        fs::create_dir_all(src.join("deep")).unwrap();
        for name in ["lib.rs", "deep/mod.rs", "deep/text.json"] {
            fs::write(src.join(name), "use a; // b\n").unwrap();
        }
        let sources = read(&src, root.path()).unwrap();
        let paths = sources.iter().map(|source| source.path.as_str());
        assert_eq!(paths.collect::<Vec<_>>(), ["deep/mod.rs", "lib.rs"]);
        let shown = Path::new("crates/a/src/deep").join("mod.rs");
        assert_eq!(sources[0].shown, shown.display().to_string());
        assert_eq!(sources[0].code().collect::<Vec<_>>(), ["use a; "]);
    }
}
