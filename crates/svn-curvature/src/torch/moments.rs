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

/// [`second_moment`] of [`homogeneous`] `x`, without the copy: its last row and column are sums.
pub(crate) fn homogeneous_second_moment(x: &Tensor) -> Torch<Tensor> {
    let (_, rows, width) = x.size3()?;
    let moment = second_moment(x)?.f_pad([0, 1, 0, 1], "constant", rows as f64)?;
    let sums = x.f_sum_dim_intlist([1i64].as_slice(), false, None)?;
    moment
        .f_select(1, width)?
        .f_narrow(1, 0, width)?
        .f_copy_(&sums)?;
    moment
        .f_select(2, width)?
        .f_narrow(1, 0, width)?
        .f_copy_(&sums)?;
    Ok(moment)
}

/// Gradients `Σ_l δ a_lᵀ` of one layer for each sample and root column.
///
/// # Shapes
/// `a`: `M × bL × K`, `M` = 1 or `N`; `delta`: `N × b × k × L × O`; result: `N × b × k × O × K`, a view in any order.
pub(crate) fn per_sample_gradients(a: &Tensor, delta: &Tensor) -> Torch<Tensor> {
    let (n, b, k, l, o) = delta.size5()?;
    let (m, _, fan_in) = a.size3()?;
    if m == n {
        let delta = delta
            .f_permute([0, 1, 2, 4, 3])?
            .f_reshape([n * b, k * o, l])?;
        return delta
            .f_bmm(&a.f_view([n * b, l, fan_in])?)?
            .f_view([n, b, k, o, fan_in]);
    }
    // Shared inputs: the particles are so many more columns, and the inputs need not be repeated.
    let delta = delta
        .f_permute([1, 0, 2, 4, 3])?
        .f_reshape([b, n * k * o, l])?;
    let gradients = delta.f_bmm(&a.f_view([b, l, fan_in])?)?;
    gradients.f_view([b, n, k, o, fan_in])?.f_transpose(0, 1)
}

/// `Q` of one layer.
///
/// With one position per sample the square of the product is the product of the squares: one matrix product for all
/// samples. With several, the gradients of the layer exist for one group of columns.
///
/// # Shapes
/// As for [`per_sample_gradients`]; result: `N × O × K`.
pub(crate) fn squared_gradients(a: &Tensor, delta: &Tensor) -> Torch<Tensor> {
    let (n, b, k, l, o) = delta.size5()?;
    if l == 1 {
        let squares = delta.f_view([n, b, k, o])?.f_square()?.f_sum_dim_intlist(
            [2i64].as_slice(),
            false,
            None,
        )?;
        return squares
            .f_transpose(1, 2)?
            .f_bmm(&a.f_square()?.f_expand([n, -1, -1], false)?);
    }
    per_sample_gradients(a, delta)?
        .f_square_()?
        .f_sum_dim_intlist([1i64, 2].as_slice(), false, None)
}

/// `Σ_{b, j} ( Σ_l δ[n, b, j, l, o] )²`, the squared gradients of the bias: `N × O`.
pub(crate) fn squared_sums(delta: &Tensor) -> Torch<Tensor> {
    let sums = delta.f_sum_dim_intlist([3i64].as_slice(), false, None)?;
    sums.f_square()?
        .f_sum_dim_intlist([1i64, 2].as_slice(), false, None)
}
