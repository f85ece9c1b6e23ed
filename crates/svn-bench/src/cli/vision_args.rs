//! The arguments of `svn bench-vision`.

use std::path::PathBuf;

use clap::Args;
use svn_models::Device;

use super::value::{non_negative, positive, positive_count};
use crate::experiment::vision::{
    Activation, ImageSplit, LOW_DATA, LlMode, Root, VisionOptions, VisionSettings,
};
use crate::experiment::{
    Bandwidth, Coupling, Hessian, Kernel, KernelMetric, Method, Schedule, Solver, TrainSettings,
};

#[derive(Debug, Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Exit codes: 0 done, 2 bad arguments or input, 1 anything else (a run that failed)."
)]
pub(super) struct BenchVision {
    /// Image set: mnist, fashion-mnist, synthetic-digits or synthetic-letters; may be repeated
    #[arg(long = "dataset", value_name = "NAME", required = true)]
    pub datasets: Vec<String>,

    /// Method: ensemble, wgd, svgd, svn, ll-svn or ssvn; may be repeated [default: ensemble wgd svgd svn ll-svn]
    #[arg(long = "method", value_name = "NAME")]
    pub methods: Vec<Method>,

    /// Parts: paper (5 folds over all images, 64/16/20 %) or official (the official test images)
    #[arg(long, value_name = "NAME", default_value = "paper")]
    pub split: ImageSplit,

    /// Folds of the paper's split to run, the first ones [default: 5]
    #[arg(long, value_name = "K", value_parser = positive_count)]
    pub folds: Option<usize>,

    /// Training and validation images (80/20 %) together, comma separated or repeated [default: all]
    #[arg(long = "subset", value_name = "N", value_delimiter = ',', value_parser = positive_count)]
    pub subsets: Vec<usize>,

    /// The study with few data: --subset 500,2000,5000,10000 unless --subset says otherwise, --split official
    #[arg(long, conflicts_with_all = ["split", "folds"])]
    pub low_data: bool,

    /// Test images [default: all]
    #[arg(long, value_name = "N", value_parser = positive_count)]
    pub test_subset: Option<usize>,

    /// Number of seeds, each with its own split and starting weights
    #[arg(long, value_name = "K", default_value = "1", value_parser = positive_count)]
    pub seeds: usize,

    /// The first seed
    #[arg(long, default_value_t = 0)]
    pub seed: u64,

    /// Test images that are measured turned and noisy, the same for all methods; 0 for none
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub corruption_images: usize,

    /// Do not score images of the other set (fashion-mnist for mnist and the reverse)
    #[arg(long)]
    pub no_ood: bool,

    /// Where networks are evaluated: auto, cpu, cuda or cuda:i
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub device: Device,

    /// Worker threads, one run each [default: number of cores, 1 with CUDA]
    #[arg(long, value_name = "N", value_parser = positive_count)]
    pub jobs: Option<usize>,

    /// Folder for records, summary, report and figures; a rerun resumes
    #[arg(long, value_name = "DIR", default_value = "results/bench-vision")]
    pub out: PathBuf,

    /// Folder that is searched first, for NAME/train-images-idx3-ubyte and so on; of a single set it may hold these files themselves
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,

    #[command(flatten)]
    pub training: VisionTraining,

    /// No progress, only warnings and the table
    #[arg(short, long)]
    pub quiet: bool,
}

/// Training; what is left out is the method's default.
#[derive(Debug, Args)]
#[command(next_help_heading = "Training (left out: the method's default)")]
pub(super) struct VisionTraining {
    /// Passes over the training images at most [default: 20; 50 below 4000 training images]
    #[arg(long, value_name = "N", value_parser = positive_count)]
    epochs: Option<usize>,

    /// Stop after so many epochs without a better validation NLL; 0 never [default: 0]
    #[arg(long, value_name = "N")]
    patience: Option<usize>,

    /// Step size of first-order steps (Adam; of ll-svn, for all but the last layer) [default: 0.004 sigmoid, 0.001
    /// otherwise]; of svn and ssvn, that of Newton steps unless --newton-lr is given
    #[arg(long, value_name = "RATE", value_parser = positive)]
    lr: Option<f64>,

    /// Step size of Newton steps [default: 0.3; of svn and ssvn --lr]
    #[arg(long, value_name = "RATE", value_parser = positive)]
    newton_lr: Option<f64>,

    /// Images of a batch [default: 128; 32 below 4000 training images]
    #[arg(long, value_name = "N", value_parser = positive_count)]
    batch_size: Option<usize>,

    /// Members of the ensemble [default: 5]
    #[arg(long, value_name = "N", value_parser = positive_count)]
    particles: Option<usize>,

