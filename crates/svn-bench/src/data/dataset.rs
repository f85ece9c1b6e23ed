//! A checked data set in memory, and how a table becomes one.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use ndarray::{Array1, Array2};
use sha2::{Digest, Sha256};

use super::numeric::{cell_error, is_text, number};
use svn_models::{LabelEncoding, Task};

use super::{CellPolicy, DataError, HeaderMode, Reading, Table, audit, bytes};

/// How to read a table.
#[derive(Debug, Clone)]
pub struct LoadOptions {
    /// Name of the data set, in records and messages.
    pub name: String,
    /// What is predicted.
    pub task: Task,
    /// Target column; `None` is the last one, which is refused if another column looks like a second target.
    pub target: Option<String>,
    /// Columns that are neither target nor feature.
    pub drop: Vec<String>,
    /// Cells that are no numbers.
    pub cells: CellPolicy,
    /// Whether the first row holds names.
    pub header: HeaderMode,
}

impl LoadOptions {
    /// Last column is the target, bad cells are refused, the header is found out.
    pub fn new(name: impl Into<String>, task: Task) -> Self {
        Self {
            name: name.into(),
            task,
            target: None,
            drop: Vec::new(),
            cells: CellPolicy::Reject,
            header: HeaderMode::Auto,
        }
    }
}

/// What reading changed or noticed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoadReport {
    /// Rows left out by [`CellPolicy::DropRow`].
    pub dropped_rows: usize,
    /// Cells set to NaN by [`CellPolicy::ImputeMean`].
    pub imputed_cells: usize,
    /// Sentences for the user.
    pub warnings: Vec<String>,
}

/// A data set: features, target and their names. Nothing is scaled, split or shuffled.
///
/// # Shapes
/// `x`: `n × d`; `y`: `n`, a real number or a class index `0.0, 1.0, …`.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// Its name.
    pub name: String,
    /// What is predicted.
    pub task: Task,
    /// Features, original units; NaN only under [`CellPolicy::ImputeMean`].
    pub x: Array2<f64>,
    /// Target, original units.
    pub y: Array1<f64>,
    /// Names of the features.
    pub features: Vec<String>,
    /// Name of the target.
    pub target: String,
    /// The classes, for classification.
    pub labels: Option<LabelEncoding>,
    /// Where it was read from.
    pub path: PathBuf,
    /// SHA-256 of the text (after gzip, without a byte-order mark), in hex: part of a record's identity.
    pub sha256: String,
    /// What reading changed or noticed.
    pub report: LoadReport,
}

impl Dataset {
    /// Rows `n`.
    pub fn rows(&self) -> usize {
        self.x.nrows()
    }

    /// Class index of each row; empty for regression.
    pub fn class_indices(&self) -> Vec<usize> {
        match self.task {
            Task::Regression => Vec::new(),
            Task::Classification => self.y.iter().map(|&class| class as usize).collect(),
        }
    }
}

/// Read a file, plain or gzip.
///
/// # Errors
/// Everything in [`DataError`] but what concerns the manifest.
pub fn load(path: &Path, options: &LoadOptions) -> Result<Dataset, DataError> {
    from_bytes(path, bytes::read(path)?, options)
}

/// The same of a file whose unpacked bytes are at hand; messages call it `path`.
pub(super) fn from_bytes(
    path: &Path,
    bytes: Vec<u8>,
    options: &LoadOptions,
) -> Result<Dataset, DataError> {
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    let sha256 = format!("{:x}", Sha256::digest(text));
    let reading = Reading {
        header: options.header,
        ..Reading::default()
    };
    let table = Table::new(path, Box::new(Cursor::new(bytes)), &reading)?;
    let mut dataset = from_table(&table, sha256, options)?;
    let notes = table
        .notes
        .iter()
        .map(|note| format!("{}: {note}", options.name));
    dataset.report.warnings.splice(0..0, notes);
    Ok(dataset)
}

