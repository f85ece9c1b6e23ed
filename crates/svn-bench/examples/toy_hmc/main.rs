//! The posterior of the toy study by a long Hamiltonian Monte Carlo run, as JSON: what ensembles of the same network are compared with.
//!
//! ```text
//! cargo run --release -p svn-bench --no-default-features --example toy_hmc > crates/svn-bench/experiments/toy/hmc.json
//! ```
//!
//! 1-50-1 tanh network, features and targets standardised by the training rows, known noise, prior `N(0, 1)` on every weight. The
//! chains move the hidden layer; the output layer is integrated out, see `marginal`. Weights have many modes that are one
//! function (units may be permuted and flipped), so that convergence is judged by the function.

#[path = "../chains/mod.rs"]
mod chains;
mod marginal;

use std::time::Instant;

use ndarray::{Array1, Array2, Axis};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::Serialize;
use svn_bench::study::toy::data;
use svn_linalg::parallel;
use svn_models::scaling::{FeatureScaler, TargetScaler};

use chains::convergence::{Worst, split_r_hat_and_ess};
use chains::hmc::{self, Density as _, Failure, Run, Settings};
use chains::round;
use marginal::Marginal;

const SEED: u64 = 42;
const CHAINS: usize = 4;
const HIDDEN: usize = 50;
const SETTINGS: Settings = Settings {
    warm_up: 1000,
    draws: 4000,
    path: 1.5,
    first_step: 0.01,
    max_leaps: 500,
    target_acceptance: 0.8,
};
/// Where convergence is told point by point.
const POINTS: [f64; 9] = [0.0, 1.0, 2.0, 2.5, 3.0, 3.75, 4.5, 5.5, 7.0];

#[derive(Serialize)]
struct Output {
    model: Model,
    sampler: Sampler,
    convergence: Convergence,
    grid: Grid,
}

/// The model in standardised units, `z = (value − mean) / scale`.
#[derive(Serialize)]
struct Model {
    layers: [usize; 3],
    activation: &'static str,
    prior_precision: f64,
    /// In the units of the targets.
    noise_sd: f64,
    rows: usize,
    feature_mean: f64,
    feature_scale: f64,
    target_mean: f64,
    target_scale: f64,
}

#[derive(Serialize)]
struct Sampler {
    seed: u64,
    chains: usize,
    /// Of a chain.
    #[serde(flatten)]
    settings: Settings,
    // One number a chain.
    step_size: Vec<f64>,
    acceptance: Vec<f64>,
    leaps: Vec<f64>,
    divergences: Vec<usize>,
}

#[derive(Serialize)]
struct Convergence {
    points: Vec<Agreement>,
    /// Grid points where training rows lie.
    inside: Worst,
    outside: Worst,
}

/// Of one point: `draws` of the function, and its `mean` and `sd` given the hidden layer, which have no noise of the output layer.
#[derive(Serialize)]
struct Agreement {
    x: f64,
    r_hat: Split,
    ess: Split,
}

#[derive(Serialize, Clone, Copy)]
struct Split {
    draws: f64,
    mean: f64,
    sd: f64,
}

/// Moments of the function without noise, in the units of the targets.
#[derive(Serialize)]
struct Grid {
    x: Vec<f64>,
    truth: Vec<f64>,
    mean: Vec<f64>,
    sd: Vec<f64>,
}

/// What a chain leaves of its function at some points, a row a draw.
struct Traces {
    run: Run,
    draws: Array2<f64>,
    means: Array2<f64>,
    variances: Array2<f64>,
}

/// Standardised rows and points.
struct Problem {
    density: Marginal,
    points: Array1<f64>,
}

fn main() -> Result<(), Failure> {
    let start = Instant::now();
    let (x, y) = data::train();
    let features = FeatureScaler::fit(x.view())?;
    let targets = TargetScaler::fit(y.view())?;
    let noise = data::NOISE_SD / targets.scale;
    let column = |x: Array2<f64>| -> Result<Array1<f64>, Failure> {
        Ok(features.transform(x.view())?.index_axis_move(Axis(1), 0))
    };
    let density = Marginal::new(
        column(x)?,
        targets.transform(y.view()),
        noise * noise,
        HIDDEN,
    );
    let grid = data::grid();
    let points = Array1::from_iter(grid.iter().copied().chain(POINTS));
    let problem = Problem {
        density,
        points: column(points.clone().insert_axis(Axis(1)))?,
    };
    let chains = parallel::map(CHAINS, usize::MAX, |chain| problem.run(chain));
    let chains = chains.into_iter().collect::<Result<Vec<_>, _>>()?;
    for (chain, Traces { run, .. }) in chains.iter().enumerate() {
        eprintln!("chain {chain}: {run:?}");
    }
    eprintln!("{:.0} s", start.elapsed().as_secs_f64());

    let agreements: Vec<_> = (0..points.len())
        .map(|i| agreement(points[i], i, &chains))
        .collect();
    let (on_grid, chosen) = agreements.split_at(grid.len());
    let worst = |inside| {
        let part = on_grid.iter().filter(|at| data::is_inside(at.x) == inside);
        Worst::of(part.map(|at| (at.r_hat.values(), at.ess.values())))
    };
    let output = Output {
        model: Model {
            layers: [1, HIDDEN, 1],
            activation: "tanh",
            prior_precision: 1.0,
            noise_sd: data::NOISE_SD,
            rows: data::ROWS,
            feature_mean: round(features.means()[0]),
            feature_scale: round(features.scales()[0].unwrap_or(f64::NAN)),
            target_mean: round(targets.mean),
            target_scale: round(targets.scale),
        },
        sampler: Sampler {
            seed: SEED,
            chains: CHAINS,
            settings: SETTINGS,
            step_size: chains.iter().map(|c| round(c.run.step_size)).collect(),
            acceptance: chains.iter().map(|c| round(c.run.acceptance)).collect(),
            leaps: chains.iter().map(|c| round(c.run.leaps)).collect(),
            divergences: chains.iter().map(|c| c.run.divergences).collect(),
        },
        convergence: Convergence {
            inside: worst(true),
            outside: worst(false),
            points: chosen
                .iter()
                .map(|at| Agreement {
                    x: at.x,
                    r_hat: at.r_hat.rounded(),
                    ess: at.ess.rounded(),
                })
                .collect(),
        },
        grid: moments(&grid, &chains, targets),
    };
    serde_json::to_writer_pretty(std::io::stdout().lock(), &output)?;
    println!();
    Ok(())
}

