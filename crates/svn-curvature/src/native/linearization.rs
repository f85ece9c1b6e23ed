//! A perceptron linearised: the records of every particle's way forward.

use std::sync::Arc;

use ndarray::{
    Array2, Array3, ArrayView1, ArrayView2, ArrayView3, ArrayView4, ArrayViewMut2, ArrayViewMut3,
    Axis, s,
};
use svn_linalg::{dense, parallel};

use super::number::Number;
use super::pass::{self, Record};
use super::samples::culprit;
use crate::block::AffineBlock;
use crate::error::check_shape;
use crate::linearized::{LayerVisitor, check_first_samples, check_particle_finite};
use crate::subject::Subject;
use crate::{Linearized, Result, Sequential};
use svn_linalg::dense::first_non_finite;

/// One particle's part.
#[derive(Debug, Clone)]
pub(super) struct Tape<T>(Vec<Record<T>>);

/// `N` perceptrons at `b` samples.
#[derive(Debug, Clone)]
pub(super) struct NativeLinearization<T> {
    subject: Subject,
    /// All affine layers, also those before the first covered.
    blocks: Arc<[AffineBlock]>,
    /// `M × b × p`.
    samples: Array3<T>,
    /// `N × d` of the whole network.
    params: Arc<Array2<T>>,
    tapes: Vec<Tape<T>>,
    outputs: Array3<f64>,
}

impl<T: Number> NativeLinearization<T> {
    /// `params`: `N × d`, `samples`: `M × b × p`, both checked.
    pub(super) fn new(network: &Sequential, params: Array2<T>, samples: Array3<T>) -> Result<Self> {
        let (n, (sets, rows, _)) = (params.nrows(), samples.dim());
        let columns: Vec<Array2<T>> = samples
            .outer_iter()
            .map(|set| set.t().as_standard_layout().into_owned())
            .collect();
        let work = network.layout().dim() * rows * n;
        let passes = parallel::map(n, work, |p| {
            let (params, samples) = (params.row(p), columns[p.min(sets - 1)].view());
            let mut tape = Vec::with_capacity(network.layers().len());
            let outputs = pass::forward(network, params, samples, Some(&mut tape), |_, _| Ok(()))?;
            match first_non_finite([T::widened(outputs.view()).view()]) {
                None => Ok((Tape(tape), outputs)),
                Some(_) => Err(culprit(network, p, params, samples)),
            }
        });
        let mut tapes = Vec::with_capacity(n);
        let mut outputs = Array3::zeros((n, rows, network.outputs()));
        for (pass, mut out) in passes.into_iter().zip(outputs.outer_iter_mut()) {
            let (tape, values) = pass?;
            out.zip_mut_with(&values.t(), |out, value| *out = value.to_f64());
            tapes.push(tape);
        }
        Ok(Self {
            subject: Subject::new(network.blocks().clone(), n),
            blocks: network.blocks().clone(),
            samples,
            params: Arc::new(params),
            tapes,
            outputs,
        })
    }

    /// Calls `visit` with the index among the layers covered, inputs `b × K` and cotangents `O × bk` of each layer of a
    /// particle, whose root is `c × bk`.
    fn pull_back(
        &self,
        particle: usize,
        root: Array2<T>,
        mut visit: impl FnMut(usize, ArrayView2<'_, T>, ArrayView2<'_, T>) -> Result<()>,
    ) -> Result<()> {
        let first = self.subject.first();
        let Tape(records) = &self.tapes[particle];
        let params: ArrayView1<'_, T> = self.params.row(particle);
        pass::pull_back(
            records,
            &self.blocks,
            first,
            params,
            root,
            |block, a, delta| {
                let last = self.samples.dim().0 - 1;
                let samples = self.samples.index_axis(Axis(0), particle.min(last));
                visit(block - first, a.unwrap_or(samples), delta)
            },
        )
    }

    /// The root of a particle, `b × c × k`, as cotangents `c × bk`.
    fn cotangents(&self, root: ArrayView3<'_, f64>) -> Array2<T> {
        let (b, c, k) = root.dim();
        let mut out = Array2::from_elem((c, b * k), T::zero());
        for (mut out, root) in out.outer_iter_mut().zip(root.axis_iter(Axis(1))) {
            for (out, value) in out.iter_mut().zip(root) {
                *out = T::from_f64(*value).flushed();
            }
        }
        out
    }

    /// Work of pulling `columns` cotangents a sample back, and of as many products.
    fn work(&self, columns: usize) -> usize {
        2 * self.subject.dim() * self.outputs.dim().1 * columns * self.subject.particles
    }
}

impl<T: Number> Linearized for NativeLinearization<T> {
    fn subject(&self) -> &Subject {
        &self.subject
    }

