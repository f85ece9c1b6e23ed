//! The run itself: chains, their agreement, and what they say at the points.

use std::time::Instant;

use clap::Args;
use clap::builder::TypedValueParser as _;
use ndarray::{Array1, Array2, ArrayView1, Axis, concatenate};
use rand::rngs::ChaCha20Rng;
use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use svn_linalg::parallel;
use svn_models::curvature::Samples;

use crate::chains::convergence::{Worst, split_r_hat_and_ess};
use crate::chains::hmc::{self, Density as _, Failure, Run, Settings};
use crate::chains::round;
use crate::fidelity::{Band, Errors};
use crate::marginal::Marginal;
use crate::output::{Agreement, Data, Model, Output, Points, Sampler};
use crate::problem::{DATA, MOVES, MOVES_SEED, NOISE_FLOOR, Problem, link, network};

const SEED: u64 = 42;
const CHAINS: usize = 4;
/// Functions drawn of each kept draw of the chain, for the quantiles.
const FUNCTIONS: usize = 10;
/// Draws of an ensemble of the usual size, to know what its size alone costs.
const MEMBERS: usize = 20;
/// How long the chains are.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Length {
    /// Draws of a chain that are discarded
    #[arg(long, default_value_t = 300)]
    warm_up: usize,
    /// Draws of a chain that are kept, at least 5
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(5..).map(|draws| draws as usize))]
    draws: usize,
}

impl Length {
    fn settings(self) -> Settings {
        Settings {
            warm_up: self.warm_up,
            draws: self.draws,
            path: 1.5,
            first_step: 3e-4,
            max_leaps: 2000,
            target_acceptance: 0.75,
        }
    }
}

/// Paths of the way there from a draw of the prior, which is long and steep, and how many of each.
const APPROACH: [(f64, usize); 4] = [(0.05, 60), (0.1, 60), (0.2, 60), (0.5, 30)];

/// What a chain leaves at the points, a row a draw.
struct Traces {
    run: Run,
    draws: Array2<f64>,
    means: Array2<f64>,
    variances: Array2<f64>,
    log_noise: Array2<f64>,
    /// Several rows a draw.
    functions: Array2<f64>,
    targets: Array2<f64>,
}

pub(crate) fn sample(problem: &Problem, length: Length) -> Result<Output, Failure> {
    let settings = length.settings();
    let start = Instant::now();
    let network = network(problem.train.width());
    let chains = parallel::map(CHAINS, usize::MAX, |chain| {
        let traces = chain_of(problem, settings, chain);
        let seconds = start.elapsed().as_secs_f64();
        match &traces {
            Ok(traces) => eprintln!("{seconds:.0} s, chain {chain}: {:?}", traces.run),
            Err(error) => eprintln!("{seconds:.0} s, chain {chain}: {error}"),
        }
        traces
    });
    let chains = chains.into_iter().collect::<Result<Vec<_>, _>>()?;
    let per_chain = |f: fn(&Run) -> f64| chains.iter().map(|c| round(f(&c.run))).collect();
    let function = function(problem, &chains);
    let rows = problem.points.nrows() / MOVES.len();
    let groups = || (0..MOVES.len()).map(|group| group * rows..(group + 1) * rows);
    Ok(Output {
        data: Data {
            name: DATA,
            sha256: problem.data_sha256.clone(),
            protocol: "paper",
            seed: 0,
            fold: 0,
            rows: problem.train.len(),
        },
        model: Model {
            layers: [vec![network.inputs], network.hidden, vec![network.outputs]].concat(),
            activation: "tanh",
            prior_precision: 1.0,
            noise_floor: NOISE_FLOOR,
            target_mean: round(problem.targets.mean),
            target_scale: round(problem.targets.scale),
        },
        sampler: Sampler {
            seed: SEED,
            chains: CHAINS,
            approach: APPROACH.to_vec(),
            settings,
            functions_of_a_draw: FUNCTIONS,
            step_size: per_chain(|run| run.step_size),
            acceptance: per_chain(|run| run.acceptance),
            leaps: per_chain(|run| run.leaps),
            divergences: chains.iter().map(|chain| chain.run.divergences).collect(),
        },
        convergence: groups()
            .zip(MOVES)
            .map(|(points, moved)| agreement(moved, points, &chains))
            .collect(),
        twenty_draws: {
            let twenty = Band::of(problem.in_units(few(&chains)).view());
            groups()
                .map(|points| twenty.errors(&function, points).rounded())
                .collect()
        },
        points: Points {
            moves: MOVES.to_vec(),
            moves_seed: MOVES_SEED,
            rows,
            target: {
                let all: Vec<_> = chains.iter().map(|chain| chain.targets.view()).collect();
                Band::of(problem.in_units(concatenate(Axis(0), &all)?).view()).rounded()
            },
            function: function.rounded(),
        },
    })
}

