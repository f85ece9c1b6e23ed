//! From resolved settings to those of a fit.

use std::time::Duration;

use svn_curvature::Activation;
use svn_stein::{
    Damping, DensityEstimator, FirstOrder, FunctionRepulsion, KernelSettings, Method as Particles,
    Metric, Newton, NewtonEnsemble, Rate, StepRule,
};

use super::{
    Binary, Head, LastLayerMode, Method, NetworkKind, Noise, Recipe, Resolved, Schedule, Selection,
};
use crate::fit::{FitSettings, LikelihoodKind};
use crate::likelihood::{MixtureDensity, StudentT};
use crate::network::{NetworkSettings, last_layer};
use crate::posterior::{
    ContextSettings, CurvatureFamily, CurvaturePart, CurvatureRoot, CurvatureSettings,
};
use crate::{Device, ModelError};

/// Name of the step size of Newton steps.
const NEWTON_RATE: &str = "newton_lr";

/// Excess loss from minibatches that the last Newton steps of [`Schedule::Noise`] leave, nats a row: not more than the standard error of the mean score over
/// five folds on any set of the benchmark.
const NOISE_BOUND: f64 = 0.01;

impl Resolved {
    /// Settings for [`fit`](crate::fit::fit): of all layers, for pretrained LL-SVN by SVGD.
    ///
    /// # Errors
    /// [`ModelError::Setting`] for settings that do not go together.
    pub fn fit_settings(&self, device: Device, seed: u64) -> Result<FitSettings, ModelError> {
        let decided = self.decided()?;
        match decided.recipe.ll_mode {
            Some(LastLayerMode::Pretrained) => decided.settings_of(Method::Svgd, device, seed),
            _ => decided.settings_of(self.method, device, seed),
        }
    }

    /// Settings for [`fit_last_layer`](crate::fit::fit_last_layer) of what was trained by [`fit_settings`](Self::fit_settings):
    /// Newton steps on the last layer alone.
    ///
    /// # Errors
    /// As for [`fit_settings`](Self::fit_settings).
    pub fn last_layer_settings(
        &self,
        device: Device,
        seed: u64,
    ) -> Result<FitSettings, ModelError> {
        self.decided()?.settings_of(Method::Svn, device, seed)
    }

    /// With the Gaussian, or a prior precision of 1, where that was left to be chosen by whoever fits an ensemble.
    fn decided(&self) -> Result<Self, ModelError> {
        if self.recipe.likelihood != Some(Head::Auto) {
            let mut decided = self.clone();
            if self.recipe.select.is_some_and(Selection::is_evidence) {
                decided.recipe.prior_precision.get_or_insert(1.0);
            }
            return Ok(decided);
        }
        let recipe = Recipe {
            likelihood: None,
            ..self.recipe.clone()
        };
        recipe.resolve(self.method, &self.problem)
    }

    /// Settings of the first-order steps before the Newton steps, if there are to be any: Adam on every particle by itself, in batches
    /// of what first-order methods take.
    ///
    /// # Errors
    /// As for [`fit_settings`](Self::fit_settings).
    pub fn warmup_settings(
        &self,
        device: Device,
        seed: u64,
    ) -> Result<Option<FitSettings>, ModelError> {
        let Some(epochs) = self.recipe.warmup else {
            return Ok(None);
        };
        let size = super::networks::first_order_batch(self.problem.rows);
        let before = Self {
            recipe: Recipe {
                epochs: Some(epochs),
                batch_size: self.recipe.batch_size.map(|most| most.min(size)),
                averaging: None,
                schedule: None,
                ..self.recipe.clone()
            },
            ..self.clone()
        };
        before.settings_of(Method::Ensemble, device, seed).map(Some)
    }

