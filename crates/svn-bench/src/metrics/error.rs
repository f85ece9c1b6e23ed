//! What cannot be measured.

/// Why metrics could not be computed.
#[derive(Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum MetricError {
    /// Arrays that should have one shape have several.
    #[error("{what} has shape {found:?}, expected {expected:?}")]
    Shape {
        /// Which array.
        what: &'static str,
        /// Its shape.
        found: Vec<usize>,
        /// The shape of the others.
        expected: Vec<usize>,
    },
    /// A target that is not a number, or no class index.
    #[error("target {value} at test row {row}, expected {expected}")]
    Target {
        /// Row of the test set.
        row: usize,
        /// The target.
        value: f64,
        /// What it should be.
        expected: String,
    },
}
