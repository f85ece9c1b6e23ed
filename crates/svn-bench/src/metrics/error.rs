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
    /// No members, no rows or fewer than two classes.
    #[error("nothing to measure: {members} members, {rows} rows, {outputs} outputs")]
    Empty {
        /// Members `N`.
        members: usize,
        /// Rows `n`.
        rows: usize,
        /// Outputs; classes `C`.
        outputs: usize,
    },
    /// A prediction that is not a number, or no valid variance.
    #[error("{what} of member {member} at test row {row} is {value}, expected a {expected} number")]
    Value {
        /// Which quantity.
        what: &'static str,
        /// Member.
        member: usize,
        /// Row of the test set.
        row: usize,
        /// The value.
        value: f64,
        /// What it should be.
        expected: &'static str,
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
    /// Predictions of different ensembles cannot be joined.
    #[error("cannot join parts of {first} and {other} members")]
    Members {
        /// Members of the first part.
        first: usize,
        /// Members of another part.
        other: usize,
    },
    /// There is nothing to join.
    #[error("cannot join no parts")]
    NoParts,
}
