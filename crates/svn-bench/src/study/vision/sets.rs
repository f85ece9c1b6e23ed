//! Image sets, loaded, and how they are cut.

use std::path::PathBuf;

use svn_models::LabelEncoding;
use svn_models::posterior::CurvatureFamily;
use svn_models::recipe::{Method, NetworkKind, Problem};

use super::images::{self, Images, image_set_names};
use super::measure::extra;
use super::{DeviceKind, ImageSplit, NAME, PAPER_FOLDS, VisionDesign, VisionExtra};
use crate::data::images::{CLASSES, ImageSet, PIXELS};
use crate::data::{SearchPath, near};
use crate::engine::{
    Asked, EngineError, Fold, Model, Of, Part, Predicted, RunError, RunId, Study, distinct,
    out_of_range,
};
use crate::metrics::Metrics;
use crate::split::{
    FoldRows, Limits, Protocol, SplitError, VALIDATION_FRACTION, holdout, limited, split,
};

/// Sizes of the study with few data: training and validation images together.
pub const LOW_DATA: [usize; 4] = [500, 2000, 5000, 10_000];

/// What is asked for.
#[derive(Debug, Clone)]
pub struct VisionOptions {
    /// Names of image sets; repetitions count once.
    pub datasets: Vec<String>,
    /// How images are cut into parts.
    pub split: ImageSplit,
    /// Folds of the paper's split that are run, the first ones; `None` is all five.
    pub folds: Option<usize>,
    /// Training and validation images together; all of them if empty.
    pub subsets: Vec<usize>,
    /// Test images; `None` is all.
    pub test_limit: Option<usize>,
    /// Test images that are measured corrupted; `None` for none.
    pub corruption: Option<usize>,
    /// Whether to score images of another set.
    pub foreign: bool,
    /// Seeds of splits and training.
    pub seeds: Vec<u64>,
    /// What evaluates the networks.
    pub device: DeviceKind,
    /// Folder that may hold the four files of the one set that is asked for.
    pub folder: Option<PathBuf>,
}

/// The study, its images loaded.
#[derive(Debug, Clone)]
pub struct Vision {
    images: Vec<Images>,
    designs: Vec<VisionDesign>,
    runs: Vec<RunId>,
    warnings: Vec<String>,
}

impl Vision {
    /// Load every set that is named.
    ///
    /// # Errors
    /// [`EngineError`]; all of them are about arguments or input.
    pub fn load(
        options: &VisionOptions,
        asked: &Asked,
        path: &SearchPath,
    ) -> Result<Self, EngineError> {
        check(options, asked)?;
        let names = distinct(&options.datasets);
        let (images, mut warnings) =
            images::load(&names, options.folder.as_deref(), options.foreign, path)?;
        let sizes: Vec<Option<usize>> = match distinct(&options.subsets).as_slice() {
            [] => vec![None],
            sizes => sizes.iter().copied().map(Some).collect(),
        };
        let folds = match options.split {
            ImageSplit::Official => 1,
            ImageSplit::Paper => options.folds.unwrap_or(PAPER_FOLDS),
        };
        let runs = |seed| (0..folds).map(move |fold| RunId { seed, fold });
        warnings.extend(images.iter().flat_map(|set| set.own.warnings.clone()));
        let designs = images
            .iter()
            .flat_map(|set| sizes.iter().map(|&learning| design(set, learning, options)));
        Ok(Self {
            designs: designs.collect(),
            runs: distinct(&options.seeds)
                .into_iter()
                .flat_map(runs)
                .collect(),
            images,
            warnings,
        })
    }

    fn images(&self, design: &VisionDesign) -> Result<&Images, EngineError> {
        let mut images = self.images.iter();
        let found = images.find(|images| images.own.name == design.dataset);
        found.ok_or_else(|| EngineError::Arguments(format!("{} is not loaded", design.dataset)))
    }
}

fn design(images: &Images, learning: Option<usize>, options: &VisionOptions) -> VisionDesign {
    let Images { own, foreign } = images;
    VisionDesign {
        dataset: own.name.clone(),
        data_sha256: own.sha256.clone(),
        foreign: foreign.as_ref().map(|set| set.name.clone()),
        foreign_sha256: foreign.as_ref().map(|set| set.sha256.clone()),
        split: options.split,
        limits: Limits {
            learning,
            test: options.test_limit,
        },
        corruption: options.corruption,
        device: options.device,
    }
}

