//! The losses as their formulas say them, differentiated by second-order dual numbers.

use ndarray::{Array1, Array2, ArrayView1, Axis};
use svn_curvature::Loss;

use super::dual::Dual;

/// `ℓ(f, y)` of one row, as its formula says it.
pub(crate) fn reference_loss(loss: Loss, f: &[Dual], y: ArrayView1<'_, f64>) -> Dual {
    let half = Dual::from(0.5);
    let pairs = || f.iter().copied().zip(y.iter().map(|&y| Dual::from(y)));
    match loss {
        Loss::Gaussian { noise } => {
            let scaled = |(f, y)| (f - y) * noise.recip().into();
            pairs().map(scaled).map(|r| r * r * half).sum()
        }
        Loss::HeteroscedasticGaussian => pairs()
            .zip(&f[y.len()..])
            .map(|((mean, y), &log_variance)| {
                let precision = (log_variance * (-1.0).into()).exp();
                (log_variance + (y - mean) * (y - mean) * precision) * half
            })
            .sum(),
        Loss::Categorical => f.iter().map(|f| f.exp()).sum::<Dual>().ln() - f[y[0] as usize],
        Loss::Bernoulli => pairs()
            .map(|(f, y)| (f.exp() + 1.0.into()).ln() - f * y)
            .sum(),
        other => panic!("no reference for {other:?}"),
    }
}

/// Value, gradient and Hessian of the loss of one row.
pub(crate) fn reference(
    loss: Loss,
    f: ArrayView1<'_, f64>,
    y: ArrayView1<'_, f64>,
) -> (f64, Array1<f64>, Array2<f64>) {
    let c = f.len();
    let at = |i: usize, j: usize| {
        let mut seeded: Vec<Dual> = f.iter().map(|&f| f.into()).collect();
        seeded[i].0[1] = 1.0;
        seeded[j].0[2] = 1.0;
        reference_loss(loss, &seeded, y).0
    };
    (
        at(0, 0)[0],
        Array1::from_shape_fn(c, |i| at(i, 0)[1]),
        Array2::from_shape_fn((c, c), |(i, j)| at(i, j)[3]),
    )
}

/// Fisher information of one row's outputs.
///
/// For the heteroscedastic Gaussian the expectation over targets is the mean over `y = μ ± σ`, which has the right first
/// two moments, and the Hessian is quadratic in `y`.
pub(crate) fn reference_fisher(
    loss: Loss,
    f: ArrayView1<'_, f64>,
    y: ArrayView1<'_, f64>,
) -> Array2<f64> {
    if loss != Loss::HeteroscedasticGaussian {
        return reference(loss, f, y).2;
    }
    let (mean, log_variance) = f.split_at(Axis(0), y.len());
    let spread = log_variance.mapv(|s| (0.5 * s).exp());
    let hessian = |y: Array1<f64>| reference(loss, f, y.view()).2;
    (hessian(&mean + &spread) + hessian(&mean - &spread)) * 0.5
}
