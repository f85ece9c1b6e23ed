//! Affine layers on tensors: Linear and Conv2d as one thing, a matrix product over rows `(sample, position)`.
//!
//! | symbol | shape | |
//! |---|---|---|
//! | `a` | `M × bL × K` | inputs; `M = 1` if all particles share them (the first layer), else `N` |
//! | `W`, `β` | `N × O × K`, `N × O` | views into the flat parameters |
//! | `δ` | `N × b × k × L × O` | cotangents at the output, for `k` root columns at once |

use std::cell::OnceCell;
use std::ops::Range;

use tch::{Device, Kind, TchError, Tensor};

use super::moments::per_sample_gradients;
use super::pair;
use crate::block::{AffineBlock, ConvGeometry};
use crate::layer::Window;

type Torch<T> = std::result::Result<T, TchError>;

/// The input of an affine layer, `M × b × …`, unrolled as rows `a` when these are first asked for.
#[derive(Debug)]
pub(crate) struct Input {
    pub values: Tensor,
    rows: OnceCell<Tensor>,
}

impl Input {
    pub(crate) fn new(values: Tensor) -> Self {
        Self {
            values,
            rows: OnceCell::new(),
        }
    }

    /// `a`, `M × bL × K`.
    pub(crate) fn rows(&self, block: &AffineBlock) -> Torch<&Tensor> {
        match self.rows.get() {
            Some(rows) => Ok(rows),
            None => {
                let rows = block.unroll(&self.values)?;
                Ok(self.rows.get_or_init(|| rows))
            }
        }
    }
}

impl AffineBlock {
    /// Number of values per sample and root column that the largest intermediate tensor holds.
    pub(crate) fn values_per_column(&self) -> usize {
        match &self.conv {
            None => self.outputs.max(self.fan_in),
            Some(g) => {
                (self.positions() * self.outputs).max(g.conv.inputs * g.input[0] * g.input[1])
            }
        }
    }

    /// `W`: a view, `N × O × K`.
    pub(crate) fn weight_of(&self, params: &Tensor) -> Torch<Tensor> {
        let n = params.size()[0];
        columns(params, &self.weight, 0)?.f_view([n, self.outputs as i64, self.fan_in as i64])
    }

    /// `h` (`M × b × features`) as rows `a`, `M × bL × K`.
    pub(crate) fn unroll(&self, h: &Tensor) -> Torch<Tensor> {
        let (m, b) = (h.size()[0], h.size()[1]);
        match &self.conv {
            None => h.f_reshape([m, b, self.fan_in as i64])?.f_contiguous(),
            Some(g) => windows(&h.f_flatten(0, 1)?, &g.conv.window(), g.output)?.f_reshape([
                m,
                -1,
                self.fan_in as i64,
            ]),
        }
    }

    /// `z` from the layer's input `h` by libtorch's convolution, the particles being groups of channels, or common
    /// images given more channels: `N × b × O × H × W`, in memory `b × N × O × H × W`. None where [`Self::forward`] is to be
    /// used: for other layers, in double precision, for which libtorch has no fast convolution, and on CUDA, where it would
    /// round to ten bits.
    pub(crate) fn convolve(&self, params: &Tensor, h: &Tensor) -> Torch<Option<Tensor>> {
        match &self.conv {
            Some(g) if convolves(h) => self.convolution(g, params, h).map(Some),
            _ => Ok(None),
        }
    }

    fn convolution(&self, g: &ConvGeometry, params: &Tensor, h: &Tensor) -> Torch<Tensor> {
        let (n, m, b) = (params.size()[0], h.size()[0], h.size()[1]);
        let ([height, width], [kh, kw]) = (pair(g.input), pair(g.conv.window().kernel));
        let (channels, outputs) = (g.conv.inputs as i64, self.outputs as i64);
        let weight = self.weight_of(params)?;
        let bias = match self.has_bias() {
            true => Some(columns(params, &self.bias, 0)?.f_reshape([n * outputs])?),
            false => None,
        };
        let window = g.conv.window();
        let z = h
            .f_transpose(0, 1)?
            .f_reshape([b, m * channels, height, width])?
            .f_conv2d(
                &weight.f_reshape([n * outputs, channels, kh, kw])?,
                bias,
                pair(window.stride),
                pair(window.padding),
                pair(window.dilation),
                m,
            )?;
        let [height, width] = pair(g.output);
        z.f_view([b, n, outputs, height, width])?.f_transpose(0, 1)
    }

