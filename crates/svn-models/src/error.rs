//! The one error type of this crate.

/// Why a model could not be built, trained or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A setting is outside its range.
    #[error("{name} is {found}; expected {expected}")]
    Setting {
        /// Name of the setting.
        name: String,
        /// Its value.
        found: String,
        /// What would be right.
        expected: String,
    },
    /// Arrays that do not fit each other.
    #[error("{what} has shape {found:?}; expected {expected:?}")]
    Shape {
        /// Which array.
        what: String,
        /// Its shape.
        found: Vec<usize>,
        /// The shape that fits.
        expected: Vec<usize>,
    },
    /// A row of the data holds a NaN or infinite number.
    #[error("row {row} of the {what} is not finite; drop or impute it before training")]
    NonFiniteData {
        /// Which data, for example `training features`.
        what: &'static str,
        /// Row, counted from 0.
        row: usize,
    },
    /// A target that is no class index.
    #[error(
        "target {found} of row {row} is no class index; expected a whole number from 0 to {}",
        classes.saturating_sub(1)
    )]
    ClassIndex {
        /// Row, counted from 0.
        row: usize,
        /// The target.
        found: f64,
        /// Number of classes.
        classes: usize,
    },
    /// A target that is no level.
    #[error(
        "target {found} of row {row} is no whole number, as the ordinal likelihood needs; take another likelihood"
    )]
    Level {
        /// Row, counted from 0.
        row: usize,
        /// The target.
        found: f64,
    },
    /// A feature or target that is not finite.
    #[error("{what} of row {row} is {value}; expected a finite number, drop or impute it before")]
    Cell {
        /// Which column, for example `feature 3`, counted from 0.
        what: String,
        /// Row, counted from 0.
        row: usize,
        /// Its value.
        value: f64,
    },
    /// A target of one class.
    #[error("the target is class `{label}` in all rows; expected two classes or more")]
    OneClass {
        /// The class.
        label: String,
    },
    /// A prediction that is no number or no variance.
    #[error("{what} of member {member} at row {row} is {value}, expected a {expected} number")]
    Predicted {
        /// Which quantity.
        what: &'static str,
        /// Member, counted from 0.
        member: usize,
        /// Row, counted from 0.
        row: usize,
        /// Its value.
        value: f64,
        /// What it should be.
        expected: &'static str,
    },
    /// A class label that was not among those of training.
    #[error("unknown class label `{label}`; known: {known}")]
    UnknownLabel {
        /// The label.
        label: String,
        /// Those of training.
        known: String,
    },
    /// A regression was asked for classes, or a classification for numbers.
    #[error("the likelihood is one of {likelihood}; call {instead}")]
    OtherTask {
        /// What the likelihood is of.
        likelihood: &'static str,
        /// The call that fits.
        instead: &'static str,
    },
    /// No epoch ended with finite predictions of the validation rows.
    #[error(
        "training diverged: after none of the {epochs} epochs were the validation predictions finite; lower the step size (lr), or raise the damping of Newton steps"
    )]
    Diverged {
        /// Epochs that were run.
        epochs: usize,
    },
    /// A checkpoint that cannot be written, read or gone on from.
    #[error(transparent)]
    Checkpoint(#[from] crate::fit::CheckpointError),
    /// A model that cannot be written or read.
    #[error(transparent)]
    File(#[from] crate::model::ModelFileError),
    /// Features or targets that cannot be scaled.
    #[error(transparent)]
    Scale(#[from] crate::scaling::ScaleError),
    /// From the curvature layer.
    #[error(transparent)]
    Curvature(#[from] svn_curvature::CurvatureError),
    /// From the particle methods.
    #[error(transparent)]
    Stein(#[from] svn_stein::SteinError),
}

impl ModelError {
    pub(crate) fn setting(name: &str, found: impl ToString, expected: &str) -> Self {
        Self::Setting {
            name: name.into(),
            found: found.to_string(),
            expected: expected.into(),
        }
    }
}
