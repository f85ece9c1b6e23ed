//! Operators along the diagonal, zero elsewhere.
//!
//! ```text
//! A = diag(A_1, …, A_m)      A_i: r_i × c_i      A: Σ r_i × Σ c_i
//! ```

use ndarray::{ArrayView2, ArrayViewMut2, Axis};

use super::{LinearOperator, SelfAdjoint, assert_shapes};
use crate::input::InputError;

/// Blocks of one type along the diagonal; `BlockDiagonal<Box<dyn SelfAdjoint>>` mixes them.
#[derive(Debug, Clone)]
pub struct BlockDiagonal<A> {
    blocks: Vec<A>,
}

impl<A: LinearOperator> BlockDiagonal<A> {
    /// Blocks in order.
    ///
    /// # Errors
    /// [`InputError::Empty`] without any.
    pub fn new(blocks: Vec<A>) -> Result<Self, InputError> {
        if blocks.is_empty() {
            return Err(InputError::Empty {
                what: "block-diagonal operator",
            });
        }
        Ok(Self { blocks })
    }

    /// The blocks in order.
    pub fn blocks(&self) -> &[A] {
        &self.blocks
    }
}

/// Call `f(block, x_i, out_i)` with the rows of `x` and `out` that belong to each block of shape `(out, x)`.
pub(crate) fn for_each_block<A>(
    blocks: &[A],
    shape: impl Fn(&A) -> (usize, usize),
    x: ArrayView2<'_, f64>,
    out: ArrayViewMut2<'_, f64>,
    mut f: impl FnMut(&A, ArrayView2<'_, f64>, ArrayViewMut2<'_, f64>),
) {
    let total = blocks
        .iter()
        .map(&shape)
        .fold((0, 0), |t, s| (t.0 + s.0, t.1 + s.1));
    assert_shapes(total, &x, &out);
    let (mut x, mut out) = (x, out);
    for block in blocks {
        let (rows, columns) = shape(block);
        let (x_block, x_rest) = x.split_at(Axis(0), columns);
        let (out_block, out_rest) = out.split_at(Axis(0), rows);
        f(block, x_block, out_block);
        (x, out) = (x_rest, out_rest);
    }
}

impl<A: LinearOperator> LinearOperator for BlockDiagonal<A> {
    fn nrows(&self) -> usize {
        self.blocks.iter().map(A::nrows).sum()
    }

    fn ncols(&self) -> usize {
        self.blocks.iter().map(A::ncols).sum()
    }

    fn apply_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        let shape = |a: &A| (a.nrows(), a.ncols());
        for_each_block(&self.blocks, shape, x, out, |a, x, out| {
            a.apply_into(x, out)
        });
    }

    fn apply_transpose_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        let shape = |a: &A| (a.ncols(), a.nrows());
        for_each_block(&self.blocks, shape, x, out, |a, x, out| {
            a.apply_transpose_into(x, out);
        });
    }
}

impl<A: SelfAdjoint> SelfAdjoint for BlockDiagonal<A> {}
