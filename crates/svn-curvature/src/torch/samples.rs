//! Samples as a tensor, and networks evaluated at them.

use ndarray::{Array3, ArrayView2};
use tch::Tensor;

use super::linearization::TorchLinearization;
use super::{convert, pass};
use crate::backend::{check_evaluation, check_selection};
use crate::shape::saturating_product;
use crate::{Linearized, Result, Samples, Sequential};

/// Samples that go through frozen layers at once: convolutions are unrolled.
const CHUNK: i64 = 256;

/// `M × b × sample shape`: one set of samples for all particles, or one for each.
#[derive(Debug)]
pub(super) struct TorchSamples {
    values: Tensor,
}

impl TorchSamples {
    pub(super) fn new(values: Tensor) -> Self {
        Self { values }
    }

    /// Parameters on the samples' device, in their numbers.
    fn params(&self, network: &Sequential, particles: ArrayView2<'_, f64>) -> Result<Tensor> {
        let size = self.values.size();
        let sample: Vec<usize> = size[2..].iter().map(|&side| side as usize).collect();
        let sets = size[0] as usize;
        check_evaluation(network, particles, (sets, saturating_product(&sample)))?;
        convert::tensor(particles, self.values.kind(), self.values.device())
    }
}

impl Samples for TorchSamples {
    fn rows(&self) -> usize {
        self.values.size()[1] as usize
    }

    fn select(&self, rows: &[usize]) -> Result<Box<dyn Samples>> {
        check_selection(rows, self.rows())?;
        let rows: Vec<i64> = rows.iter().map(|&row| row as i64).collect();
        let rows = Tensor::f_from_slice(&rows)?.f_to(self.values.device())?;
        Ok(Box::new(Self::new(self.values.f_index_select(1, &rows)?)))
    }

    fn forward(&self, network: &Sequential, particles: ArrayView2<'_, f64>) -> Result<Array3<f64>> {
        tch::no_grad(|| {
            let params = self.params(network, particles)?;
            convert::array(&pass::run(network, &params, &self.values, None)?)
        })
    }

    fn linearize(
        &self,
        network: &Sequential,
        particles: ArrayView2<'_, f64>,
    ) -> Result<Box<dyn Linearized>> {
        tch::no_grad(|| {
            let params = self.params(network, particles)?;
            let mut records = Vec::with_capacity(network.layers().len());
            let outputs = pass::run(network, &params, &self.values, Some(&mut records))?;
            let linear = TorchLinearization::new(network, records, outputs)?;
            Ok(Box::new(linear) as Box<dyn Linearized>)
        })
    }

    fn through(
        &self,
        network: &Sequential,
        particles: ArrayView2<'_, f64>,
    ) -> Result<Box<dyn Samples>> {
        tch::no_grad(|| {
            let params = self.params(network, particles)?;
            let parts = self.values.f_split(CHUNK, 1)?;
            let parts = parts.iter().map(|x| pass::run(network, &params, x, None));
            let features = Tensor::f_cat(&parts.collect::<Result<Vec<_>>>()?, 1)?;
            Ok(Box::new(Self::new(features)) as Box<dyn Samples>)
        })
    }
}
