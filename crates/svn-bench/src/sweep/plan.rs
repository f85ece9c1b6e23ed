//! The plan of a sweep, a TOML file.
//!
//! ```toml
//! [[runs]]
//! study = "uci"                                       # of the command bench-uci
//! arguments = { dataset = ["yacht"], method = "svn" } # its options, by their long names
//! settings = { epochs = 50 }                          # training settings, by theirs
//! grid = { coupling = ["gram", "block-diagonal"] }    # all combinations of these
//! random = { samples = 20, seed = 0, lr = { log = [1e-4, 1e-1] } }
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use svn_models::recipe::Recipe;
use toml::{Table, Value};

use super::SweepError;
use super::draw::Random;
use crate::engine::place_of;

/// What is to be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Its file, for messages.
    pub(super) path: PathBuf,
    pub(super) runs: Vec<Runs>,
}

/// A table `[[runs]]`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Runs {
    pub study: String,
    /// Options of every combination.
    pub fixed: Options,
    /// Alternatives of each option.
    pub grid: BTreeMap<String, Vec<Given>>,
    pub random: Option<Random>,
}

/// Options by their long names.
pub(super) type Options = BTreeMap<String, Given>;

/// The text of an option's value; none for one that is said without, and not said at all if `false`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Given {
    Text(String),
    Flag(bool),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    runs: Vec<Tables>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    study: String,
    #[serde(default)]
    arguments: Table,
    #[serde(default)]
    settings: Table,
    #[serde(default)]
    grid: BTreeMap<String, Vec<Value>>,
    random: Option<Table>,
}

/// Options that are the sweep's own: where, by whom and what beside the records.
const RESERVED: [&str; 9] = [
    "out",
    "jobs",
    "quiet",
    "save-models",
    "tune",
    "tune-budget",
    "tune-folds",
    "help",
    "version",
];

impl Plan {
    /// Read a file.
    ///
    /// # Errors
    /// [`SweepError`] with line and column, or the table and what was expected.
    pub fn read(path: &Path) -> Result<Self, SweepError> {
        let text = std::fs::read_to_string(path).map_err(|source| {
            let missing = source.kind() == std::io::ErrorKind::NotFound;
            match missing {
                true => SweepError::Arguments(format!("{}: no such plan", path.display())),
                false => SweepError::Io {
                    path: path.to_owned(),
                    source,
                },
            }
        })?;
        Self::parse(path, &text)
    }

    /// Read its text; `path` is for messages only.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn parse(path: &Path, text: &str) -> Result<Self, SweepError> {
        let file: File = toml::from_str(text).map_err(|error| {
            let (line, column, message) = place_of(text, &error);
            SweepError::Syntax {
                path: path.to_owned(),
                line,
                column,
                message,
            }
        })?;
        let tables = file.runs.into_iter().enumerate();
        let runs = tables.map(|(index, tables)| {
            Runs::new(tables).map_err(|(table, message)| SweepError::Table {
                path: path.to_owned(),
                number: index + 1,
                table,
                message,
            })
        });
        Ok(Self {
            path: path.to_owned(),
            runs: runs.collect::<Result<_, _>>()?,
        })
    }

    /// Its name: that of the file, without folder and ending.
    pub fn name(&self) -> String {
        let stem = self.path.file_stem().unwrap_or_default();
        stem.to_string_lossy().into_owned()
    }
}

/// The table that is wrong, and what is wrong with it.
pub(super) type Wrong = (&'static str, String);

impl Runs {
    fn new(tables: Tables) -> Result<Self, Wrong> {
        let mut fixed = Options::new();
        for (name, value) in &tables.arguments {
            let name = option("arguments", name)?;
            if is_setting(&name) {
                let message = format!("{name} is a training setting; expected it in settings");
                return Err(("arguments", message));
            }
            fixed.insert(name.clone(), given("arguments", &name, value)?);
        }
        for (name, value) in &tables.settings {
            let name = option("settings", name)?;
            if !is_setting(&name) {
                let known = Recipe::SETTINGS.iter().map(|setting| setting.name);
                let known: Vec<String> = known.map(|name| name.replace('_', "-")).collect();
                let message = format!(
                    "unknown setting {name}; expected one of {}",
                    known.join(", ")
                );
                return Err(("settings", message));
            }
            fixed.insert(name.clone(), given("settings", &name, value)?);
        }
        let mut grid = BTreeMap::new();
        for (name, values) in &tables.grid {
            let name = option("grid", name)?;
            if values.is_empty() {
                return Err((
                    "grid",
                    format!("{name} has no values; expected one or more"),
                ));
            }
            let values = values.iter().map(|value| given("grid", &name, value));
            grid.insert(name.clone(), values.collect::<Result<_, _>>()?);
        }
        let random = tables.random.map(|table| Random::new(&table)).transpose()?;
        let drawn = random.iter().flat_map(Random::names).cloned();
        let varied: Vec<String> = grid.keys().cloned().chain(drawn).collect();
        let mut said: Vec<&String> = fixed.keys().chain(&varied).collect();
        said.sort();
        if let Some(pair) = said.windows(2).find(|pair| pair[0] == pair[1]) {
            let name = pair[0];
            let message = format!(
                "{name} is in two of arguments, settings, grid and random; expected it in one"
            );
            return Err(("", message));
        }
        Ok(Self {
            study: tables.study,
            fixed,
            grid,
            random,
        })
    }
}

/// Whether it is a training setting.
pub(super) fn is_setting(name: &str) -> bool {
    let name = name.replace('-', "_");
    Recipe::SETTINGS.iter().any(|setting| setting.name == name)
}

/// The long name of an option, which may be written with underscores.
pub(super) fn option(table: &'static str, name: &str) -> Result<String, Wrong> {
    let name = name.replace('_', "-");
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || !name.chars().all(plain) || name.starts_with('-') {
        let message = format!(
            "`{name}` is no option; expected a long name without its dashes, such as seeds"
        );
        return Err((table, message));
    }
    match RESERVED.contains(&name.as_str()) {
        true => Err((table, format!("{name} is the sweep's own; leave it out"))),
        false => Ok(name),
    }
}

/// A value as on a command line: a list is its items, comma separated.
pub(super) fn given(table: &'static str, name: &str, value: &Value) -> Result<Given, Wrong> {
    let refused = || {
        let message =
            format!("{name} = {value}: expected a text, a number, true, false, or a list of such");
        (table, message)
    };
    Ok(match value {
        Value::Boolean(said) => Given::Flag(*said),
        Value::Array(items) => {
            let texts = items.iter().map(|item| plain(item).ok_or_else(refused));
            Given::Text(texts.collect::<Result<Vec<_>, _>>()?.join(","))
        }
        value => Given::Text(plain(value).ok_or_else(refused)?),
    })
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number_text(*number)),
        _ => None,
    }
}

/// The shortest text that is the number, `1e-7` instead of seven zeros.
pub(super) fn number_text(number: f64) -> String {
    serde_json::to_string(&number).unwrap_or_default()
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
