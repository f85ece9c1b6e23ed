//! Settings chosen for a data set, one TOML table a method: built in, from a file or folder, or none.
//!
//! A setting of the command line goes before the file's, the file's before the method's default.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use svn_models::ModelError;
use svn_models::recipe::{Method, Recipe};

/// Where settings between command line and defaults come from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TunedSource {
    /// Nowhere.
    #[default]
    Untuned,
    /// Files the program was built with: (data set, text).
    BuiltIn(&'static [(&'static str, &'static str)]),
    /// A file for all data sets, or a folder with `DATASET.toml` for some of them.
    Path(PathBuf),
}

/// Why tuned settings could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TunedError {
    /// The file could not be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The text is not a table of settings.
    #[error("{}, line {line}, column {column}: {message}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// 1-based line.
        line: usize,
        /// 1-based column.
        column: usize,
        /// What the parser said.
        message: String,
    },
    /// A setting is out of its range.
    #[error("{}, [{method}]: {source}", path.display())]
    Range {
        /// The file.
        path: PathBuf,
        /// The table.
        method: Method,
        /// What is wrong.
        source: Box<ModelError>,
    },
}

/// Settings of each method for one data set.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TunedSettings {
    methods: BTreeMap<Method, Recipe>,
}

impl TunedSettings {
    /// Read one table a method; `path` is for messages only.
    ///
    /// # Errors
    /// [`TunedError::Syntax`] with line and column, [`TunedError::Range`].
    pub fn parse(path: &Path, text: &str) -> Result<Self, TunedError> {
        let methods: BTreeMap<Method, Recipe> =
            toml::from_str(text).map_err(|error| syntax(path, text, &error))?;
        for (&method, settings) in &methods {
            settings.validate().map_err(|source| TunedError::Range {
                path: path.to_owned(),
                method,
                source: Box::new(source),
            })?;
        }
        Ok(Self { methods })
    }