    fn outputs(&self) -> ArrayView3<'_, f64> {
        self.outputs.view()
    }

    fn last_layer(self: Box<Self>) -> Box<dyn Linearized> {
        Box::new(Self {
            subject: self.subject.clone().last_layer(),
            ..*self
        })
    }

    fn first_samples(&self, count: usize) -> Result<Box<dyn Linearized>> {
        check_first_samples(count, self.batch())?;
        let cut = |record: &Record<T>| match record {
            Record::Affine { block, input } => Record::Affine {
                block: *block,
                input: input.as_ref().map(|a| a.slice(s![..count, ..]).to_owned()),
            },
            Record::Pointwise { derivative } => Record::Pointwise {
                derivative: derivative.slice(s![.., ..count]).to_owned(),
            },
            Record::Scale { factor } => Record::Scale { factor: *factor },
        };
        let tapes = self.tapes.iter();
        Ok(Box::new(Self {
            subject: self.subject.clone(),
            blocks: self.blocks.clone(),
            samples: self.samples.slice(s![.., ..count, ..]).to_owned(),
            params: self.params.clone(),
            tapes: tapes
                .map(|Tape(records)| Tape(records.iter().map(cut).collect()))
                .collect(),
            outputs: self.outputs.slice(s![.., ..count, ..]).to_owned(),
        }))
    }

    fn vjp_into(&self, r: ArrayView3<'_, f64>, mut out: ArrayViewMut2<'_, f64>) -> Result<()> {
        let words = "particles × samples × outputs";
        check_shape("r", r.shape(), self.outputs.shape(), words)?;
        let expected = [self.particles(), self.dim()];
        check_shape("out", out.shape(), &expected, "particles × parameters")?;
        let rows: Vec<_> = out.outer_iter_mut().collect();
        parallel::try_for_each(rows, self.work(1), |p, mut out| {
            let r = r.index_axis(Axis(0), p).insert_axis(Axis(2));
            self.pull_back(p, self.cotangents(r), |layer, a, delta| {
                let block = &self.subject.blocks()[layer];
                let part = out.slice_mut(s![self.subject.columns(block)]);
                let (weight, mut bias) = part.split_at(Axis(0), block.weight.len());
                let shape = (block.outputs, block.fan_in);
                if let Ok(weight) = weight.into_shape_with_order(shape) {
                    T::fill(weight, |weight| {
                        dense::multiply(T::one(), delta, a, T::zero(), weight);
                    });
                }
                for (out, delta) in bias.iter_mut().zip(delta.outer_iter()) {
                    *out = delta.iter().fold(T::zero(), |sum, d| sum + *d).to_f64();
                }
                Ok(())
            })?;
            let out = out.view().insert_axis(Axis(0));
            check_particle_finite("gradient", &self.subject, p, out)
        })
    }

    fn rows_into(&self, root: ArrayView4<'_, f64>, mut out: ArrayViewMut3<'_, f64>) -> Result<()> {
        let columns = self.check_root(root)?;
        let expected = [self.particles(), self.batch() * columns, self.dim()];
        let words = "particles × (samples · columns) × parameters";
        check_shape("out", out.shape(), &expected, words)?;
        let parts: Vec<_> = out.outer_iter_mut().collect();
        parallel::try_for_each(parts, self.work(columns), |p, mut out| {
            let root = self.cotangents(root.index_axis(Axis(0), p));
            self.pull_back(p, root, |layer, a, delta| {
                let range = self.subject.columns(&self.subject.blocks()[layer]);
                for (row, mut out) in out.outer_iter_mut().enumerate() {
                    let (a, delta) = (a.row(row / columns), delta.column(row));
                    let mut values = out.slice_mut(s![range.clone()]).into_iter();
                    for delta in delta {
                        for a in a {
                            if let Some(out) = values.next() {
                                *out = (*delta * *a).to_f64();
                            }
                        }
                    }
                    for (out, delta) in values.zip(delta) {
                        *out = delta.to_f64();
                    }
                }
                Ok(())
            })?;
            check_particle_finite("gradient", &self.subject, p, out.view())
        })
    }

    fn visit_layers(
        &self,
        root: ArrayView4<'_, f64>,
        visitors: Vec<LayerVisitor<'_>>,
    ) -> Result<()> {
        let columns = self.check_root(root)?;
        parallel::try_for_each(visitors, self.work(columns), |p, mut visit| {
            let root = self.cotangents(root.index_axis(Axis(0), p));
            self.pull_back(p, root, |layer, a, delta| {
                visit(layer, T::widened(a).view(), T::widened(delta).t())
            })
        })
    }
}
