//! From a table to a schema, features and a target.

use ndarray::Array2;
use rayon::prelude::*;

use super::super::shown::{argument, shown};
use super::super::{DataError, Table};
use super::column::Column;
use super::decide::{Decision, Remark, decide};
use super::survey::Cells;
use super::target::{self, Chosen};
use super::{Ask, Finding, FindingKind, Learned, Outcome, Schema, Targets, copies, leaks};

impl Schema {
    /// Decide what each column is, from all rows, and read them.
    ///
    /// # Errors
    /// [`DataError`] with line and column for a cell that is not as the others, a missing one under [`Missing::Error`](super::Missing::Error), a
    /// row without target; for a target that cannot be learnt; [`DataError::NoColumn`], [`DataError::NoFeatures`].
    pub fn learn(table: &Table, ask: &Ask) -> Result<Learned, DataError> {
        let at = table.column(&ask.target)?;
        let group = ask
            .group
            .as_ref()
            .map(|name| table.column(name))
            .transpose()?;
        for name in ask.drop.iter().chain(&ask.keep) {
            table.column(name)?;
        }
        let notes = table.notes.iter();
        let mut findings: Vec<Finding> = notes
            .map(|note| Finding::new(FindingKind::Reading, note.as_str()))
            .collect();
        let chosen = target::choose(table, at, ask, &mut findings)?;
        let (columns, left_out) = columns(table, ask, &chosen, (at, group), &mut findings)?;
        let targets = chosen.targets(table)?;
        if let Targets::Labels(labels) = &targets {
            let text = format!(
                "`{}` has {}",
                shown(&ask.target),
                target::classes_in_words(labels)
            );
            findings.push(Finding::new(FindingKind::Target, text));
        }
        let schema = Self {
            target: chosen.column.clone(),
            missing: ask.missing,
            columns,
            left_out,
        };
        schema.read(table, (&chosen.rows, targets), group, findings)
    }

    fn read(
        self,
        table: &Table,
        (rows, targets): (&[usize], Targets),
        group: Option<usize>,
        mut findings: Vec<Finding>,
    ) -> Result<Learned, DataError> {
        let mut matched = self.matched(&table.columns, &table.path)?;
        let width = self.width();
        let mut values = vec![0.0; rows.len() * width];
        let (mut kept, mut gap) = (Vec::with_capacity(rows.len()), None);
        for (place, &row) in rows.iter().enumerate() {
            let row = table.row(row);
            let start = kept.len() * width;
            let out = values.get_mut(start..start + width).unwrap_or_default();
            match matched.features(&row, out)? {
                Outcome::Full => kept.push(place),
                Outcome::Missing { column } => gap = gap.or(Some((row.line, column))),
            }
        }
        if let Some((line, column)) = gap {
            let left_out = rows.len() - kept.len();
            findings.push(Finding::new(
                FindingKind::Rows,
                format!("{left_out} row(s) with missing cells are left out, the first in line {line}, column {column}"),
            ));
        }
        if kept.is_empty() {
            return Err(DataError::Empty {
                path: table.path.clone(),
            });
        }
        findings.extend(
            matched
                .told()
                .into_iter()
                .filter(|told| told.kind == FindingKind::Missing),
        );
        values.truncate(kept.len() * width);
        let x = Array2::from_shape_vec((kept.len(), width), values);
        let x = x.unwrap_or_else(|_| Array2::zeros((kept.len(), width)));
        let target = match targets {
            Targets::Numbers(values) => Targets::Numbers(
                kept.iter()
                    .filter_map(|&place| values.get(place).copied())
                    .collect(),
            ),
            Targets::Labels(labels) => Targets::Labels(
                kept.iter()
                    .filter_map(|&place| labels.get(place).cloned())
                    .collect(),
            ),
        };
        let rows: Vec<usize> = kept
            .iter()
            .filter_map(|&place| rows.get(place).copied())
            .collect();
        let lines: Vec<u64> = rows.iter().map(|&row| table.row(row).line).collect();
        let equal = copies::groups(&x, &target, &lines, &mut findings);
        let groups = match group {
            None => equal,
            Some(column) => {
                findings.retain(|finding| finding.kind != FindingKind::Groups);
                let cells = Cells {
                    table,
                    column,
                    rows: &rows,
                };
                Some(copies::by_column(cells.name(), cells.iter(), &mut findings))
            }
        };
        findings.extend(leaks::find(&self.columns, &x, &target));
        Ok(Learned {
            schema: self,
            x,
            target,
            groups,
            lines,
            findings,
        })
    }
}

/// Columns that are used, and the names of those that are not.
fn columns(
    table: &Table,
    ask: &Ask,
    chosen: &Chosen,
    (target, group): (usize, Option<usize>),
    findings: &mut Vec<Finding>,
) -> Result<(Vec<Column>, Vec<String>), DataError> {
    let names: Vec<(usize, &String)> = table.columns.iter().enumerate().collect();
    let asked_for =
        |at: usize, name: &String| at != target && Some(at) != group && !ask.drop.contains(name);
    let rows = chosen.rows.as_slice();
    let decisions: Vec<Option<Result<Decision, DataError>>> = names
        .par_iter()
        .map(|&(column, name)| {
            let cells = Cells {
                table,
                column,
                rows,
            };
            asked_for(column, name).then(|| decide(cells, ask.keep.contains(name), ask.missing))
        })
        .collect();
    let (mut used, mut left_out, mut gaps) = (Vec::new(), Vec::new(), Vec::new());
    for (&(at, name), decision) in names.iter().zip(decisions) {
        let short = shown(name);
        match decision.transpose()? {
            Some(Decision::Used(kind, remark)) => {
                match remark {
                    Some(Remark::Notation(words)) => findings.push(Finding::new(
                        FindingKind::Notation,
                        format!("column `{short}`: {words}"),
                    )),
                    Some(Remark::Levels(words)) => gaps.push(format!("`{short}` ({words})")),
                    None => {}
                }
                let name = name.clone();
                used.push(Column { name, kind });
            }
            Some(Decision::LeftOut { why, keep }) => {
                let advice = match keep {
                    true => format!("; --keep {} uses it", argument(name)),
                    false => String::new(),
                };
                let text = format!("column `{short}` is left out: {why}{advice}");
                findings.push(Finding::new(FindingKind::LeftOut, text));
                left_out.push(name.clone());
            }
            None if at != target => left_out.push(name.clone()),
            None => {}
        }
    }
    if !gaps.is_empty() {
        findings.push(Finding::new(
            FindingKind::Levels,
            format!(
                "in columns of text, empty cells and words such as NA are levels of their own: {}; --drop leaves a column out",
                listed_whole(&gaps)
            ),
        ));
    }
    if used.is_empty() {
        return Err(DataError::NoFeatures {
            path: table.path.clone(),
            target: ask.target.clone(),
        });
    }
    Ok((used, left_out))
}

/// Pieces, comma separated, as many as fit, and how many more there are.
fn listed_whole(pieces: &[String]) -> String {
    let mut list = String::new();
    for (index, piece) in pieces.iter().enumerate() {
        if !list.is_empty() && list.len() + piece.len() > 120 {
            return format!("{list} and {} more columns", pieces.len() - index);
        }
        if !list.is_empty() {
            list.push_str(", ");
        }
        list.push_str(piece);
    }
    list
}
