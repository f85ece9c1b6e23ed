//! The rows of a batch one by one, for heads whose terms are written for a single row.

use ndarray::{
    Array1, Array3, Array4, ArrayView1, ArrayView2, ArrayView3, ArrayViewMut1, ArrayViewMut2,
};

use super::LossTerms;
use crate::ModelError;

/// Loss terms of a batch from those of a row: `row(f, y, −∂ℓ/∂f)` fills the ascent and gives `ℓ` and the residual of the mean.
///
/// # Errors
/// [`ModelError::Shape`] unless there is one target a row, [`ModelError::NonFiniteData`] for one that is not finite.
pub(super) fn by_row(
    outputs: ArrayView3<'_, f64>,
    targets: ArrayView2<'_, f64>,
    mut row: impl FnMut(ArrayView1<'_, f64>, f64, ArrayViewMut1<'_, f64>) -> (f64, f64),
) -> Result<LossTerms, ModelError> {
    let (particles, rows, _) = outputs.dim();
    if targets.dim() != (rows, 1) {
        return Err(ModelError::Shape {
            what: "targets".into(),
            found: vec![targets.nrows()],
            expected: vec![rows],
        });
    }
    if let Some(row) = targets.iter().position(|target| !target.is_finite()) {
        let what = "targets";
        return Err(ModelError::NonFiniteData { what, row });
    }
    let mut negative_log_likelihood = Array1::zeros(particles);
    let mut squares = Array1::zeros(particles);
    let mut ascent = Array3::zeros(outputs.raw_dim());
    for (p, (outputs, mut ascent)) in outputs
        .outer_iter()
        .zip(ascent.outer_iter_mut())
        .enumerate()
    {
        let of_rows = outputs.outer_iter().zip(targets);
        for ((f, &y), ascent) in of_rows.zip(ascent.outer_iter_mut()) {
            let (loss, residual) = row(f, y, ascent);
            negative_log_likelihood[p] += loss;
            squares[p] += residual * residual;
        }
    }
    Ok(LossTerms {
        negative_log_likelihood,
        ascent,
        mean_squared_residual: Some(squares / rows.max(1) as f64),
    })
}

/// `N × b × c × columns` from the `c × columns` block of each row, zero before, in the order of particles and rows.
pub(super) fn roots_by_row(
    outputs: ArrayView3<'_, f64>,
    columns: usize,
    mut fill: impl FnMut(ArrayView1<'_, f64>, ArrayViewMut2<'_, f64>),
) -> Array4<f64> {
    let (particles, rows, c) = outputs.dim();
    let mut all = Array4::zeros((particles, rows, c, columns));
    for (mut of_particle, outputs) in all.outer_iter_mut().zip(outputs.outer_iter()) {
        for (block, f) in of_particle.outer_iter_mut().zip(outputs.outer_iter()) {
            fill(f, block);
        }
    }
    all
}