    /// `z` from `a`, as `N × b × O` or `N × b × O × H × W` (a view, channels last in memory).
    pub(crate) fn forward(&self, params: &Tensor, a: &Tensor) -> Torch<Tensor> {
        let n = params.size()[0];
        let a = a.f_expand([n, -1, -1], false)?;
        let transposed = self.weight_of(params)?.f_transpose(1, 2)?;
        let z = if self.has_bias() {
            columns(params, &self.bias, 0)?
                .f_unsqueeze(1)?
                .f_baddbmm(&a, &transposed, 1.0, 1.0)?
        } else {
            a.f_bmm(&transposed)?
        };
        match &self.conv {
            None => Ok(z),
            Some(g) => {
                let [h, w] = pair(g.output);
                z.f_view([n, -1, h, w, self.outputs as i64])?
                    .f_permute([0, 1, 4, 2, 3])
            }
        }
    }

    /// `δ` in the form of the layer's output (`N × b × k × O …`) as `N × b × k × L × O`.
    pub(crate) fn delta_rows(&self, cotangent: &Tensor) -> Torch<Tensor> {
        match self.conv {
            None => cotangent.f_unsqueeze(3),
            Some(_) => cotangent.f_permute([0, 1, 2, 4, 5, 3])?.f_flatten(3, 4),
        }
    }

    /// Cotangent at the layer's input, `N × b × k × …`, from `δ`.
    pub(crate) fn pull_back(&self, weight: &Tensor, delta: &Tensor) -> Torch<Tensor> {
        let (n, b, k, _, o) = delta.size5()?;
        match &self.conv {
            None => delta
                .f_reshape([n, b * k, o])?
                .f_bmm(weight)?
                .f_view([n, b, k, -1]),
            Some(g) => self.fold(g, weight, delta),
        }
    }

    /// The adjoint of a convolution: products with the weight, then sums over overlapping windows, one place of the kernel
    /// after the other. Samples and columns run fastest, so that the sums are over adjacent numbers.
    fn fold(&self, g: &ConvGeometry, weight: &Tensor, delta: &Tensor) -> Torch<Tensor> {
        let (n, b, k, l, o) = delta.size5()?;
        let (window, channels) = (g.conv.window(), g.conv.inputs as i64);
        let ([height, width], [kh, kw]) = (pair(g.output), pair(window.kernel));
        let delta = delta
            .f_permute([0, 4, 3, 1, 2])?
            .f_reshape([n, o, l * b * k])?;
        let products = weight.f_transpose(1, 2)?.f_bmm(&delta)?;
        let size = [n, channels, kh, kw, height, width, b * k];
        let products = products.f_view(size.as_slice())?;
        let [top, left] = pair(window.padding);
        let [rows, columns] = pair(g.input);
        let size = [n, channels, rows + 2 * top, columns + 2 * left, b * k];
        let padded = Tensor::f_zeros(size, (delta.kind(), delta.device()))?;
        let ([down, across], [dh, dw]) = (pair(window.stride), pair(window.dilation));
        for i in 0..kh {
            let rows = padded.f_slice(2, i * dh, i * dh + (height - 1) * down + 1, down)?;
            let products = products.f_select(2, i)?;
            for j in 0..kw {
                let _ = rows
                    .f_slice(3, j * dw, j * dw + (width - 1) * across + 1, across)?
                    .f_add_(&products.f_select(2, j)?)?;
            }
        }
        padded
            .f_narrow(2, top, rows)?
            .f_narrow(3, left, columns)?
            .f_unflatten(4, [b, k])?
            .f_permute([0, 4, 5, 1, 2, 3])
    }

