//! The arguments of `svn bench-vision`.

use std::path::PathBuf;

use clap::Args;
use svn_models::Device;

use super::training::{Training, Vision};
use super::value::positive_count;
use crate::experiment::Method;
use crate::experiment::vision::{ImageSplit, LOW_DATA, VisionOptions};

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
    pub training: Training<Vision>,

    /// No progress, only warnings and the table
    #[arg(short, long)]
    pub quiet: bool,
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
            settings: self.training.recipe.clone(),
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