    /// Activation of LeNet: sigmoid, relu or tanh [default: sigmoid]
    #[arg(long, value_name = "NAME")]
    activation: Option<Activation>,

    /// Precision of the Gaussian prior [default: 1]
    #[arg(long, value_name = "VALUE", value_parser = positive)]
    prior_precision: Option<f64>,

    /// Curvature: full (for ll-svn), diag, kfac or ekfac [default: diag for svn, kfac for ll-svn]
    #[arg(long, value_name = "NAME")]
    hessian: Option<Hessian>,

    /// LL-SVN: joint, or pretrained by first-order steps before Newton steps on the last layer alone [default: joint]
    #[arg(long, value_name = "NAME")]
    ll_mode: Option<LlMode>,

    /// Root of the curvature in the outputs: sampled or exact [default: sampled, exact for full]
    #[arg(long, value_name = "NAME")]
    root: Option<Root>,

    /// SVN Hessian: exact, gram, block-repulsion or block-diagonal [default: block-diagonal]
    #[arg(long, value_name = "NAME")]
    coupling: Option<Coupling>,

    /// Kernel: rbf or imq [default: rbf]
    #[arg(long, value_name = "NAME")]
    kernel: Option<Kernel>,

    /// Metric of the kernel: identity or curvature [default: curvature for svn]
    #[arg(long, value_name = "NAME")]
    metric: Option<KernelMetric>,

    /// Bandwidth of the kernel: median, 2d or a number [default: median]
    #[arg(long, value_name = "VALUE")]
    bandwidth: Option<Bandwidth>,

    /// Newton system: auto, direct or cg [default: auto]
    #[arg(long, value_name = "NAME")]
    solver: Option<Solver>,

    /// Levenberg damping, on the scale of the sum over the data [default: 10]
    #[arg(long, value_name = "VALUE", value_parser = non_negative)]
    damping: Option<f64>,

    /// Predicted change of a step at most, nats per image; 0 is no limit [default: 0.01]
    #[arg(long, value_name = "VALUE", value_parser = non_negative)]
    trust_region: Option<f64>,

    /// Batches over which curvature is averaged [default: 10]
    #[arg(long, value_name = "N", value_parser = positive_count)]
    ring: Option<usize>,

    /// Step size over the run: cosine or constant [default: cosine]
    #[arg(long, value_name = "NAME")]
    schedule: Option<Schedule>,

    /// Average weights over this share of the steps so far [default: no average]
    #[arg(long, value_name = "SHARE")]
    averaging: Option<f64>,

    /// Divide logits by a temperature fitted on the validation images; reported as such
    #[arg(long)]
    temperature: bool,
}

/// What is run where no method is named.
const METHODS: [Method; 5] = [
    Method::Ensemble,
    Method::Wgd,
    Method::Svgd,
    Method::Svn,
    Method::LlSvn,
];

impl BenchVision {
    /// What to run, with this number of worker threads unless the arguments say otherwise.
    pub(super) fn options(&self, jobs: usize) -> VisionOptions {
        let training = &self.training;
        VisionOptions {
            datasets: distinct(&self.datasets),
            methods: match self.methods.as_slice() {
                [] => METHODS.to_vec(),
                methods => distinct(methods),
            },
            split: if self.low_data {
                ImageSplit::Official
            } else {
                self.split
            },
            folds: self.folds,
            subsets: match self.subsets.as_slice() {
                [] if self.low_data => LOW_DATA.to_vec(),
                sizes => distinct(sizes),
            },
            test_limit: self.test_subset,
            corruption: Some(self.corruption_images).filter(|&images| images > 0),
            foreign: !self.no_ood,
            first_seed: self.seed,
            seeds: self.seeds,
            settings: TrainSettings {
                epochs: training.epochs,
                lr: training.lr,
                batch_size: training.batch_size,
                particles: training.particles,
                prior_precision: training.prior_precision,
                hessian: training.hessian,
                coupling: training.coupling,
                kernel: training.kernel,
                metric: training.metric,
                bandwidth: training.bandwidth,
                solver: training.solver,
                damping: training.damping,
                trust_region: training.trust_region,
                ring: training.ring,
                schedule: training.schedule,
                averaging: training.averaging,
                temperature: training.temperature.then_some(true),
                ..TrainSettings::default()
            },
            vision: VisionSettings {
                activation: training.activation,
                newton_lr: training.newton_lr,
                ll_mode: training.ll_mode,
                root: training.root,
                patience: training.patience,
            },
            folder: self.data.clone(),
            jobs: self.jobs.unwrap_or(jobs),
        }
    }
}

/// The values in order, without repetitions.
fn distinct<T: Clone + PartialEq>(values: &[T]) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(value) {
            seen.push(value.clone());
        }
    }
    seen
}
