//! A schema laid on the columns of a file: rows to features, and what was odd in them.

use std::ops::Range;
use std::path::{Path, PathBuf};

use svn_models::Task;

use super::super::numeric::describe;
use super::super::shown::{listed, shown};
use super::super::{DataError, Row};
use super::column::{Column, Encoded};
use super::target::TargetColumn;
use super::{Finding, FindingKind, Missing, Schema, SchemaError};

/// How alike two names are at least (Jaro) for one to be the other misspelt.
const ALIKE: f64 = 0.8;

/// A schema for the columns of one file.
#[derive(Debug, Clone)]
pub struct Matched {
    path: PathBuf,
    missing: Missing,
    columns: Vec<Placed>,
    target: Option<(TargetColumn, usize)>,
    ignored: Vec<String>,
}

#[derive(Debug, Clone)]
struct Placed {
    column: Column,
    /// Index of the column in the file.
    at: usize,
    features: Range<usize>,
    imputed: Count,
    unseen: Count,
}

#[derive(Debug, Clone, Default)]
struct Count {
    cells: u64,
    first_line: u64,
    /// The first cell.
    first: String,
}

impl Count {
    fn add(&mut self, line: u64, cell: &str) {
        if self.cells == 0 {
            self.first_line = line;
            self.first = describe(cell);
        }
        self.cells += 1;
    }
}

/// What became of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All features are there.
    Full,
    /// A number or a date is missing and rows of that kind are left out ([`Missing::Drop`]): the row has no prediction.
    Missing {
        /// 1-based column of the first missing cell.
        column: usize,
    },
}

/// A target cell of a later file.
#[derive(Debug, Clone, PartialEq)]
pub enum TargetCell {
    /// Of a regression.
    Number(f64),
    /// Of a classification, as it is written.
    Label(String),
}

impl Schema {
    /// Find the columns by name in a file.
    ///
    /// # Errors
    /// [`SchemaError::MissingColumns`] with the nearest names.
    pub fn matched(&self, columns: &[String], path: &Path) -> Result<Matched, DataError> {
        let find = |name: &String| columns.iter().position(|column| column == name);
        let mut end = 0;
        let (mut placed, mut missing) = (Vec::new(), Vec::new());
        for column in &self.columns {
            let features = end..end + column.width();
            end = features.end;
            match find(&column.name) {
                Some(at) => placed.push(Placed {
                    column: column.clone(),
                    at,
                    features,
                    imputed: Count::default(),
                    unseen: Count::default(),
                }),
                None => missing.push(column.name.clone()),
            }
        }
        let used = |name: &String| self.columns.iter().any(|column| &column.name == name);
        let others = columns
            .iter()
            .filter(|name| !used(name) && **name != self.target.name);
        let ignored: Vec<String> = others.cloned().collect();
        if !missing.is_empty() {
            let near = missing.iter().filter_map(|name| nearest(name, &ignored));
            return Err(SchemaError::MissingColumns {
                path: path.to_owned(),
                near: near.collect(),
                missing,
                known: columns.to_vec(),
            }
            .into());
        }
        let known = |name: &String| self.left_out.contains(name);
        Ok(Matched {
            path: path.to_owned(),
            missing: self.missing,
            columns: placed,
            target: find(&self.target.name).map(|at| (self.target.clone(), at)),
            ignored: ignored.into_iter().filter(|name| !known(name)).collect(),
        })
    }
}

fn nearest(name: &str, others: &[String]) -> Option<String> {
    let lower = name.to_lowercase();
    let scored = others
        .iter()
        .map(|other| (strsim::jaro(&lower, &other.to_lowercase()), other));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(score, _)| *score >= ALIKE)
        .map(|(_, other)| other.clone())
}

impl Matched {
    /// Columns of the file that the schema does not know, in order.
    pub fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// Whether the file has the target column.
    pub fn has_target(&self) -> bool {
        self.target.is_some()
    }

    /// Write the features of a row; odd cells are counted for [`told`](Self::told).
    ///
    /// # Shapes
    /// `out`: as many as [`Schema::width`].
    ///
    /// # Errors
    /// [`DataError::Cell`] for a cell that is neither a value nor missing; [`SchemaError::MissingCell`] under [`Missing::Error`].
    pub fn features(&mut self, row: &Row<'_>, out: &mut [f64]) -> Result<Outcome, DataError> {
        for placed in &mut self.columns {
            let cell = row.cell(placed.at);
            let Some(out) = out.get_mut(placed.features.clone()) else {
                continue;
            };
            match placed.column.encode(cell, out) {
                Encoded::Known => {}
                Encoded::Unseen => placed.unseen.add(row.line, cell),
                Encoded::Missing => match self.missing {
                    Missing::Impute => placed.imputed.add(row.line, cell),
                    Missing::Drop => {
                        let column = placed.at + 1;
                        return Ok(Outcome::Missing { column });
                    }
                    Missing::Error => {
                        return Err(SchemaError::MissingCell {
                            path: self.path.clone(),
                            line: row.line,
                            column: placed.at + 1,
                            name: placed.column.name.clone(),
                            found: describe(cell),
                        }
                        .into());
                    }
                },
                Encoded::Unreadable => {
                    let expected = placed.column.expected();
                    let (at, name) = (placed.at, &placed.column.name);
                    return Err(cell_error(&self.path, row, at, name, expected));
                }
            }
        }
        Ok(Outcome::Full)
    }

    /// The target of a row; `None` if the file has no such column or the cell is missing.
    ///
    /// # Errors
    /// [`DataError::Cell`] for a cell that is no number, in a regression.
    pub fn target(&self, row: &Row<'_>) -> Result<Option<TargetCell>, DataError> {
        let Some((column, at)) = &self.target else {
            return Ok(None);
        };
        let cell = row.cell(*at);
        if column.is_missing(cell) {
            return Ok(None);
        }
        match (&column.notation, column.task) {
            (Some(notation), Task::Regression) => match notation.read(cell) {
                Some(value) => Ok(Some(TargetCell::Number(value))),
                None => Err(cell_error(&self.path, row, *at, &column.name, "a number")),
            },
            _ => Ok(Some(TargetCell::Label(cell.to_owned()))),
        }
    }

    /// What was odd in the rows so far, a sentence for each column, and which columns are not used.
    pub fn told(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        if !self.ignored.is_empty() {
            let names = listed(self.ignored.iter().map(|name| format!("`{}`", shown(name))));
            let text = format!("column(s) that the model does not know are ignored: {names}");
            findings.push(Finding::new(FindingKind::Ignored, text));
        }
        for placed in &self.columns {
            let name = shown(&placed.column.name);
            let Count {
                cells,
                first_line,
                first,
            } = &placed.unseen;
            if *cells > 0 {
                findings.push(Finding::new(
                    FindingKind::Unseen,
                    format!(
                        "column `{name}`: {cells} cell(s) of categories never seen before, the first in line {first_line}: {first}"
                    ),
                ));
            }
            let Count {
                cells, first_line, ..
            } = &placed.imputed;
            if *cells > 0 {
                findings.push(Finding::new(
                    FindingKind::Missing,
                    format!(
                        "column `{name}`: {cells} missing cell(s) become the mean of the training rows, the first in line {first_line}"
                    ),
                ));
            }
        }
        findings
    }
}

fn cell_error(
    path: &Path,
    row: &Row<'_>,
    at: usize,
    name: &str,
    expected: &'static str,
) -> DataError {
    DataError::Cell {
        path: path.to_owned(),
        line: row.line,
        column: at + 1,
        name: name.to_owned(),
        expected,
        found: describe(row.cell(at)),
    }
}