impl Problem {
    fn run(&self, chain: usize) -> Result<Traces, Failure> {
        let mut rng = ChaCha20Rng::seed_from_u64(SEED);
        rng.set_stream(chain as u64);
        let dim = self.density.dim();
        let start = Array1::from_shape_simple_fn(dim, || StandardNormal.sample(&mut rng));
        let shape = (SETTINGS.draws, self.points.len());
        let (mut draws, mut means) = (Array2::zeros(shape), Array2::zeros(shape));
        let mut variances = Array2::zeros(shape);
        let mut kept = 0;
        let run = hmc::run(&self.density, start, SETTINGS, &mut rng, |layer, rng| {
            let output = self.density.condition(layer)?;
            let units = self.density.features(layer, self.points.view());
            let [mean, variance] = output.predict(&units)?;
            let z = Array1::from_shape_simple_fn(HIDDEN + 1, || StandardNormal.sample(rng));
            draws.row_mut(kept).assign(&units.t().dot(&output.draw(z)?));
            means.row_mut(kept).assign(&mean);
            variances.row_mut(kept).assign(&variance);
            kept += 1;
            Ok(())
        })?;
        Ok(Traces {
            run,
            draws,
            means,
            variances,
        })
    }
}

fn agreement(x: f64, point: usize, chains: &[Traces]) -> Agreement {
    let of = |trace: &dyn Fn(&Traces) -> Vec<f64>| {
        split_r_hat_and_ess(&chains.iter().map(trace).collect::<Vec<_>>())
    };
    let draws = of(&|chain| chain.draws.column(point).to_vec());
    let mean = of(&|chain| chain.means.column(point).to_vec());
    let sd = of(&|chain| chain.variances.column(point).mapv(f64::sqrt).to_vec());
    Agreement {
        x,
        r_hat: Split {
            draws: draws.0,
            mean: mean.0,
            sd: sd.0,
        },
        ess: Split {
            draws: draws.1,
            mean: mean.1,
            sd: sd.1,
        },
    }
}

impl Split {
    fn values(self) -> [f64; 3] {
        [self.draws, self.mean, self.sd]
    }

    fn rounded(self) -> Self {
        let [draws, mean, sd] = self.values().map(round);
        Self { draws, mean, sd }
    }
}

/// Of all draws: the mean of the means, and the mean of the variances with the variance of the means.
fn moments(grid: &Array2<f64>, chains: &[Traces], targets: TargetScaler) -> Grid {
    let (mut means, mut sds) = (Vec::new(), Vec::new());
    for point in 0..grid.len() {
        let all = |trace: fn(&Traces) -> &Array2<f64>| {
            let columns = chains
                .iter()
                .map(|chain| trace(chain).column(point).to_vec());
            Array1::from_iter(columns.flatten())
        };
        let mean = all(|chain| &chain.means);
        let variance = all(|chain| &chain.variances);
        let total = variance.mean().unwrap_or(f64::NAN) + mean.var(0.0);
        let mean = mean.mean().unwrap_or(f64::NAN);
        means.push(round(targets.mean + targets.scale * mean));
        sds.push(round(targets.scale * total.sqrt()));
    }
    Grid {
        x: grid.iter().copied().map(round).collect(),
        truth: grid.iter().map(|&x| round(data::truth(x))).collect(),
        mean: means,
        sd: sds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file that is kept belongs to these rows, this grid and these settings.
    #[test]
    fn the_kept_run_is_of_this_data() {
        let text = include_str!("../../experiments/toy/hmc.json");
        let kept: serde_json::Value = serde_json::from_str(text).unwrap();
        let (_, y) = data::train();
        let targets = TargetScaler::fit(y.view()).unwrap();
        assert_eq!(kept["model"]["target_mean"], round(targets.mean));
        assert_eq!(kept["model"]["target_scale"], round(targets.scale));
        assert_eq!(kept["sampler"]["draws"], SETTINGS.draws);
        let x: Vec<_> = data::grid().iter().copied().map(round).collect();
        assert_eq!(kept["grid"]["x"], serde_json::json!(x));
        for moment in ["mean", "sd"] {
            assert_eq!(kept["grid"][moment].as_array().unwrap().len(), data::POINTS);
        }
    }
}