    /// Which likelihood.
    pub fn likelihood(&self) -> LikelihoodKind {
        match (self.problem.classes, self.recipe.binary) {
            (None, _) => match (self.recipe.likelihood, self.recipe.noise) {
                (Some(Head::StudentT), _) => LikelihoodKind::StudentT(
                    self.recipe.degrees_of_freedom.unwrap_or(StudentT::DEGREES),
                ),
                (Some(Head::Mixture), _) => {
                    let components = self.recipe.mixture_components;
                    LikelihoodKind::Mixture(components.unwrap_or(MixtureDensity::COMPONENTS))
                }
                (Some(Head::Ordinal), _) => LikelihoodKind::Ordinal,
                (_, Some(Noise::Homoscedastic)) => LikelihoodKind::Gaussian,
                _ => LikelihoodKind::Heteroscedastic,
            },
            (Some(_), Some(Binary::Bernoulli)) => LikelihoodKind::Bernoulli,
            (Some(classes), _) => LikelihoodKind::Softmax(classes),
        }
    }

    /// The network but for its numbers of inputs and outputs.
    fn network(&self) -> Result<NetworkSettings, ModelError> {
        let recipe = &self.recipe;
        let activation = recipe.activation.unwrap_or(Activation::Relu);
        Ok(match &self.problem.network {
            NetworkKind::Mlp => NetworkSettings::Mlp {
                hidden: needed("hidden", recipe.hidden.clone())?,
                activation,
            },
            NetworkKind::LeNet => NetworkSettings::LeNet { activation },
            NetworkKind::Layers(layers) => NetworkSettings::Layers(layers.clone()),
        })
    }

    fn settings_of(
        &self,
        method: Method,
        device: Device,
        seed: u64,
    ) -> Result<FitSettings, ModelError> {
        let recipe = &self.recipe;
        let mut settings = FitSettings {
            // Which coordinates are the last layer's is known of the network.
            method: Particles::Ensemble {
                step: FirstOrder::adam(1.0),
            },
            network: self.network()?,
            likelihood: self.likelihood(),
            prior_precision: needed("prior_precision", recipe.prior_precision)?,
            layer_precisions: recipe.layer_precisions.clone().unwrap_or_default(),
            particles: needed("particles", recipe.particles)?,
            epochs: needed("epochs", recipe.epochs)?,
            patience: recipe.patience,
            time_limit: recipe.time_limit.map(Duration::from_secs_f64),
            batch_size: needed("batch_size", recipe.batch_size)?,
            curvature: self.curvature(),
            context: self.context(),
            precision: None,
            noise_floor: recipe.noise_floor,
            minibatch_noise: (recipe.schedule == Some(Schedule::Noise)).then_some(NOISE_BOUND),
            averaging: recipe.averaging,
            last_epoch: recipe.select.is_some_and(Selection::is_evidence),
            backend: recipe.backend.unwrap_or_default(),
            device,
            seed,
        };
        settings.method = self.particles(method, &settings)?;
        Ok(settings)
    }

    fn context(&self) -> ContextSettings {
        let default = ContextSettings::default();
        ContextSettings {
            rows: self.recipe.context_rows.unwrap_or(default.rows),
            kind: self.recipe.context.unwrap_or(default.kind),
        }
    }

    fn curvature(&self) -> CurvatureSettings {
        let recipe = &self.recipe;
        // Of the last layer alone where no kernel asks for more.
        let needs_all = recipe.metric.is_some_and(Metric::needs_curvature);
        CurvatureSettings {
            family: recipe.hessian.unwrap_or(CurvatureFamily::Full),
            part: if self.method == Method::LlSvn && !needs_all {
                CurvaturePart::LastLayer
            } else {
                CurvaturePart::WholeNetwork
            },
            root: recipe.root.unwrap_or(CurvatureRoot::Exact),
            rows: recipe.curvature_rows,
            ring: recipe.ring.unwrap_or(1),
            every: recipe.curvature_every.unwrap_or(1),
            refresh: recipe
                .curvature_refresh
                .unwrap_or(CurvatureSettings::default().refresh),
        }
    }

