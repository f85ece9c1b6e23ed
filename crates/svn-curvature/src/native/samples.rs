//! Samples in memory, and networks evaluated at them.

use ndarray::{Array2, Array3, ArrayView1, ArrayView2, Axis, s};
use svn_linalg::parallel;

use super::linearization::NativeLinearization;
use super::number::Number;
use super::pass;
use crate::backend::{check_evaluation, check_selection};
use crate::{Linearized, Result, Samples, Sequential};
use svn_linalg::dense::first_non_finite;

/// Samples whose values stay in the cache on their way through the layers.
const TILE: usize = 256;

/// `M × b × p`: one set of samples for all particles, or one for each.
#[derive(Debug, Clone)]
pub(super) struct NativeSamples<T> {
    values: Array3<T>,
}

impl<T: Number> NativeSamples<T> {
    pub(super) fn new(mut values: Array3<T>) -> Self {
        values.mapv_inplace(T::flushed);
        Self { values }
    }

    /// Those of a particle, `b × p`.
    fn of(&self, particle: usize) -> ArrayView2<'_, T> {
        let last = self.values.dim().0 - 1;
        self.values.index_axis(Axis(0), particle.min(last))
    }

    fn check(&self, network: &Sequential, particles: ArrayView2<'_, f64>) -> Result<()> {
        let (sets, _, width) = self.values.dim();
        check_evaluation(network, particles, (sets, width))
    }

    /// Outputs of all particles in the network's own numbers, `N × b × c`.
    fn outputs(&self, network: &Sequential, particles: ArrayView2<'_, f64>) -> Result<Array3<T>> {
        self.check(network, particles)?;
        let (n, rows) = (particles.nrows(), self.rows());
        let params = T::converted(particles);
        let tiles = rows.div_ceil(TILE);
        let work = network.layout().dim() * TILE.min(rows) * tiles * n;
        let parts = parallel::map(n * tiles, work, |part| {
            let (p, start) = (part / tiles, part % tiles * TILE);
            let samples = self.of(p);
            let tile = samples.slice(s![start..rows.min(start + TILE), ..]);
            evaluate(network, p, params.row(p), tile.t())
        });
        let mut out = Array3::from_elem((n, rows, network.outputs()), T::zero());
        for (part, outputs) in parts.into_iter().enumerate() {
            let (p, start) = (part / tiles, part % tiles * TILE);
            let outputs = outputs?;
            let end = start + outputs.ncols();
            out.slice_mut(s![p, start..end, ..]).assign(&outputs.t());
        }
        Ok(out)
    }
}

/// Outputs `c × b`; numbers that are not finite are an error that names the layer.
fn evaluate<T: Number>(
    network: &Sequential,
    particle: usize,
    params: ArrayView1<'_, T>,
    samples: ArrayView2<'_, T>,
) -> Result<Array2<T>> {
    let samples = samples.as_standard_layout();
    let outputs = pass::forward(network, params, samples.view(), None, |_, _| Ok(()))?;
    match first_non_finite([T::widened(outputs.view()).view()]) {
        None => Ok(outputs),
        Some(_) => Err(culprit(network, particle, params, samples.view())),
    }
}

/// The first layer whose output is not finite.
pub(super) fn culprit<T: Number>(
    network: &Sequential,
    particle: usize,
    params: ArrayView1<'_, T>,
    samples: ArrayView2<'_, T>,
) -> crate::CurvatureError {
    let found = pass::forward(
        network,
        params,
        samples,
        None,
        |layer, values| match first_non_finite([T::widened(values).view()]) {
            None => Ok(()),
            Some(_) => Err(network.non_finite_output(particle, layer)),
        },
    );
    match found {
        Err(error) => error,
        Ok(_) => network.non_finite_output(particle, network.layers().len() - 1),
    }
}

impl<T: Number> Samples for NativeSamples<T> {
    fn rows(&self) -> usize {
        self.values.dim().1
    }

    fn select(&self, rows: &[usize]) -> Result<Box<dyn Samples>> {
        check_selection(rows, self.rows())?;
        Ok(Box::new(Self::new(self.values.select(Axis(1), rows))))
    }

    fn forward(&self, network: &Sequential, particles: ArrayView2<'_, f64>) -> Result<Array3<f64>> {
        Ok(self.outputs(network, particles)?.mapv_into_any(T::to_f64))
    }

    fn linearize(
        &self,
        network: &Sequential,
        particles: ArrayView2<'_, f64>,
    ) -> Result<Box<dyn Linearized>> {
        self.check(network, particles)?;
        let params = T::converted(particles);
        let samples = self.values.clone();
        Ok(Box::new(NativeLinearization::new(
            network, params, samples,
        )?))
    }

    fn through(
        &self,
        network: &Sequential,
        particles: ArrayView2<'_, f64>,
    ) -> Result<Box<dyn Samples>> {
        Ok(Box::new(Self::new(self.outputs(network, particles)?)))
    }
}
