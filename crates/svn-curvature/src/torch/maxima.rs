//! Gradients of the first convolution where its outputs, or a function of them, are pooled by their maxima: only the
//! windows with a maximum have a cotangent, so nothing else is made.
//!
//! ```text
//! Σ_l δ_jlo a_l = Σ_q c_joq f'(z_o at m) a_m,        m = m(o, q): where pool q of channel o has its maximum
//! ```

use tch::{TchError, Tensor};

use super::affine::Input;
use super::tape::Record;
use crate::block::AffineBlock;
use crate::subject::Subject;

type Torch<T> = std::result::Result<T, TchError>;

/// The first layer covered, the functions behind it, and where their maxima are.
#[derive(Debug)]
pub(super) struct Maxima<'a> {
    pub block: &'a AffineBlock,
    input: &'a Input,
    derivatives: Vec<&'a Tensor>,
    /// Of the scalings.
    factor: f64,
    indices: &'a Tensor,
    /// Number of records up to the pooling and with it.
    pub records: usize,
}

impl<'a> Maxima<'a> {
    /// None where the first layer is no convolution, or something else follows, or the pools are not fewer than the windows.
    pub(super) fn of(records: &'a [Record], subject: &'a Subject) -> Option<Self> {
        let first = subject.first();
        let at = records
            .iter()
            .position(|record| matches!(record, Record::Affine { block, .. } if *block == first))?;
        let Record::Affine { input, .. } = &records[at] else {
            return None;
        };
        let block = subject.block(first);
        let (mut derivatives, mut scale) = (Vec::new(), 1.0);
        for (index, record) in records.iter().enumerate().skip(at + 1) {
            match record {
                Record::Pointwise { derivative } => derivatives.push(derivative),
                Record::Scale { factor } => scale *= factor,
                Record::MaxPool { indices, .. } => {
                    let size = indices.size();
                    let pools = (size[3] * size[4]) as usize;
                    return (pools < block.positions()).then_some(Self {
                        block,
                        input,
                        derivatives,
                        factor: scale,
                        indices,
                        records: index + 1,
                    });
                }
                _ => return None,
            }
        }
        None
    }

    /// Sums over samples and columns of the squared gradients of weight and bias, `N × O × K` and `N × O`, from the
    /// cotangents of the pools, `N × b × k × O × H × W`.
    pub(super) fn squared_gradients(&self, cotangent: &Tensor) -> Torch<(Tensor, Tensor)> {
        let maxima = self.indices.f_flatten(3, 4)?;
        let (n, b, o, q) = maxima.size4()?;
        let mut cotangent = cotangent.f_flatten(4, 5)?;
        if self.factor != 1.0 {
            cotangent = cotangent.f_mul_scalar(self.factor)?;
        }
        for derivative in &self.derivatives {
            let slopes = derivative.f_flatten(3, 4)?.f_gather(3, &maxima, false)?;
            cotangent = cotangent.f_mul(&slopes.f_unsqueeze(2)?)?;
        }
        let a = self.input.rows(self.block)?;
        let (m, rows, fan_in) = a.size3()?;
        // Where the windows of each sample begin among all rows.
        let options = (tch::Kind::Int64, a.device());
        let starts = Tensor::f_arange(m * b, options)? * (rows / b);
        let starts = starts.f_view([m, b, 1, 1])?;
        let windows = a
            .f_reshape([m * rows, fan_in])?
            .f_index_select(0, &maxima.f_add(&starts)?.f_reshape([-1])?)?
            .f_view([n * b * o, q, fan_in])?;
        let columns = cotangent.size()[2];
        let sums = |squares: Tensor, dims: &[i64]| squares.f_sum_dim_intlist(dims, false, None);
        let gradients = cotangent
            .f_transpose(2, 3)?
            .f_reshape([n * b * o, columns, q])?
            .f_bmm(&windows)?
            .f_square_()?
            .f_view([n, b, o, columns, fan_in])?;
        let biases = sums(cotangent, &[4])?.f_square_()?;
        Ok((sums(gradients, &[1, 3])?, sums(biases, &[1, 2])?))
    }
}
