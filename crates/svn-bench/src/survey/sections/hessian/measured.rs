//! The curvature of every particle while an ensemble is trained.
//!
//! ```text
//! H_p = σ⁻² Σ_i J_iᵀ J_i + δ I        over all training rows, J_i = ∂f(φ_p, x_i)/∂φ_p
//! γ   = tr C (C + δ I)⁻¹,  C = H − δ I
//! ```

use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};
use svn_linalg::{SymmetricEigen, gram};
use svn_models::curvature::{Activation, ParameterLayout, Samples};
use svn_models::fit::FitSettings;
use svn_models::network::initial_particles;
use svn_models::posterior::{Posterior, PosteriorSettings};
use svn_models::recipe::{Head, Method, NetworkKind, Noise, Problem, Recipe, Schedule};
use svn_models::scaling::{FeatureScaler, TargetScaler};
use svn_models::stein::{Sampler, Stop, run};
use svn_models::{Device, ModelError, Rows};

use super::super::super::SurveyError;
use super::kept::Triangle;
use crate::data::Dataset;

/// How long, and when the matrices are kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) epochs: usize,
    pub(super) shown: &'static [usize],
}

/// What was measured.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Measured {
    /// Training rows.
    pub(super) rows: usize,
    /// `δ`.
    pub(super) prior_precision: f64,
    /// Parameters of the network.
    pub(super) layout: ParameterLayout,
    /// Of the epochs that are shown.
    pub(super) matrices: Vec<Matrices>,
    /// Of all epochs, from the start on.
    pub(super) sizes: Vec<Sizes>,
}

/// The matrices of all particles after an epoch.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Matrices {
    pub(super) epoch: usize,
    pub(super) particles: Vec<Triangle>,
}

/// How large the curvature is after an epoch: of each particle, and of the mean of the matrices.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Sizes {
    pub(super) epoch: usize,
    /// Variance of the noise, `σ²`, standardised target.
    pub(super) noise: f64,
    pub(super) particles: Vec<Size>,
    pub(super) mean: Size,
}

/// Of one matrix.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Size {
    pub(super) trace: f64,
    pub(super) largest: f64,
    /// `γ`.
    pub(super) effective: f64,
}

impl Size {
    /// Of `H` with the prior precision in it.
    pub(super) fn of(h: ArrayView2<'_, f64>, prior_precision: f64) -> Result<Self, SurveyError> {
        let eigen = SymmetricEigen::factorize(h)?;
        let values = eigen.values();
        // No eigenvalue is below δ but by rounding.
        let shares = values
            .iter()
            .map(|&value| (1.0 - prior_precision / value).max(0.0));
        Ok(Self {
            trace: values.sum(),
            largest: values.last().copied().unwrap_or(0.0),
            effective: shares.sum(),
        })
    }
}

/// Train by SVN and look at the curvature after every epoch.
///
/// # Errors
/// [`SurveyError`] for rows that do not fit, a step that fails, or curvature that is not finite.
pub(super) fn measured(data: &Dataset, plan: Plan, seed: u64) -> Result<Measured, SurveyError> {
    let rows = standardised(data)?;
    let settings = settings(&rows, plan.epochs, seed)?;
    let mut run = Training::new(&settings, &rows)?;
    let mut found = Measured {
        rows: rows.len(),
        prior_precision: settings.prior_precision,
        layout: run.posterior.network().layout().clone(),
        matrices: Vec::new(),
        sizes: Vec::new(),
    };
    for epoch in 0..=plan.epochs {
        let matrices = run.after(epoch)?;
        let sizes = matrices
            .iter()
            .map(|h| Size::of(h.view(), found.prior_precision));
        found.sizes.push(Sizes {
            epoch,
            noise: run.posterior.likelihood().curvature_weight().recip(),
            particles: sizes.collect::<Result<_, _>>()?,
            mean: Size::of(mean(&matrices).view(), found.prior_precision)?,
        });
        if plan.shown.contains(&epoch) {
            found.matrices.push(Matrices {
                epoch,
                particles: matrices.iter().map(|h| Triangle::of(h.view())).collect(),
            });
        }
    }
    Ok(found)
}

/// The mean of matrices of one size.
pub(super) fn mean(matrices: &[Array2<f64>]) -> Array2<f64> {
    let mut mean = Array2::zeros(matrices.first().map_or((0, 0), |matrix| matrix.dim()));
    for matrix in matrices {
        mean.scaled_add(1.0 / matrices.len() as f64, matrix);
    }
    mean
}

fn standardised(data: &Dataset) -> Result<Rows, ModelError> {
    let features = FeatureScaler::fit(data.x.view())?.transform(data.x.view())?;
    let targets = TargetScaler::fit(data.y.view())?.transform(data.y.view());
    Rows::new(features, targets)
}

/// Those of the paper's figure, and for the rest the defaults of SVN.
fn settings(rows: &Rows, epochs: usize, seed: u64) -> Result<FitSettings, ModelError> {
    let recipe = Recipe {
        hidden: Some(vec![10]),
        activation: Some(Activation::Tanh),
        likelihood: Some(Head::Gaussian),
        noise: Some(Noise::Homoscedastic),
        particles: Some(5),
        epochs: Some(epochs),
        batch_size: Some(16.min(rows.len())),
        newton_lr: Some(1e-2),
        schedule: Some(Schedule::Constant),
        ..Recipe::default()
    };
    let problem = Problem {
        network: NetworkKind::Mlp,
        rows: rows.len(),
        features: rows.width(),
        classes: None,
    };
    let resolved = recipe.resolve(Method::Svn, &problem)?;
    resolved.fit_settings(Device::default(), seed)
}

