//! What a column is: number, date, yes or no, category, or nothing that may be used.

use std::collections::HashSet;

use super::super::DataError;
use super::super::notation::is_missing;
use super::super::numeric::describe;
use super::super::shown::shown;
use super::column::{Kind, in_words};
use super::date::{self, DateOrder};
use super::survey::{Cells, Survey, notation_of};
use super::{Missing, SchemaError, words};

/// Rows below which nothing is taken for a row number or an id.
pub(super) const FEW: usize = 10;
/// What a column is.
pub(super) enum Decision {
    Used(Kind, Option<Remark>),
    LeftOut {
        why: String,
        /// Whether it could be kept.
        keep: bool,
    },
}

impl Decision {
    /// A column without any information.
    pub(super) fn useless(why: impl Into<String>) -> Self {
        let why = why.into();
        Self::LeftOut { why, keep: false }
    }

    /// A column that would mislead, unless it is kept by name.
    pub(super) fn misleading(why: impl Into<String>) -> Self {
        let why = why.into();
        Self::LeftOut { why, keep: true }
    }
}

/// What should be said of a column that is used.
pub(super) enum Remark {
    Notation(String),
    Levels(String),
}

/// Decide.
///
/// # Errors
/// [`DataError::Cell`] for a cell that is not as the others; [`SchemaError::OddCell`]; those of [`words::decide`].
pub(super) fn decide(
    cells: Cells<'_>,
    keep: bool,
    missing: Missing,
) -> Result<Decision, DataError> {
    let survey = Survey::of(cells);
    if survey.tally.numbers + survey.texts == 0 {
        let same = cells.iter().all(|cell| Some(cell) == cells.iter().next());
        if same || !keep {
            return Ok(Decision::useless("no cell is filled"));
        }
    }
    if survey.is_number() {
        return number(cells, &survey, keep, missing);
    }
    if survey.has_slips(cells) && !keep {
        return Err(SchemaError::OddCell {
            path: cells.table.path.clone(),
            line: cells.line(survey.first_text),
            column: cells.column + 1,
            name: cells.name().to_owned(),
            found: describe(cells.iter().nth(survey.first_text).unwrap_or_default()),
        }
        .into());
    }
    if survey.tally.numbers == 0
        && let Some(decision) = date(cells, &survey, keep, missing)?
    {
        return Ok(decision);
    }
    words::decide(cells, &survey, keep)
}

fn number(
    cells: Cells<'_>,
    survey: &Survey,
    keep: bool,
    missing: Missing,
) -> Result<Decision, DataError> {
    let notation = notation_of(cells, survey);
    let mut values = Values::default();
    for (place, cell) in cells.iter().enumerate() {
        match notation.read(cell) {
            Some(value) => values.add(value),
            None if is_missing(cell) => {}
            None => {
                let expected = "a number written as in the other cells";
                return Err(cells.error(place, expected, describe(cell)));
            }
        }
    }
    let any_missing = survey.missing > 0;
    if values.low == values.high && !(any_missing && missing == Missing::Impute) {
        let value = cells.iter().find(|cell| !is_missing(cell));
        let value = shown(value.unwrap_or_default());
        return Ok(Decision::useless(format!("it is `{value}` in every row")));
    }
    if !keep && values.whole && !any_missing && values.count >= FEW {
        if values.ascending {
            let why = "it counts up from row to row, like a row number";
            return Ok(Decision::misleading(why));
        }
        if is_id(cells.name()) && cells.iter().collect::<HashSet<_>>().len() == values.count {
            let why = "it is named like an id and differs in every row";
            return Ok(Decision::misleading(why));
        }
    }
    let remark = in_words(&notation).map(|words| match survey.tally.is_ambiguous() {
        true => format!("{words}, as far as can be told: commas are before three digits alone"),
        false => words,
    });
    let kind = Kind::Number {
        mean: values.mean,
        indicator: any_missing && missing == Missing::Impute,
        notation,
    };
    Ok(Decision::Used(kind, remark.map(Remark::Notation)))
}

