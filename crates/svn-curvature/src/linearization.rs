//! A network linearised at `N` particles and `b` samples: products with its per-sample Jacobians.
//!
//! ```text
//! J_i = ∂f(φ_p, x_i)/∂φ_p ∈ R^{c × d}
//! vjp:  Σ_i J_iᵀ r_i            rows:  S_iᵀ J_i, one row per sample and root column
//! ```
//!
//! Only the forward pass is kept: each affine layer's inputs and the derivatives in between. A product with `k` columns
//! pulls `k` cotangents per sample back through the layers, by hand, all particles and samples at once.

use ndarray::ArrayViewMut3;
use tch::{Device, Kind, Tensor};

use crate::Result;
use crate::affine::{AffineBlock, Input};
use crate::convert;
use crate::error::{CurvatureError, check_shape};
use crate::subject::{Subject, all_finite, check_layer_finite};
use crate::tape::Record;

/// What [`Sequential::linearize`](crate::Sequential::linearize) gives.
#[derive(Debug)]
pub struct Linearization {
    subject: Subject,
    records: Vec<Record>,
    outputs: Tensor,
}

impl Linearization {
    pub(crate) fn new(subject: Subject, records: Vec<Record>, outputs: Tensor) -> Self {
        Self {
            subject,
            records,
            outputs,
        }
    }

    /// The same with respect to the last affine layer's parameters only: every `d` below is then their number.
    pub fn last_layer(self) -> Self {
        let Self {
            subject,
            mut records,
            outputs,
        } = self;
        let subject = subject.last_layer();
        let is_last = |record: &Record| matches!(record, Record::Affine { block, .. } if *block == subject.first());
        if let Some(position) = records.iter().position(is_last) {
            records.drain(..position);
        }
        Self {
            subject,
            records,
            outputs,
        }
    }

    /// The same about the first `count` samples only, for curvature from fewer samples than the gradient.
    ///
    /// # Errors
    /// [`CurvatureError::Shape`] if there are fewer samples; otherwise what libtorch says.
    pub fn first_samples(&self, count: usize) -> Result<Self> {
        if count == 0 || count > self.batch() {
            return Err(CurvatureError::Shape {
                what: "first samples",
                expected: format!("1 to {} of them", self.batch()),
                found: vec![count as i64],
            });
        }
        self.samples(0, count as i64)
    }

    /// Network outputs, `N × b × c`.
    pub fn outputs(&self) -> &Tensor {
        &self.outputs
    }

    /// `N`.
    pub fn particles(&self) -> usize {
        self.subject.particles
    }

    /// `b`.
    pub fn batch(&self) -> usize {
        self.outputs.size()[1] as usize
    }

    /// `d`: all parameters, or the last layer's after [`Linearization::last_layer`].
    pub fn dim(&self) -> usize {
        self.subject.dim()
    }

    /// Gradients `Σ_i J_iᵀ r_i` of all particles.
    ///
    /// # Shapes
    /// `r`: `N × b × c`, of the outputs' kind and device; result: `N × d`, contiguous.
    ///
    /// # Errors
    /// Wrong shape, kind or device; a gradient that is not finite (particle and layer).
    pub fn vjp(&self, r: &Tensor) -> Result<Tensor> {
        check_shape(
            "r",
            &r.size(),
            &self.outputs.size(),
            "particles × samples × outputs",
        )?;
        self.check_like_outputs("r", r)?;
        tch::no_grad(|| {
            let out = self.empty(&[self.particles() as i64, self.dim() as i64])?;
            self.pull_back_to_inputs(&r.f_unsqueeze(3)?, |_, block, input, delta| {
                Ok(block.write_vjp(input, delta, &out, self.subject.start())?)
            })?;
            self.check_finite("gradient", &out)?;
            Ok(out)
        })
    }

    /// Rows `S_iᵀ J_i` of all particles, sample-major: row `i k + j` is sample `i`, root column `j`.
    ///
    /// # Shapes
    /// `root`: `S`, `N × b × c × k`, of the outputs' kind and device; result: `N × bk × d`, contiguous.
    ///
    /// # Errors
    /// Wrong shape, kind or device; a row that is not finite (particle and layer).
    pub fn rows(&self, root: &Tensor) -> Result<Tensor> {
        let columns = self.check_root(root)?;
        tch::no_grad(|| {
            let (n, b) = (self.particles() as i64, self.batch() as i64);
            let out = self.empty(&[n, b * columns, self.dim() as i64])?;
            self.write_rows(root, &out)?;
            Ok(out)
        })
    }

