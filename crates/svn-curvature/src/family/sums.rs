//! The sums of an accumulator as plain arrays: what a checkpoint keeps of them, to the last bit.

use ndarray::{ArrayD, IxDyn};
use serde::{Deserialize, Serialize};
use tch::{Kind, Tensor};

use crate::{CurvatureError, Result, convert};

/// What an [accumulator](crate::Accumulate) has collected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AccumulatedSums {
    samples: f64,
    arrays: Vec<ArrayD<f64>>,
}

impl AccumulatedSums {
    pub(super) fn new<'a>(
        samples: f64,
        sums: impl IntoIterator<Item = &'a Tensor>,
    ) -> Result<Self> {
        let arrays = sums.into_iter().map(convert::array::<IxDyn>);
        Ok(Self {
            samples,
            arrays: arrays.collect::<Result<_>>()?,
        })
    }

    /// Copy the sums into tensors of the same shapes; gives the number of samples. On an error nothing was copied.
    pub(super) fn copy_to(&self, targets: &mut [&mut Tensor]) -> Result<f64> {
        let shape = |array: &ArrayD<f64>| -> Vec<i64> {
            array.shape().iter().map(|&side| side as i64).collect()
        };
        let expected: Vec<Vec<i64>> = targets.iter().map(|target| target.size()).collect();
        let found: Vec<Vec<i64>> = self.arrays.iter().map(shape).collect();
        if found != expected {
            return Err(CurvatureError::Shape {
                what: "accumulated sums",
                expected: format!("the accumulator's, {expected:?}"),
                found: found.concat(),
            });
        }
        for (target, array) in targets.iter_mut().zip(&self.arrays) {
            let values = convert::tensor_on(array.view(), Kind::Double, target.device())?;
            target.f_copy_(&values)?;
        }
        Ok(self.samples)
    }
}
