//! Dates in cells, as days since 1970-01-01.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

/// Order of the parts of a date, the same in every cell of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DateOrder {
    /// `2021-01-31`
    YearFirst,
    /// `31/01/2021`
    DayFirst,
    /// `01/31/2021`
    MonthFirst,
}

impl DateOrder {
    pub(super) const ALL: [Self; 3] = [Self::YearFirst, Self::DayFirst, Self::MonthFirst];

    /// In words.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::YearFirst => "year first",
            Self::DayFirst => "day first",
            Self::MonthFirst => "month first",
        }
    }
}

/// Days since 1970-01-01 of a date with a year of four digits, parts by `-`, `/` or `.`, and a time of day if there is one.
pub(super) fn days(cell: &str, order: DateOrder) -> Option<f64> {
    // Most texts are no dates.
    cell.as_bytes()
        .first()
        .filter(|byte| byte.is_ascii_digit())?;
    let (date, time) = cell.split_once(['T', ' ']).unwrap_or((cell, ""));
    let between = date.chars().find(|c| !c.is_ascii_digit())?;
    let mut parts = date.split(between);
    let parts = [
        parts.next()?,
        parts.next()?,
        parts.next()?,
        parts.next().unwrap_or_default(),
    ];
    let [year, month, day, ""] = (match (order, parts) {
        (DateOrder::YearFirst, parts) => parts,
        (DateOrder::DayFirst, [day, month, year, rest]) => [year, month, day, rest],
        (DateOrder::MonthFirst, [month, day, year, rest]) => [year, month, day, rest],
    }) else {
        return None;
    };
    let sound = year.len() == 4
        && [month, day]
            .iter()
            .all(|part| (1..=2).contains(&part.len()));
    if !sound || !['-', '/', '.'].contains(&between) {
        return None;
    }
    let date = NaiveDate::from_ymd_opt(whole(year)? as i32, whole(month)?, whole(day)?)?;
    let days = date.signed_duration_since(NaiveDate::default()).num_days();
    Some(days as f64 + of_day(time)?)
}

/// `hours:minutes[:seconds]` as a part of a day.
fn of_day(time: &str) -> Option<f64> {
    if time.is_empty() {
        return Some(0.0);
    }
    let time = time.strip_suffix('Z').unwrap_or(time);
    let mut parts = time.split(':');
    let (hours, minutes) = (whole(parts.next()?)?, whole(parts.next()?)?);
    let seconds: f64 = match parts.next() {
        Some(seconds)
            if seconds
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'.') =>
        {
            seconds.parse().ok()?
        }
        Some(_) => return None,
        None => 0.0,
    };
    let sound = hours < 24 && minutes < 60 && seconds < 61.0 && parts.next().is_none();
    sound.then_some((f64::from(hours * 60 + minutes) * 60.0 + seconds) / 86400.0)
}

fn whole(digits: &str) -> Option<u32> {
    let plain = (1..=4).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use DateOrder::{DayFirst, MonthFirst, YearFirst};

    #[test]
    fn days_are_those_of_the_calendar() {
        for (cell, order, expected) in [
            ("1970-01-01", YearFirst, Some(0.0)),
            ("1969-12-31", YearFirst, Some(-1.0)),
            ("2000-03-01", YearFirst, Some(11017.0)),
            ("2021/1/4", YearFirst, Some(18631.0)),
            ("04/01/2021", DayFirst, Some(18631.0)),
            ("4.1.2021", DayFirst, Some(18631.0)),
            ("01/04/2021", MonthFirst, Some(18631.0)),
            ("1970-01-02T12:00", YearFirst, Some(1.5)),
            ("1970-01-02 06:00:00", YearFirst, Some(1.25)),
            ("1970-01-01T00:00:43.2Z", YearFirst, Some(0.0005)),
            ("31/01/2021", MonthFirst, None),
            ("2021-02-29", YearFirst, None),
            ("2020-02-29", YearFirst, Some(18321.0)),
            ("04/01/21", DayFirst, None),
            ("2021-01-04-05", YearFirst, None),
            ("2021-01/04", YearFirst, None),
            ("2021:01:04", YearFirst, None),
            ("1970-01-01 24:00", YearFirst, None),
            ("1970-01-01 morning", YearFirst, None),
            ("2021-01-04", DayFirst, None),
            ("-", YearFirst, None),
            ("", YearFirst, None),
        ] {
            assert_eq!(days(cell, order), expected, "{cell} {order:?}");
        }
    }
}
