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
use crate::affine::AffineBlock;
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
        Self { subject, records, outputs }
    }

    /// The same with respect to the last affine layer's parameters only: every `d` below is then their number.
    pub fn last_layer(self) -> Self {
        let Self { subject, mut records, outputs } = self;
        let subject = subject.last_layer();
        let is_last = |record: &Record| matches!(record, Record::Affine { block, .. } if *block == subject.first());
        if let Some(position) = records.iter().position(is_last) {
            records.drain(..position);
        }
        Self { subject, records, outputs }
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
            self.pull_back(&r.f_unsqueeze(3)?, |_, block, rows, delta| {
                Ok(block.write_vjp(rows, delta, &out, self.subject.start())?)
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
        let root = root.f_transpose(2, 3)?;
        // A copy of our own: elementwise layers multiply into it.
        let mut cotangent = self.empty(&root.size())?;
        cotangent.f_copy_(&root)?;
        for record in self.records.iter().rev() {
            let Record::Affine {
                block: index,
                rows,
                weight,
            } = record
            else {
                cotangent = record.pull_back(cotangent)?;
                continue;
            };
            let block = self.subject.block(*index);
            let delta = block.delta_rows(&cotangent)?;
            visit(*index - self.subject.first(), block, rows, &delta)?;
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
    fn check_root(&self, root: &Tensor) -> Result<i64> {
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
            let part = out.f_narrow(-1, (range.start - self.subject.start()) as i64, range.len() as i64)?;
            check_layer_finite(quantity, block, &part)?;
        }
        Ok(())
    }

    pub(crate) fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Pulls `root` back in groups of columns, so many at once that no layer's intermediate values exceed a budget;
    /// `visit` gets the group's first column, the layer's index among those covered, and what
    /// [`Linearization::pull_back`] shows.
    pub(crate) fn pull_back_in_groups(
        &self,
        root: &Tensor,
        mut visit: impl FnMut(usize, usize, &AffineBlock, &Tensor, &Tensor) -> Result<()>,
    ) -> Result<()> {
        let columns = self.check_root(root)?;
        let per_sample = self.subject.blocks().iter().map(AffineBlock::values_per_column).max().unwrap_or(1);
        let per_column = (self.particles() * self.batch() * per_sample).max(1);
        let group = (GROUP_ELEMENTS / per_column).clamp(1, columns as usize) as i64;
        for start in (0..columns).step_by(group as usize) {
            let part = root.f_narrow(3, start, group.min(columns - start))?;
            self.pull_back(&part, |index, block, rows, delta| visit(start as usize, index, block, rows, delta))?;
        }
        Ok(())
    }
}

/// Most elements of an intermediate tensor for one group of root columns; a single column may need more.
const GROUP_ELEMENTS: usize = 1 << 22;
