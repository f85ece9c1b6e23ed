//! The result file: what it holds, and the one that is kept.

use serde::{Deserialize, Serialize};

use crate::chains::convergence::Worst;
use crate::chains::hmc::Settings;
use crate::fidelity::{Band, Errors};

/// The run that is kept.
pub(crate) const TEXT: &str = include_str!("../../experiments/yacht/hmc.json");

#[derive(Serialize)]
pub(crate) struct Output {
    pub data: Data,
    pub model: Model,
    pub sampler: Sampler,
    pub convergence: Vec<Agreement>,
    /// How far as many independent draws are as an ensemble has members.
    pub twenty_draws: Vec<Errors>,
    pub points: Points,
}

#[derive(Serialize)]
pub(crate) struct Data {
    pub name: &'static str,
    pub sha256: String,
    pub protocol: &'static str,
    pub seed: u64,
    pub fold: usize,
    pub rows: usize,
}

/// The model in standardised units, `z = (value − mean) / scale`.
#[derive(Serialize)]
pub(crate) struct Model {
    pub layers: Vec<usize>,
    pub activation: &'static str,
    pub prior_precision: f64,
    /// In standard deviations of the target.
    pub noise_floor: f64,
    pub target_mean: f64,
    pub target_scale: f64,
}

#[derive(Serialize)]
pub(crate) struct Sampler {
    pub seed: u64,
    pub chains: usize,
    /// Length and number of the paths before the warm-up.
    pub approach: Vec<(f64, usize)>,
    /// Of a chain.
    #[serde(flatten)]
    pub settings: Settings,
    pub functions_of_a_draw: usize,
    // One number a chain.
    pub step_size: Vec<f64>,
    pub acceptance: Vec<f64>,
    pub leaps: Vec<f64>,
    pub divergences: Vec<usize>,
}

/// Over the test rows moved by so many standard deviations.
#[derive(Serialize)]
pub(crate) struct Agreement {
    pub moved: f64,
    /// Of draws of `f`, of its mean given all else, and of the logarithm of the noise.
    #[serde(flatten)]
    pub worst: Worst,
    /// The same of each alone: points where `R̂` is at most 1.05.
    pub agreed_draws: usize,
    pub agreed_mean: usize,
    pub agreed_noise: usize,
}

/// What the posterior says, of the test rows moved by each of `moves`, in turn.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Points {
    pub moves: Vec<f64>,
    pub moves_seed: u64,
    /// Test rows.
    pub rows: usize,
    /// The mean output `f`, without noise, in units of the target.
    pub function: Band,
    /// A new target `y`, with noise.
    pub target: Band,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{MOVES, MOVES_SEED, NOISE_FLOOR};

    /// The file that is kept is of this model, and has every point.
    #[test]
    fn the_kept_run_is_of_this_model() {
        let kept: serde_json::Value = serde_json::from_str(TEXT).unwrap();
        assert_eq!(kept["model"]["noise_floor"], NOISE_FLOOR);
        let points: Points = serde_json::from_value(kept["points"].clone()).unwrap();
        assert_eq!(
            (points.moves.as_slice(), points.moves_seed),
            (&MOVES[..], MOVES_SEED)
        );
        let count = points.rows * MOVES.len();
        // A fifth of 308 rows.
        assert_eq!(points.rows, 62);
        for Band {
            mean,
            sd,
            low,
            high,
        } in [&points.function, &points.target]
        {
            assert!(
                [mean, sd, low, high]
                    .iter()
                    .all(|values| values.len() == count)
            );
            assert!((0..count).all(|i| sd[i] > 0.0 && low[i] < high[i]));
        }
        // Noise widens the interval; far from the data by less than what drawn quantiles are known to.
        for i in 0..count {
            let width = |band: &Band| band.high[i] - band.low[i];
            assert!(width(&points.target) > 0.9 * width(&points.function), "{i}");
        }
        let agreement = kept["convergence"].as_array().unwrap();
        assert!(agreement.iter().all(|group| group["points"] == points.rows));
    }
}
