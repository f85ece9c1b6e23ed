//! Sets with an official test part: validation, and smaller training parts, are drawn from the rest.

use serde::{Deserialize, Serialize};

use super::rows::{shuffled, take_evenly};
use super::{FoldRows, SplitError, VALIDATION_FRACTION, stream};

/// How many rows are used, for studies with few data and for quick tries; `None` is all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Limits {
    /// Rows outside the test part, of which [`VALIDATION_FRACTION`] are for validation.
    pub learning: Option<usize>,
    /// Rows of the test part.
    pub test: Option<usize>,
}

/// The rows `0..train_rows` cut into training and validation part; the rows behind them are the test part.
///
/// All draws are stratified. The result depends on nothing but the arguments, and the test part not on the seed.
///
/// # Shapes
/// `classes`: class index of each row, test rows included.
///
/// # Errors
/// [`SplitError::Limit`] for more rows than there are, [`SplitError::TooFewRows`] if a part would be empty.
pub fn holdout(
    dataset: &str,
    train_rows: usize,
    classes: &[usize],
    limits: Limits,
    seed: u64,
) -> Result<FoldRows, SplitError> {
    let learning: Vec<usize> = (0..train_rows).collect();
    let test: Vec<usize> = (train_rows..classes.len()).collect();
    cut(
        ("official", dataset, 0),
        &learning,
        &test,
        classes,
        limits,
        seed,
    )
}

/// The same parts with fewer rows: `limits.learning` of training and validation rows together, and of the test rows.
///
/// # Errors
/// As for [`holdout`].
pub fn limited(
    fold: (&str, usize),
    rows: FoldRows,
    classes: &[usize],
    limits: Limits,
    seed: u64,
) -> Result<FoldRows, SplitError> {
    let (dataset, index) = fold;
    let test = fewer(
        ("test", "paper", dataset, index),
        &rows.test,
        classes,
        limits.test,
        0,
    )?;
    if limits.learning.is_none() {
        return Ok(FoldRows { test, ..rows });
    }
    let mut learning = [rows.train, rows.validation].concat();
    learning.sort_unstable();
    let limits = Limits {
        test: None,
        ..limits
    };
    cut(
        ("paper", dataset, index),
        &learning,
        &test,
        classes,
        limits,
        seed,
    )
}

/// Protocol, data set, fold: what makes a random stream its own.
type Purpose<'a> = (&'a str, &'a str, usize);

fn cut(
    (protocol, dataset, fold): Purpose<'_>,
    learning: &[usize],
    test: &[usize],
    classes: &[usize],
    limits: Limits,
    seed: u64,
) -> Result<FoldRows, SplitError> {
    let learning = fewer(
        ("learning", protocol, dataset, fold),
        learning,
        classes,
        limits.learning,
        seed,
    )?;
    let test = fewer(
        ("test", protocol, dataset, fold),
        test,
        classes,
        limits.test,
        0,
    )?;
    let mut rng = stream(
        seed,
        &["validation", "images", protocol, dataset, &fold.to_string()],
    );
    let count = (learning.len() as f64 * VALIDATION_FRACTION).round() as usize;
    let (validation, train) = take_evenly(&shuffled(&learning, Some(classes), &mut rng), count);
    let rows = FoldRows {
        train,
        validation,
        test,
    };
    match rows.empty_part() {
        Some(part) => Err(SplitError::TooFewRows {
            rows: learning.len(),
            folds: 1,
            fold,
            part,
        }),
        None => Ok(rows),
    }
}

/// A stratified draw of `limit` rows, ascending.
fn fewer(
    (part, protocol, dataset, fold): (&'static str, &str, &str, usize),
    rows: &[usize],
    classes: &[usize],
    limit: Option<usize>,
    seed: u64,
) -> Result<Vec<usize>, SplitError> {
    match limit {
        None => Ok(rows.to_vec()),
        Some(limit) if limit > rows.len() => Err(SplitError::Limit {
            limit,
            rows: rows.len(),
            part,
        }),
        Some(limit) => {
            let mut rng = stream(
                seed,
                &["subset", part, protocol, dataset, &fold.to_string()],
            );
            Ok(take_evenly(&shuffled(rows, Some(classes), &mut rng), limit).0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::{Protocol, split};

    /// 400 rows of classes 0, 0, 1, 2 in turn, the last 100 of them test rows.
    fn classes() -> Vec<usize> {
        (0..400).map(|row| [0, 0, 1, 2][row % 4]).collect()
    }

    fn shares(rows: &[usize]) -> [usize; 3] {
        let classes = classes();
        [0, 1, 2].map(|class| rows.iter().filter(|&&row| classes[row] == class).count())
    }

    fn cut(learning: Option<usize>, test: Option<usize>, seed: u64) -> FoldRows {
        let limits = Limits { learning, test };
        holdout("m", 300, &classes(), limits, seed).unwrap()
    }

    #[test]
    fn parts_are_disjoint_and_stratified_and_test_rows_official() {
        let rows = cut(None, None, 0);
        assert_eq!(rows.test, (300..400).collect::<Vec<_>>());
        assert_eq!(
            (shares(&rows.train), shares(&rows.validation)),
            ([120, 60, 60], [30, 15, 15])
        );
        let mut all = [rows.train, rows.validation].concat();
        all.sort_unstable();
        assert_eq!(all, (0..300).collect::<Vec<_>>());
    }

    #[test]
    fn limits_draw_each_class_its_share() {
        let rows = cut(Some(100), Some(40), 3);
        assert_eq!(
            shares(&[rows.train.clone(), rows.validation.clone()].concat()),
            [50, 25, 25]
        );
        assert_eq!((rows.train.len(), rows.validation.len()), (80, 20));
        assert_eq!(shares(&rows.test), [20, 10, 10]);
        assert!(rows.test.iter().all(|&row| row >= 300));
        assert!(rows.train.iter().all(|row| !rows.validation.contains(row)));
        // Another seed, other training rows, the same test rows.
        let other = cut(Some(100), Some(40), 4);
        assert_ne!(rows.train, other.train);
        assert_eq!(rows.test, other.test);
        assert_eq!(rows, cut(Some(100), Some(40), 3));
    }

    #[test]
    fn folds_of_the_paper_can_be_limited_too() {
        let fold = split(Protocol::Paper { folds: 5 }, "m", 400, Some(&classes()), 1)
            .unwrap()
            .remove(2);
        let limits = |learning, test| Limits { learning, test };
        let limited = |limits| limited(("m", 2), fold.clone(), &classes(), limits, 1).unwrap();
        assert_eq!(limited(Limits::default()), fold);
        let few = limited(limits(Some(40), Some(20)));
        assert_eq!(
            (few.train.len(), few.validation.len(), few.test.len()),
            (32, 8, 20)
        );
        assert!(few.test.iter().all(|row| fold.test.contains(row)));
        assert!(few.train.iter().all(|row| !fold.test.contains(row)));
    }

    #[test]
    fn impossible_limits_are_named() {
        let fault = |learning, test| {
            let limits = Limits { learning, test };
            holdout("m", 300, &classes(), limits, 0)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            fault(Some(301), None),
            "301 rows asked for, the learning part has 300"
        );
        assert_eq!(
            fault(None, Some(101)),
            "101 rows asked for, the test part has 100"
        );
        assert!(fault(Some(1), None).contains("the validation part of fold 1 would be empty"));
        assert!(fault(None, Some(0)).contains("the test part of fold 1 would be empty"));
    }
}
