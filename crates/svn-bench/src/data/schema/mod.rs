//! From the columns of a table to features and a target, and the same for a later file, cell by cell.
//!
//! What a column is, is decided once, from all rows of the file that is learnt from:
//!
//! | column | features | decided by |
//! |---|---|---|
//! | number | its value; with `impute` a second one that is 1 where it was missing, if any was | all cells are numbers in one [`Notation`](super::Notation) |
//! | yes or no | 1 or 0 | two words such as `yes` and `No` |
//! | date | days since 1970-01-01 | all cells are dates in one [`DateOrder`] |
//! | category | one a level, one for levels never seen | any other text, and codes such as `007` |
//!
//! Constant columns, row numbers, names and free text are left out, each with a [`Finding`]; [`Ask::keep`] keeps them. One
//! odd cell among numbers is an error. In a category an empty cell is a level, and so is a word such as `NA`.

mod column;
mod copies;
mod date;
mod decide;
mod error;
mod finding;
mod leaks;
mod learn;
mod matched;
mod survey;
mod target;
mod words;

use std::str::FromStr;

use ndarray::{Array1, Array2};
use serde::{Deserialize, Serialize};
use svn_models::Task;

use column::Column;
pub use column::UsedColumn;
pub use date::DateOrder;
pub use error::SchemaError;
pub use finding::{Finding, FindingKind};
pub use matched::{Matched, Outcome, TargetCell};
use target::TargetColumn;

/// What to do with missing cells of numbers and dates, and with rows without a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// Refuse the file and name the first such cell.
    #[default]
    Error,
    /// Leave the row out; in a later file it has no prediction.
    Drop,
    /// Take the mean of the column; rows without a target are left out.
    Impute,
}

impl FromStr for Missing {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "error" => Ok(Self::Error),
            "drop" => Ok(Self::Drop),
            "impute" => Ok(Self::Impute),
            _ => Err("expected error, drop or impute".to_owned()),
        }
    }
}

/// What is to be learnt from a table.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// Column that is predicted.
    pub target: String,
    /// What is predicted; found out if it is not given.
    pub task: Option<Task>,
    /// Columns that are no features.
    pub drop: Vec<String>,
    /// Columns that are features although they would be left out, or categories although most cells are numbers; of the
    /// target: words such as `NA` are classes.
    pub keep: Vec<String>,
    /// Column whose equal cells keep rows together when rows are split.
    pub group: Option<String>,
    /// Missing cells.
    pub missing: Missing,
}

/// How cells become features and a target. Plain data, to be stored beside a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    target: TargetColumn,
    missing: Missing,
    columns: Vec<Column>,
    /// Columns of the file that are neither features nor target.
    left_out: Vec<String>,
}

/// Targets of the rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Targets {
    /// Of a regression.
    Numbers(Array1<f64>),
    /// Of a classification, as they are written.
    Labels(Vec<String>),
}

impl Targets {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Labels(labels) => labels.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What was learnt from a table.
///
/// # Shapes
/// `x`: `n × p`, `p` as [`Schema::feature_names`]; all finite. The others: `n`.
#[derive(Debug, Clone)]
pub struct Learned {
    /// How cells become features.
    pub schema: Schema,
    /// Features.
    pub x: Array2<f64>,
    /// Targets.
    pub target: Targets,
    /// Rows of equal number belong together: by [`Ask::group`], else rows of equal features, if there are such.
    pub groups: Option<Vec<usize>>,
    /// 1-based line of each row in the file.
    pub lines: Vec<u64>,
    /// What the user should know.
    pub findings: Vec<Finding>,
}

impl Schema {
    /// Each column that is used, in the order of the features.
    pub fn columns(&self) -> Vec<UsedColumn> {
        let mut end = 0;
        let columns = self.columns.iter().map(|column| {
            let start = end;
            end += column.width();
            UsedColumn {
                name: column.name.clone(),
                kind: column.kind_in_words(),
                features: start..end,
            }
        });
        columns.collect()
    }

    /// Names of the features: the column's, with `=level` for categories.
    pub fn feature_names(&self) -> Vec<String> {
        self.columns
            .iter()
            .flat_map(Column::feature_names)
            .collect()
    }

    /// Number of features.
    pub fn width(&self) -> usize {
        self.columns.iter().map(Column::width).sum()
    }

    /// Name of the target column.
    pub fn target(&self) -> &str {
        &self.target.name
    }

    /// What is predicted.
    pub fn task(&self) -> Task {
        self.target.task
    }

    /// What is done with missing cells.
    pub fn missing(&self) -> Missing {
        self.missing
    }

    /// Columns of the file that was learnt from that are neither features nor target.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }
}

#[cfg(test)]
mod tests;
