//! The posterior of the hidden weights, the output layer integrated out.
//!
//! ```text
//! f(x)  = Σ_j v_j tanh(w_j x + b_j) + c,    y = f(x) + σ ε,    all of w, b, v, c ~ N(0, 1)
//!
//! Φ     = [ tanh(w xᵀ + b 1ᵀ) ; 1ᵀ ]        (H + 1) × n
//! A     = I + Φ Φᵀ / σ²,    m = A⁻¹ Φ y / σ²,    r = y − Φᵀ m
//! (v, c) | w, b, y ~ N(m, A⁻¹)
//! ln p(y | w, b)   = −½ [ rᵀr/σ² + mᵀm + ln |A| + n ln(2π σ²) ]
//! ∂/∂Φ             = (m rᵀ − A⁻¹ Φ) / σ²
//! ```
//!
//! Given the hidden layer the network is a Bayesian linear regression, so that nothing is approximated. It is the same posterior,
//! without the directions in which the likelihood is thousands of times as narrow as the prior.

use ndarray::{Array1, Array2, ArrayView1, Axis, s};
use svn_linalg::{Cholesky, Factor as _, FactorError, dense};

use crate::chains::hmc::{Density, Failure, Point};

/// Rows of one feature, the noise variance `σ²`, and the width `H` of the hidden layer.
#[derive(Debug)]
pub(crate) struct Marginal {
    x: Array1<f64>,
    y: Array1<f64>,
    variance: f64,
    hidden: usize,
}

/// The output layer given the hidden one: `N(m, A⁻¹)`.
#[derive(Debug)]
pub(crate) struct OutputLayer {
    mean: Array1<f64>,
    factor: Cholesky,
}

impl Marginal {
    pub(crate) fn new(x: Array1<f64>, y: Array1<f64>, variance: f64, hidden: usize) -> Self {
        Self {
            x,
            y,
            variance,
            hidden,
        }
    }

    /// `Φ` of a hidden layer `(w, b)` at `x`.
    pub(crate) fn features(
        &self,
        layer: ArrayView1<'_, f64>,
        x: ArrayView1<'_, f64>,
    ) -> Array2<f64> {
        let mut features = Array2::ones((self.hidden + 1, x.len()));
        for j in 0..self.hidden {
            let (w, b) = (layer[j], layer[self.hidden + j]);
            features
                .row_mut(j)
                .zip_mut_with(&x, |f, x| *f = (w * x + b).tanh());
        }
        features
    }

    /// `m` and the factor of `A` from `Φ` of the training rows.
    fn output_layer(&self, features: &Array2<f64>) -> Result<OutputLayer, FactorError> {
        let size = self.hidden + 1;
        let mut matrix = Array2::zeros((size, size));
        dense::gram(self.variance.recip(), features.view(), matrix.view_mut());
        matrix.diag_mut().mapv_inplace(|a| a + 1.0);
        let factor = Cholesky::factorize_owned(matrix.reversed_axes())?;
        let mut image = Array1::zeros(size);
        dense::multiply_vector(
            self.variance.recip(),
            features.view(),
            self.y.view(),
            0.0,
            image.view_mut(),
        );
        let mean = factor.solve_vec(image.view())?;
        Ok(OutputLayer { mean, factor })
    }

    /// The output layer of a hidden one.
    pub(crate) fn condition(&self, layer: ArrayView1<'_, f64>) -> Result<OutputLayer, FactorError> {
        self.output_layer(&self.features(layer, self.x.view()))
    }
}

impl Density for Marginal {
    fn dim(&self) -> usize {
        2 * self.hidden
    }

    fn evaluate(&self, layer: ArrayView1<'_, f64>) -> Result<Point, Failure> {
        let features = self.features(layer, self.x.view());
        let OutputLayer { mean, factor } = self.output_layer(&features)?;
        let mut residual = self.y.clone();
        dense::multiply_vector(-1.0, features.t(), mean.view(), 1.0, residual.view_mut());
        let log_det = 2.0 * factor.lower().diag().mapv(f64::ln).sum();
        let rows = self.y.len() as f64;
        let log_likelihood = -0.5
            * (residual.dot(&residual) / self.variance
                + mean.dot(&mean)
                + log_det
                + rows * (std::f64::consts::TAU * self.variance).ln());
        let log_prior = -0.5 * layer.dot(&layer);

        let mut slopes = factor.solve(features.view())?;
        let mut gradient = Array1::zeros(layer.len());
        let weight = self.variance.recip();
        for j in 0..self.hidden {
            let mut slope = slopes.row_mut(j);
            // Through tanh: ∂/∂(w_j x_i + b_j).
            for ((g, f), r) in slope.iter_mut().zip(features.row(j)).zip(&residual) {
                *g = weight * (mean[j] * r - *g) * (1.0 - f * f);
            }
            gradient[j] = slope.dot(&self.x) - layer[j];
            gradient[self.hidden + j] = slope.sum() - layer[self.hidden + j];
        }
        Ok(Point {
            log_density: log_likelihood + log_prior,
            gradient,
        })
    }
}

impl OutputLayer {
    /// Mean and variance of `f` where the hidden units are `features`.
    pub(crate) fn predict(&self, features: &Array2<f64>) -> Result<[Array1<f64>; 2], FactorError> {
        let mean = features.t().dot(&self.mean);
        let mut half = features.clone();
        self.factor.solve_lower_inplace(half.view_mut())?;
        Ok([mean, half.mapv(|z| z * z).sum_axis(Axis(0))])
    }

