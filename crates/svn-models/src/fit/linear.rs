//! Ridge or logistic regression as the one member of an ensemble, by the formulas of [`linear`](crate::linear) and not by steps.

use std::time::Instant;

use ndarray::Array2;

use super::validation::{Outputs, Validation, Whole};
use super::{Ending, EpochReport, Fit, FitSettings, FoldFit};
use crate::linear::Linear;
use crate::{Likelihood, Members, ModelError, Rows};

/// Fit on `train`; a common noise suits `validation`, as that of other methods does. The penalty is the prior precision, of
/// numbers in units of the noise.
///
/// # Errors
/// As for [`Linear`].
pub(crate) fn fit_linear(
    settings: &FitSettings,
    train: &Rows,
    validation: &Rows,
) -> Result<Fit, ModelError> {
    let start = Instant::now();
    let likelihood = settings.build_likelihood()?;
    let network = settings.build_network(train.width())?;
    let (x, y) = (train.features(), train.targets());
    let linear = match likelihood.classes() {
        None => Linear::ridge(x, y, settings.prior_precision)?,
        Some(classes) => {
            let y: Vec<usize> = y.iter().map(|&class| class as usize).collect();
            Linear::logistic(x, &y, classes, settings.prior_precision)?
        }
    };
    let (weights, intercepts) = linear.affine();
    // As the layers are laid out: outputs × inputs, then the biases.
    let member: Vec<f64> = weights.t().iter().chain(&intercepts).copied().collect();
    let found = vec![1, member.len()];
    let particles = Array2::from_shape_vec((1, member.len()), member);
    let particles = particles
        .ok()
        .filter(|p| p.ncols() == network.layout().dim());
    let particles = particles.ok_or_else(|| ModelError::Shape {
        what: "weights of a linear model".into(),
        found,
        expected: vec![1, network.layout().dim()],
    })?;
    let whole = Whole {
        network: &network,
        backend: settings.backend(),
    };
    let validation = Validation {
        likelihood,
        rows: validation,
        outputs: Outputs::Whole(whole),
    };
    let (likelihood, nll) = validation.score(particles.view())?;
    let ensemble = whole.ensemble(likelihood, particles.view())?;
    Ok(Fit {
        ensemble,
        best_epoch: 1,
        history: vec![EpochReport {
            epoch: 1,
            validation_nll: nll.is_finite().then_some(nll),
            mean_kernel: None,
            kernel_warning: None,
            repulsion_ratio: None,
            effective_parameters: None,
            stationary_noise: None,
            damping: 0.0,
            trust_scale: 1.0,
            rejected: 0,
        }],
        step_times: Vec::new(),
        epoch_times: vec![start.elapsed()],
        curvature_age: None,
        ending: Ending::Completed,
    })
}

/// Fit on all rows, and in folds for what is said of each row without it. A common noise is the mean of those that suit the rows
/// left out.
///
/// # Errors
/// As for [`fit_linear`].
pub(crate) fn fit_linear_folds(
    settings: &FitSettings,
    whole: &Rows,
    parts: &[(Rows, Rows)],
) -> Result<FoldFit, ModelError> {
    let fits = parts
        .iter()
        .map(|(train, aside)| fit_linear(settings, train, aside));
    let fits: Vec<Fit> = fits.collect::<Result<_, _>>()?;
    let likelihoods: Vec<_> = fits.iter().map(|fit| fit.ensemble.likelihood()).collect();
    let likelihood = Likelihood::mean_noise(&likelihoods)?;
    let fit = fit_linear(settings, whole, whole)?;
    let members = |of: &Fit| {
        let (network, particles) = (of.ensemble.network(), of.ensemble.particles());
        let (network, particles) = (network.clone(), particles.to_owned());
        Members::new(network, likelihood, particles, settings.backend())
    };
    let rows: usize = parts.iter().map(|(_, aside)| aside.len()).sum();
    let scores = fits.iter().zip(parts).map(|(fit, (_, aside))| {
        let nll = fit.history.iter().find_map(|epoch| epoch.validation_nll)?;
        Some(nll * aside.len() as f64 / rows as f64)
    });
    let nll: Option<f64> = scores.sum();
    let history = fit.history.iter().map(|epoch| EpochReport {
        validation_nll: nll,
        ..epoch.clone()
    });
    Ok(FoldFit {
        ensemble: members(&fit)?,
        folds: fits.iter().map(members).collect::<Result<_, _>>()?,
        best_epoch: 1,
        history: history.collect(),
        step_times: Vec::new(),
        epoch_times: fit.epoch_times,
        ending: Ending::Completed,
    })
}
