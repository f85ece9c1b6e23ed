//! Times of the tables, `YYYY-MM-DD HH:MM:SS`, shifted into the future for each patient.

/// Seconds since 1970-01-01 00:00:00 of the Gregorian calendar. Only differences within one patient mean anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// Seconds of an hour.
const HOUR: i64 = 3600;

impl Timestamp {
    /// 1970-01-01 00:00:00.
    pub const EPOCH: Self = Self(0);

    /// Read a time; `None` for anything but the one form, or for a day or second that no calendar has.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let text: &[u8; 19] = text.try_into().ok()?;
        let marks = [(4, b'-'), (7, b'-'), (10, b' '), (13, b':'), (16, b':')];
        if marks.iter().any(|&(place, mark)| text[place] != mark) {
            return None;
        }
        let [year, month, day] = [
            number(&text[..4])?,
            number(&text[5..7])?,
            number(&text[8..10])?,
        ];
        let hour = number(&text[11..13]).filter(|&hour| hour < 24)?;
        let minute = number(&text[14..16]).filter(|&minute| minute < 60)?;
        let second = number(&text[17..19]).filter(|&second| second < 60)?;
        let days = days(year, month, day)?;
        Some(Self(((days * 24 + hour) * 60 + minute) * 60 + second))
    }

    /// The year of a text that is a time.
    pub fn year(text: &[u8]) -> Option<i64> {
        Self::parse(text)?;
        number(text.get(..4)?)
    }

    /// So many hours later.
    #[must_use]
    pub fn plus_hours(self, hours: i64) -> Self {
        Self(self.0.saturating_add(hours.saturating_mul(HOUR)))
    }

    /// Hours from an earlier time; negative if that is later.
    pub fn hours_since(self, earlier: Self) -> f64 {
        self.0.saturating_sub(earlier.0) as f64 / HOUR as f64
    }

    /// So many seconds later.
    #[must_use]
    pub fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds))
    }

    /// Seconds since 1970.
    pub fn seconds(self) -> i64 {
        self.0
    }
}

impl std::fmt::Display for Timestamp {
    /// As in the tables.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (days, rest) = (self.0.div_euclid(24 * HOUR), self.0.rem_euclid(24 * HOUR));
        // The inverse of `days`.
        let of_epoch = days + 719_468;
        let (era, of_era) = (of_epoch.div_euclid(146_097), of_epoch.rem_euclid(146_097));
        let of_era_years = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * of_era_years + of_era_years / 4 - of_era_years / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        let year = era * 400 + of_era_years + i64::from(month <= 2);
        let (hour, minute, second) = (rest / HOUR, rest / 60 % 60, rest % 60);
        write!(
            f,
            "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"
        )
    }
}

fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |number, digit| {
        let digit = digit.checked_sub(b'0').filter(|&digit| digit < 10)?;
        Some(10 * number + i64::from(digit))
    })
}

/// Days since 1970-01-01. The year is counted from March, so that the leap day is its last, in eras of 400 years.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    let year = year - i64::from(month <= 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<i64> {
        Timestamp::parse(text.as_bytes()).map(Timestamp::seconds)
    }

    #[test]
    fn times_are_seconds_of_the_calendar() {
        assert_eq!(seconds("1970-01-01 00:00:00"), Some(0));
        assert_eq!(seconds("1969-12-31 23:59:59"), Some(-1));
        // `date -u -d '2152-03-01 10:00:00' +%s`
        assert_eq!(seconds("2152-03-01 10:00:00"), Some(5_748_573_600));
        let parse = |text: &str| Timestamp::parse(text.as_bytes()).unwrap();
        let hours = parse("2152-03-01 00:30:00").hours_since(parse("2152-02-28 00:00:00"));
        assert_eq!(hours, 48.5, "2152 has a leap day");
        assert_eq!(
            parse("2152-02-28 23:00:00").plus_hours(25),
            parse("2152-03-01 00:00:00")
        );
        assert_eq!(Timestamp::year(b"2152-03-01 00:30:00"), Some(2152));
    }

    #[test]
    fn every_day_is_one_more_than_the_last() {
        let mut expected = days(1999, 12, 31).unwrap();
        let mut counted = 0;
        for year in 2000..=2210 {
            for month in 1..=12 {
                for day in 1..=31 {
                    if let Some(found) = days(year, month, day) {
                        expected += 1;
                        counted += 1;
                        assert_eq!(found, expected, "{year}-{month}-{day}");
                        let text = format!("{year:04}-{month:02}-{day:02} 07:08:09");
                        let time = Timestamp::parse(text.as_bytes()).unwrap();
                        assert_eq!(time.to_string(), text);
                    }
                }
            }
        }
        // 211 years, 51 of them leap years: 2000 is one, 2100 and 2200 are not.
        assert_eq!(counted, 211 * 365 + 51);
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "2152-03-01",
            "2152-03-01T10:00:00",
            "2152-03-01 10:00",
            "2152-03-01 10:00:00.0",
            "2151-02-29 10:00:00",
            "2100-02-29 10:00:00",
            "2152-13-01 10:00:00",
            "2152-00-01 10:00:00",
            "2152-04-31 10:00:00",
            "2152-04-00 10:00:00",
            "2152-03-01 24:00:00",
            "2152-03-01 10:60:00",
            "2152-03-01 10:00:60",
            "+152-03-01 10:00:00",
            "2152-03-01 1 :00:00",
            "___________________",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
        assert_eq!(Timestamp::year(b"2152-99-01 10:00:00"), None);
    }
}