pub(super) fn from_table(
    table: &Table,
    sha256: String,
    options: &LoadOptions,
) -> Result<Dataset, DataError> {
    let target = match &options.target {
        Some(name) => table.column(name)?,
        None => table.columns.len() - 1,
    };
    for name in &options.drop {
        table.column(name)?;
    }
    let features: Vec<usize> = (0..table.columns.len())
        .filter(|&column| column != target && !options.drop.contains(&table.columns[column]))
        .collect();
    if features.is_empty() {
        let target = table.columns[target].clone();
        return Err(DataError::NoFeatures {
            path: table.path.clone(),
            target,
        });
    }

    let mut report = LoadReport::default();
    let mut values = Vec::with_capacity(table.len() * features.len());
    let mut kept = Vec::with_capacity(table.len());
    for row in 0..table.len() {
        match read_row(table, row, &features, target, options)? {
            Some((numbers, imputed)) => {
                values.extend(numbers);
                report.imputed_cells += imputed;
                kept.push(row);
            }
            None => report.dropped_rows += 1,
        }
    }
    if kept.is_empty() {
        return Err(DataError::Empty {
            path: table.path.clone(),
        });
    }
    let shape = (kept.len(), features.len());
    let x = Array2::from_shape_vec(shape, values).expect("one number per kept row and feature");
    let (y, labels) = read_target(table, &kept, target, options.task)?;
    report_policy(&mut report, options);

    let dataset = Dataset {
        name: options.name.clone(),
        task: options.task,
        x,
        y,
        features: features
            .iter()
            .map(|&column| table.columns[column].clone())
            .collect(),
        target: table.columns[target].clone(),
        labels,
        path: table.path.clone(),
        sha256,
        report,
    };
    with_leaks_reported(dataset, options)
}

/// Numbers of one row and how many were imputed; `None` if the policy drops the row.
fn read_row(
    table: &Table,
    row: usize,
    features: &[usize],
    target: usize,
    options: &LoadOptions,
) -> Result<Option<(Vec<f64>, usize)>, DataError> {
    let mut numbers = Vec::with_capacity(features.len());
    let mut imputed = 0;
    for &column in features {
        match (number(table.cell(row, column)), options.cells) {
            (Ok(value), _) => numbers.push(value),
            (Err(found), CellPolicy::Reject) => {
                return Err(cell_error(table, row, column, "a number", found));
            }
            (Err(_), CellPolicy::DropRow) => return Ok(None),
            (Err(_), CellPolicy::ImputeMean) => {
                numbers.push(f64::NAN);
                imputed += 1;
            }
        }
    }
    let cell = table.cell(row, target);
    let (expected, bad) = match options.task {
        Task::Regression => ("a number", number(cell).err()),
        // Any text may be a class, but a missing one is none.
        Task::Classification => (
            "a class label",
            number(cell).err().filter(|_| !is_text(cell)),
        ),
    };
    match (bad, options.cells) {
        (None, _) => Ok(Some((numbers, imputed))),
        (Some(_), CellPolicy::DropRow) => Ok(None),
        (Some(found), _) => Err(cell_error(table, row, target, expected, found)),
    }
}

fn read_target(
    table: &Table,
    kept: &[usize],
    target: usize,
    task: Task,
) -> Result<(Array1<f64>, Option<LabelEncoding>), DataError> {
    let cells = || kept.iter().map(|&row| table.cell(row, target));
    if task == Task::Regression {
        let y = kept
            .iter()
            .map(|&row| {
                number(table.cell(row, target))
                    .map_err(|found| cell_error(table, row, target, "a number", found))
            })
            .collect::<Result<_, _>>()?;
        return Ok((y, None));
    }
    let encoding = LabelEncoding::fit(cells());
    let name = table.columns[target].clone();
    match encoding.classes() {
        [class] => {
            let class = class.clone();
            return Err(DataError::OneClass {
                path: table.path.clone(),
                target: name,
                class,
            });
        }
        classes if classes.len() > 20.max(kept.len() / 10) => {
            let (classes, rows) = (classes.len(), kept.len());
            return Err(DataError::TooManyClasses {
                path: table.path.clone(),
                target: name,
                classes,
                rows,
            });
        }
        _ => {}
    }
    // Every label is one that the encoding was made of.
    let index = |cell| encoding.index(cell).unwrap_or_default() as f64;
    let y = cells().map(index).collect();
    Ok((y, Some(encoding)))
}

fn report_policy(report: &mut LoadReport, options: &LoadOptions) {
    let (name, rows, cells) = (&options.name, report.dropped_rows, report.imputed_cells);
    if rows > 0 {
        report.warnings.push(format!(
            "{name}: left out {rows} row(s) with missing or unreadable cells"
        ));
    }
    if cells > 0 {
        report.warnings.push(format!(
            "{name}: {cells} missing or unreadable cell(s) become the training mean"
        ));
    }
}

fn with_leaks_reported(mut dataset: Dataset, options: &LoadOptions) -> Result<Dataset, DataError> {
    for (column, correlation) in audit::leaks(dataset.x.view(), dataset.y.view()) {
        let feature = dataset.features[column].clone();
        if options.target.is_none() && options.task == Task::Regression {
            return Err(DataError::AmbiguousTarget {
                path: dataset.path,
                column: feature,
                target: dataset.target,
                correlation,
            });
        }
        dataset.report.warnings.push(format!(
            "{}: feature `{feature}` has correlation {correlation:.3} with the target `{}`; is it a leak?",
            dataset.name, dataset.target
        ));
    }
    Ok(dataset)
}

#[cfg(test)]
#[path = "dataset_tests.rs"]
mod tests;
