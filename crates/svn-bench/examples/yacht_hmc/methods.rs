//! Each method with the same network, prior and rows, for the same processor time of one thread.
//!
//! A short run tells how many epochs the time is good for; the step sizes fall over so many. There is no validation part: weights are
//! those of the last step.

use std::str::FromStr;
use std::time::Instant;

use clap::Args;
use ndarray::{Array2, s};
use serde::{Deserialize, Serialize};
use svn_models::curvature::{Activation, Device};
use svn_models::fit::FitSettings;
use svn_models::network::initial_particles;
use svn_models::posterior::{Context, Posterior, PosteriorSettings};
use svn_models::recipe::{Method, NetworkKind, Noise, Problem as Of, Recipe};
use svn_models::stein::{Sampler, State};

use crate::chains::hmc::Failure;
use crate::fidelity::Band;
use crate::problem::{NOISE_FLOOR, Problem};

const PARTICLES: usize = 20;
/// Steps after which the pace is that of the whole run, for curvature is that of so many batches.
const PACE: usize = 6;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Processor time of a run
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,
    /// Seeds of starting weights and batches
    #[arg(long, value_delimiter = ',', default_value = "0,1,2")]
    seeds: Vec<u64>,
    /// Only these, by their names in the table, separated by semicolons
    #[arg(long, value_delimiter = ';')]
    only: Vec<String>,
    /// Settings for all of them in place of the defaults, for example damping=3
    #[arg(long = "set", value_name = "NAME=VALUE")]
    settings: Vec<Setting>,
}

/// A setting of a recipe by its name.
#[derive(Debug, Clone)]
struct Setting(String, String);

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
        Ok(Self(name.to_owned(), value.to_owned()))
    }
}

/// What a run leaves.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    pub method: String,
    pub seed: u64,
    pub epochs: usize,
    /// Processor time of the training.
    pub seconds: f64,
    /// Of the mean output at the points.
    pub function: Band,
}

/// Methods, the repulsive ones in function space with each of their contexts.
fn methods() -> Vec<(Method, Option<Context>)> {
    let contexts = [
        Context::Training,
        Context::Perturbed(0.5),
        Context::Perturbed(1.0),
    ];
    let plain = [
        Method::Ensemble,
        Method::Wgd,
        Method::Svgd,
        Method::NewtonEnsemble,
        Method::Svn,
    ];
    let functions = [Method::FunctionWgd, Method::FunctionSvn];
    let functions = functions
        .into_iter()
        .flat_map(|method| contexts.map(|context| (method, Some(context))));
    plain
        .map(|method| (method, None))
        .into_iter()
        .chain(functions)
        .collect()
}

/// Train each, and write a [`Run`] a line.
pub(crate) fn train(problem: &Problem, options: &Options) -> Result<(), Failure> {
    for &seed in &options.seeds {
        for (method, context) in methods() {
            let name = match context {
                Some(context) => format!("{}, {}", method.name(), String::from(context)),
                None => method.name().to_owned(),
            };
            if !options.only.is_empty() && !options.only.contains(&name) {
                continue;
            }
            let mut recipe = recipe(context);
            if method == Method::FunctionSvn {
                // A repulsion on a batch is noise in the directions that it does not hold.
                recipe.batch_size = Some(problem.train.len());
                recipe.ring = Some(1);
            }
            for Setting(name, value) in &options.settings {
                recipe.set(name, value)?;
            }
            let trial = Training::new(problem, method, &recipe, seed)?;
            let of_an_epoch = trial.steps_an_epoch();
            let pace = trial.pace(options.seconds)?;
            let epochs = (options.seconds / (pace * of_an_epoch as f64)).max(1.0) as usize;
            recipe.epochs = Some(epochs);
            let mut training = Training::new(problem, method, &recipe, seed)?;
            let start = ProcessorTime::now();
            training.steps(epochs * of_an_epoch)?;
            let run = Run {
                method: name,
                seed,
                epochs,
                seconds: start.elapsed(),
                function: training.function(problem)?.rounded(),
            };
            eprintln!(
                "{} {seed}: {epochs} epochs, {:.1} s",
                run.method, run.seconds
            );
            println!("{}", serde_json::to_string(&run)?);
        }
    }
    Ok(())
}

