//! The arguments of `svn`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::value::{folds, non_negative, positive, positive_count};
use svn_models::BackendKind;

use crate::experiment::uci::{ProtocolName, TunedSource, UciOptions};
use crate::experiment::{
    Bandwidth, Binary, Coupling, Hessian, Kernel, KernelMetric, Method, Noise, Predictive,
    Schedule, Solver, TrainSettings,
};

/// Stein variational Newton neural network ensembles.
#[derive(Debug, Parser)]
#[command(name = "svn", version, about)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Benchmark particle methods on UCI data sets
    BenchUci(Box<BenchUci>),
    /// Benchmark particle methods on images, with LeNet
    BenchVision(Box<super::vision_args::BenchVision>),
    /// Show the native libraries in use and check that they compute right
    Doctor,
}

#[derive(Debug, Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Exit codes: 0 done, 2 bad arguments or input, 1 anything else (a fold that failed)."
)]
pub(super) struct BenchUci {
    /// Data set; may be repeated
    #[arg(long = "dataset", value_name = "NAME", required_unless_present = "all")]
    pub datasets: Vec<String>,

    /// All data sets but those with a leak
    #[arg(long, conflicts_with = "datasets")]
    pub all: bool,

    /// Method: ensemble, wgd, svgd, svn, ll-svn or ssvn; may be repeated [default: ensemble wgd svgd svn]
    #[arg(long = "method", value_name = "NAME")]
    pub methods: Vec<Method>,

    /// Splits: paper (cross-validation, 64/16/20 %) or standard (random 90/10 %)
    #[arg(long, value_name = "NAME", default_value = "paper", value_parser = protocol)]
    pub protocol: ProtocolName,

    /// Folds or random splits [default: 5 (paper), 20 or for large sets 5 (standard)]
    #[arg(long, value_name = "K", value_parser = folds)]
    pub folds: Option<usize>,

    /// Seed of splits and training
    #[arg(long, default_value_t = 0)]
    pub seed: u64,

    /// Worker threads, one fold each [default: number of cores]
    #[arg(long, value_name = "N", value_parser = positive_count)]
    pub jobs: Option<usize>,

    /// Folder for records, summary, report and figures; a rerun resumes
    #[arg(long, value_name = "DIR", default_value = "results/bench-uci")]
    pub out: PathBuf,

    /// Folder that is searched first for NAME.csv and NAME.csv.gz
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,

    #[command(flatten)]
    pub training: Training,

    /// Settings instead of those built in: a file of one TOML table a method, or a folder of DATASET.toml
    #[arg(long, value_name = "PATH", conflicts_with = "untuned")]
    pub settings: Option<PathBuf>,

    /// No tuned settings: the methods' defaults
    #[arg(long)]
    pub untuned: bool,

    #[command(flatten)]
    pub tuning: Tuning,

    /// No progress, only warnings and the table
    #[arg(short, long)]
    pub quiet: bool,
}

/// Choice of settings.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tuning")]
pub(super) struct Tuning {
    /// Choose settings on the validation rows instead of running the benchmark; OUT/tuned gets a file a data set, for
    /// --settings. What the command line sets is fixed. A rerun resumes
    #[arg(long, conflicts_with_all = ["settings", "untuned"])]
    pub tune: bool,

    /// Configurations a method and data set
    #[arg(long, value_name = "N", value_parser = positive_count, default_value = "18", requires = "tune")]
    pub tune_budget: usize,

    /// Folds a configuration is tried on, the first ones [default: all]
    #[arg(long, value_name = "K", value_parser = positive_count, requires = "tune")]
    pub tune_folds: Option<usize>,
}

/// Training; what is left out is tuned or the method's default.
#[derive(Debug, Args)]
#[command(next_help_heading = "Training (left out: tuned, or the method's default)")]
pub(super) struct Training {
    /// Passes over the training rows at most [default: 50]
    #[arg(long, value_name = "N", value_parser = positive_count)]
    epochs: Option<usize>,

    /// Step size: of Newton steps for svn, ll-svn and ssvn, else of Adam
    #[arg(long, value_name = "RATE", value_parser = positive)]
    lr: Option<f64>,

    /// Rows of a batch
    #[arg(long, value_name = "N", value_parser = positive_count)]
    batch_size: Option<usize>,

    /// Members of the ensemble [default: 5]
    #[arg(long, value_name = "N", value_parser = positive_count)]
    particles: Option<usize>,

    /// Units of the hidden layers, comma separated [default: 50,50]
    #[arg(long, value_name = "UNITS", value_delimiter = ',', value_parser = positive_count)]
    hidden: Option<Vec<usize>>,

    /// Gaussian noise: homoscedastic or heteroscedastic
    #[arg(long, value_name = "NAME")]
    noise: Option<Noise>,

