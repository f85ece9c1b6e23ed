//! Row numbers of one fold, and dealing rows so that every part has its share of each class.

use rand::RngExt;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

/// Rows of one fold, each part ascending; together they are all rows, once each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoldRows {
    /// Rows to fit on.
    pub train: Vec<usize>,
    /// Rows to tune and stop on.
    pub validation: Vec<usize>,
    /// Rows to measure on.
    pub test: Vec<usize>,
}

impl FoldRows {
    /// Name of a part without rows.
    pub(super) fn empty_part(&self) -> Option<&'static str> {
        [
            ("test", &self.test),
            ("validation", &self.validation),
            ("training", &self.train),
        ]
        .into_iter()
        .find(|(_, rows)| rows.is_empty())
        .map(|(part, _)| part)
    }
}

/// Rows shuffled, those of one class side by side. Taking every k-th then is a stratified draw.
pub(super) fn shuffled(
    rows: &[usize],
    classes: Option<&[usize]>,
    rng: &mut impl RngExt,
) -> Vec<usize> {
    let mut rows = rows.to_vec();
    rows.shuffle(rng);
    if let Some(classes) = classes {
        rows.sort_by_key(|&row| classes[row]);
    }
    rows
}

/// `count` of the rows, evenly spread over the list, and the others. Row `j` of `n` is taken if
/// `⌊(j+1) count/n⌋ > ⌊j count/n⌋`: exactly `count`, and of each run of equal class its share to within one.
pub(super) fn take_evenly(rows: &[usize], count: usize) -> (Vec<usize>, Vec<usize>) {
    let n = rows.len().max(1);
    let taken = |j: usize| (j + 1) * count / n > j * count / n;
    let (mut some, mut others) = (Vec::new(), Vec::new());
    for (j, &row) in rows.iter().enumerate() {
        if taken(j) {
            some.push(row)
        } else {
            others.push(row)
        }
    }
    some.sort_unstable();
    others.sort_unstable();
    (some, others)
}
