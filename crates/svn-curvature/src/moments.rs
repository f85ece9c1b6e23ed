//! Sums of products over samples that the curvature families collect, without a per-sample gradient in memory for
//! longer than one layer and one group of root columns.
//!
//! ```text
//! second moment       M[n, i, j] = Σ_r x[n, r, i] x[n, r, j]
//! squared gradients   Q[n, o, k] = Σ_{b, j} ( Σ_l δ[n, b, j, l, o] a[n, (b l), k] )²
//! ```

use tch::{TchError, Tensor};

type Torch<T> = std::result::Result<T, TchError>;

/// `Σ_r x_r x_rᵀ` over the rows of `x`, `N × R × K`: `N × K × K`.
pub(crate) fn second_moment(x: &Tensor) -> Torch<Tensor> {
    x.f_transpose(1, 2)?.f_bmm(x)
}

/// `x` with a last column of ones: the inputs in homogeneous coordinates, in which the bias is one more weight.
pub(crate) fn homogeneous(x: &Tensor) -> Torch<Tensor> {
    x.f_pad([0, 1], "constant", 1.0)
}

/// `Q` of one layer.
///
/// With one position per sample the square of the product is the product of the squares: one matrix product for all
/// samples. With several, the gradients of the layer exist for one group of columns.
///
/// # Shapes
/// `a`: `M × bL × K`, `M` = 1 or `N`; `delta`: `N × b × k × L × O`; result: `N × O × K`.
pub(crate) fn squared_gradients(a: &Tensor, delta: &Tensor) -> Torch<Tensor> {
    let (n, b, k, l, o) = delta.size5()?;
    let fan_in = a.size()[2];
    if l == 1 {
        let squares = delta.f_view([n, b, k, o])?.f_square()?.f_sum_dim_intlist([2i64].as_slice(), false, None)?;
        return squares.f_transpose(1, 2)?.f_bmm(&a.f_square()?.f_expand([n, -1, -1], false)?);
    }
    let a = a.f_expand([n, -1, -1], false)?.f_reshape([n * b, l, fan_in])?;
    let delta = delta.f_permute([0, 1, 2, 4, 3])?.f_reshape([n * b, k * o, l])?;
    let mut gradients = delta.f_bmm(&a)?.f_view([n, b * k, o, fan_in])?;
    gradients.f_square_()?.f_sum_dim_intlist([1i64].as_slice(), false, None)
}