    /// Writes `Σ_i δ_i a_iᵀ` and `Σ_i δ_i` of one column into the layer's part of `out`, `N × d`, whose first column
    /// belongs to parameter `start`.
    pub(crate) fn write_vjp(
        &self,
        input: &Input,
        delta: &Tensor,
        out: &Tensor,
        start: usize,
    ) -> Torch<()> {
        let (n, b, k, l, o) = delta.size5()?;
        let product = match &self.conv {
            Some(g) if convolves(delta) => self.correlate(g, &input.values, delta)?,
            _ => {
                let a = input.rows(self)?.f_expand([n, -1, -1], false)?;
                let delta = delta.f_reshape([n, b * k * l, o])?;
                delta.f_transpose(1, 2)?.f_bmm(&a)?
            }
        };
        let delta = delta.f_reshape([n, b * k * l, o])?;
        columns(out, &self.weight, start)?
            .f_view(product.size().as_slice())?
            .f_copy_(&product)?;
        if self.has_bias() {
            columns(out, &self.bias, start)?.f_copy_(&delta.f_sum_dim_intlist(
                [1i64].as_slice(),
                false,
                None,
            )?)?;
        }
        Ok(())
    }

    /// `Σ_i δ_i a_iᵀ` of one column, `N × O × K`, without the rows: the inputs convolved with the cotangents, samples being
    /// channels and stride and dilation changing places.
    fn correlate(&self, g: &ConvGeometry, h: &Tensor, delta: &Tensor) -> Torch<Tensor> {
        let (n, b, _, _, o) = delta.size5()?;
        let (m, window, channels) = (h.size()[0], g.conv.window(), g.conv.inputs as i64);
        let ([height, width], [kh, kw]) = (pair(g.output), pair(window.kernel));
        let cotangents = delta
            .f_view([n, b, height, width, o])?
            .f_permute([0, 4, 1, 2, 3])?
            .f_reshape([n * o, b, height, width])?;
        let [height, width] = pair(g.input);
        h.f_permute([2, 0, 1, 3, 4])?
            .f_reshape([channels, m * b, height, width])?
            .f_conv2d(
                &cotangents,
                None::<Tensor>,
                pair(window.dilation),
                pair(window.padding),
                pair(window.stride),
                m,
            )?
            // Pixels that no window covers give more than the kernel.
            .f_narrow(2, 0, kh)?
            .f_narrow(3, 0, kw)?
            .f_reshape([channels, n, o, kh, kw])?
            .f_permute([1, 2, 0, 3, 4])?
            .f_reshape([n, o, self.fan_in as i64])
    }

    /// Writes the per-sample products `Σ_l δ a_lᵀ` and `Σ_l δ` into the layer's part of `out`, `N × bk × d`, whose
    /// first column belongs to parameter `start`.
    pub(crate) fn write_rows(
        &self,
        a: &Tensor,
        delta: &Tensor,
        out: &Tensor,
        start: usize,
    ) -> Torch<()> {
        let (n, b, k, l, o) = delta.size5()?;
        let fan_in = self.fan_in as i64;
        let slot = columns(out, &self.weight, start)?.f_view([n, b, k, o, fan_in])?;
        if l == 1 {
            let a = a.f_view([-1, b, 1, 1, fan_in])?;
            let _written = delta.f_view([n, b, k, o, 1])?.f_mul_out(&slot, &a)?;
        } else {
            slot.shallow_clone()
                .f_copy_(&per_sample_gradients(a, delta)?)?;
        }
        if self.has_bias() {
            let slot = columns(out, &self.bias, start)?;
            slot.f_view([n, b, k, o])?
                .f_copy_(&delta.f_sum_dim_intlist([3i64].as_slice(), false, None)?)?;
        }
        Ok(())
    }
}

/// Whether libtorch's convolution is the faster way and as exact as matrix products.
fn convolves(tensor: &Tensor) -> bool {
    tensor.kind() == Kind::Float && tensor.device() == Device::Cpu
}

/// Columns `range − start` of the last dimension, a view.
fn columns(tensor: &Tensor, range: &Range<usize>, start: usize) -> Torch<Tensor> {
    tensor.f_narrow(-1, (range.start - start) as i64, range.len() as i64)
}

