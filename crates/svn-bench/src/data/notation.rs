//! How the numbers of a column are written: decimal mark, marks between thousands, `%`, currency; the same in every cell.

use serde::{Deserialize, Serialize};

/// What stands for a missing value where numbers are expected, in lower case.
const MISSING: [&str; 11] = [
    "", "?", "na", "n/a", "#n/a", "nan", "null", "none", "-", "--", ".",
];
const CURRENCIES: [char; 7] = ['$', '€', '£', '¥', '₹', '₩', '₽'];
const BLANKS: [char; 4] = [' ', '\u{a0}', '\u{202f}', '\u{2009}'];
const APOSTROPHES: [char; 2] = ['\'', '’'];
const MINUS: char = '\u{2212}';

/// Whether a cell is empty or a word for a missing value, such as `NA`.
pub(super) fn is_missing(cell: &str) -> bool {
    cell.len() <= 4 && MISSING.iter().any(|word| word.eq_ignore_ascii_case(cell))
}

/// Whether a cell is a number in some notation. `inf` and `nan` are words.
pub(super) fn is_number(cell: &str) -> bool {
    let parts = Parts::of(cell);
    let fits = |parts: &Parts<'_>| {
        let read = |mark| read_digits(parts.digits, mark).is_some();
        read(Mark::Point) || read(Mark::Comma)
    };
    parts.is_some_and(|parts| fits(&parts))
}

/// What stands before decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// `1.5`
    Point,
    /// `1,5`
    Comma,
}

/// How numbers are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notation {
    /// What stands before decimals.
    pub mark: Mark,
    /// What may stand between thousands.
    pub thousands: Option<char>,
    /// Whether every cell ends in `%`; the number is the one before it.
    pub percent: bool,
    /// What may stand before or behind the number.
    pub currency: Option<char>,
}

impl Notation {
    /// `1.5`, `-2`, `3e-4`.
    pub const PLAIN: Self = Self {
        mark: Mark::Point,
        thousands: None,
        percent: false,
        currency: None,
    };

    /// A finite number in this notation. Brackets, as in `(45)`, and U+2212 are a minus.
    pub fn read(&self, cell: &str) -> Option<f64> {
        let begins = cell.as_bytes().first().copied().unwrap_or_default();
        let plain = !self.percent && (self.mark == Mark::Point || !cell.contains('.'));
        if plain && (begins.is_ascii_digit() || begins == b'-') {
            match cell.parse::<f64>() {
                Ok(value) if value.is_finite() => return Some(value),
                _ => {}
            }
        }
        let parts = Parts::of(cell)?;
        let (value, thousands) = read_digits(parts.digits, self.mark)?;
        let fits = parts.percent == self.percent
            && (parts.currency.is_none() || parts.currency == self.currency)
            && (thousands.is_none() || thousands == self.thousands);
        fits.then_some(if parts.negative { -value } else { value })
    }
}

/// What the cells of a column have in common, if they are numbers.
#[derive(Debug, Clone)]
pub(super) struct Tally {
    /// Cells that are numbers.
    pub(super) numbers: usize,
    /// Those that are bare digits.
    bare: usize,
    /// Bare digits that are a code and no amount.
    codes: usize,
    point: usize,
    comma: usize,
    /// Cells with a mark that would be a decimal comma or one between thousands: `1,234`.
    either: usize,
    thousands: [Option<char>; 2],
    percents: usize,
    currency: Option<char>,
}

impl Tally {
    pub(super) fn new() -> Self {
        Self {
            numbers: 0,
            bare: 0,
            codes: 0,
            point: 0,
            comma: 0,
            either: 0,
            thousands: [None; 2],
            percents: 0,
            currency: None,
        }
    }

    /// Look at a cell; whether it is a number in some notation.
    pub(super) fn add(&mut self, cell: &str) -> bool {
        if let Some((whole, fraction)) = plain_digits(cell) {
            self.numbers += 1;
            self.point += 1;
            if fraction.is_none() {
                self.bare += 1;
                self.codes += usize::from(is_code(cell));
            }
            // `1.234` may be a thousand and more.
            let thousands = fraction == Some(3)
                && (1..=3).contains(&whole)
                && !cell.trim_start_matches('-').starts_with('0');
            self.comma += usize::from(fraction.is_none() || thousands);
            if let ([_, comma @ None], true) = (&mut self.thousands, thousands) {
                *comma = Some('.');
            }
            return true;
        }
        let Some(parts) = Parts::of(cell) else {
            return false;
        };
        let point = read_digits(parts.digits, Mark::Point);
        let comma = read_digits(parts.digits, Mark::Comma);
        if point.is_none() && comma.is_none() {
            return false;
        }
        self.numbers += 1;
        self.point += usize::from(point.is_some());
        self.comma += usize::from(comma.is_some());
        self.either +=
            usize::from(point.is_some_and(|(_, mark)| mark == Some(',')) && comma.is_some());
        for (seen, read) in self.thousands.iter_mut().zip([point, comma]) {
            *seen = seen.or(read.and_then(|(_, mark)| mark));
        }
        self.percents += usize::from(parts.percent);
        self.currency = self.currency.or(parts.currency);
        true
    }

