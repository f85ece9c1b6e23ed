//! What cannot be scaled.

/// Why a scaler could not be fitted or applied.
#[derive(Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum ScaleError {
    /// Nothing to fit on.
    #[error("cannot fit a scaler on no rows")]
    NoRows,
    /// A value is infinite, or so large that the mean of its column overflows.
    #[error("training row {row}, feature {column}: {value} cannot be scaled")]
    NotFinite {
        /// Row of the array that was passed.
        row: usize,
        /// Feature.
        column: usize,
        /// The value.
        value: f64,
    },
    /// The target is the same in all training rows.
    #[error("the target is {value} in all {rows} training rows: there is nothing to learn")]
    ConstantTarget {
        /// Number of rows.
        rows: usize,
        /// The one value.
        value: f64,
    },
    /// Another number of columns than the scaler was fitted on.
    #[error("the scaler was fitted on {expected} features, found {found}")]
    Features {
        /// Features at fit.
        expected: usize,
        /// Features now.
        found: usize,
    },
}
