//! Intervals with a promise: split conformal prediction on the validation rows.
//!
//! ```text
//! s_i = |y_i − μ_i| / sd_i        interval at x: μ ± q · sd,   q = s_(r),   r = ⌈(n + 1) · level⌉
//! ```
//!
//! If the validation rows and a new row are exchangeable, the interval holds the new target with probability `level` or more,
//! whatever the network says. The epoch was chosen on the same rows, which makes `q` a little small.
//!
//! # References
//! Vovk, Gammerman and Shafer, *Algorithmic learning in a random world*, 2005; Lei et al., *Distribution-free predictive inference
//! for regression*, JASA 2018.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A probability between 0 and 1, neither of them, as the decimal fraction it was written as: `digits / 10^places`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    digits: u64,
    places: u32,
}

/// Decimals that a level may have.
const PLACES: usize = 12;

impl Level {
    /// Nine tenths.
    pub const NINETY: Self = Self {
        digits: 9,
        places: 1,
    };

    /// The nearest number.
    pub fn value(self) -> f64 {
        self.digits as f64 / 10f64.powi(self.places as i32)
    }

    /// `⌈(n + 1) · level⌉`, exactly.
    pub fn rank(self, n: usize) -> u128 {
        let unit = 10u128.pow(self.places);
        ((n as u128 + 1) * u128::from(self.digits)).div_ceil(unit)
    }

    /// The fewest rows for which the rank is that of a row.
    pub fn rows_needed(self) -> u128 {
        // (n + 1) level ≤ n
        let unit = 10u128.pow(self.places);
        u128::from(self.digits).div_ceil(unit - u128::from(self.digits))
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || "expected a number above 0 and below 1, such as 0.9".to_owned();
        let (whole, fraction) = text.trim().split_once('.').ok_or_else(expected)?;
        let fraction = fraction.trim_end_matches('0');
        let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !plain(whole) || !plain(fraction) || whole.bytes().any(|byte| byte != b'0') {
            return Err(expected());
        }
        if fraction.len() > PLACES {
            return Err(format!("expected at most {PLACES} decimals"));
        }
        let digits = fraction.parse().map_err(|_| expected())?;
        let places = fraction.len() as u32;
        if digits == 0 {
            return Err(expected());
        }
        Ok(Self { digits, places })
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "0.{:0>width$}",
            self.digits,
            width = self.places as usize
        )
    }
}

/// Scores of the validation rows, ascending.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Conformal {
    scores: Vec<f64>,
}

/// Why there is no finite interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "no finite interval: a conformal interval of {level} needs {needed} validation rows or more, the model has {rows}"
)]
pub struct TooFew {
    /// What was asked for.
    pub level: Level,
    /// Validation rows.
    pub rows: usize,
    /// How many it takes.
    pub needed: u128,
}

impl Conformal {
    /// Scores `|y − μ| / sd`.
    pub fn new(mut scores: Vec<f64>) -> Self {
        scores.sort_by(f64::total_cmp);
        Self { scores }
    }

    /// The factor `q` of the standard deviation.
    ///
    /// # Errors
    /// [`TooFew`] where the rank is above the number of rows.
    pub fn factor(&self, level: Level) -> Result<f64, TooFew> {
        let rows = self.scores.len();
        let place = usize::try_from(level.rank(rows)).ok();
        let score = place.and_then(|rank| self.scores.get(rank.checked_sub(1)?));
        score.copied().ok_or(TooFew {
            level,
            rows,
            needed: level.rows_needed(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(text: &str) -> Level {
        text.parse().unwrap()
    }

    #[test]
    fn ranks_are_those_of_exact_arithmetic() {
        // 25 · 0.56 is 14.000000000000002 in f64.
        assert_eq!(level("0.56").rank(24), 14);
        assert_eq!(level("0.9").rank(8), 9);
        assert_eq!(level("0.9").rank(9), 9);
        assert_eq!(level("0.29").rank(99), 29);
        assert_eq!(level("0.90").rank(99), 90);
        assert_eq!(level("0.999999999999").rank(usize::MAX - 1) >> 63, 1);
    }

    #[test]
    fn the_factor_is_the_score_of_that_rank() {
        let scores = Conformal::new((1..=24).rev().map(f64::from).collect());
        assert_eq!(scores.factor(level("0.56")), Ok(14.0));
        let few = Conformal::new(vec![1.0; 8]);
        let error = few.factor(level("0.9")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no finite interval: a conformal interval of 0.9 needs 9 validation rows or more, the model has 8"
        );
        assert_eq!(few.factor(level("0.8")), Ok(1.0));
        assert_eq!(Conformal::new(vec![2.0; 9]).factor(level("0.9")), Ok(2.0));
    }

    #[test]
    fn the_rows_needed_are_the_fewest() {
        for text in ["0.9", "0.56", "0.05", "0.999", "0.5", "0.333"] {
            let level = level(text);
            let least = (0..5000).find(|&n| level.rank(n) <= n as u128).unwrap();
            assert_eq!(level.rows_needed(), least as u128, "{text}");
        }
    }

    #[test]
    fn levels_are_written_as_they_are_read() {
        for (text, shown) in [
            ("0.9", "0.9"),
            (".50", "0.5"),
            ("0.05", "0.05"),
            ("00.125", "0.125"),
        ] {
            assert_eq!(level(text).to_string(), shown);
            assert!((level(text).value() - text.parse::<f64>().unwrap()).abs() < 1e-16);
        }
        for text in [
            "1", "0", "0.0", "1.5", "-0.5", "0.9x", "", ".", "nan", "9e-1",
        ] {
            assert!(text.parse::<Level>().is_err(), "{text}");
        }
        assert!(
            "0.1234567890123"
                .parse::<Level>()
                .unwrap_err()
                .contains("12")
        );
    }
}