/// Rows of the parts of a run.
fn rows(set: &ImageSet, of: Of<'_, VisionDesign>) -> Result<FoldRows, EngineError> {
    let (limits, RunId { seed, fold }) = (of.design.limits, of.run);
    let classes = set.classes();
    let cut = || match of.design.split {
        ImageSplit::Official => holdout(&set.name, set.train, &classes, limits, seed),
        ImageSplit::Paper => {
            let protocol = Protocol::Paper { folds: PAPER_FOLDS };
            let folds = split(protocol, &set.name, set.len(), Some(&classes), seed)?;
            let rows = folds.into_iter().nth(fold);
            let rows = rows.ok_or(SplitError::TooFewFolds { folds: PAPER_FOLDS })?;
            limited((&set.name, fold), rows, &classes, limits, seed)
        }
    };
    cut().map_err(|source| EngineError::Split {
        dataset: set.name.clone(),
        source,
    })
}

fn check(options: &VisionOptions, asked: &Asked) -> Result<(), EngineError> {
    if let Some(folds) = options.folds {
        if options.split == ImageSplit::Official {
            let message = "--folds is for --split paper; the official split has one test part";
            return Err(EngineError::Arguments(message.to_owned()));
        }
        if folds == 0 || folds > PAPER_FOLDS {
            return Err(out_of_range("folds", folds, "1 to 5").into());
        }
    }
    let whole = |method: &&Method| method.is_newton() && !method.is_first_order();
    let whole = asked.methods.iter().find(whole);
    if let (Some(CurvatureFamily::Full), Some(method)) = (asked.settings.hessian, whole) {
        let expected = format!("diag or kfac for {method}, whose curvature is of all of LeNet");
        return Err(out_of_range("hessian", "full", &expected).into());
    }
    let names = image_set_names()?;
    match options.datasets.iter().find(|name| !names.contains(name)) {
        Some(name) => {
            let known = names.join(", ");
            let near = near(name, &known);
            let message = format!("unknown image set `{name}`{near}; known: {known}");
            Err(EngineError::Arguments(message))
        }
        None => Ok(()),
    }
}

impl Study for Vision {
    const NAME: &'static str = NAME;
    const SCALED: bool = false;
    type Design = VisionDesign;
    type Extra = VisionExtra;

    fn designs(&self) -> Vec<VisionDesign> {
        self.designs.clone()
    }

    fn runs(&self, _: &VisionDesign) -> Vec<RunId> {
        self.runs.clone()
    }

    /// LeNet on so many images.
    fn problem(&self, design: &VisionDesign) -> Problem {
        let learning = design.limits.learning.unwrap_or_else(|| {
            let set = self.images(design).ok();
            set.map_or(0, |images| match design.split {
                ImageSplit::Official => images.own.train,
                ImageSplit::Paper => images.own.len() - images.own.len() / PAPER_FOLDS,
            })
        });
        Problem {
            network: NetworkKind::LeNet,
            rows: learning - (learning as f64 * VALIDATION_FRACTION).round() as usize,
            features: PIXELS,
            classes: Some(CLASSES),
        }
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn fold(&self, of: Of<'_, VisionDesign>) -> Result<Fold, EngineError> {
        let own = &self.images(of.design)?.own;
        let rows = rows(own, of)?;
        let part = |rows: &[usize]| Part {
            x: own.scaled(rows),
            y: own.targets(rows),
        };
        let labels: Vec<String> = (0..CLASSES).map(|class| class.to_string()).collect();
        Ok(Fold {
            train: part(&rows.train),
            validation: part(&rows.validation),
            test: part(&rows.test),
            labels: Some(LabelEncoding::fit(labels.iter().map(String::as_str))),
        })
    }

    fn check(&self, of: Of<'_, VisionDesign>) -> Result<(), EngineError> {
        rows(&self.images(of.design)?.own, of).map(drop)
    }

    fn extra(
        &self,
        of: Of<'_, VisionDesign>,
        fold: &Fold,
        trained: (&dyn Model, &Predicted),
        metrics: &mut Metrics,
    ) -> Result<VisionExtra, RunError> {
        let images = self.images(of.design).map_err(RunError::failed)?;
        extra(of.design, images.foreign.as_deref(), fold, trained, metrics)
    }

    fn data_warnings(&self, design: &VisionDesign) -> Vec<String> {
        let images = self.images(design).ok();
        images.map_or_else(Vec::new, |images| images.own.warnings.clone())
    }
}
