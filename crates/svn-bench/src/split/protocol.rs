//! The two protocols: the paper's cross-validation and the random splits of the wider literature.

use serde::{Deserialize, Serialize};

use super::rows::{shuffled, take_evenly};
use super::{FoldRows, SplitError, stream};

/// Share of the rows outside the test part that are for validation.
pub const VALIDATION_FRACTION: f64 = 0.2;

/// How rows are cut into parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Protocol {
    /// Shuffled `folds`-fold cross-validation; 20 % of the rest is validation: 64 / 16 / 20 % for 5 folds.
    Paper {
        /// Number of folds.
        folds: usize,
    },
    /// Independent random splits with 10 % test; 20 % of the rest is validation.
    Standard {
        /// Number of splits: 20, for very large sets 5.
        splits: usize,
    },
}

impl Protocol {
    /// The literature's number of splits for a set of `rows` rows: 20, and 5 where a set is as large as `protein`.
    pub fn standard(rows: usize) -> Self {
        Self::Standard {
            splits: if rows > 20_000 { 5 } else { 20 },
        }
    }

    /// Number of folds or splits.
    pub fn folds(self) -> usize {
        match self {
            Self::Paper { folds } => folds,
            Self::Standard { splits } => splits,
        }
    }

    /// `paper` or `standard`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper { .. } => "paper",
            Self::Standard { .. } => "standard",
        }
    }
}

/// All folds of a data set. The result depends on nothing but the arguments; sets of different names use
/// independent random streams.
///
/// # Shapes
/// `classes`: class index of each of the `rows` rows, for stratification.
///
/// # Errors
/// [`SplitError`] if there are fewer than two folds or a part would be empty.
pub fn split(
    protocol: Protocol,
    dataset: &str,
    rows: usize,
    classes: Option<&[usize]>,
    seed: u64,
) -> Result<Vec<FoldRows>, SplitError> {
    let folds = protocol.folds();
    let tests = match protocol {
        Protocol::Paper { folds } if folds < 2 => return Err(SplitError::TooFewFolds { folds }),
        Protocol::Standard { splits: 0 } => return Err(SplitError::TooFewFolds { folds: 0 }),
        Protocol::Paper { folds } => cross_validation(dataset, rows, folds, classes, seed),
        Protocol::Standard { splits } => random_splits(dataset, rows, splits, classes, seed),
    };
    tests
        .into_iter()
        .enumerate()
        .map(|(fold, (test, rest))| {
            let mut rng = stream(
                seed,
                &["validation", protocol.name(), dataset, &fold.to_string()],
            );
            let count = (rest.len() as f64 * VALIDATION_FRACTION).round() as usize;
            let (validation, train) = take_evenly(&shuffled(&rest, classes, &mut rng), count);
            let fold_rows = FoldRows {
                train,
                validation,
                test,
            };
            match fold_rows.empty_part() {
                Some(part) => Err(SplitError::TooFewRows {
                    rows,
                    folds,
                    fold,
                    part,
                }),
                None => Ok(fold_rows),
            }
        })
        .collect()
}

/// Test part and the rest, both ascending.
type TestAndRest = (Vec<usize>, Vec<usize>);

fn cross_validation(
    dataset: &str,
    rows: usize,
    folds: usize,
    classes: Option<&[usize]>,
    seed: u64,
) -> Vec<TestAndRest> {
    let mut rng = stream(seed, &["test", "paper", dataset]);
    let all: Vec<usize> = (0..rows).collect();
    let order = shuffled(&all, classes, &mut rng);
    (0..folds)
        .map(|fold| {
            let mut test: Vec<usize> = order.iter().copied().skip(fold).step_by(folds).collect();
            let mut rest: Vec<usize> = order
                .iter()
                .enumerate()
                .filter(|(j, _)| j % folds != fold)
                .map(|(_, &row)| row)
                .collect();
            test.sort_unstable();
            rest.sort_unstable();
            (test, rest)
        })
        .collect()
}

fn random_splits(
    dataset: &str,
    rows: usize,
    splits: usize,
    classes: Option<&[usize]>,
    seed: u64,
) -> Vec<TestAndRest> {
    let all: Vec<usize> = (0..rows).collect();
    (0..splits)
        .map(|fold| {
            let mut rng = stream(seed, &["test", "standard", dataset, &fold.to_string()]);
            take_evenly(
                &shuffled(&all, classes, &mut rng),
                (rows as f64 * 0.1).round() as usize,
            )
        })
        .collect()
}

#[cfg(test)]
#[path = "protocol_tests.rs"]
mod tests;
