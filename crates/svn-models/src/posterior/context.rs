//! What the members of an ensemble predict at some rows, for methods that repel in function space.
//!
//! ```text
//! z_p = S(f̄)ᵀ f_p(C)        C: context rows, f_p: N × |C| × c outputs, f̄ their mean over particles, S: |C| × c × k
//! S Sᵀ = Fisher information of the outputs, so that 1 is a difference that one observation could tell; of a Gaussian z = f / σ
//! J_pᵀ S r_p                 pulls a direction r_p of the images back to the weights
//! ```
//!
//! One `S` for all particles, at their mean output, so that they are measured alike. It is held constant, as the metric of a kernel is.

use std::collections::VecDeque;

use ndarray::{Array2, Array3, Array4, ArrayView2, ArrayViewMut2, Axis};
use rand::rngs::ChaCha12Rng;
use rand::{RngExt, SeedableRng, seq::index};
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};
use svn_curvature::{Linearized, Sequential};

use crate::{Backend, Likelihood, ModelError};

/// Streams of the seed from here on belong to the context of the batches.
const STREAM: u64 = 1 << 62;

/// Rows at which functions are compared; as text `training`, `perturbed` (by one) or `perturbed 0.5`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
#[non_exhaustive]
pub enum Context {
    /// Training rows, or those given as the [context](crate::Rows::with_context). Of training rows a Newton step has those of the batches
    /// whose curvature it has: a repulsion at others would meet no resistance but the damping.
    Training,
    /// The same, each feature with a normal number of this standard deviation added: the neighbourhood of the data as well.
    Perturbed(f64),
}

impl From<Context> for String {
    fn from(context: Context) -> Self {
        match context {
            Context::Training => "training".to_owned(),
            Context::Perturbed(1.0) => "perturbed".to_owned(),
            Context::Perturbed(by) => format!("perturbed {by}"),
        }
    }
}

impl TryFrom<String> for Context {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.split_at_checked("perturbed".len()) {
            _ if text == "training" => Some(Self::Training),
            Some(("perturbed", "")) => Some(Self::Perturbed(1.0)),
            Some(("perturbed", number)) => number
                .trim_start()
                .parse()
                .ok()
                .filter(|by: &f64| by.is_finite() && *by > 0.0)
                .map(Self::Perturbed),
            _ => None,
        }
        .ok_or_else(|| "expected training, perturbed or perturbed and a positive number".to_owned())
    }
}

/// How functions are compared.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `rows` | 400 | context rows of a step, drawn anew for each | ≥ 1 |
/// | `kind` | `training` | which rows | [`Context`] |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ContextSettings {
    /// Context rows of a step. Two or three times the directions that the data determine are needed; fewer tell the particles apart too
    /// rarely in each.
    pub rows: usize,
    /// Which rows.
    pub kind: Context,
}

impl Default for ContextSettings {
    fn default() -> Self {
        Self {
            rows: 400,
            kind: Context::Training,
        }
    }
}

/// Rows to draw from, and the last ones drawn with the networks there.
#[derive(Debug)]
pub(super) struct FunctionContext {
    pool: Array2<f64>,
    settings: ContextSettings,
    seed: u64,
    /// Rows of the last batches, where only these are to be compared at.
    recent: Option<Recent>,
    last: Option<Last>,
}

/// A ring of batches.
#[derive(Debug)]
struct Recent {
    batches: VecDeque<Vec<usize>>,
    most: usize,
}

#[derive(Debug)]
struct Last {
    linear: Box<dyn Linearized>,
    /// `S`, `|C| × c × k`.
    root: Array3<f64>,
}

impl FunctionContext {
    /// To draw from `pool` (`m × p`); with `recent` from its rows of so many last batches.
    pub(super) fn new(
        pool: ArrayView2<'_, f64>,
        recent: Option<usize>,
        settings: ContextSettings,
        seed: u64,
    ) -> Self {
        Self {
            pool: pool.to_owned(),
            settings,
            seed,
            recent: recent.map(|most| Recent {
                batches: VecDeque::with_capacity(most),
                most,
            }),
            last: None,
        }
    }

