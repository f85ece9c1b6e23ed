//! What cannot be split.

/// Why rows could not be cut into parts.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SplitError {
    /// Cross-validation needs two folds.
    #[error("cross-validation needs at least 2 folds, found {folds}")]
    TooFewFolds {
        /// Folds asked for.
        folds: usize,
    },
    /// Some part of some fold would be empty.
    #[error(
        "{rows} rows are too few for {folds} folds: the {part} part of fold {fold} would be empty",
        fold = fold + 1
    )]
    TooFewRows {
        /// Rows of the data set.
        rows: usize,
        /// Folds asked for.
        folds: usize,
        /// The fold.
        fold: usize,
        /// `training`, `validation` or `test`.
        part: &'static str,
    },
    /// More rows asked for than a part has.
    #[error("{limit} rows asked for, the {part} part has {rows}")]
    Limit {
        /// Rows asked for.
        limit: usize,
        /// Rows there are.
        rows: usize,
        /// `learning` (training and validation) or `test`.
        part: &'static str,
    },
}