/// Particles on their way.
struct Training {
    posterior: Posterior,
    sampler: Sampler,
    state: svn_models::stein::State,
    /// All rows, as the backend holds them.
    samples: Box<dyn Samples>,
    prior_precision: f64,
}

impl Training {
    fn new(settings: &FitSettings, rows: &Rows) -> Result<Self, ModelError> {
        let network = settings.build_network(rows.width())?;
        let samples = settings.backend().samples(&network, rows.features())?;
        let particles = initial_particles(&network, settings.particles, settings.seed);
        let target = PosteriorSettings {
            batch_size: settings.batch_size,
            prior_precision: settings.prior_precision,
            curvature: settings.curvature,
            learn_noise: true,
            seed: settings.seed,
            backend: settings.backend(),
        };
        let sampler = Sampler::new(settings.method.clone())?;
        Ok(Self {
            posterior: Posterior::new(network, settings.build_likelihood()?, rows, target)?,
            state: sampler.init(particles, settings.seed)?,
            sampler,
            samples,
            prior_precision: settings.prior_precision,
        })
    }

    /// Go on to the end of an epoch, and give `H_p` there.
    fn after(&mut self, epoch: usize) -> Result<Vec<Array2<f64>>, ModelError> {
        let steps = Stop::after((epoch * self.posterior.batches_per_epoch()) as u64);
        run(
            &mut self.sampler,
            &mut self.state,
            &mut self.posterior,
            steps,
            &mut [],
        )?;
        let (network, likelihood) = (self.posterior.network(), self.posterior.likelihood());
        let linear = self.samples.linearize(network, self.state.particles())?;
        let root = likelihood.curvature_root(linear.outputs())?;
        let rows = linear.rows(root.view())?;
        let matrices = rows.outer_iter().map(|rows| {
            let mut h = gram(likelihood.curvature_weight(), rows.t());
            h.diag_mut()
                .mapv_inplace(|entry| entry + self.prior_precision);
            h
        });
        Ok(matrices.collect())
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, Array3, Axis};

    use super::*;

    fn rows() -> Rows {
        let x = Array2::from_shape_fn((40, 6), |(i, j)| ((i * 6 + j) as f64 * 0.7).sin());
        let y = Array1::from_shape_fn(40, |i| (i as f64 * 0.3).cos());
        Rows::new(x, y).unwrap()
    }

    /// Central differences of the outputs: an error of `h²` times a third derivative of order one, and `ε/h` of rounding.
    #[test]
    fn a_matrix_is_that_of_jacobians_by_finite_differences() {
        let rows = rows();
        let settings = settings(&rows, 2, 3).unwrap();
        let mut run = Training::new(&settings, &rows).unwrap();
        let found = run.after(2).unwrap();
        let (network, particles) = (run.posterior.network(), run.state.particles());
        let outputs = |particles: &Array2<f64>| -> Array3<f64> {
            run.samples.forward(network, particles.view()).unwrap()
        };
        const STEP: f64 = 1e-5;
        let dim = particles.ncols();
        assert_eq!((found.len(), dim), (5, 81));
        let mut jacobian = Array3::<f64>::zeros((5, rows.len(), dim));
        for i in 0..dim {
            let moved = |by: f64| {
                let mut moved = particles.to_owned();
                moved.column_mut(i).mapv_inplace(|w| w + by);
                outputs(&moved).index_axis_move(Axis(2), 0)
            };
            let slope = (moved(STEP) - moved(-STEP)) / (2.0 * STEP);
            jacobian.index_axis_mut(Axis(2), i).assign(&slope);
        }
        let weight = run.posterior.likelihood().curvature_weight();
        for (h, jacobian) in found.iter().zip(jacobian.outer_iter()) {
            let mut expected = Array2::<f64>::zeros((dim, dim));
            for row in jacobian.outer_iter() {
                for i in 0..dim {
                    for j in 0..dim {
                        expected[(i, j)] += weight * row[i] * row[j];
                    }
                }
            }
            for i in 0..dim {
                expected[(i, i)] += settings.prior_precision;
            }
            let most = expected
                .iter()
                .fold(0.0f64, |most, entry| most.max(entry.abs()));
            let off = (h - &expected).mapv(f64::abs);
            let off = off.iter().fold(0.0f64, |most, entry| most.max(*entry));
            assert!(off < 1e-7 * most, "{off} of {most}");
        }
    }

    #[test]
    fn sizes_are_those_of_a_diagonal() {
        let h = Array2::from_diag(&Array1::from(vec![2.0, 4.0, 20.0]));
        let size = Size::of(h.view(), 2.0).unwrap();
        assert!((size.trace - 26.0).abs() < 1e-12 && (size.largest - 20.0).abs() < 1e-12);
        assert!((size.effective - (0.0 + 0.5 + 0.9)).abs() < 1e-12);
    }
}
