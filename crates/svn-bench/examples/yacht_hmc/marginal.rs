//! The posterior of all weights but those of the mean's output, which is integrated out.
//!
//! ```text
//! Φ     = [ tanh(a) ; 1ᵀ ]                 (H + 1) × n, a: what the last hidden layer takes in, from the features by a network
//! f     = Φᵀ w,   s = Φᵀ u,   y_i = f_i + √v(s_i) ε_i,   all weights ~ N(0, 1)
//!
//! D     = diag(1/v),   A = I + Φ D Φᵀ,   m = A⁻¹ Φ D y,   r = y − Φᵀ m
//! w | rest, y ~ N(m, A⁻¹)
//! ln p(y | rest)   = −½ [ rᵀ D r + mᵀm + ln |A| + Σ ln(2π v_i) ]
//! ∂/∂s_i           = ½ t_i [ (r_i² + q_i)/v_i − 1 ],    q_i = φ_iᵀ A⁻¹ φ_i,   t = ∂ ln v/∂s
//! ∂/∂Φ             = m (D r)ᵀ − A⁻¹ Φ D + u (∂/∂s)ᵀ
//! ```
//!
//! Given all else the output of the mean is a Bayesian linear regression with known noise, so that nothing is approximated.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};
use svn_linalg::{Cholesky, Factor as _, FactorError, dense};
use svn_models::curvature::{CurvatureError, Linearized, Samples, Sequential};
use svn_models::likelihood::VarianceLink;
use svn_models::network::MlpSettings;
use svn_models::{Backend, ModelError, Rows};

use crate::chains::hmc::{Density, Failure, Point};

/// Training rows, and the network up to what its last hidden layer takes in.
#[derive(Debug)]
pub(crate) struct Marginal {
    network: Sequential,
    samples: Box<dyn Samples>,
    y: Array1<f64>,
    /// `H`.
    units: usize,
    link: VarianceLink,
}

/// The output of the mean given everything else: `N(m, A⁻¹)`.
#[derive(Debug)]
pub(crate) struct MeanOutput {
    mean: Array1<f64>,
    factor: Cholesky,
}

/// Both outputs at some rows.
#[derive(Debug)]
pub(crate) struct Predicted {
    /// Mean of `f` given everything else.
    pub mean: Array1<f64>,
    /// Variance of `f` given everything else.
    pub variance: Array1<f64>,
    /// `Φ`.
    pub features: Array2<f64>,
    /// Variance of the noise.
    pub noise: Array1<f64>,
}

impl Marginal {
    /// For a tanh network of these hidden layers with two outputs, the second one the noise by `link`.
    pub(crate) fn new(
        rows: &Rows,
        network: &MlpSettings,
        link: VarianceLink,
    ) -> Result<Self, ModelError> {
        let mut network = network.clone();
        // What the last hidden layer takes in takes the place of the outputs.
        let units = network.hidden.pop().unwrap_or(network.inputs);
        network.outputs = units;
        let network = network.build()?;
        let samples = Backend::native().samples(&network, rows.features())?;
        Ok(Self {
            network,
            samples,
            y: rows.targets().to_owned(),
            units,
            link,
        })
    }

    fn hidden(&self) -> usize {
        self.network.layout().dim()
    }