/// Numbers seen in the order of rows.
struct Values {
    count: usize,
    mean: f64,
    low: f64,
    high: f64,
    whole: bool,
    ascending: bool,
    last: f64,
}

impl Default for Values {
    fn default() -> Self {
        Self {
            count: 0,
            mean: 0.0,
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            whole: true,
            ascending: true,
            last: f64::NEG_INFINITY,
        }
    }
}

impl Values {
    fn add(&mut self, value: f64) {
        self.count += 1;
        // Neither the sum nor a difference overflows.
        let n = self.count as f64;
        self.mean += value / n - self.mean / n;
        self.low = self.low.min(value);
        self.high = self.high.max(value);
        self.whole &= value.fract() == 0.0;
        self.ascending &= value > self.last;
        self.last = value;
    }
}

/// `id`, `customer_id`, `RespondentID`, `index`, `Unnamed: 0`; not `acid`.
fn is_id(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let words = [
        "index", "no", "nr", "no.", "nr.", "row", "rownum", "#", "key",
    ];
    if words.contains(&lower.as_str()) || lower.starts_with("unnamed:") || name.is_empty() {
        return true;
    }
    let Some(rest) = lower.strip_suffix("id") else {
        return false;
    };
    let capital = name.ends_with("ID") || name.ends_with("Id");
    match rest.bytes().next_back() {
        None => true,
        Some(before) => !before.is_ascii_alphanumeric() || capital && name != name.to_uppercase(),
    }
}

fn date(
    cells: Cells<'_>,
    survey: &Survey,
    keep: bool,
    missing: Missing,
) -> Result<Option<Decision>, DataError> {
    let is_date = |cell: &str| DateOrder::ALL.map(|order| date::days(cell, order).is_some());
    let first = cells.iter().nth(survey.first_text).unwrap_or_default();
    let mut fits = is_date(first);
    if survey.texts == 0 || !fits.contains(&true) {
        return Ok(None);
    }
    let (mut dates, mut odd, mut mixed) = (0, None, None);
    for (place, cell) in cells.iter().enumerate() {
        if is_missing(cell) {
            continue;
        }
        let found = is_date(cell);
        if !found.contains(&true) {
            odd = odd.or(Some(place));
            continue;
        }
        dates += 1;
        let both = [
            fits[0] && found[0],
            fits[1] && found[1],
            fits[2] && found[2],
        ];
        match both.contains(&true) {
            true => fits = both,
            false => mixed = mixed.or(Some(place)),
        }
    }
    let slips = survey.texts - dates;
    if slips > 2.max(survey.texts / 20) || (slips > 0 && (slips > dates || keep)) {
        return Ok(None);
    }
    if let Some(place) = mixed.or(odd) {
        let expected = "a date written as in the cells above";
        let found = cells.iter().nth(place).unwrap_or_default();
        return Err(cells.error(place, expected, format!("`{}`", shown(found))));
    }
    let mut orders = DateOrder::ALL
        .into_iter()
        .zip(fits)
        .filter(|(_, fits)| *fits);
    let (Some((order, _)), None) = (orders.next(), orders.next()) else {
        if keep {
            return Ok(None);
        }
        let why = "its dates could be day first or month first; write them as 2021-01-31";
        return Ok(Some(Decision::misleading(why)));
    };
    let mut values = Values::default();
    for cell in cells.iter() {
        if let Some(days) = date::days(cell, order) {
            values.add(days);
        }
    }
    if values.low == values.high && survey.missing == 0 {
        let why = format!("it is `{}` in every row", shown(first));
        return Ok(Some(Decision::useless(why)));
    }
    let kind = Kind::Date {
        order,
        mean: values.mean,
        indicator: survey.missing > 0 && missing == Missing::Impute,
    };
    let remark = format!("dates, {}, as days since 1970-01-01", order.words());
    Ok(Some(Decision::Used(kind, Some(Remark::Notation(remark)))))
}