    /// Read a file.
    ///
    /// # Errors
    /// [`TunedError`].
    pub fn read(path: &Path) -> Result<Self, TunedError> {
        let text = std::fs::read_to_string(path).map_err(|source| TunedError::Io {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(path, &text)
    }

    /// The table of a method; of a Newton ensemble, which is the control of SVN, SVN's if it has none of its own.
    pub fn method(&self, method: Method) -> Option<&Recipe> {
        let control = || match method {
            Method::NewtonEnsemble => self.methods.get(&Method::Svn),
            _ => None,
        };
        self.methods.get(&method).or_else(control)
    }
}

impl TunedSource {
    /// The settings for a data set; empty if there are none.
    ///
    /// # Errors
    /// [`TunedError`]; a folder without a file for the data set is no error, a path that does not exist is.
    pub fn load(&self, dataset: &str) -> Result<TunedSettings, TunedError> {
        match self {
            Self::Untuned => Ok(TunedSettings::default()),
            Self::BuiltIn(files) => files.iter().find(|(name, _)| *name == dataset).map_or_else(
                || Ok(TunedSettings::default()),
                |(name, text)| {
                    let path = format!("built-in settings of {name}");
                    TunedSettings::parse(Path::new(&path), text)
                },
            ),
            Self::Path(path) if path.is_dir() => {
                let file = path.join(format!("{dataset}.toml"));
                if file.is_file() {
                    TunedSettings::read(&file)
                } else {
                    Ok(TunedSettings::default())
                }
            }
            Self::Path(file) => TunedSettings::read(file),
        }
    }
}

impl TunedSource {
    /// A sentence if this was named by the user and has nothing for a method on a data set.
    pub(super) fn silent_about(&self, dataset: &str, method: Method) -> Option<String> {
        let Self::Path(path) = self else {
            return None;
        };
        let path = path.display();
        Some(format!(
            "--settings {path} has nothing for {method} on {dataset}: the method's defaults are used"
        ))
    }
}

/// The names of Rust's types in the words of those who write files.
fn in_words(message: &str) -> String {
    let words = [
        ("expected usize", "expected a whole number"),
        ("expected u64", "expected a whole number"),
        ("expected f64", "expected a number"),
        ("expected a sequence", "expected a list in brackets"),
        ("expected a map", "expected a table"),
    ];
    let mut text = message.to_owned();
    for (rust, plain) in words {
        text = text.replace(rust, plain);
    }
    text
}

fn syntax(path: &Path, text: &str, error: &toml::de::Error) -> TunedError {
    let (line, column, message) = place_of(text, error);
    TunedError::Syntax {
        path: path.to_owned(),
        line,
        column,
        message,
    }
}

/// Line and column, from 1, of what is wrong in a TOML file, and what it is, in plain words.
pub(crate) fn place_of(text: &str, error: &toml::de::Error) -> (usize, usize, String) {
    let start = error.span().map_or(0, |span| span.start.min(text.len()));
    let before = text.get(..start).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (
        before.matches('\n').count() + 1,
        before[line_start..].chars().count() + 1,
        in_words(&error.message().replace('\n', "; ")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use svn_models::recipe::Noise;
    use svn_models::stein::Bandwidth;

    const TEXT: &str = "# chosen by hand\n[ensemble]\nlr = 0.03\nnoise = \"homoscedastic\"\n\n[svn]\ndamping = 30.0\n\
                        ring = 4\nbandwidth = \"2d\"\n";

    fn parse(text: &str) -> Result<TunedSettings, TunedError> {
        TunedSettings::parse(Path::new("yacht.toml"), text)
    }

    #[test]
    fn a_table_holds_the_settings_of_a_method() {
        let tuned = parse(TEXT).unwrap();
        let ensemble = tuned.method(Method::Ensemble).unwrap();
        assert_eq!(
            (ensemble.lr, ensemble.noise, ensemble.damping),
            (Some(0.03), Some(Noise::Homoscedastic), None)
        );
        let svn = tuned.method(Method::Svn).unwrap();
        assert_eq!(
            (svn.damping, svn.ring, svn.bandwidth),
            (Some(30.0), Some(4), Some(Bandwidth::Dimension))
        );
        assert_eq!(tuned.method(Method::Svgd), None);
        assert_eq!(tuned.method(Method::NewtonEnsemble), Some(svn));
        let number = parse("[svgd]\nbandwidth = 1.5\n").unwrap();
        let bandwidth = number.method(Method::Svgd).unwrap().bandwidth;
        assert_eq!(bandwidth, Some(Bandwidth::Fixed(1.5)));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let message = |text: &str| parse(text).unwrap_err().to_string();
        for (text, start) in [
            (
                "[svn]\nrate = 1\n",
                "yacht.toml, line 2, column 1: unknown field `rate`, expected one of `epochs`, `patience`",
            ),
            (
                "[sgd]\nlr = 1\n",
                "yacht.toml, line 1, column 2: unknown variant `sgd`, expected one of `ensemble`",
            ),
            (
                "[svn]\nlr = \"fast\"\n",
                "yacht.toml, line 2, column 6: invalid type: string \"fast\", expected a number",
            ),
            (
                "[svn]\nbandwidth = \"wide\"\n",
                "yacht.toml, line 2, column 13: expected median, 2d, a positive number, or one with the word medians",
            ),
            (
                "[svn]\nlr = 1\nlr = 2\n",
                "yacht.toml, line 3, column 1: duplicate key",
            ),
            (
                "[svn]\nlr = -1.0\n",
                "yacht.toml, [svn]: lr is -1.0; expected a positive finite number",
            ),
        ] {
            let found = message(text);
            assert!(found.starts_with(start), "{found}");
        }
    }

    #[test]
    fn a_folder_has_files_for_some_sets_and_a_file_is_for_all() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("yacht.toml");
        std::fs::write(&file, TEXT).unwrap();
        let in_folder = TunedSource::Path(folder.path().to_owned());
        assert_eq!(in_folder.load("yacht").unwrap(), parse(TEXT).unwrap());
        assert_eq!(in_folder.load("wine").unwrap(), TunedSettings::default());
        let one = TunedSource::Path(file);
        assert_eq!(one.load("wine").unwrap(), parse(TEXT).unwrap());
        let absent = folder.path().join("none.toml");
        let message = TunedSource::Path(absent.clone())
            .load("yacht")
            .unwrap_err()
            .to_string();
        assert!(
            message.starts_with(&format!("{}: ", absent.display())),
            "{message}"
        );
    }
}