    /// `m + L⁻ᵀ z` for normal numbers `z`: a draw of the output layer.
    pub(crate) fn draw(&self, z: Array1<f64>) -> Result<Array1<f64>, FactorError> {
        let mut column = z.insert_axis(Axis(1));
        self.factor.solve_transposed_inplace(column.view_mut())?;
        Ok(&self.mean + &column.slice(s![.., 0]))
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand::rngs::ChaCha20Rng;
    use rand_distr::{Distribution, StandardNormal};
    use svn_models::curvature::Activation;
    use svn_models::likelihood::{Gaussian, Likelihood};
    use svn_models::network::MlpSettings;
    use svn_models::posterior::{CurvatureSettings, Posterior, PosteriorSettings};
    use svn_models::stein::Score;
    use svn_models::{Backend, Rows};

    use super::*;

    const HIDDEN: usize = 4;
    const VARIANCE: f64 = 0.02;

    fn normals(seed: u64, n: usize) -> Array1<f64> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        Array1::from_shape_simple_fn(n, || StandardNormal.sample(&mut rng))
    }

    fn marginal() -> Marginal {
        Marginal::new(normals(1, 9), normals(2, 9), VARIANCE, HIDDEN)
    }

    /// Central differences with step 1e-5: truncation 1e-10 f''' and rounding 1e-16 |f| / 1e-5 with |f| up to a few hundred.
    #[test]
    fn the_gradient_is_the_finite_difference_of_the_density() {
        let (density, h) = (marginal(), 1e-5);
        for seed in 3..6 {
            let layer = normals(seed, density.dim());
            let gradient = density.evaluate(layer.view()).unwrap().gradient;
            for j in 0..density.dim() {
                let at = |shift: f64| {
                    let mut shifted = layer.clone();
                    shifted[j] += shift;
                    density.evaluate(shifted.view()).unwrap().log_density
                };
                let difference = (at(h) - at(-h)) / (2.0 * h);
                let error = (gradient[j] - difference).abs();
                assert!(error < 1e-6 * (1.0 + difference.abs()), "{j}: {error}");
            }
        }
    }

    /// `ln p(y, w, b) + ln p(v, c | w, b, y) = ln p(y, w, b, v, c)` for any output layer, the right side by the networks that
    /// are trained.
    #[test]
    fn hidden_and_output_layer_together_are_the_posterior_of_the_network() {
        let network = MlpSettings {
            inputs: 1,
            hidden: vec![HIDDEN],
            outputs: 1,
            activation: Activation::Tanh,
        };
        let density = marginal();
        let rows = Rows::new(density.x.clone().insert_axis(Axis(1)), density.y.clone()).unwrap();
        let settings = PosteriorSettings {
            batch_size: rows.len(),
            prior_precision: 1.0,
            curvature: CurvatureSettings::default(),
            learn_noise: false,
            seed: 0,
            backend: Backend::default(),
        };
        let likelihood = Likelihood::Gaussian(Gaussian::new(VARIANCE).unwrap());
        let network = network.build().unwrap();
        let mut posterior = Posterior::new(network, likelihood, &rows, settings).unwrap();
        for seed in 3..6 {
            let layer = normals(seed, density.dim());
            let output = density.condition(layer.view()).unwrap();
            let drawn = output.draw(normals(seed + 10, HIDDEN + 1)).unwrap();
            // |z|² = (v − m)ᵀ A (v − m), and the constants of the prior, which the posterior leaves out.
            let z = normals(seed + 10, HIDDEN + 1);
            let log_det: f64 = 2.0 * output.factor.lower().diag().mapv(f64::ln).sum();
            let conditional = 0.5 * (log_det - z.dot(&z));
            let expected = density.evaluate(layer.view()).unwrap().log_density + conditional;
            let weights = Array1::from_iter(layer.iter().chain(&drawn).copied());
            let weights = weights.insert_axis(Axis(0));
            let (mut found, mut score) = (Array1::zeros(1), Array2::zeros(weights.dim()));
            posterior
                .score_into(weights.view(), found.view_mut(), score.view_mut())
                .unwrap();
            let error = (found[0] - expected).abs();
            assert!(
                error < 1e-9 * (1.0 + expected.abs()),
                "{} {expected}",
                found[0]
            );
        }
    }

    #[test]
    fn draws_have_the_moments_that_are_predicted() {
        let density = marginal();
        let layer = normals(7, density.dim());
        let output = density.condition(layer.view()).unwrap();
        let features = density.features(layer.view(), normals(8, 2).view());
        let [mean, variance] = output.predict(&features).unwrap();
        let draws = 4000;
        let z = normals(9, draws * (HIDDEN + 1));
        let values: Vec<_> = z
            .exact_chunks(HIDDEN + 1)
            .into_iter()
            .map(|z| features.t().dot(&output.draw(z.to_owned()).unwrap()))
            .collect();
        for i in 0..2 {
            let column = Array1::from_iter(values.iter().map(|value| value[i]));
            let error = (column.mean().unwrap() - mean[i]).abs();
            assert!(error < 4.0 * (variance[i] / draws as f64).sqrt(), "{error}");
            let ratio = column.var(1.0) / variance[i];
            assert!(
                (ratio - 1.0).abs() < 4.0 * (2.0 / draws as f64).sqrt(),
                "{ratio}"
            );
        }
    }
}
