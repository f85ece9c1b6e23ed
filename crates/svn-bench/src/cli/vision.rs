//! What `svn bench-vision` has of its own.

use clap::Args;

use super::bench::{Common, StudyArgs};
use super::training::Hides;
use super::value::{positive_count, whole};
use crate::engine::{Asked, EngineError, RunError};
use crate::study::vision::{ImageSplit, LOW_DATA, Vision, VisionOptions, VisionPage};

#[derive(Debug, Args)]
pub(super) struct Images {
    /// Image set: mnist, fashion-mnist, synthetic-digits or synthetic-letters; may be repeated
    #[arg(
        long = "dataset",
        value_name = "NAME",
        value_delimiter = ',',
        required = true
    )]
    pub datasets: Vec<String>,

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

    /// Test images that are measured turned and noisy, the same for all methods; 0 for none
    #[arg(long, value_name = "N", default_value = "2000", value_parser = whole)]
    pub corruption_images: u64,

    /// Do not score images of the other set (fashion-mnist for mnist and the reverse)
    #[arg(long)]
    pub no_ood: bool,
}

impl Hides for Images {
    const HIDDEN: &'static [&'static str] = &[
        "backend",
        "binary",
        "curvature_rows",
        "hidden",
        "noise",
        "noise_floor",
    ];
}

impl StudyArgs for Images {
    type Study = Vision;
    type Page = VisionPage;
    const OF_METHODS: bool = true;
    const TUNED: &'static [(&'static str, &'static str)] = &[];

    fn study(&self, common: &Common, asked: &Asked) -> Result<Vision, EngineError> {
        if cfg!(not(feature = "torch")) {
            let message = "bench-vision needs the feature torch: cargo run --release --package svn-bench --features torch -- bench-vision";
            return Err(RunError::Unsupported(message.to_owned()).into());
        }
        let options = VisionOptions {
            datasets: self.datasets.clone(),
            split: match self.low_data {
                true => ImageSplit::Official,
                false => self.split,
            },
            folds: self.folds,
            subsets: match self.subsets.as_slice() {
                [] if self.low_data => LOW_DATA.to_vec(),
                sizes => sizes.to_vec(),
            },
            test_limit: self.test_subset,
            corruption: Some(self.corruption_images as usize).filter(|&images| images > 0),
            foreign: !self.no_ood,
            seeds: common.seeds(),
            device: common.device.into(),
            folder: common.data.clone(),
        };
        Vision::load(&options, asked, &common.search_path()?)
    }
}