    /// A batch was drawn.
    pub(super) fn advance(&mut self, rows: &[usize]) {
        if let Some(recent) = &mut self.recent {
            if recent.batches.len() == recent.most {
                recent.batches.pop_front();
            }
            recent.batches.push_back(rows.to_vec());
        }
    }

    /// Batches that [`advance`](Self::advance) has to be told of before a run can go on.
    pub(super) fn memory(&self) -> usize {
        self.recent.as_ref().map_or(0, |recent| recent.most)
    }

    /// `z`, `N × |C| k`, at the rows of batch number `batch`.
    pub(super) fn images(
        &mut self,
        (network, backend): (&Sequential, Backend),
        likelihood: Likelihood,
        batch: u64,
        particles: ArrayView2<'_, f64>,
    ) -> Result<Array2<f64>, ModelError> {
        let rows = self.draw(batch);
        let samples = backend.samples(network, rows.view())?;
        let linear = samples.linearize(network, particles)?;
        let outputs = linear.outputs();
        let Some(mean) = outputs.mean_axis(Axis(0)) else {
            return Err(ModelError::setting("particles", 0, "at least 1"));
        };
        let root: Array4<f64> = likelihood.curvature_root(mean.insert_axis(Axis(0)).view())?;
        let root = root.index_axis_move(Axis(0), 0) * likelihood.curvature_weight().sqrt();
        let (rows, width) = (root.len_of(Axis(0)), root.len_of(Axis(2)));
        let mut z = Array2::zeros((outputs.len_of(Axis(0)), rows * width));
        for (f, mut z) in outputs.outer_iter().zip(z.rows_mut()) {
            for (i, s) in root.outer_iter().enumerate() {
                for (k, column) in s.columns().into_iter().enumerate() {
                    z[i * width + k] = column.dot(&f.row(i));
                }
            }
        }
        self.last = Some(Last { linear, root });
        Ok(z)
    }

    /// `J_pᵀ S r_p` with the networks of the last [`images`](Self::images).
    pub(super) fn pull_back_into(
        &self,
        cotangents: ArrayView2<'_, f64>,
        out: ArrayViewMut2<'_, f64>,
    ) -> Result<(), ModelError> {
        let Some(Last { linear, root }) = &self.last else {
            let found = "not evaluated";
            return Err(ModelError::setting("images", found, "evaluated before"));
        };
        let (rows, outputs, width) = root.dim();
        let mut r = Array3::zeros((cotangents.nrows(), rows, outputs));
        for (cotangent, mut r) in cotangents.rows().into_iter().zip(r.outer_iter_mut()) {
            for (i, s) in root.outer_iter().enumerate() {
                let part = cotangent.slice(ndarray::s![i * width..(i + 1) * width]);
                r.row_mut(i).assign(&s.dot(&part));
            }
        }
        Ok(linear.vjp_into(r.view(), out)?)
    }

    /// The context of a batch, by seed and number alone, so that a run that goes on sees the same.
    fn draw(&self, batch: u64) -> Array2<f64> {
        let mut rng = ChaCha12Rng::seed_from_u64(self.seed);
        rng.set_stream(STREAM + batch);
        let mut from: Vec<usize> = match &self.recent {
            Some(recent) => recent.batches.iter().flatten().copied().collect(),
            None => (0..self.pool.nrows()).collect(),
        };
        from.sort_unstable();
        from.dedup();
        if self.settings.rows < from.len() {
            let drawn = index::sample(&mut rng, from.len(), self.settings.rows);
            from = drawn.into_iter().map(|index| from[index]).collect();
        }
        let mut rows = self.pool.select(Axis(0), &from);
        if let Context::Perturbed(by) = self.settings.kind {
            rows.mapv_inplace(|x| x + by * rng.sample::<f64, _>(StandardNormal));
        }
        rows
    }
}

#[cfg(test)]
#[path = "context_tests.rs"]
mod tests;
