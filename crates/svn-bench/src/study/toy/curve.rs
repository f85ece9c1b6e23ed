//! The study: one network on the rows of the curve, its mean and deviation at the grid.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use svn_models::curvature::Activation;
use svn_models::posterior::Context;
use svn_models::recipe::{Method, NetworkKind, Noise, Problem, Recipe};

use super::data::{ROWS, grid, is_inside, train, truth, validation};
use super::{Posterior, posterior};
use crate::data::Task;
use crate::engine::{
    Design, EngineError, Extra, Fold, Model, Of, Part, Predicted, RunError, RunId, Study,
};
use crate::metrics::{Estimate, Metrics};

/// What a result depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToyDesign {
    /// Name of the curve.
    pub dataset: String,
    /// SHA-256 of the rows.
    pub data_sha256: String,
}

impl Design for ToyDesign {
    fn dataset(&self) -> &str {
        &self.dataset
    }

    fn data_sha256(&self) -> &str {
        &self.data_sha256
    }

    fn task(&self) -> Task {
        Task::Regression
    }

    fn protocol(&self) -> &'static str {
        "paper"
    }

    fn folds(&self) -> usize {
        1
    }
}

/// Mean and standard deviation of the function, without noise, at the points of the grid.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// Means.
    pub mean: Vec<f64>,
    /// Standard deviations, of the members.
    pub sd: Vec<f64>,
}

impl Extra for Curve {
    type Pooled = Self;

    /// Means over the runs.
    fn pool(runs: &[&Self]) -> Self {
        let points = runs.first().map_or(0, |curve| curve.mean.len());
        let over = |values: &dyn Fn(&Self) -> &Vec<f64>| {
            let at = |i| Estimate::of(&runs.iter().map(|run| values(run)[i]).collect::<Vec<_>>());
            let mean = |i| at(i).map_or(f64::NAN, |estimate| estimate.mean);
            (0..points).map(mean).collect()
        };
        Self {
            mean: over(&|curve| &curve.mean),
            sd: over(&|curve| &curve.sd),
        }
    }
}

/// The study.
#[derive(Debug, Clone)]
pub struct Toy {
    seeds: Vec<u64>,
    posterior: Posterior,
}

impl Toy {
    /// Runs of these seeds, of the starting weights and batches; the rows are the same in all.
    ///
    /// # Errors
    /// As for [`posterior`].
    pub fn new(seeds: Vec<u64>) -> Result<Self, EngineError> {
        let wrong = |error| EngineError::Arguments(format!("the embedded posterior: {error}"));
        let posterior = posterior().map_err(wrong)?;
        Ok(Self { seeds, posterior })
    }
}

fn part((x, y): (ndarray::Array2<f64>, ndarray::Array1<f64>)) -> Part {
    Part { x, y }
}

impl Study for Toy {
    const NAME: &'static str = super::NAME;
    type Design = ToyDesign;
    type Extra = Curve;

    fn designs(&self) -> Vec<ToyDesign> {
        let mut hash = Sha256::new();
        for part in [part(train()), part(validation())] {
            let values = part.x.iter().chain(&part.y);
            values.for_each(|value| hash.update(value.to_le_bytes()));
        }
        vec![ToyDesign {
            dataset: "cubic".to_owned(),
            data_sha256: format!("{:x}", hash.finalize()),
        }]
    }

    fn runs(&self, _: &ToyDesign) -> Vec<RunId> {
        let run = |&seed| RunId { seed, fold: 0 };
        self.seeds.iter().map(run).collect()
    }

    fn problem(&self, _: &ToyDesign) -> Problem {
        Problem {
            network: NetworkKind::Mlp,
            rows: ROWS,
            features: 1,
            classes: None,
        }
    }

    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// The test part is the curve itself, without noise.
    fn fold(&self, _: Of<'_, ToyDesign>) -> Result<Fold, EngineError> {
        let x = grid();
        Ok(Fold {
            train: part(train()),
            validation: part(validation()),
            test: Part {
                y: x.column(0).mapv(truth),
                x,
            },
            labels: None,
        })
    }

    /// The network and prior of the posterior, noise that is learned; all rows in a batch for Newton steps, a tenth for others. Epochs and
    /// damping are those that the validation rows gained no more from. Functions are compared around the rows as well, for the curve is asked about
    /// far from them.
    fn recipe(&self, _: &ToyDesign, method: Method) -> Recipe {
        let newton = method.is_newton();
        Recipe {
            hidden: Some(vec![50]),
            activation: Some(Activation::Tanh),
            noise: Some(Noise::Homoscedastic),
            prior_precision: Some(1.0),
            particles: Some(20),
            batch_size: Some(if newton { ROWS } else { ROWS / 10 }),
            ring: Some(1),
            epochs: Some(if newton { 3000 } else { 6000 }),
            lr: Some(0.01),
            damping: Some(3.0),
            context: Some(Context::Perturbed(1.0)),
            ..Recipe::default()
        }
    }

    /// How far mean and standard deviation are from the posterior's: root mean squares over the points of the grid inside the
    /// data and outside, in units of the target.
    fn extra(
        &self,
        _: Of<'_, ToyDesign>,
        _: &Fold,
        (_, predicted): (&dyn Model, &Predicted),
        metrics: &mut Metrics,
    ) -> Result<Curve, RunError> {
        let Predicted::Numbers(prediction) = predicted else {
            return Ok(Curve::default());
        };
        let curve = Curve {
            mean: prediction.mean().to_vec(),
            sd: prediction.epistemic_sd().to_vec(),
        };
        let posterior = &self.posterior;
        for (place, inside) in [("inside", true), ("outside", false)] {
            for (name, ours, theirs) in [
                ("mean", &curve.mean, &posterior.mean),
                ("sd", &curve.sd, &posterior.sd),
            ] {
                let points = (0..ours.len()).filter(|&i| is_inside(posterior.x[i]) == inside);
                let squares: Vec<f64> = points.map(|i| (ours[i] - theirs[i]).powi(2)).collect();
                let error = Estimate::of(&squares).map(|square| square.mean.sqrt());
                metrics.values.insert(format!("{name}_{place}"), error);
            }
        }
        Ok(curve)
    }
}
