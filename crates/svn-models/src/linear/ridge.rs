//! Ridge regression by a Cholesky factor of the normal equations, on the side that is smaller.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};
use svn_linalg::{Cholesky, Factor, InputError};

use super::Linear;
use crate::ModelError;
use crate::scaling::FeatureScaler;

pub(super) fn fit(
    x: ArrayView2<'_, f64>,
    y: ArrayView1<'_, f64>,
    penalty: f64,
) -> Result<Linear, ModelError> {
    let features = FeatureScaler::fit(x)?;
    let z = features.transform(x)?;
    let mean = y.mean().unwrap_or_default();
    let centred = y.to_owned() - mean;
    let (weights, effective) = solve(&z, &centred, penalty)?;
    let residuals = &centred - &z.dot(&weights);
    let squares: f64 = residuals.iter().map(|r| r * r).sum();
    // A fit without residuals has no noise to measure, but a density needs some.
    let floor = 1e-12
        * centred
            .iter()
            .map(|r| r * r)
            .sum::<f64>()
            .max(f64::MIN_POSITIVE);
    let freedom = (y.len() as f64 - effective - 1.0).max(1.0);
    Ok(Linear {
        features,
        weights: weights.insert_axis(Axis(1)),
        intercepts: vec![mean],
        noise_variance: Some(squares.max(floor) / freedom),
    })
}

/// `(ZᵀZ + λI)⁻¹ Zᵀy = Zᵀ(ZZᵀ + λI)⁻¹ y`, and the effective number of weights.
fn solve(z: &Array2<f64>, y: &Array1<f64>, penalty: f64) -> Result<(Array1<f64>, f64), ModelError> {
    let (rows, features) = z.dim();
    let tall = features <= rows;
    let mut gram = if tall { z.t().dot(z) } else { z.dot(&z.t()) };
    gram.diag_mut().map_inplace(|value| *value += penalty);
    let size = gram.nrows();
    let factor = Cholesky::factorize_owned(gram).map_err(|_| {
        ModelError::setting("penalty", penalty, "large enough for the normal equations")
    })?;
    let failed = |error: InputError| ModelError::setting("features", error, "finite numbers");
    let solution = match tall {
        true => factor.solve_vec(z.t().dot(y).view()).map_err(failed)?,
        false => z.t().dot(&factor.solve_vec(y.view()).map_err(failed)?),
    };
    // tr (G + λI)⁻¹ G = size − λ tr (G + λI)⁻¹
    let inverse = factor.solve(Array2::eye(size).view()).map_err(failed)?;
    let effective = size as f64 - penalty * inverse.diag().sum();
    Ok((solution, effective))
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use ndarray::array;

    #[test]
    fn agrees_with_a_hand_computed_line() {
        // z = ±1.2247, 0; ZᵀZ = 3, Zᵀ(y − ȳ) = 1.2247 · 4; with λ = 1 the slope is 4.899 / 4.
        let x = array![[0.0], [1.0], [2.0]];
        let model = Linear::ridge(x.view(), array![1.0, 2.0, 5.0].view(), 1.0).unwrap();
        let slope = 1.5f64.sqrt() * 4.0 / 4.0;
        assert_relative_eq!(model.weights[[0, 0]], slope, max_relative = 1e-14);
        let prediction = model.predict(x.view()).unwrap();
        let expected = array![8.0 / 3.0 - 1.5, 8.0 / 3.0, 8.0 / 3.0 + 1.5];
        assert_relative_eq!(prediction.mean(), expected, max_relative = 1e-14);
        // Residuals 1/6·(−1, −4, 5); d_eff = 3/4, one for the mean.
        let variance = (1.0 + 16.0 + 25.0) / 36.0 / (3.0 - 0.75 - 1.0);
        assert_relative_eq!(prediction.variance()[0], variance, max_relative = 1e-12);
    }

    #[test]
    fn both_sides_of_the_identity_agree() {
        let z = Array2::from_shape_fn((4, 4), |(i, j)| ((3 * i + 5 * j) % 7) as f64 - 3.0);
        let y = array![1.0, -2.0, 0.5, 4.0];
        let (tall, of_tall) = solve(&z, &y, 0.3).unwrap();
        let mut wide = Array2::zeros((4, 9));
        wide.slice_mut(ndarray::s![.., ..4]).assign(&z);
        let (wide, of_wide) = solve(&wide, &y, 0.3).unwrap();
        assert_relative_eq!(tall, wide.slice(ndarray::s![..4]), max_relative = 1e-10);
        assert_relative_eq!(of_tall, of_wide, max_relative = 1e-10);
    }

    #[test]
    fn a_constant_target_and_wrong_arguments() {
        let x = array![[0.0], [1.0], [2.0]];
        let model = Linear::ridge(x.view(), array![5.0, 5.0, 5.0].view(), 1.0).unwrap();
        let prediction = model.predict(x.view()).unwrap();
        assert_eq!(prediction.mean(), array![5.0, 5.0, 5.0]);
        let error = Linear::ridge(x.view(), array![5.0].view(), 1.0).unwrap_err();
        assert!(
            error.to_string().contains("features beside the targets"),
            "{error}"
        );
        let error = Linear::ridge(x.view(), array![1.0, 2.0, 3.0].view(), 0.0).unwrap_err();
        assert_eq!(error.to_string(), "penalty is 0; expected a number above 0");
    }
}