    /// [`Linearization::rows`] written into an f64 array, such as one slot of a ring of recent rows.
    ///
    /// An f64 network on the CPU writes straight into `out`; otherwise the rows are converted.
    ///
    /// # Shapes
    /// `out`: `N × bk × d`, any strides.
    ///
    /// # Errors
    /// As for [`Linearization::rows`]; `out` of another shape.
    pub fn rows_into(&self, root: &Tensor, mut out: ArrayViewMut3<'_, f64>) -> Result<()> {
        let columns = self.check_root(root)?;
        let (n, b) = (self.particles() as i64, self.batch() as i64);
        let found: Vec<i64> = out.shape().iter().map(|&s| s as i64).collect();
        let expected = [n, b * columns, self.dim() as i64];
        check_shape(
            "out",
            &found,
            &expected,
            "particles × (samples · columns) × parameters",
        )?;
        if root.kind() == Kind::Double
            && root.device() == Device::Cpu
            && let Some(tensor) = convert::alias_mut(&mut out)?
        {
            return tch::no_grad(|| self.write_rows(root, &tensor));
        }
        convert::copy_into(&self.rows(root)?, out)
    }

    fn write_rows(&self, root: &Tensor, out: &Tensor) -> Result<()> {
        self.pull_back(root, |_, block, rows, delta| {
            Ok(block.write_rows(rows, delta, out, self.subject.start())?)
        })?;
        self.check_finite("gradient", out)
    }

    /// Pulls `root` (`N × b × c × k`) back and shows each affine layer, last first, its inputs `a` (`M × bL × K`) and
    /// cotangents `δ` (`N × b × k × L × O`).
    pub(crate) fn pull_back(
        &self,
        root: &Tensor,
        mut visit: impl FnMut(usize, &AffineBlock, &Tensor, &Tensor) -> Result<()>,
    ) -> Result<()> {
        self.pull_back_to_inputs(root, |index, block, input, delta| {
            visit(index, block, input.rows(block)?, delta)
        })
    }

    /// The same with inputs that are unrolled on demand only.
    fn pull_back_to_inputs(
        &self,
        root: &Tensor,
        mut visit: impl FnMut(usize, &AffineBlock, &Input, &Tensor) -> Result<()>,
    ) -> Result<()> {
        let root = root.f_transpose(2, 3)?;
        // A copy of our own: elementwise layers multiply into it.
        let mut cotangent = self.empty(&root.size())?;
        cotangent.f_copy_(&root)?;
        for record in self.records.iter().rev() {
            let Record::Affine {
                block: index,
                input,
                weight,
            } = record
            else {
                cotangent = record.pull_back(cotangent)?;
                continue;
            };
            let block = self.subject.block(*index);
            let delta = block.delta_rows(&cotangent)?;
            visit(*index - self.subject.first(), block, input, &delta)?;
            if *index == self.subject.first() {
                break;
            }
            cotangent = block.pull_back(weight, &delta)?;
        }
        Ok(())
    }

    fn empty(&self, size: &[i64]) -> Result<Tensor> {
        Ok(Tensor::f_empty(
            size,
            (self.outputs.kind(), self.outputs.device()),
        )?)
    }

    /// Checks `S` and returns `k`.
    pub(crate) fn check_root(&self, root: &Tensor) -> Result<i64> {
        let columns = root.size().last().copied().unwrap_or(0).max(1);
        let expected = [&self.outputs.size()[..], &[columns]].concat();
        check_shape(
            "root",
            &root.size(),
            &expected,
            "particles × samples × outputs × columns",
        )?;
        self.check_like_outputs("root", root)?;
        Ok(columns)
    }

    fn check_like_outputs(&self, what: &'static str, tensor: &Tensor) -> Result<()> {
        if tensor.kind() != self.outputs.kind() {
            let expected = format!("{:?} like the outputs", self.outputs.kind());
            return Err(CurvatureError::Kind {
                what,
                expected,
                found: tensor.kind(),
            });
        }
        if tensor.device() != self.outputs.device() {
            return Err(CurvatureError::Device {
                what,
                expected: self.outputs.device(),
                found: tensor.device(),
            });
        }
        Ok(())
    }

    /// Names particle and layer of the first NaN or infinity in `out` (`N × … × d`).
    fn check_finite(&self, quantity: &'static str, out: &Tensor) -> Result<()> {
        if all_finite(out)? {
            return Ok(());
        }
        for block in self.subject.blocks() {
            let range = block.range();
            let part = out.f_narrow(
                -1,
                (range.start - self.subject.start()) as i64,
                range.len() as i64,
            )?;
            check_layer_finite(quantity, block, &part)?;
        }
        Ok(())
    }

