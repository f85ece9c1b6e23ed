//! Predictions of numbers or of classes.

use super::{ClassPrediction, Prediction};
use crate::ModelError;

/// Predictions of numbers or of classes.
#[derive(Debug, Clone, PartialEq)]
#[allow(
    clippy::large_enum_variant,
    reason = "one for all rows: its arrays are far larger than itself"
)]
pub enum Predicted {
    /// Of numbers.
    Numbers(Prediction),
    /// Of classes.
    Classes(ClassPrediction),
}

impl Predicted {
    /// With the member of `other` as `count` more members of this one.
    ///
    /// # Errors
    /// [`ModelError::OtherTask`] for one of numbers and one of classes, and as for [`Prediction::with_member`].
    pub fn with_member(self, other: &Self, count: usize) -> Result<Self, ModelError> {
        match (self, other) {
            (own, _) if count == 0 => Ok(own),
            (Self::Numbers(own), Self::Numbers(other)) => {
                own.with_member(other, count).map(Self::Numbers)
            }
            (Self::Classes(own), Self::Classes(other)) => {
                own.with_member(other, count).map(Self::Classes)
            }
            (Self::Numbers(_), Self::Classes(_)) | (Self::Classes(_), Self::Numbers(_)) => {
                Err(ModelError::OtherTask {
                    likelihood: "another task",
                    instead: "with a prediction of the same",
                })
            }
        }
    }

    /// Of all rows, from parts that each have some of them, see [`Prediction::gather`].
    ///
    /// # Errors
    /// As for [`Prediction::gather`], [`ModelError::OtherTask`] for parts of both tasks.
    pub fn gather(parts: Vec<(Vec<usize>, Self)>) -> Result<Self, ModelError> {
        let (mut numbers, mut classes) = (Vec::new(), Vec::new());
        for (places, part) in parts {
            match part {
                Self::Numbers(part) => numbers.push((places, part)),
                Self::Classes(part) => classes.push((places, part)),
            }
        }
        match classes.is_empty() {
            true => Prediction::gather(&numbers).map(Self::Numbers),
            false => ClassPrediction::gather(&classes).map(Self::Classes),
        }
    }
}