    /// Least standard deviation of heteroscedastic noise, in those of the target [default: 0.001]
    #[arg(long, value_name = "VALUE", value_parser = positive)]
    noise_floor: Option<f64>,

    /// Precision of the Gaussian prior
    #[arg(long, value_name = "VALUE", value_parser = positive)]
    prior_precision: Option<f64>,

    /// Curvature: full, diag, kfac or ekfac
    #[arg(long, value_name = "NAME")]
    hessian: Option<Hessian>,

    /// SVN Hessian: exact, gram, block-repulsion or block-diagonal
    #[arg(long, value_name = "NAME")]
    coupling: Option<Coupling>,

    /// Kernel: rbf or imq
    #[arg(long, value_name = "NAME")]
    kernel: Option<Kernel>,

    /// Metric of the kernel: identity or curvature
    #[arg(long, value_name = "NAME")]
    metric: Option<KernelMetric>,

    /// Bandwidth of the kernel: median, 2d or a number
    #[arg(long, value_name = "VALUE")]
    bandwidth: Option<Bandwidth>,

    /// Newton system: auto, direct or cg [default: auto]
    #[arg(long, value_name = "NAME")]
    solver: Option<Solver>,

    /// Levenberg damping, on the scale of the sum over the data
    #[arg(long, value_name = "VALUE", value_parser = non_negative)]
    damping: Option<f64>,

    /// Predicted change of a step at most, nats per row; 0 is no limit
    #[arg(long, value_name = "VALUE", value_parser = non_negative)]
    trust_region: Option<f64>,

    /// Batches whose curvature is accumulated
    #[arg(long, value_name = "N", value_parser = positive_count)]
    ring: Option<usize>,

    /// Rows of a batch that the curvature is taken from [default: all]
    #[arg(long, value_name = "N", value_parser = positive_count)]
    curvature_rows: Option<usize>,

    /// Step size over the run: cosine or constant
    #[arg(long, value_name = "NAME")]
    schedule: Option<Schedule>,

    /// Average weights over this share of the steps so far [default: no average]
    #[arg(long, value_name = "SHARE")]
    averaging: Option<f64>,

    /// Two classes: bernoulli or softmax
    #[arg(long, value_name = "NAME")]
    binary: Option<Binary>,

    /// Predictive density: moments, laplace or, for regression, epistemic
    #[arg(long, value_name = "NAME")]
    predictive: Option<Predictive>,

    /// Divide logits by a temperature fitted on the validation rows; reported as such
    #[arg(long)]
    temperature: bool,

    /// Who evaluates the network: native (plain Rust), torch (libtorch) or auto [default: auto, which is native here]
    #[arg(long, value_name = "NAME")]
    backend: Option<BackendKind>,
}

impl Training {
    fn settings(&self) -> TrainSettings {
        TrainSettings {
            epochs: self.epochs,
            lr: self.lr,
            batch_size: self.batch_size,
            particles: self.particles,
            hidden: self.hidden.clone(),
            noise: self.noise,
            noise_floor: self.noise_floor,
            prior_precision: self.prior_precision,
            hessian: self.hessian,
            coupling: self.coupling,
            kernel: self.kernel,
            metric: self.metric,
            bandwidth: self.bandwidth,
            solver: self.solver,
            damping: self.damping,
            trust_region: self.trust_region,
            ring: self.ring,
            curvature_rows: self.curvature_rows,
            schedule: self.schedule,
            averaging: self.averaging,
            binary: self.binary,
            predictive: self.predictive,
            temperature: self.temperature.then_some(true),
            backend: self.backend,
        }
    }
}

impl BenchUci {
    fn tuned(&self) -> TunedSource {
        match &self.settings {
            _ if self.tuning.tune => TunedSource::Untuned,
            Some(path) => TunedSource::Path(path.clone()),
            None if self.untuned => TunedSource::Untuned,
            None => TunedSource::BuiltIn,
        }
    }

    /// What to run, but for the names behind `--all`.
    pub(super) fn options(&self, all: impl FnOnce() -> Vec<String>) -> UciOptions {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        UciOptions {
            datasets: if self.all {
                all()
            } else {
                self.datasets.clone()
            },
            methods: if self.methods.is_empty() {
                Method::STANDARD.to_vec()
            } else {
                self.methods.clone()
            },
            protocol: self.protocol,
            folds: self.folds,
            seed: self.seed,
            settings: self.training.settings(),
            tuned: self.tuned(),
            jobs: self.jobs.unwrap_or_else(cores),
        }
    }
}

fn protocol(text: &str) -> Result<ProtocolName, String> {
    match text {
        "paper" => Ok(ProtocolName::Paper),
        "standard" => Ok(ProtocolName::Standard),
        _ => Err("expected paper or standard".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn arguments_are_consistent() {
        super::Arguments::command().debug_assert();
    }
}
