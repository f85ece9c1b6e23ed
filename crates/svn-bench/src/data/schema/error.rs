//! What can be wrong with the columns of a table, in words that say where and what to do.

use std::path::PathBuf;

use super::super::shown::{argument, listed, shown};

/// Why a table cannot be learnt from, or a later one does not fit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// A text among numbers.
    #[error("{}, line {line}, column {column} (`{}`): expected a number as in most rows, found {found}; mend it, or --keep {argument} takes categories, --drop {argument} no column", path.display(), shown(name), argument = argument(name))]
    OddCell {
        /// The file.
        path: PathBuf,
        /// 1-based line.
        line: u64,
        /// 1-based column.
        column: usize,
        /// Name of the column.
        name: String,
        /// The cell, described.
        found: String,
    },
    /// A missing cell of a number or a date.
    #[error("{}, line {line}, column {column} (`{}`): {found}; fill it, or see --missing drop and --missing impute", path.display(), shown(name))]
    MissingCell {
        /// The file.
        path: PathBuf,
        /// 1-based line.
        line: u64,
        /// 1-based column.
        column: usize,
        /// Name of the column.
        name: String,
        /// The cell, described.
        found: String,
    },
    /// A row without a target.
    #[error("{}, line {line}, column {column}: the target `{name}` has {found}; fill it, or --missing drop leaves such rows out{}", path.display(), class_advice(*word, name), name = shown(name))]
    MissingTarget {
        /// The file.
        path: PathBuf,
        /// 1-based line.
        line: u64,
        /// 1-based column.
        column: usize,
        /// Name of the target.
        name: String,
        /// The cell, described.
        found: String,
        /// Whether it is a word that could be a class.
        word: bool,
    },
    /// A category of very many levels.
    #[error("{}: the column `{}` has {levels} distinct texts, at most {limit} can be kept; leave it out", path.display(), shown(name))]
    Levels {
        /// The file.
        path: PathBuf,
        /// Name of the column.
        name: String,
        /// Distinct texts.
        levels: usize,
        /// The limit.
        limit: usize,
    },
    /// A class on a single row.
    #[error("{}: the target `{}` has the class `{}` in line {line} alone; at least two rows are needed, leave that one out", path.display(), shown(target), shown(class))]
    RareClass {
        /// The file.
        path: PathBuf,
        /// The target column.
        target: String,
        /// The class.
        class: String,
        /// 1-based line.
        line: u64,
    },
    /// A regression target without variation.
    #[error("{}: the target `{}` is {value} in every row but for the last digits (standard deviation {deviation:.2e}); there is nothing to learn", path.display(), shown(target))]
    ConstantTarget {
        /// The file.
        path: PathBuf,
        /// The target column.
        target: String,
        /// Its first value.
        value: f64,
        /// Its standard deviation.
        deviation: f64,
    },
    /// Columns that a model needs and a file has not.
    #[error("{}: no column {}; {}", path.display(), listed(missing.iter().map(|name| format!("`{}`", shown(name)))), nearest(near, known))]
    MissingColumns {
        /// The file.
        path: PathBuf,
        /// Names that are needed.
        missing: Vec<String>,
        /// Names of the file that are nearly the same, if there are such.
        near: Vec<String>,
        /// Names of the file's columns.
        known: Vec<String>,
    },
}

fn class_advice(word: bool, name: &str) -> String {
    match word {
        true => format!(", --keep {} makes it a class", argument(name)),
        false => String::new(),
    }
}

fn nearest(near: &[String], known: &[String]) -> String {
    let quoted = |names: &[String]| listed(names.iter().map(|name| format!("`{}`", shown(name))));
    match near.is_empty() {
        true if known.first().is_some_and(|name| name == "column1") => {
            "the file seems to have no header line".to_owned()
        }
        true => format!("the file has {}", quoted(known)),
        false => format!("the nearest names are {}", quoted(near)),
    }
}
