//! What is predicted: numbers or classes, decided from all rows, and which rows have a target.

use serde::{Deserialize, Serialize};
use svn_models::{LabelEncoding, Task};

use super::super::notation::{Notation, is_missing};
use super::super::numeric::describe;
use super::super::shown::{listed, shown};
use super::super::{DataError, Table};
use super::survey::{Cells, Survey, notation_of};
use super::{Ask, Finding, FindingKind, Missing, SchemaError, Targets};

/// Whole numbers up to which it is said that they could be classes.
const FEW_NUMBERS: usize = 20;
/// Standard deviation over the largest size below which a target varies in its last digits alone.
const LAST_DIGITS: f64 = 1e-11;

/// How target cells are read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TargetColumn {
    pub(super) name: String,
    pub(super) task: Task,
    /// Of numbers.
    pub(super) notation: Option<Notation>,
    /// Whether words such as `NA` are classes.
    pub(super) words_are_classes: bool,
}

impl TargetColumn {
    /// Whether a cell holds no target.
    pub(super) fn is_missing(&self, cell: &str) -> bool {
        cell.is_empty() || !self.words_are_classes && is_missing(cell)
    }
}

/// How the target is read, and the rows that have one.
pub(super) struct Chosen {
    pub(super) column: TargetColumn,
    pub(super) rows: Vec<usize>,
    at: usize,
}

impl Chosen {
    /// The targets of the rows.
    pub(super) fn targets(&self, table: &Table) -> Result<Targets, DataError> {
        let cells = Cells {
            table,
            column: self.at,
            rows: &self.rows,
        };
        match &self.column.notation {
            Some(notation) => numbers(cells, notation),
            None => labels(cells),
        }
    }
}

/// Choose the task, and the rows.
pub(super) fn choose(
    table: &Table,
    at: usize,
    ask: &Ask,
    findings: &mut Vec<Finding>,
) -> Result<Chosen, DataError> {
    let all: Vec<usize> = (0..table.len()).collect();
    let cells = Cells {
        table,
        column: at,
        rows: &all,
    };
    let survey = Survey::of(cells);
    let task = task(cells, &survey, ask, findings)?;
    let column = TargetColumn {
        name: ask.target.clone(),
        task,
        notation: (task == Task::Regression).then(|| notation_of(cells, &survey)),
        words_are_classes: task == Task::Classification && ask.keep.contains(&ask.target),
    };
    let rows = rows_with_target(cells, &column, ask.missing, findings)?;
    Ok(Chosen { column, rows, at })
}

fn task(
    cells: Cells<'_>,
    survey: &Survey,
    ask: &Ask,
    findings: &mut Vec<Finding>,
) -> Result<Task, DataError> {
    if let Some(task) = ask.task {
        return Ok(task);
    }
    let name = shown(cells.name());
    if survey.has_slips(cells) {
        let found = describe(cells.iter().nth(survey.first_text).unwrap_or_default());
        let advice = "a number as in most rows (or choose --task classification)";
        return Err(cells.error(survey.first_text, advice, found));
    }
    let (task, why) = if survey.is_number() {
        let notation = notation_of(cells, survey);
        let mut values: Vec<f64> = cells
            .iter()
            .filter_map(|cell| notation.read(cell))
            .collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let often = |value: f64| {
            let rows = cells
                .iter()
                .filter(|cell| notation.read(cell) == Some(value));
            rows.take(2).count() == 2
        };
        let whole = values.iter().all(|value| value.fract() == 0.0);
        match values.len() {
            2 if values.iter().all(|value| often(*value)) => (
                Task::Classification,
                format!("`{name}` has two values; --task regression takes them as numbers"),
            ),
            distinct if whole && distinct <= FEW_NUMBERS => (
                Task::Regression,
                format!(
                    "`{name}` has {distinct} distinct whole numbers; --task classification takes them as classes"
                ),
            ),
            _ => (
                Task::Regression,
                format!("`{name}` has numbers; --task classification takes them as classes"),
            ),
        }
    } else if survey.is_code() && survey.texts == 0 {
        (
            Task::Classification,
            format!("`{name}` has codes of digits; --task regression takes them as numbers"),
        )
    } else {
        (Task::Classification, format!("`{name}` has text"))
    };
    findings.push(Finding::new(
        FindingKind::Task,
        format!("the task is {task}: {why}"),
    ));
    Ok(task)
}

