//! Class labels of any kind to `0..C`, with the way back kept.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::ModelError;

/// The classes in order of their index: numbers ascending, else text ascending.
///
/// `1..K`, `−1/1`, labels with gaps and strings all end as `0..C`. Where every label is a plain number they are compared
/// by value, so `1` and `1.0` are one class. One label that is none, such as `007`, `1E2`, a text or a number of more than
/// 15 digits, makes all of them codes, each a class as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub struct LabelEncoding {
    classes: Vec<String>,
    by_value: bool,
}

impl From<Vec<String>> for LabelEncoding {
    /// Classes in the order of their index, as they were saved.
    fn from(classes: Vec<String>) -> Self {
        let by_value = classes.iter().all(|class| is_plain(class));
        Self { classes, by_value }
    }
}

impl From<LabelEncoding> for Vec<String> {
    fn from(labels: LabelEncoding) -> Self {
        labels.classes
    }
}

impl LabelEncoding {
    /// Collect the classes of a column.
    pub fn fit<'a>(labels: impl Iterator<Item = &'a str>) -> Self {
        let written: BTreeSet<&str> = labels.collect();
        let by_value = written.iter().all(|label| is_plain(label));
        let class = |label: &&str| match by_value {
            true => canonical(label),
            false => (*label).to_owned(),
        };
        let mut classes: Vec<String> = written.iter().map(class).collect();
        classes.sort_by(|a, b| compare(a, b));
        classes.dedup();
        Self { classes, by_value }
    }

    /// Number of classes `C`.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether there is no class.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// The labels, by class index.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Index of a label, or none for one that was not seen.
    pub fn index(&self, label: &str) -> Option<usize> {
        let find = |label: &str| {
            let classes = &self.classes;
            classes.binary_search_by(|class| compare(class, label)).ok()
        };
        match self.by_value && is_plain(label) {
            true => find(&canonical(label)),
            false => find(label),
        }
    }

    /// Index of a label that should be known.
    ///
    /// # Errors
    /// [`ModelError::UnknownLabel`] lists the labels that were seen.
    pub fn encode(&self, label: &str) -> Result<usize, ModelError> {
        self.index(label).ok_or_else(|| ModelError::UnknownLabel {
            label: label.to_owned(),
            known: self.classes.join(", "),
        })
    }
}

/// Digits with a sign and a decimal point at most: no leading zeros, no exponent, and no more digits than a number holds.
fn is_plain(label: &str) -> bool {
    let unsigned = label.strip_prefix(['-', '+']).unwrap_or(label);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole)
        && digits(fraction)
        && (whole == "0" || !whole.starts_with('0'))
        && whole.len() + fraction.len() <= 16
}

/// Plain numbers in their shortest form: `1.0` → `1`, `-0` → `0`.
fn canonical(label: &str) -> String {
    match label.parse::<f64>() {
        Ok(value) if value.is_finite() => (value + 0.0).to_string(),
        _ => label.to_owned(),
    }
}

/// Numbers before text, numbers by value; what has one value by its text.
fn compare(a: &str, b: &str) -> Ordering {
    let by_value = match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => a.total_cmp(&b),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => Ordering::Equal,
    };
    by_value.then_with(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_labels_become_consecutive_indices() {
        for (labels, classes) in [
            (vec!["2", "1", "3", "1"], vec!["1", "2", "3"]),
            (vec!["1", "-1", "1"], vec!["-1", "1"]),
            (vec!["10", "2", "7"], vec!["2", "7", "10"]),
            (vec!["1.0", "1", "0"], vec!["0", "1"]),
            (vec!["g", "b", "g"], vec!["b", "g"]),
            (vec!["x", "10", "9"], vec!["9", "10", "x"]),
            (vec!["-0", "0", "1"], vec!["0", "1"]),
        ] {
            let encoding = LabelEncoding::fit(labels.iter().copied());
            assert_eq!(encoding.classes(), classes);
            for label in labels {
                let index = encoding.encode(label).unwrap();
                assert_eq!(encoding.classes()[index], canonical(label));
            }
        }
    }

    #[test]
    fn codes_are_classes_as_they_are_written() {
        for (labels, classes) in [
            (vec!["07", "007", "7", "07"], vec!["007", "07", "7"]),
            (vec!["2D4", "1E2", "100"], vec!["100", "1E2", "2D4"]),
            (
                vec!["12345678901234567891", "12345678901234567890"],
                vec!["12345678901234567890", "12345678901234567891"],
            ),
            (vec!["x", "1.0", "1"], vec!["1", "1.0", "x"]),
            (vec!["inf", "iv", "NaN"], vec!["inf", "NaN", "iv"]),
        ] {
            let encoding = LabelEncoding::fit(labels.iter().copied());
            assert_eq!(encoding.classes(), classes);
            for label in &labels {
                let index = encoding.encode(label).unwrap();
                assert_eq!(encoding.classes()[index], *label);
            }
            let saved = serde_json::to_string(&encoding).unwrap();
            let loaded: LabelEncoding = serde_json::from_str(&saved).unwrap();
            assert_eq!(loaded, encoding);
        }
        let plain = LabelEncoding::fit(["1", "100"].into_iter());
        assert_eq!(plain.index("100.0"), Some(1));
        assert_eq!((plain.index("1E2"), plain.index("0100")), (None, None));
    }

    #[test]
    fn unknown_label_names_the_known_ones() {
        let error = LabelEncoding::fit(["g", "b"].into_iter())
            .encode("c")
            .unwrap_err();
        assert_eq!(error.to_string(), "unknown class label `c`; known: b, g");
    }
}