/// The windows of `images` (`B × C × H × W`), a strided view `B × H' × W' × C × kernel × kernel` of the padded images.
fn windows(images: &Tensor, window: &Window, output: [usize; 2]) -> Torch<Tensor> {
    let padded = if window.padding == [0, 0] {
        images.shallow_clone()
    } else {
        let [ph, pw] = pair(window.padding);
        images.f_constant_pad_nd([pw, pw, ph, ph])?
    };
    let (size, stride) = (padded.size(), padded.stride());
    let ([h, w], [kh, kw]) = (pair(output), pair(window.kernel));
    let ([sh, sw], [dh, dw]) = (pair(window.stride), pair(window.dilation));
    padded.f_as_strided(
        [size[0], h, w, size[1], kh, kw],
        [
            stride[0],
            stride[2] * sh,
            stride[3] * sw,
            stride[1],
            stride[2] * dh,
            stride[3] * dw,
        ],
        None,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Conv2d;

    /// 2 → 3 channels on 9 × 8 pixels, with uneven kernel, stride, padding and dilation.
    fn block() -> AffineBlock {
        let conv = Conv2d::new(2, 3, [3, 2])
            .stride([2, 1])
            .padding([1, 2])
            .dilation([1, 2]);
        let (input, weights) = ([9, 8], 3 * 2 * 3 * 2);
        let output = conv.window().output_size(input).unwrap();
        AffineBlock {
            label: "conv".into(),
            weight: 0..weights,
            bias: weights..weights + 3,
            outputs: 3,
            fan_in: 12,
            conv: Some(ConvGeometry {
                conv,
                input,
                output,
            }),
        }
    }

    fn waves(shape: &[i64], frequency: f64) -> Tensor {
        let count = shape.iter().product::<i64>();
        (Tensor::arange(count, (Kind::Double, Device::Cpu)) * frequency)
            .sin()
            .view(shape)
    }

    fn assert_close(a: &Tensor, b: &Tensor) {
        assert_eq!(a.size(), b.size());
        let error = (a - b).abs().max().double_value(&[]);
        assert!(error < 1e-13, "{error}");
    }

    #[test]
    fn convolving_is_multiplying_the_unrolled_windows() {
        let block = block();
        let params = waves(&[4, 39], 1.3);
        for particles in [1, 4] {
            let h = waves(&[particles, 5, 2, 9, 8], 0.7);
            let rows = block.unroll(&h).unwrap();
            let expected = block.forward(&params, &rows).unwrap();
            let g = block.conv.as_ref().unwrap();
            assert_close(&block.convolution(g, &params, &h).unwrap(), &expected);
            assert!(block.convolve(&params, &h).unwrap().is_none());
            let (single, h) = (params.to_kind(Kind::Float), h.to_kind(Kind::Float));
            assert!(block.convolve(&single, &h).unwrap().is_some());
        }
    }

    #[test]
    fn correlating_is_multiplying_cotangents_and_rows() {
        let block = block();
        let g = block.conv.as_ref().unwrap();
        let positions = (g.output[0] * g.output[1]) as i64;
        let delta = waves(&[4, 5, 1, positions, 3], 0.9);
        for particles in [1, 4] {
            let h = waves(&[particles, 5, 2, 9, 8], 0.7);
            let out = Tensor::zeros([4, 39], (Kind::Double, Device::Cpu));
            let input = Input::new(h.shallow_clone());
            block.write_vjp(&input, &delta, &out, 0).unwrap();
            let expected = out.narrow(1, 0, 36).reshape([4, 3, 12]);
            assert_close(&block.correlate(g, &h, &delta).unwrap(), &expected);
        }
    }

    #[test]
    fn folding_windows_is_the_transposed_convolution() {
        let block = block();
        let g = block.conv.as_ref().unwrap();
        let weight = block.weight_of(&waves(&[4, 39], 1.3)).unwrap();
        let [height, width] = pair(g.output);
        let delta = waves(&[4, 5, 2, height * width, 3], 0.9);
        let window = g.conv.window();
        let expected = delta
            .view([4, 10, height, width, 3])
            .permute([1, 0, 4, 2, 3])
            .reshape([10, 12, height, width])
            .conv_transpose2d(
                &weight.reshape([12, 2, 3, 2]),
                None::<Tensor>,
                pair(window.stride),
                pair(window.padding),
                [0, 0], // 9 × 8 pixels are all covered
                4,
                pair(window.dilation),
            )
            .view([5, 2, 4, 2, 9, 8])
            .permute([2, 0, 1, 3, 4, 5]);
        assert_close(&block.pull_back(&weight, &delta).unwrap(), &expected);
    }
}
