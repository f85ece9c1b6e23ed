//! Class labels of any kind to `0..C`, with the way back kept.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::ModelError;

/// The classes in order of their index: numbers ascending, else text ascending.
///
/// `1..K`, `−1/1`, labels with gaps and strings all end as `0..C`; numbers are compared by value, so `1` and `1.0`
/// are one class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LabelEncoding {
    classes: Vec<String>,
}

impl LabelEncoding {
    /// Collect the classes of a column.
    pub fn fit<'a>(labels: impl Iterator<Item = &'a str>) -> Self {
        let mut classes: Vec<String> = labels.map(canonical).collect();
        classes.sort_by(|a, b| compare(a, b));
        classes.dedup();
        Self { classes }
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
        let label = canonical(label);
        let found = self
            .classes
            .binary_search_by(|class| compare(class, &label));
        found.ok()
    }

    /// Index of a label that should be known.
    ///
    /// # Errors
    /// [`ModelError::UnknownLabel`] lists the labels that were seen.
    pub fn encode(&self, label: &str) -> Result<usize, ModelError> {
        self.index(label).ok_or_else(|| ModelError::UnknownLabel {
            label: canonical(label),
            known: self.classes.join(", "),
        })
    }
}

/// Numbers in their shortest form (`1.0` → `1`, `-0` → `0`), other text as it is.
fn canonical(label: &str) -> String {
    match label.parse::<f64>() {
        Ok(value) if value.is_finite() => (value + 0.0).to_string(),
        _ => label.to_owned(),
    }
}

/// Numbers before text, numbers by value.
fn compare(a: &str, b: &str) -> Ordering {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => a.total_cmp(&b),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => a.cmp(b),
    }
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
    fn unknown_label_names_the_known_ones() {
        let error = LabelEncoding::fit(["g", "b"].into_iter())
            .encode("c")
            .unwrap_err();
        assert_eq!(error.to_string(), "unknown class label `c`; known: b, g");
    }
}
