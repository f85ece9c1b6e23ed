//! The rows, the network and the points at which functions are compared.
//!
//! Rows are those of a fold of the paper's protocol; features and targets are standardised by its training rows. Points are the test
//! rows, and the same moved by 1 and by 2 standard deviations in a direction drawn for each.

use std::path::Path;

use ndarray::{Array2, Axis, concatenate};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use rand_distr::{Distribution, StandardNormal};
use svn_bench::data::{Manifest, SearchPath};
use svn_bench::engine::{Design as _, Of, RunId, Study as _};
use svn_bench::study::uci::{Uci, UciOptions};
use svn_models::curvature::Activation;
use svn_models::likelihood::VarianceLink;
use svn_models::network::MlpSettings;
use svn_models::scaling::{FeatureScaler, TargetScaler};
use svn_models::{ModelError, Rows};

use crate::chains::hmc::Failure;

/// The data set.
pub(crate) const DATA: &str = "yacht";

/// Standard deviations by which the test rows are moved, and none.
pub(crate) const MOVES: [f64; 3] = [0.0, 1.0, 2.0];

/// Seed of the directions.
pub(crate) const MOVES_SEED: u64 = 19;

/// Least standard deviation of the noise, in those of the target. Without one rows are fitted to 0.001, and steps of 0.0001 are needed.
pub(crate) const NOISE_FLOOR: f64 = 0.05;

/// From the second output to the variance of the noise.
pub(crate) fn link() -> Result<VarianceLink, ModelError> {
    VarianceLink::default().with_floor(NOISE_FLOOR)
}

/// The network: 6-50-50-2, tanh.
pub(crate) fn network(inputs: usize) -> MlpSettings {
    MlpSettings {
        inputs,
        hidden: vec![50, 50],
        outputs: 2,
        activation: Activation::Tanh,
    }
}

/// Standardised rows and points.
#[derive(Debug)]
pub(crate) struct Problem {
    pub data_sha256: String,
    pub train: Rows,
    /// Of each number of [`MOVES`] in turn, all test rows.
    pub points: Array2<f64>,
    pub targets: TargetScaler,
}

impl Problem {
    pub(crate) fn load(data: Option<&Path>, seed: u64, fold: usize) -> Result<Self, Failure> {
        let options = UciOptions {
            datasets: vec![DATA.to_owned()],
            seeds: vec![seed],
            ..UciOptions::default()
        };
        let study = Uci::load(
            &options,
            &Manifest::embedded()?,
            &SearchPath::standard(data),
        )?;
        let design = study.designs().remove(0);
        let run = RunId { seed, fold };
        let fold = study.fold(Of {
            design: &design,
            run,
        })?;
        let features = FeatureScaler::fit(fold.train.x.view())?;
        let targets = TargetScaler::fit(fold.train.y.view())?;
        let test = features.transform(fold.test.x.view())?;
        Ok(Self {
            data_sha256: design.data_sha256().to_owned(),
            train: Rows::new(
                features.transform(fold.train.x.view())?,
                targets.transform(fold.train.y.view()),
            )?,
            points: moved(&test)?,
            targets,
        })
    }

    /// In units of the target.
    pub(crate) fn in_units(&self, standardised: Array2<f64>) -> Array2<f64> {
        self.targets.mean + self.targets.scale * standardised
    }
}

/// `x + k z` for each `k` of [`MOVES`], with the same normal `z` for all.
fn moved(test: &Array2<f64>) -> Result<Array2<f64>, Failure> {
    let mut rng = ChaCha20Rng::seed_from_u64(MOVES_SEED);
    let z = Array2::from_shape_simple_fn(test.dim(), || -> f64 { StandardNormal.sample(&mut rng) });
    let parts = MOVES.map(|by| test + &(by * &z));
    Ok(concatenate(
        Axis(0),
        &parts.each_ref().map(|part| part.view()),
    )?)
}
