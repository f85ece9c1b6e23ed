//! A column that is used: what it is, and which features a cell becomes.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::super::notation::{Mark, Notation, is_missing};
use super::super::shown::shown;
use super::date::{self, DateOrder};

/// A column that is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedColumn {
    /// Its name.
    pub name: String,
    /// What it is, in words.
    pub kind: String,
    /// Its features.
    pub features: Range<usize>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Kind {
    Number {
        notation: Notation,
        /// What stands for a missing cell.
        mean: f64,
        /// Whether a second feature tells missing cells.
        indicator: bool,
    },
    Date {
        order: DateOrder,
        mean: f64,
        indicator: bool,
    },
    /// The word of 0, and that of 1, in lower case.
    YesNo { no: String, yes: String, mean: f64 },
    /// Levels as they are written, ascending; an empty cell may be one.
    Category { levels: Vec<String> },
}

/// What a cell was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoded {
    /// A value.
    Known,
    /// Missing; the mean was written.
    Missing,
    /// A level that was not there before.
    Unseen,
    /// Neither a value nor missing.
    Unreadable,
}

impl Column {
    /// Number of features.
    pub(super) fn width(&self) -> usize {
        match &self.kind {
            Kind::Number { indicator, .. } | Kind::Date { indicator, .. } => {
                1 + usize::from(*indicator)
            }
            Kind::YesNo { .. } => 1,
            Kind::Category { levels } => levels.len() + 1,
        }
    }

    pub(super) fn feature_names(&self) -> Vec<String> {
        let name = &self.name;
        match &self.kind {
            Kind::Number { indicator, .. } | Kind::Date { indicator, .. } => {
                let missing = indicator.then(|| format!("{name} (missing)"));
                std::iter::once(name.clone()).chain(missing).collect()
            }
            Kind::YesNo { yes, .. } => vec![format!("{name}={yes}")],
            Kind::Category { levels } => {
                let level = |level: &String| match level.is_empty() {
                    true => format!("{name}=(empty)"),
                    false => format!("{name}={level}"),
                };
                let unseen = std::iter::once(format!("{name}=(unseen)"));
                levels.iter().map(level).chain(unseen).collect()
            }
        }
    }

    pub(super) fn kind_in_words(&self) -> String {
        match &self.kind {
            Kind::Number { notation, .. } => match in_words(notation) {
                Some(words) => format!("number ({words})"),
                None => "number".to_owned(),
            },
            Kind::Date { order, .. } => format!("date ({})", order.words()),
            Kind::YesNo { no, yes, .. } => format!("{} or {}", shown(yes), shown(no)),
            Kind::Category { levels } => format!("category of {} levels", levels.len()),
        }
    }

    /// What is expected in a cell.
    pub(super) fn expected(&self) -> &'static str {
        match &self.kind {
            Kind::Date { .. } => "a date",
            _ => "a number",
        }
    }

    /// Write the features of a cell; `out` has the [`width`](Self::width).
    pub(super) fn encode(&self, cell: &str, out: &mut [f64]) -> Encoded {
        match &self.kind {
            Kind::Number { notation, mean, .. } => {
                write_value(notation.read(cell), cell, *mean, out)
            }
            Kind::Date { order, mean, .. } => {
                write_value(date::days(cell, *order), cell, *mean, out)
            }
            Kind::YesNo { no, yes, mean } => {
                let (value, encoded) = if cell.eq_ignore_ascii_case(yes) {
                    (1.0, Encoded::Known)
                } else if cell.eq_ignore_ascii_case(no) {
                    (0.0, Encoded::Known)
                } else if is_missing(cell) {
                    (*mean, Encoded::Missing)
                } else {
                    (*mean, Encoded::Unseen)
                };
                out.fill(value);
                encoded
            }
            Kind::Category { levels } => {
                out.fill(0.0);
                let found = levels.binary_search_by(|level| level.as_str().cmp(cell));
                if let Some(slot) = out.get_mut(found.unwrap_or(levels.len())) {
                    *slot = 1.0;
                }
                match found {
                    Ok(_) => Encoded::Known,
                    Err(_) => Encoded::Unseen,
                }
            }
        }
    }
}

fn write_value(value: Option<f64>, cell: &str, mean: f64, out: &mut [f64]) -> Encoded {
    let encoded = match value {
        Some(_) => Encoded::Known,
        None if is_missing(cell) => Encoded::Missing,
        None => return Encoded::Unreadable,
    };
    if let Some((first, indicator)) = out.split_first_mut() {
        *first = value.unwrap_or(mean);
        indicator.fill(if value.is_some() { 0.0 } else { 1.0 });
    }
    encoded
}

/// What is not plain in a notation.
pub(super) fn in_words(notation: &Notation) -> Option<String> {
    let mut words = Vec::new();
    if notation.mark == Mark::Comma {
        words.push("decimal comma".to_owned());
    }
    if let Some(mark) = notation.thousands {
        words.push(format!("`{}` between thousands", shown(&mark.to_string())));
    }
    if notation.percent {
        words.push("in %".to_owned());
    }
    if let Some(currency) = notation.currency {
        words.push(format!("in {currency}"));
    }
    (!words.is_empty()).then(|| words.join(", "))
}
