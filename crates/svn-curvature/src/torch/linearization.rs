//! A network linearised on libtorch. Only the forward pass is kept: each affine layer's inputs and the derivatives in
//! between. A product with `k` columns pulls `k` cotangents per sample back through the layers, by hand, all particles
//! and samples at once.

use ndarray::{Array2, Array3, ArrayView3, ArrayView4, ArrayViewMut2, ArrayViewMut3, Axis, s};
use tch::{Device, Kind, Tensor};

use super::affine::Input;
use super::convert;
use super::finite::{all_finite, check_layer_finite, first_non_finite};
use super::maxima::Maxima;
use super::moments::{
    homogeneous, homogeneous_second_moment, second_moment, squared_gradients, squared_sums,
};
use super::tape::Record;
use crate::block::AffineBlock;
use crate::error::check_shape;
use crate::linearized::{
    LayerBases, LayerMoments, LayerVisitor, check_first_samples, check_particle_finite,
};
use crate::subject::Subject;
use crate::{CurvatureError, Linearized, Result, Sequential};

/// `N` networks at `b` samples.
#[derive(Debug)]
pub(super) struct TorchLinearization {
    subject: Subject,
    records: Vec<Record>,
    kind: Kind,
    device: Device,
    outputs: Array3<f64>,
}

impl TorchLinearization {
    pub(super) fn new(network: &Sequential, records: Vec<Record>, outputs: Tensor) -> Result<Self> {
        Ok(Self {
            subject: Subject::new(network.blocks().clone(), outputs.size()[0] as usize),
            records,
            kind: outputs.kind(),
            device: outputs.device(),
            outputs: convert::array(&outputs)?,
        })
    }

    /// `S` as a tensor of the network's kind.
    fn root(&self, root: ArrayView4<'_, f64>) -> Result<Tensor> {
        self.check_root(root)?;
        convert::tensor(root, self.kind, self.device)
    }

    fn write_rows(&self, root: &Tensor, out: &Tensor) -> Result<()> {
        self.pull_back(root, |_, block, rows, delta| {
            Ok(block.write_rows(rows, delta, out, self.subject.start())?)
        })?;
        self.check_finite("gradient", out)
    }

    /// Pulls `root` (`N × b × c × k`) back and shows each affine layer, last first, its inputs `a` (`M × bL × K`) and
    /// cotangents `δ` (`N × b × k × L × O`).
    fn pull_back(
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
        visit: impl FnMut(usize, &AffineBlock, &Input, &Tensor) -> Result<()>,
    ) -> Result<()> {
        self.pull_back_through(&self.records, root, visit).map(drop)
    }

    /// The same through the last records only; gives the cotangents before them, `N × b × k × …`.
    fn pull_back_through(
        &self,
        records: &[Record],
        root: &Tensor,
        mut visit: impl FnMut(usize, &AffineBlock, &Input, &Tensor) -> Result<()>,
    ) -> Result<Tensor> {
        let root = root.f_transpose(2, 3)?;
        // A copy of our own: elementwise layers multiply into it.
        let mut cotangent = self.empty(&root.size())?;
        cotangent.f_copy_(&root)?;
        for record in records.iter().rev() {
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
        Ok(cotangent)
    }

    fn empty(&self, size: &[i64]) -> Result<Tensor> {
        Ok(Tensor::f_empty(size, (self.kind, self.device))?)
    }

    /// Names the first particle, and its first layer, with NaN or infinity in `out` (`N × … × d`).
    fn check_finite(&self, quantity: &'static str, out: &Tensor) -> Result<()> {
        if all_finite(out)? {
            return Ok(());
        }
        let Some(particle) = first_non_finite(out)? else {
            return Ok(());
        };
        let values = out
            .f_get(particle as i64)?
            .f_view([-1, self.dim() as i64])?;
        let values: Array2<f64> = convert::array(&values)?;
        check_particle_finite(quantity, &self.subject, particle, values.view())
    }

    /// Pulls `root` back in groups of samples and columns; `visit` gets the group's first column, the layer's index among
    /// those covered, and what [`Self::pull_back`] shows.
    fn pull_back_in_groups(
        &self,
        root: &Tensor,
        mut visit: impl FnMut(usize, usize, &AffineBlock, &Tensor, &Tensor) -> Result<()>,
    ) -> Result<()> {
        self.in_groups_of(GROUP_ELEMENTS, root, |part, column, root| {
            part.pull_back(root, |index, block, rows, delta| {
                visit(column, index, block, rows, delta)
            })
        })
    }

    /// Cuts samples and root columns into groups so small that a group's intermediate values stay near the cache; `visit`
    /// gets the group's samples, its first column and its part of the root.
    fn in_groups_of(
        &self,
        elements: usize,
        root: &Tensor,
        mut visit: impl FnMut(&Self, usize, &Tensor) -> Result<()>,
    ) -> Result<()> {
        let columns = root.size()[3] as usize;
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
                visit(part.as_ref().unwrap_or(self), column, &root)?;
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
        let (start, end) = (first as usize, (first + count) as usize);
        Ok(Self {
            subject: self.subject.clone(),
            records: records.collect::<std::result::Result<_, _>>()?,
            kind: self.kind,
            device: self.device,
            outputs: self.outputs.slice(s![.., start..end, ..]).to_owned(),
        })
    }
}

impl Linearized for TorchLinearization {
    fn subject(&self) -> &Subject {
        &self.subject
    }