fn rows_with_target(
    cells: Cells<'_>,
    column: &TargetColumn,
    missing: Missing,
    findings: &mut Vec<Finding>,
) -> Result<Vec<usize>, DataError> {
    let (mut rows, mut first) = (Vec::with_capacity(cells.rows.len()), None);
    for (place, (cell, &row)) in cells.iter().zip(cells.rows).enumerate() {
        if !column.is_missing(cell) {
            rows.push(row);
        } else if first.is_none() {
            first = Some((place, cell));
        }
    }
    let left_out = cells.rows.len() - rows.len();
    if let Some((place, cell)) = first {
        if missing == Missing::Error {
            return Err(SchemaError::MissingTarget {
                path: cells.table.path.clone(),
                line: cells.line(place),
                column: cells.column + 1,
                name: cells.name().to_owned(),
                found: describe(cell),
                word: column.task == Task::Classification && !cell.is_empty(),
            }
            .into());
        }
        findings.push(Finding::new(
            FindingKind::Rows,
            format!(
                "{left_out} row(s) without a target are left out, the first in line {} ({})",
                cells.line(place),
                describe(cell)
            ),
        ));
    }
    match rows.is_empty() {
        true => Err(DataError::Empty {
            path: cells.table.path.clone(),
        }),
        false => Ok(rows),
    }
}

fn numbers(cells: Cells<'_>, notation: &Notation) -> Result<Targets, DataError> {
    let mut values = Vec::with_capacity(cells.rows.len());
    for (place, cell) in cells.iter().enumerate() {
        let expected = "a number written as in the other cells";
        let value = notation.read(cell);
        values.push(value.ok_or_else(|| cells.error(place, expected, describe(cell)))?);
    }
    let n = values.len() as f64;
    let size = values
        .iter()
        .fold(0.0_f64, |size, value| size.max(value.abs()));
    // In units of the largest, so that squares neither over- nor underflow.
    let unit = if size > 0.0 { size } else { 1.0 };
    let mean = values.iter().map(|value| value / unit / n).sum::<f64>();
    let squares = values.iter().map(|value| (value / unit - mean).powi(2) / n);
    let deviation = squares.sum::<f64>().sqrt();
    if values.len() > 1 && deviation < LAST_DIGITS {
        return Err(SchemaError::ConstantTarget {
            path: cells.table.path.clone(),
            target: cells.name().to_owned(),
            value: values.first().copied().unwrap_or_default(),
            deviation: deviation * unit,
        }
        .into());
    }
    Ok(Targets::Numbers(values.into()))
}

fn labels(cells: Cells<'_>) -> Result<Targets, DataError> {
    let (path, target) = (cells.table.path.clone(), cells.name().to_owned());
    let encoding = LabelEncoding::fit(cells.iter());
    let rows = cells.rows.len();
    match encoding.classes() {
        [class] => {
            let class = class.clone();
            return Err(DataError::OneClass {
                path,
                target,
                class,
            });
        }
        classes if classes.len() > 20.max(rows / 10) => {
            let classes = classes.len();
            return Err(DataError::TooManyClasses {
                path,
                target,
                classes,
                rows,
            });
        }
        _ => {}
    }
    let mut counts = vec![(0_usize, 0); encoding.len()];
    for (place, cell) in cells.iter().enumerate() {
        let class = encoding.index(cell).and_then(|class| counts.get_mut(class));
        if let Some(class) = class {
            *class = (class.0 + 1, place);
        }
    }
    let rare = counts.iter().zip(encoding.classes());
    if let Some(((_, place), class)) = rare.into_iter().find(|((count, _), _)| *count < 2) {
        let (line, class) = (cells.line(*place), class.clone());
        return Err(SchemaError::RareClass {
            path,
            target,
            class,
            line,
        }
        .into());
    }
    Ok(Targets::Labels(cells.iter().map(str::to_owned).collect()))
}

/// The classes of a target, for a sentence.
pub(super) fn classes_in_words(labels: &[String]) -> String {
    let encoding = LabelEncoding::fit(labels.iter().map(String::as_str));
    format!("{} classes: {}", encoding.len(), listed(encoding.classes()))
}