    /// The notation of most cells. Where commas may be either, they are decimal marks if `decimal_commas`, but not beside a
    /// currency.
    pub(super) fn notation(&self, decimal_commas: bool) -> Notation {
        let comma = match self.point.cmp(&self.comma) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Greater => false,
            std::cmp::Ordering::Equal => {
                self.is_ambiguous() && decimal_commas && self.currency.is_none()
            }
        };
        let [point, thousands] = self.thousands;
        Notation {
            mark: if comma { Mark::Comma } else { Mark::Point },
            thousands: if comma { thousands } else { point },
            percent: 2 * self.percents > self.numbers,
            currency: self.currency,
        }
    }

    /// Whether the numbers are codes: bare digits, one of them with leading zeros or too many digits.
    pub(super) fn is_code(&self) -> bool {
        self.codes > 0 && self.bare == self.numbers
    }

    /// Whether commas may be decimal marks or stand between thousands.
    pub(super) fn is_ambiguous(&self) -> bool {
        self.either > 0 && self.point == self.comma
    }
}

/// Digits before and after the point of a short cell that is nothing but digits, with a minus and a point at most.
fn plain_digits(cell: &str) -> Option<(usize, Option<usize>)> {
    let digits = cell.strip_prefix('-').unwrap_or(cell).as_bytes();
    let mut point = None;
    for (place, byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' => {}
            b'.' if point.is_none() => point = Some(place),
            _ => return None,
        }
    }
    let (whole, fraction) = match point {
        Some(place) => (place, Some(digits.len() - place - 1)),
        None => (digits.len(), None),
    };
    (whole > 0 && digits.len() < 100).then_some((whole, fraction))
}

/// Whether bare digits are a code and no amount: leading zeros, or more digits than a number holds.
fn is_code(digits: &str) -> bool {
    let digits = digits.strip_prefix('-').unwrap_or(digits);
    digits.len() > 15 || (digits.len() > 1 && digits.starts_with('0'))
}

/// A cell without sign, brackets, currency and `%`.
struct Parts<'a> {
    digits: &'a str,
    negative: bool,
    percent: bool,
    currency: Option<char>,
}

impl<'a> Parts<'a> {
    fn of(cell: &'a str) -> Option<Self> {
        // Words are the most frequent cells that are no numbers.
        cell.bytes().find(u8::is_ascii_digit)?;
        let mut rest = cell.trim();
        let inner = rest
            .strip_prefix('(')
            .and_then(|rest| rest.strip_suffix(')'));
        let mut negative = inner.is_some();
        rest = inner.unwrap_or(rest).trim();
        let (mut signed, mut percent, mut currency) = (negative, false, None);
        while let Some(first) = rest.chars().next() {
            match first {
                '-' | '+' | MINUS if !signed => {
                    signed = true;
                    negative |= first != '+';
                }
                _ if CURRENCIES.contains(&first) && currency.is_none() => currency = Some(first),
                _ => break,
            }
            rest = rest.get(first.len_utf8()..)?.trim_start();
        }
        while let Some(last) = rest.chars().next_back() {
            match last {
                '%' if !percent => percent = true,
                _ if CURRENCIES.contains(&last) && currency.is_none() => currency = Some(last),
                _ => break,
            }
            rest = rest.strip_suffix(last)?.trim_end();
        }
        Some(Self {
            digits: rest,
            negative,
            percent,
            currency,
        })
    }
}

/// Digits with one decimal mark, groups of three and an exponent, and what stands between the groups.
fn read_digits(text: &str, mark: Mark) -> Option<(f64, Option<char>)> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (text.get(..at)?, text.get(at..)?),
        None => (text, ""),
    };
    let decimal = match mark {
        Mark::Point => '.',
        Mark::Comma => ',',
    };
    let (whole, fraction) = mantissa.split_once(decimal).unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let thousands = whole.chars().find(|c| !c.is_ascii_digit());
    if let Some(between) = thousands {
        let other = if decimal == '.' { ',' } else { '.' };
        let known = between == other || BLANKS.contains(&between) || APOSTROPHES.contains(&between);
        let mut groups = whole.split(between);
        let first = groups.next().unwrap_or_default();
        let sound = (1..=3).contains(&first.len())
            && digits(first)
            && !first.starts_with('0')
            && groups.all(|group| group.len() == 3 && digits(group));
        if !known || !sound {
            return None;
        }
    }
    let plain: String = whole.chars().filter(char::is_ascii_digit).collect();
    let value = format!("{plain}.{fraction}{exponent}")
        .parse::<f64>()
        .ok()?;
    value.is_finite().then_some((value, thousands))
}

#[cfg(test)]
#[path = "notation_tests.rs"]
mod tests;