    fn outputs(&self) -> ArrayView3<'_, f64> {
        self.outputs.view()
    }

    fn last_layer(self: Box<Self>) -> Box<dyn Linearized> {
        let mut own = *self;
        own.subject = own.subject.last_layer();
        let first = own.subject.first();
        let is_last =
            |record: &Record| matches!(record, Record::Affine { block, .. } if *block == first);
        if let Some(position) = own.records.iter().position(is_last) {
            own.records.drain(..position);
        }
        Box::new(own)
    }

    fn first_samples(&self, count: usize) -> Result<Box<dyn Linearized>> {
        check_first_samples(count, self.batch())?;
        Ok(Box::new(self.samples(0, count as i64)?))
    }

    fn vjp_into(&self, r: ArrayView3<'_, f64>, out: ArrayViewMut2<'_, f64>) -> Result<()> {
        let words = "particles × samples × outputs";
        check_shape("r", r.shape(), self.outputs.shape(), words)?;
        tch::no_grad(|| {
            let r = convert::tensor(r.insert_axis(Axis(3)), self.kind, self.device)?;
            let gradient = self.empty(&[self.particles() as i64, self.dim() as i64])?;
            self.pull_back_to_inputs(&r, |_, block, input, delta| {
                Ok(block.write_vjp(input, delta, &gradient, self.subject.start())?)
            })?;
            self.check_finite("gradient", &gradient)?;
            convert::copy_into(&gradient, out)
        })
    }

    /// An f64 network on the CPU writes straight into `out`; otherwise the rows are converted.
    fn rows_into(&self, root: ArrayView4<'_, f64>, mut out: ArrayViewMut3<'_, f64>) -> Result<()> {
        let columns = self.check_root(root)?;
        let expected = [self.particles(), self.batch() * columns, self.dim()];
        let words = "particles × (samples · columns) × parameters";
        check_shape("out", out.shape(), &expected, words)?;
        tch::no_grad(|| {
            let root = self.root(root)?;
            if self.kind == Kind::Double
                && self.device == Device::Cpu
                && let Some(tensor) = convert::alias_mut(&mut out)?
            {
                return self.write_rows(&root, &tensor);
            }
            let rows = self.empty(&expected.map(|side| side as i64))?;
            self.write_rows(&root, &rows)?;
            convert::copy_into(&rows, out)
        })
    }

    fn visit_layers(
        &self,
        root: ArrayView4<'_, f64>,
        mut visitors: Vec<LayerVisitor<'_>>,
    ) -> Result<()> {
        tch::no_grad(|| {
            self.pull_back(&self.root(root)?, |layer, block, a, delta| {
                if block.positions() > 1 {
                    return Err(CurvatureError::LayerInput {
                        layer: block.label.clone(),
                        expected: "one position a sample".into(),
                        found: vec![block.positions()],
                    });
                }
                let a: Array3<f64> = convert::array(a)?;
                let delta: Array3<f64> = convert::array(&delta.f_flatten(1, 3)?.f_contiguous()?)?;
                let particles = visitors.iter_mut().zip(delta.outer_iter());
                for (p, (visit, delta)) in particles.enumerate() {
                    let shared = p.min(a.dim().0 - 1);
                    visit(layer, a.index_axis(Axis(0), shared), delta)?;
                }
                Ok(())
            })
        })
    }

    fn add_squares(
        &self,
        root: ArrayView4<'_, f64>,
        mut out: ArrayViewMut2<'_, f64>,
    ) -> Result<()> {
        tch::no_grad(|| {
            let size = [self.particles() as i64, self.dim() as i64];
            let sum = Tensor::f_zeros(size, (Kind::Double, self.device))?;
            let start = self.subject.start();
            let add = |block: &AffineBlock, weights: Tensor, biases: Tensor| {
                check_layer_finite("curvature", block, &weights)?;
                let part = |range: &std::ops::Range<usize>| {
                    sum.f_narrow(1, (range.start - start) as i64, range.len() as i64)
                };
                let _ = part(&block.weight)?.f_add_(&weights.f_flatten(1, 2)?)?;
                if block.has_bias() {
                    let _ = part(&block.bias)?.f_add_(&biases)?;
                }
                Ok(())
            };
            self.in_groups_of(GROUP_ELEMENTS, &self.root(root)?, |part, _, root| {
                let maxima = Maxima::of(&part.records, &part.subject);
                let before = maxima.as_ref().map_or(0, |maxima| maxima.records);
                let visit = |_, block: &AffineBlock, input: &Input, delta: &Tensor| {
                    let weights = squared_gradients(input.rows(block)?, delta)?;
                    add(block, weights, squared_sums(delta)?)
                };
                let records = &part.records[before..];
                let cotangent = part.pull_back_through(records, root, visit)?;
                if let Some(maxima) = maxima {
                    let (weights, biases) = maxima.squared_gradients(&cotangent)?;
                    add(maxima.block, weights, biases)?;
                }
                Ok(())
            })?;
            out += &convert::array::<ndarray::Ix2>(&sum)?;
            Ok(())
        })
    }