    /// `u` of a position.
    fn noise_output<'a>(&self, position: &ArrayView1<'a, f64>) -> ArrayView1<'a, f64> {
        position.slice_move(s![self.hidden()..])
    }

    /// `ln v` and `t` of each column of `Φ`.
    fn noise(&self, features: &Array2<f64>, u: ArrayView1<'_, f64>) -> [Array1<f64>; 2] {
        let mut log_variance = features.t().dot(&u);
        let mut slope = Array1::zeros(log_variance.len());
        ndarray::Zip::from(&mut log_variance)
            .and(&mut slope)
            .for_each(|s, t| (*s, *t) = self.link.log_variance(*s));
        [log_variance, slope]
    }

    fn linearize(
        &self,
        position: ArrayView1<'_, f64>,
    ) -> Result<Box<dyn Linearized>, CurvatureError> {
        let layers = position.slice(s![..self.hidden()]).insert_axis(Axis(0));
        self.samples.linearize(&self.network, layers)
    }

    /// The output of the mean, from `Φ` and `ln v` of the training rows.
    fn mean_output(
        &self,
        features: &Array2<f64>,
        log_variance: &Array1<f64>,
    ) -> Result<MeanOutput, FactorError> {
        let root = log_variance.mapv(|l| (-0.5 * l).exp());
        let scaled = features * &root;
        let size = self.units + 1;
        let mut matrix = Array2::zeros((size, size));
        dense::gram(1.0, scaled.view(), matrix.view_mut());
        matrix.diag_mut().mapv_inplace(|a| a + 1.0);
        let factor = Cholesky::factorize_owned(matrix.reversed_axes())?;
        let mean = factor.solve_vec(scaled.dot(&(&self.y * &root)).view())?;
        Ok(MeanOutput { mean, factor })
    }

    /// The output of the mean given a position.
    pub(crate) fn condition(&self, position: ArrayView1<'_, f64>) -> Result<MeanOutput, Failure> {
        let linear = self.linearize(position)?;
        let features = units(linear.outputs().index_axis_move(Axis(0), 0));
        let [log_variance, _] = self.noise(&features, self.noise_output(&position));
        Ok(self.mean_output(&features, &log_variance)?)
    }

    /// Both outputs at other rows.
    pub(crate) fn predict(
        &self,
        rows: &dyn Samples,
        position: ArrayView1<'_, f64>,
        output: &MeanOutput,
    ) -> Result<Predicted, Failure> {
        let layers = position.slice(s![..self.hidden()]).insert_axis(Axis(0));
        let taken = rows.forward(&self.network, layers)?;
        let features = units(taken.index_axis(Axis(0), 0));
        let [log_variance, _] = self.noise(&features, self.noise_output(&position));
        let mut half = features.clone();
        output.factor.solve_lower_inplace(half.view_mut())?;
        Ok(Predicted {
            mean: features.t().dot(&output.mean),
            variance: half.mapv(|z| z * z).sum_axis(Axis(0)),
            noise: log_variance.mapv(f64::exp),
            features,
        })
    }

    /// Rows to predict at.
    pub(crate) fn samples(&self, x: ArrayView2<'_, f64>) -> Result<Box<dyn Samples>, Failure> {
        Ok(Backend::native().samples(&self.network, x)?)
    }

    fn point(&self, position: ArrayView1<'_, f64>) -> Result<Point, Failure> {
        let linear = self.linearize(position)?;
        let features = units(linear.outputs().index_axis_move(Axis(0), 0));
        let u = self.noise_output(&position);
        let [log_variance, slope] = self.noise(&features, u);
        let MeanOutput { mean, factor } = self.mean_output(&features, &log_variance)?;
        let weight = log_variance.mapv(|l| (-l).exp());
        let residual = &self.y - &features.t().dot(&mean);

        let log_det = 2.0 * factor.lower().diag().mapv(f64::ln).sum();
        let squares = (&residual * &residual * &weight).sum();
        let constant = log_variance.sum() + self.y.len() as f64 * std::f64::consts::TAU.ln();
        let log_likelihood = -0.5 * (squares + mean.dot(&mean) + log_det + constant);

        // A⁻¹ Φ, whose products with Φ are q.
        let mut slopes = factor.solve(features.view())?;
        let spread = (&slopes * &features).sum_axis(Axis(0));
        let of_noise = Array1::from_shape_fn(self.y.len(), |i| {
            0.5 * slope[i] * ((residual[i] * residual[i] + spread[i]) * weight[i] - 1.0)
        });
        let pull = &residual * &weight;
        for (j, mut row) in slopes.rows_mut().into_iter().enumerate() {
            for (i, g) in row.iter_mut().enumerate() {
                *g = mean[j] * pull[i] - *g * weight[i] + u[j] * of_noise[i];
            }
        }
        let mut gradient = Array1::zeros(position.len());
        let (mut layers, mut output) = gradient.view_mut().split_at(Axis(0), self.hidden());
        output.assign(&features.dot(&of_noise));
        let mut cotangent = slopes.slice(s![..self.units, ..]).t().to_owned();
        ndarray::Zip::from(&mut cotangent)
            .and(features.slice(s![..self.units, ..]).t())
            .for_each(|g, f| *g *= 1.0 - f * f);
        let cotangent = cotangent.insert_axis(Axis(0));
        linear.vjp_into(cotangent.view(), layers.view_mut().insert_axis(Axis(0)))?;
        gradient -= &position;
        Ok(Point {
            log_density: log_likelihood - 0.5 * position.dot(&position),
            gradient,
        })
    }
}

impl Density for Marginal {
    fn dim(&self) -> usize {
        self.hidden() + self.units + 1
    }

    /// Where a path left what numbers can hold, the density is zero: the path is refused.
    fn evaluate(&self, position: ArrayView1<'_, f64>) -> Result<Point, Failure> {
        let point = self.point(position);
        Ok(point.unwrap_or_else(|_| Point {
            log_density: f64::NEG_INFINITY,
            gradient: Array1::zeros(self.dim()),
        }))
    }
}

/// `Φ` of what the last hidden layer takes in, `n × H`.
fn units(taken: ArrayView2<'_, f64>) -> Array2<f64> {
    let (rows, units) = taken.dim();
    let mut features = Array2::ones((units + 1, rows));
    let hidden = features.slice_mut(s![..units, ..]);
    ndarray::Zip::from(hidden)
        .and(taken.t())
        .for_each(|f, a| *f = a.tanh());
    features
}

impl MeanOutput {
    /// `m + L⁻ᵀ z` for normal numbers `z`: a draw.
    pub(crate) fn draw(&self, z: Array1<f64>) -> Result<Array1<f64>, Failure> {
        let mut column = z.insert_axis(Axis(1));
        self.factor.solve_transposed_inplace(column.view_mut())?;
        Ok(&self.mean + &column.slice(s![.., 0]))
    }
}

#[cfg(test)]
#[path = "marginal_tests.rs"]
mod tests;