    /// The method, its step sizes falling along half a cosine to zero at the last step unless the settings say otherwise.
    fn particles(&self, method: Method, fit: &FitSettings) -> Result<Particles, ModelError> {
        let recipe = &self.recipe;
        let steps = (fit.epochs * self.problem.rows.div_ceil(fit.batch_size)) as u64;
        let schedule = recipe.schedule.unwrap_or(Schedule::Cosine);
        let rate = |name, value: Option<f64>| {
            let initial = needed(name, value)?;
            Ok::<_, ModelError>(match (schedule, name) {
                (Schedule::Constant, _) | (Schedule::Noise, NEWTON_RATE) => Rate::constant(initial),
                _ => Rate::cosine(initial, steps),
            })
        };
        let first_order = || -> Result<FirstOrder, ModelError> {
            Ok(FirstOrder {
                rule: StepRule::adam(),
                rate: rate("lr", recipe.lr)?,
            })
        };
        let apart = || {
            newton_ensemble(
                recipe,
                rate(NEWTON_RATE, recipe.newton_lr)?,
                self.problem.rows,
            )
        };
        let newton = || newton(recipe, apart()?);
        Ok(match method {
            Method::Ensemble => Particles::Ensemble {
                step: first_order()?,
            },
            // Which takes no step.
            Method::Linear => Particles::Ensemble {
                step: FirstOrder::adam(1.0),
            },
            Method::Wgd => Particles::Wgd {
                kernel: kernel(recipe)?,
                estimator: DensityEstimator::Kde,
                step: first_order()?,
            },
            Method::Svgd => Particles::Svgd {
                kernel: kernel(recipe)?,
                step: first_order()?,
            },
            Method::FunctionWgd => Particles::FunctionWgd {
                repulsion: repulsion(recipe, steps)?,
                step: first_order()?,
            },
            Method::NewtonEnsemble => Particles::NewtonEnsemble(apart()?),
            Method::FunctionSvn => Particles::FunctionSvn {
                repulsion: repulsion(recipe, steps)?,
                newton: apart()?,
            },
            Method::Svn => Particles::Svn(newton()?),
            Method::Ssvn => Particles::Ssvn(newton()?),
            Method::LlSvn => Particles::LlSvn {
                newton: newton()?,
                coordinates: last_layer(
                    &fit.network
                        .build(self.problem.features, fit.build_likelihood()?.outputs())?,
                ),
                rest: first_order()?,
            },
        })
    }
}

/// The Newton steps of particles that do not interact.
fn newton_ensemble(recipe: &Recipe, rate: Rate, rows: usize) -> Result<NewtonEnsemble, ModelError> {
    Ok(NewtonEnsemble {
        solver: needed("solver", recipe.solver)?,
        rate,
        damping: Damping::Constant(needed("damping", recipe.damping)?),
        trust_region: recipe
            .trust_region
            .filter(|bound| *bound > 0.0)
            .map(|bound| bound * rows as f64),
        momentum: recipe.momentum.unwrap_or(0.0),
        ..NewtonEnsemble::plain()
    })
}

/// The same with the interaction.
fn newton(recipe: &Recipe, apart: NewtonEnsemble) -> Result<Newton, ModelError> {
    let plain = Newton::plain();
    Ok(Newton {
        ridge: recipe.ridge.unwrap_or(plain.ridge),
        kernel: kernel(recipe)?,
        coupling: needed("coupling", recipe.coupling)?,
        solver: apart.solver,
        rate: apart.rate,
        damping: apart.damping,
        trust_region: apart.trust_region,
        momentum: apart.momentum,
        lift: recipe.lift.unwrap_or(plain.lift),
        ..plain
    })
}

/// After a tenth of the steps, see [`FunctionRepulsion`].
fn repulsion(recipe: &Recipe, steps: u64) -> Result<FunctionRepulsion, ModelError> {
    Ok(FunctionRepulsion {
        warm_up: steps / 10,
        kernel: needed("kernel", recipe.kernel.clone())?,
        bandwidth: needed("bandwidth", recipe.bandwidth)?,
        strength: needed("repulsion", recipe.repulsion)?,
        ..FunctionRepulsion::default()
    })
}

fn kernel(recipe: &Recipe) -> Result<KernelSettings, ModelError> {
    Ok(KernelSettings {
        kernel: needed("kernel", recipe.kernel.clone())?,
        metric: needed("metric", recipe.metric)?,
        bandwidth: needed("bandwidth", recipe.bandwidth)?,
    })
}

/// A setting that every resolved recipe has where it is used.
fn needed<T>(name: &'static str, value: Option<T>) -> Result<T, ModelError> {
    value.ok_or_else(|| ModelError::setting(name, "not set", "a value"))
}