/// The model of the posterior, everything else the default of the method.
fn recipe(context: Option<Context>) -> Recipe {
    Recipe {
        particles: Some(PARTICLES),
        activation: Some(Activation::Tanh),
        noise: Some(Noise::Heteroscedastic),
        noise_floor: Some(NOISE_FLOOR),
        prior_precision: Some(1.0),
        context,
        ..Recipe::default()
    }
}

/// Particles between two steps.
struct Training {
    settings: FitSettings,
    posterior: Posterior,
    sampler: Sampler,
    state: State,
}

impl Training {
    fn new(problem: &Problem, method: Method, recipe: &Recipe, seed: u64) -> Result<Self, Failure> {
        let rows = &problem.train;
        let of = Of {
            network: NetworkKind::Mlp,
            rows: rows.len(),
            features: rows.width(),
            classes: None,
        };
        let settings = recipe
            .resolve(method, &of)?
            .fit_settings(Device::Cpu, seed)?;
        let network = settings.build_network(rows.width())?;
        let of_posterior = PosteriorSettings {
            batch_size: settings.batch_size,
            prior_precision: settings.prior_precision,
            curvature: settings.curvature,
            learn_noise: true,
            seed,
            backend: settings.backend(),
        };
        let particles = initial_particles(&network, settings.particles, seed);
        let posterior = Posterior::new(network, settings.build_likelihood()?, rows, of_posterior)?
            .with_context(rows, settings.context, settings.method.needs_curvature());
        let sampler = Sampler::new(settings.method.clone())?;
        Ok(Self {
            state: sampler.init(particles, seed)?,
            settings,
            posterior,
            sampler,
        })
    }

    fn steps_an_epoch(&self) -> usize {
        self.posterior.batches_per_epoch()
    }

    fn steps(&mut self, count: usize) -> Result<(), Failure> {
        for _ in 0..count {
            self.sampler.step(&mut self.state, &mut self.posterior)?;
        }
        Ok(())
    }

    /// Seconds a step, from a twentieth of the time.
    fn pace(mut self, seconds: f64) -> Result<f64, Failure> {
        self.steps(PACE)?;
        let start = ProcessorTime::now();
        let mut steps = 0;
        while steps < PACE || start.elapsed() < seconds / 20.0 {
            self.steps(1)?;
            steps += 1;
        }
        Ok(start.elapsed() / steps as f64)
    }

    /// Mean outputs of the members at the points.
    fn function(&self, problem: &Problem) -> Result<Band, Failure> {
        let network = self.posterior.network();
        let samples = self
            .settings
            .backend()
            .samples(network, problem.points.view())?;
        let outputs = samples.forward(network, self.state.particles())?;
        let means: Array2<f64> = outputs.slice(s![.., .., 0]).to_owned();
        Ok(Band::of(problem.in_units(means).view()))
    }
}

/// Processor time of all threads of this process where the system tells it, else the time of the clock.
struct ProcessorTime {
    used: Option<f64>,
    clock: Instant,
}

impl ProcessorTime {
    fn now() -> Self {
        Self {
            used: Self::used(),
            clock: Instant::now(),
        }
    }

    fn elapsed(&self) -> f64 {
        match (self.used, Self::used()) {
            (Some(before), Some(now)) => now - before,
            _ => self.clock.elapsed().as_secs_f64(),
        }
    }

    /// Nanoseconds on a processor, the first number of each thread's schedstat.
    fn used() -> Option<f64> {
        let mut sum = 0.0;
        for task in std::fs::read_dir("/proc/self/task").ok()? {
            let text = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
            sum += text.split_whitespace().next()?.parse::<f64>().ok()?;
        }
        Some(1e-9 * sum)
    }
}