    fn add_moments(&self, root: ArrayView4<'_, f64>, sums: &mut [LayerMoments]) -> Result<()> {
        tch::no_grad(|| {
            let zeros = |array: &Array3<f64>| {
                let size: Vec<i64> = array.shape().iter().map(|&side| side as i64).collect();
                Tensor::f_zeros(size, (Kind::Double, self.device))
            };
            let moments = sums
                .iter()
                .map(|sums| Ok([zeros(&sums.inputs)?, zeros(&sums.cotangents)?]))
                .collect::<Result<Vec<_>>>()?;
            let root = self.root(root)?;
            self.pull_back_in_groups(&root, |first_column, layer, block, a, delta| {
                let [inputs, cotangents] = &moments[layer];
                if first_column == 0 {
                    let moment = if block.has_bias() {
                        homogeneous_second_moment(a)?
                    } else {
                        second_moment(a)?
                    };
                    check_layer_finite("curvature factor A", block, &moment)?;
                    let _ = inputs.shallow_clone().f_add_(&moment)?;
                }
                let moment = second_moment(&delta.f_flatten(1, 3)?)?;
                check_layer_finite("curvature factor G", block, &moment)?;
                let _ = cotangents.shallow_clone().f_add_(&moment)?;
                Ok(())
            })?;
            for (sums, [inputs, cotangents]) in sums.iter_mut().zip(&moments) {
                sums.inputs += &convert::array::<ndarray::Ix3>(inputs)?;
                sums.cotangents += &convert::array::<ndarray::Ix3>(cotangents)?;
            }
            Ok(())
        })
    }

    fn add_spectra(
        &self,
        root: ArrayView4<'_, f64>,
        bases: &[LayerBases],
        sums: &mut [Array3<f64>],
    ) -> Result<()> {
        tch::no_grad(|| {
            let tensor =
                |array: &Array3<f64>| convert::tensor(array.view(), self.kind, self.device);
            let bases = bases
                .iter()
                .map(|bases| Ok([tensor(&bases.left)?, tensor(&bases.right)?]))
                .collect::<Result<Vec<_>>>()?;
            let root = self.root(root)?;
            self.pull_back_in_groups(&root, |_, layer, block, a, delta| {
                let [left, right] = &bases[layer];
                let (n, b, k, l, o) = delta.size5()?;
                let a = if block.has_bias() {
                    homogeneous(a)?
                } else {
                    a.shallow_clone()
                };
                let a = a.f_expand([n, -1, -1], false)?.f_bmm(right)?;
                let delta = delta
                    .f_reshape([n, b * k * l, o])?
                    .f_bmm(left)?
                    .f_view([n, b, k, l, o])?;
                let squares = squared_gradients(&a, &delta)?;
                check_layer_finite("curvature", block, &squares)?;
                sums[layer] += &convert::array::<ndarray::Ix3>(&squares)?;
                Ok(())
            })
        })
    }
}

/// Most elements of an intermediate tensor of one group; a single sample and column may need more. All columns of a few
/// samples make larger matrix products than one column of many.
const GROUP_ELEMENTS: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::torch::pass;
    use crate::{Activation, Conv2d, Layer, Pool2d};

    /// Sums of squared gradients of all layers, which is what the families collect.
    fn collect(lin: &TorchLinearization, root: &Tensor, elements: usize) -> (Vec<f64>, usize) {
        let (mut sums, mut visits) = (vec![0.0; lin.subject.blocks().len()], 0);
        lin.in_groups_of(elements, root, |part, _, root| {
            part.pull_back(root, |index, _, a, delta| {
                sums[index] += squared_gradients(a, delta)?
                    .f_sum(None)?
                    .f_double_value(&[])?;
                visits += 1;
                Ok(())
            })
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
        let mut records = Vec::new();
        let x = waves(&[1, 5, 1, 6, 6]);
        let outputs = pass::run(&network, &params, &x, Some(&mut records)).unwrap();
        let lin = TorchLinearization::new(&network, records, outputs).unwrap();
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
