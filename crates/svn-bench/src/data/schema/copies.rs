//! Rows that are copies of others: with equal targets, with different ones, and which rows belong together.

use std::hash::{DefaultHasher, Hasher};

use ndarray::Array2;

use super::super::shown::shown;
use super::{Finding, FindingKind, Targets};

/// Least share of distinct rows for equal rows to be copies rather than a table of few combinations.
const DISTINCT: f64 = 0.2;

/// Rows of equal features by number, in the order of their first row, if there are any; what was found is told.
pub(super) fn groups(
    x: &Array2<f64>,
    targets: &Targets,
    lines: &[u64],
    findings: &mut Vec<Finding>,
) -> Option<Vec<usize>> {
    let n = x.nrows();
    let leaders = leaders(x);
    let followers = (0..n).filter(|&row| leaders.get(row) != Some(&row)).count();
    if followers == 0 {
        return None;
    }
    let line = |row: usize| lines.get(row).copied().unwrap_or_default();
    let (mut copies, mut different, mut first) = (0, 0, None);
    let mut seen: std::collections::HashSet<(usize, TargetKey<'_>)> = Default::default();
    for (row, &leader) in leaders.iter().enumerate() {
        let fresh = seen.insert((leader, TargetKey::of(targets, row)));
        if !fresh {
            copies += 1;
        } else if row != leader {
            different += 1;
            first = first.or(Some((line(leader), line(row))));
        }
    }
    if copies > 0 {
        findings.push(Finding::new(
            FindingKind::Duplicates,
            format!("{copies} of {n} rows are exact copies of others in features and target"),
        ));
    }
    if let Some((one, other)) = first {
        findings.push(Finding::new(
            FindingKind::Contradictions,
            format!(
                "{different} row(s) have the features of another row but not its target, the first in lines {one} and {other}; no model can tell them apart"
            ),
        ));
    }
    let distinct = n - followers;
    let text = if (distinct as f64) < DISTINCT * n as f64 {
        format!(
            "there are {distinct} distinct rows of features only; equal ones are not kept together"
        )
    } else {
        "rows of equal features stay on one side when rows are split".to_owned()
    };
    let kept = distinct as f64 >= DISTINCT * n as f64;
    findings.push(Finding::new(FindingKind::Groups, text));
    kept.then(|| numbered(&leaders))
}

/// Groups by the cells of a column; rows with an empty cell are alone.
pub(super) fn by_column<'a>(
    name: &str,
    cells: impl Iterator<Item = &'a str>,
    findings: &mut Vec<Finding>,
) -> Vec<usize> {
    let mut numbers = std::collections::HashMap::new();
    let mut count = 0;
    let mut fresh = || {
        count += 1;
        count - 1
    };
    let groups: Vec<usize> = cells
        .map(|cell| match cell.is_empty() {
            true => fresh(),
            false => *numbers.entry(cell).or_insert_with(&mut fresh),
        })
        .collect();
    findings.push(Finding::new(
        FindingKind::Groups,
        format!(
            "rows of equal `{}` stay on one side when rows are split: {count} groups in {} rows",
            shown(name),
            groups.len()
        ),
    ));
    groups
}

#[derive(PartialEq, Eq, Hash)]
enum TargetKey<'a> {
    Bits(u64),
    Label(&'a str),
}

impl<'a> TargetKey<'a> {
    fn of(targets: &'a Targets, row: usize) -> Self {
        match targets {
            Targets::Numbers(values) => {
                Self::Bits(values.get(row).map_or(0, |value| (value + 0.0).to_bits()))
            }
            Targets::Labels(labels) => Self::Label(labels.get(row).map_or("", String::as_str)),
        }
    }
}

/// For each row the first row with the same features.
fn leaders(x: &Array2<f64>) -> Vec<usize> {
    let key = |row: usize| {
        let mut hasher = DefaultHasher::new();
        for value in x.row(row) {
            hasher.write_u64((value + 0.0).to_bits());
        }
        hasher.finish()
    };
    let mut keyed: Vec<(u64, usize)> = (0..x.nrows()).map(|row| (key(row), row)).collect();
    keyed.sort_unstable();
    let mut leaders: Vec<usize> = (0..x.nrows()).collect();
    for run in keyed
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|run| run.len() > 1)
    {
        // Rows of one key are nearly always equal, so that there is one leader.
        let mut found: Vec<usize> = Vec::new();
        for &(_, row) in run {
            match found.iter().find(|&&leader| x.row(leader) == x.row(row)) {
                Some(&leader) => {
                    if let Some(slot) = leaders.get_mut(row) {
                        *slot = leader;
                    }
                }
                None => found.push(row),
            }
        }
    }
    leaders
}

fn numbered(leaders: &[usize]) -> Vec<usize> {
    let mut numbers = vec![0; leaders.len()];
    let mut count = 0;
    for (row, &leader) in leaders.iter().enumerate() {
        let number = match leader == row {
            true => {
                count += 1;
                count - 1
            }
            false => numbers.get(leader).copied().unwrap_or_default(),
        };
        if let Some(slot) = numbers.get_mut(row) {
            *slot = number;
        }
    }
    numbers
}
