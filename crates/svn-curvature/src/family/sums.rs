//! The sums of an accumulator as plain arrays: what a checkpoint keeps of them, to the last bit.

use ndarray::{ArrayD, ArrayViewD, ArrayViewMutD};
use serde::{Deserialize, Serialize};

use crate::{CurvatureError, Result};

/// What an [accumulator](crate::Accumulate) has collected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AccumulatedSums {
    samples: f64,
    arrays: Vec<ArrayD<f64>>,
}

impl AccumulatedSums {
    pub(super) fn new<'a>(
        samples: f64,
        sums: impl IntoIterator<Item = ArrayViewD<'a, f64>>,
    ) -> Self {
        let arrays = sums.into_iter().map(|array| array.to_owned()).collect();
        Self { samples, arrays }
    }

    /// Copy the sums into arrays of the same shapes; gives the number of samples. On an error nothing was copied.
    pub(super) fn copy_to(&self, targets: Vec<ArrayViewMutD<'_, f64>>) -> Result<f64> {
        let expected: Vec<&[usize]> = targets.iter().map(|target| target.shape()).collect();
        let found: Vec<&[usize]> = self.arrays.iter().map(|array| array.shape()).collect();
        if found != expected {
            return Err(CurvatureError::Shape {
                what: "accumulated sums",
                expected: format!("the accumulator's, {expected:?}"),
                found: found.concat(),
            });
        }
        for (mut target, array) in targets.into_iter().zip(&self.arrays) {
            target.assign(array);
        }
        Ok(self.samples)
    }
}