    pub(crate) fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Pulls `root` back in groups of samples and columns, so small that a group's intermediate values stay near the
    /// cache; `visit` gets the group's first column, the layer's index among those covered, and what
    /// [`Linearization::pull_back`] shows.
    pub(crate) fn pull_back_in_groups(
        &self,
        root: &Tensor,
        visit: impl FnMut(usize, usize, &AffineBlock, &Tensor, &Tensor) -> Result<()>,
    ) -> Result<()> {
        self.pull_back_in_groups_of(GROUP_ELEMENTS, root, visit)
    }

    fn pull_back_in_groups_of(
        &self,
        elements: usize,
        root: &Tensor,
        mut visit: impl FnMut(usize, usize, &AffineBlock, &Tensor, &Tensor) -> Result<()>,
    ) -> Result<()> {
        let columns = self.check_root(root)? as usize;
        let per_sample = self
            .subject
            .blocks()
            .iter()
            .map(AffineBlock::values_per_column)
            .max()
            .unwrap_or(1);
        let group = (elements / (self.particles() * per_sample)).clamp(1, columns);
        let samples = (elements / (self.particles() * per_sample * group)).clamp(1, self.batch());
        for first in (0..self.batch()).step_by(samples) {
            let count = samples.min(self.batch() - first);
            let part = if count == self.batch() {
                None
            } else {
                Some(self.samples(first as i64, count as i64)?)
            };
            let root = root.f_narrow(1, first as i64, count as i64)?;
            for column in (0..columns).step_by(group) {
                let root = root.f_narrow(3, column as i64, group.min(columns - column) as i64)?;
                part.as_ref()
                    .unwrap_or(self)
                    .pull_back(&root, |index, block, rows, delta| {
                        visit(column, index, block, rows, delta)
                    })?;
            }
        }
        Ok(())
    }

    /// The same about `count` of the samples.
    fn samples(&self, first: i64, count: i64) -> Result<Self> {
        let records = self
            .records
            .iter()
            .map(|record| record.samples(first, count));
        Ok(Self {
            subject: self.subject.clone(),
            records: records.collect::<std::result::Result<_, _>>()?,
            outputs: self.outputs.f_narrow(1, first, count)?,
        })
    }
}

/// Most elements of an intermediate tensor of one group; a single sample and column may need more. All columns of a few
/// samples make larger matrix products than one column of many.
const GROUP_ELEMENTS: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moments::squared_gradients;
    use crate::{Activation, Conv2d, Layer, Pool2d, Sequential};

    /// Sums of squared gradients of all layers, which is what the families collect.
    fn collect(lin: &Linearization, root: &Tensor, elements: usize) -> (Vec<f64>, usize) {
        let (mut sums, mut visits) = (vec![0.0; lin.subject.blocks().len()], 0);
        lin.pull_back_in_groups_of(elements, root, |_, index, _, a, delta| {
            sums[index] += squared_gradients(a, delta)?
                .f_sum(None)?
                .f_double_value(&[])?;
            visits += 1;
            Ok(())
        })
        .unwrap();
        (sums, visits)
    }

    #[test]
    fn groups_of_samples_and_columns_make_no_difference() {
        let layers = vec![
            Layer::Conv2d(Conv2d::new(1, 2, [3, 3]).padding([1, 1])),
            Layer::Activation(Activation::Tanh),
            Layer::MaxPool2d(Pool2d::new([2, 2])),
            Layer::Conv2d(Conv2d::new(2, 3, [2, 2])),
            Layer::AvgPool2d(Pool2d::new([2, 2])),
            Layer::Flatten,
            Layer::linear(3, 4),
            Layer::relu(),
            Layer::linear(4, 2),
        ];
        let network = Sequential::new(&[1, 6, 6], layers).unwrap();
        let waves = |shape: &[i64]| {
            let count = shape.iter().product::<i64>();
            (Tensor::arange(count, (Kind::Double, Device::Cpu)) * 1.7)
                .sin()
                .view(shape)
        };
        let params = waves(&[3, network.layout().dim() as i64]);
        let lin = network.linearize(&params, &waves(&[5, 1, 6, 6])).unwrap();
        let root = waves(&[3, 5, 2, 3]);
        let (whole, visits) = collect(&lin, &root, usize::MAX);
        assert_eq!(visits, 4);
        // One sample and column; one sample; three samples (which do not divide the batch).
        for (elements, expected) in [(1, 15 * 4), (3 * 72 * 3, 5 * 4), (3 * 72 * 3 * 3, 2 * 4)] {
            let (sums, visits) = collect(&lin, &root, elements);
            assert_eq!(visits, expected);
            for (sum, whole) in sums.iter().zip(&whole) {
                assert!(
                    (sum / whole - 1.0).abs() < 1e-13,
                    "{sum} instead of {whole}"
                );
            }
        }
    }
}