fn chain_of(problem: &Problem, all: Settings, chain: usize) -> Result<Traces, Failure> {
    let network = network(problem.train.width());
    let density = &Marginal::new(&problem.train, &network, link()?)?;
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    rng.set_stream(chain as u64);
    let mut position = normals(density.dim(), &mut rng);
    let mut first_step = all.first_step;
    for (path, warm_up) in APPROACH {
        // One draw is kept, to go on from it.
        let settings = Settings {
            warm_up,
            draws: 1,
            path,
            first_step,
            ..all
        };
        let start = position.clone();
        let run = hmc::run(density, start, settings, &mut rng, |end, _| {
            position.assign(&end);
            Ok(())
        })?;
        // The adaptation begins ten times as high.
        first_step = 0.1 * run.step_size;
    }
    let points = density.samples(problem.points.view())?;
    let count = problem.points.nrows();
    let zeros = |rows: usize| Array2::zeros((rows, count));
    let mut traces = Traces {
        run: Run {
            step_size: f64::NAN,
            acceptance: f64::NAN,
            divergences: 0,
            leaps: f64::NAN,
        },
        draws: zeros(all.draws),
        means: zeros(all.draws),
        variances: zeros(all.draws),
        log_noise: zeros(all.draws),
        functions: zeros(FUNCTIONS * all.draws),
        targets: zeros(FUNCTIONS * all.draws),
    };
    let mut kept = 0;
    let settings = Settings { first_step, ..all };
    let run = hmc::run(density, position, settings, &mut rng, |position, rng| {
        traces.keep(density, points.as_ref(), kept, position, rng)?;
        kept += 1;
        if kept % 20 == 0 {
            eprintln!("chain {chain}: {kept} draws");
        }
        Ok(())
    })?;
    traces.run = run;
    Ok(traces)
}

impl Traces {
    fn keep(
        &mut self,
        density: &Marginal,
        points: &dyn Samples,
        row: usize,
        position: ArrayView1<'_, f64>,
        rng: &mut ChaCha20Rng,
    ) -> Result<(), Failure> {
        let output = density.condition(position)?;
        let predicted = density.predict(points, position, &output)?;
        let units = predicted.features.nrows();
        for k in FUNCTIONS * row..FUNCTIONS * (row + 1) {
            let drawn = predicted
                .features
                .t()
                .dot(&output.draw(normals(units, rng))?);
            let noise = normals(drawn.len(), rng) * predicted.noise.mapv(f64::sqrt);
            self.targets.row_mut(k).assign(&(&drawn + &noise));
            self.functions.row_mut(k).assign(&drawn);
        }
        let first = self.functions.row(FUNCTIONS * row);
        self.draws.row_mut(row).assign(&first);
        self.means.row_mut(row).assign(&predicted.mean);
        self.variances.row_mut(row).assign(&predicted.variance);
        self.log_noise
            .row_mut(row)
            .assign(&predicted.noise.mapv(f64::ln));
        Ok(())
    }
}

fn normals(count: usize, rng: &mut impl Rng) -> Array1<f64> {
    Array1::from_shape_simple_fn(count, || StandardNormal.sample(rng))
}

/// Moments of `f` by its conditional ones, the mean of the means, and the mean of the variances with the variance of the means;
/// quantiles by draws.
fn function(problem: &Problem, chains: &[Traces]) -> Band {
    let stacked = |part: fn(&Traces) -> &Array2<f64>| {
        let all = chains.iter().flat_map(|chain| part(chain).rows());
        let mut stacked = Array2::zeros((0, problem.points.nrows()));
        for row in all {
            // Rows of one width.
            let _ = stacked.push_row(row);
        }
        stacked
    };
    let means = stacked(|chain| &chain.means);
    let variances = stacked(|chain| &chain.variances);
    let drawn = Band::of(problem.in_units(stacked(|chain| &chain.functions)).view());
    let scale = problem.targets.scale;
    let at = |f: &dyn Fn(usize) -> f64| (0..problem.points.nrows()).map(f).collect();
    Band {
        mean: at(&|i| problem.targets.mean + scale * means.column(i).mean().unwrap_or(f64::NAN)),
        sd: at(&|i| {
            let variance = variances.column(i).mean().unwrap_or(f64::NAN);
            scale * (variance + means.column(i).var(0.0)).sqrt()
        }),
        ..drawn
    }
}

/// Draws of `f` far apart in the chains.
fn few(chains: &[Traces]) -> Array2<f64> {
    let each = MEMBERS / chains.len();
    let every = chains.first().map_or(0, |chain| chain.draws.nrows()) / each;
    let points = chains.first().map_or(0, |chain| chain.draws.ncols());
    Array2::from_shape_fn((each * chains.len(), points), |(k, i)| {
        chains[k / each].draws[(every * (k % each) + every / 2, i)]
    })
}

fn agreement(moved: f64, points: std::ops::Range<usize>, chains: &[Traces]) -> Agreement {
    let parts: [fn(&Traces) -> &Array2<f64>; 3] = [
        |chain| &chain.draws,
        |chain| &chain.means,
        |chain| &chain.log_noise,
    ];
    let at = |point: usize| {
        let both = parts.map(|part| {
            let columns = chains
                .iter()
                .map(|chain| part(chain).column(point).to_vec());
            split_r_hat_and_ess(&columns.collect::<Vec<_>>())
        });
        (both.map(|(r_hat, _)| r_hat), both.map(|(_, ess)| ess))
    };
    let all: Vec<_> = points.map(at).collect();
    let agreed = |part: usize| all.iter().filter(|(r_hat, _)| r_hat[part] <= 1.05).count();
    Agreement {
        moved,
        agreed_draws: agreed(0),
        agreed_mean: agreed(1),
        agreed_noise: agreed(2),
        worst: Worst::of(all.iter().copied()),
    }
}

impl Errors {
    fn rounded(self) -> Self {
        let [mean, sd, interval] = self.values().map(round);
        Self { mean, sd, interval }
    }
}
