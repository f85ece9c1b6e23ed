//! From options to groups of runs: images loaded, settings resolved and checked before anything is trained.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use svn_models::posterior::CurvatureFamily;
use svn_models::recipe::{NetworkKind, Problem};

use super::record::FOLDS;
use super::{DeviceKind, ImageSplit, VisionConfiguration};
use crate::data::SearchPath;
use crate::data::images::{
    CLASSES, Catalogue, ImageSet, PIXELS, Synthetic, holds_images, load_images, read_images,
    synthetic,
};
use crate::experiment::{ExperimentError, Method, Recipe, out_of_range};
use crate::split::{
    FoldRows, Limits, Protocol, SplitError, VALIDATION_FRACTION, holdout, limited, split,
};

/// Sizes of the study with few data: training and validation images together.
pub const LOW_DATA: [usize; 4] = [500, 2000, 5000, 10_000];

/// What to run.
#[derive(Debug, Clone)]
pub struct VisionOptions {
    /// Names of image sets; each once.
    pub datasets: Vec<String>,
    /// Methods; each once.
    pub methods: Vec<Method>,
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
    /// The first seed.
    pub first_seed: u64,
    /// Number of seeds, at least 1.
    pub seeds: usize,
    /// Settings that go before the defaults.
    pub settings: Recipe,
    /// Folder that may hold the four files of the one set that is asked for.
    pub folder: Option<PathBuf>,
    /// Worker threads, at least 1.
    pub jobs: usize,
}

/// An image set, with the one whose images are foreign to it.
#[derive(Debug, Clone)]
pub struct Images {
    /// The images.
    pub own: Arc<ImageSet>,
    /// Of another set.
    pub foreign: Option<Arc<ImageSet>>,
}

/// An image set, a method and a number of images: its runs differ in seed and fold alone.
#[derive(Debug, Clone)]
pub struct VisionGroup {
    /// Index into [`VisionPlan::images`].
    pub images: usize,
    /// With resolved settings.
    pub configuration: VisionConfiguration,
    /// Hash of the configuration.
    pub config: String,
}

/// Everything that is to be done.
#[derive(Debug, Clone)]
pub struct VisionPlan {
    /// The image sets, in the order asked for.
    pub images: Vec<Images>,
    /// Set by set, size by size, method by method.
    pub groups: Vec<VisionGroup>,
    /// Seeds and folds that each group is run for.
    pub runs: Vec<(u64, usize)>,
    /// Sentences for the user.
    pub warnings: Vec<String>,
}

/// The set whose images are foreign to another one.
fn partner(name: &str) -> Option<&'static str> {
    match name {
        "mnist" => Some("fashion-mnist"),
        "fashion-mnist" => Some("mnist"),
        "synthetic-digits" => Some("synthetic-letters"),
        "synthetic-letters" => Some("synthetic-digits"),
        _ => None,
    }
}

/// Names of all sets, those in files first.
///
/// # Errors
/// [`DataError::Catalogue`](crate::data::DataError::Catalogue).
pub fn image_set_names() -> Result<Vec<String>, ExperimentError> {
    let files = Catalogue::embedded()?;
    let drawn = [Synthetic::Digits, Synthetic::Letters].map(|set| set.name().to_owned());
    Ok(files
        .entries()
        .iter()
        .map(|entry| entry.name.clone())
        .chain(drawn)
        .collect())
}

impl VisionPlan {
    /// Load every set and resolve the settings of every group.
    ///
    /// # Errors
    /// [`ExperimentError`]; all of them are about arguments or input.
    pub fn new(
        options: &VisionOptions,
        path: &SearchPath,
        device: DeviceKind,
    ) -> Result<Self, ExperimentError> {
        check(options)?;
        let mut loader = Loader {
            path,
            loaded: BTreeMap::new(),
        };
        // Files without the name of a set beside them can only be those of a single one.
        if let ([name], Some(folder)) = (options.datasets.as_slice(), &options.folder)
            && Synthetic::named(name).is_none()
            && holds_images(folder)
        {
            let set = Arc::new(read_images(name, folder)?);
            loader.loaded.insert(name.clone(), set);
        }
        let (mut images, mut warnings) = (Vec::new(), Vec::from_iter(check_rates(options)?));
        for name in &options.datasets {
            images.push(loader.with_partner(name, options.foreign, &mut warnings)?);
        }
        let subsets: Vec<Option<usize>> = match options.subsets.as_slice() {
            [] => vec![None],
            sizes => sizes.iter().copied().map(Some).collect(),
        };
        let folds = match options.split {
            ImageSplit::Official => 1,
            ImageSplit::Paper => options.folds.unwrap_or(FOLDS),
        };
        let seeds = (0..options.seeds as u64).map(|index| options.first_seed.wrapping_add(index));
        let runs: Vec<_> = seeds
            .flat_map(|seed| (0..folds).map(move |fold| (seed, fold)))
            .collect();
        let mut groups = Vec::new();
        for (index, set) in images.iter().enumerate() {
            warnings.extend_from_slice(&set.own.warnings);
            for &learning in &subsets {
                for &method in &options.methods {
                    let limits = Limits {
                        learning,
                        test: options.test_limit,
                    };
                    groups.push(group(index, set, method, limits, options, device)?);
                }
            }
        }
        let plan = Self {
            images,
            groups,
            runs,
            warnings,
        };
        plan.check_splits()?;
        Ok(plan)
    }

    /// Number of runs.
    pub fn jobs(&self) -> usize {
        self.groups.len() * self.runs.len()
    }

    /// A split that cannot be made is said before anything is trained.
    fn check_splits(&self) -> Result<(), ExperimentError> {
        if let Some(&(seed, fold)) = self.runs.first() {
            for group in &self.groups {
                group.rows(&self.images[group.images].own, seed, fold)?;
            }
        }
        Ok(())
    }
}

impl VisionGroup {
    /// Rows of the parts of a run.
    ///
    /// # Errors
    /// [`ExperimentError::Split`].
    pub fn rows(
        &self,
        set: &ImageSet,
        seed: u64,
        fold: usize,
    ) -> Result<FoldRows, ExperimentError> {
        let limits = self.configuration.limits;
        let wrap = |source| ExperimentError::Split {
            dataset: set.name.clone(),
            source,
        };
        let classes = set.classes();
        let rows = match self.configuration.split {
            ImageSplit::Official => holdout(&set.name, set.train, &classes, limits, seed),
            ImageSplit::Paper => {
                let protocol = Protocol::Paper { folds: FOLDS };
                let folds =
                    split(protocol, &set.name, set.len(), Some(&classes), seed).map_err(wrap)?;
                let fold_rows = folds.into_iter().nth(fold);
                let fold_rows =
                    fold_rows.ok_or_else(|| wrap(SplitError::TooFewFolds { folds: FOLDS }))?;
                limited((&set.name, fold), fold_rows, &classes, limits, seed)
            }
        };
        rows.map_err(wrap)
    }
}

fn takes_newton_steps_alone(method: &Method) -> bool {
    matches!(method, Method::Svn | Method::Ssvn)
}

/// A sentence where one `--lr` is the step size of first-order and of Newton steps, of which one seldom suits both.
///
/// # Errors
/// [`ExperimentError::Arguments`] for a `--lr` that no method would hear.
fn check_rates(options: &VisionOptions) -> Result<Option<String>, ExperimentError> {
    let (newton, others): (Vec<Method>, Vec<Method>) = options
        .methods
        .iter()
        .partition(|method| takes_newton_steps_alone(method));
    let Some((lr, method)) = options.settings.lr.zip(newton.first()) else {
        return Ok(None);
    };
    match (options.settings.newton_lr, others.is_empty()) {
        (Some(_), true) => Err(ExperimentError::Arguments(format!(
            "{method} has one step size: leave out --lr or --newton-lr"
        ))),
        (None, false) => Ok(Some(format!(
            "--lr {lr} is also the step size of the Newton steps of {method}; --newton-lr gives them their own"
        ))),
        _ => Ok(None),
    }
}

fn check(options: &VisionOptions) -> Result<(), ExperimentError> {
    for (option, value) in [("jobs", options.jobs), ("seeds", options.seeds)] {
        if value == 0 {
            return Err(out_of_range(option, 0, "at least 1").into());
        }
    }
    if let Some(folds) = options.folds {
        if options.split == ImageSplit::Official {
            let message = "--folds is for --split paper; the official split has one test part";
            return Err(ExperimentError::Arguments(message.to_owned()));
        }
        if folds == 0 || folds > FOLDS {
            return Err(out_of_range("folds", folds, "1 to 5").into());
        }
    }
    let whole = options
        .methods
        .iter()
        .find(|method| takes_newton_steps_alone(method));
    if let (Some(CurvatureFamily::Full), Some(method)) = (options.settings.hessian, whole) {
        let expected = format!("diag or kfac for {method}, whose curvature is of all of LeNet");
        return Err(out_of_range("hessian", "full", &expected).into());
    }
    if options.datasets.is_empty() || options.methods.is_empty() {
        let message = "nothing to do: name a --dataset";
        return Err(ExperimentError::Arguments(message.to_owned()));
    }
    let names = image_set_names()?;
    match options.datasets.iter().find(|name| !names.contains(name)) {
        Some(name) => {
            let message = format!("unknown image set `{name}`; known: {}", names.join(", "));
            Err(ExperimentError::Arguments(message))
        }
        None => Ok(()),
    }
}

/// Reads each set once.
struct Loader<'a> {
    path: &'a SearchPath,
    loaded: BTreeMap<String, Arc<ImageSet>>,
}

impl Loader<'_> {
    fn load(&mut self, name: &str) -> Result<Arc<ImageSet>, ExperimentError> {
        if let Some(set) = self.loaded.get(name) {
            return Ok(Arc::clone(set));
        }
        let set = Arc::new(match Synthetic::named(name) {
            Some(kind) => synthetic(kind, Synthetic::TRAIN, Synthetic::TEST, 0),
            None => load_images(name, self.path)?,
        });
        self.loaded.insert(name.to_owned(), Arc::clone(&set));
        Ok(set)
    }

    /// The foreign set is an extra: without it the rest is measured, with a warning.
    fn with_partner(
        &mut self,
        name: &str,
        foreign: bool,
        warnings: &mut Vec<String>,
    ) -> Result<Images, ExperimentError> {
        let own = self.load(name)?;
        let foreign = match partner(name).filter(|_| foreign) {
            None => None,
            Some(partner) => match self.load(partner) {
                Ok(set) => Some(set),
                Err(error) => {
                    warnings.push(format!("no out-of-distribution score for {name}: {error}"));
                    None
                }
            },
        };
        Ok(Images { own, foreign })
    }
}

fn group(
    index: usize,
    images: &Images,
    method: Method,
    limits: Limits,
    options: &VisionOptions,
    device: DeviceKind,
) -> Result<VisionGroup, ExperimentError> {
    let own = &images.own;
    let learning = limits.learning.unwrap_or(match options.split {
        ImageSplit::Official => own.train,
        ImageSplit::Paper => own.len() - own.len() / FOLDS,
    });
    let train_rows = learning - (learning as f64 * VALIDATION_FRACTION).round() as usize;
    let settings = resolve(&own.name, method, train_rows, &options.settings)?;
    let configuration = VisionConfiguration {
        dataset: own.name.clone(),
        data_sha256: own.sha256.clone(),
        foreign: images.foreign.as_ref().map(|set| set.name.clone()),
        foreign_sha256: images.foreign.as_ref().map(|set| set.sha256.clone()),
        method,
        split: options.split,
        limits,
        corruption: options.corruption,
        settings,
        device,
    };
    Ok(VisionGroup {
        images: index,
        config: configuration.hash(),
        configuration,
    })
}

/// Resolved settings of LeNet for a method and so many training images.
pub(super) fn resolve(
    dataset: &str,
    method: Method,
    rows: usize,
    given: &Recipe,
) -> Result<Recipe, ExperimentError> {
    given
        .resolve(method, &problem(rows))
        .map(|resolved| resolved.recipe)
        .map_err(|source| ExperimentError::Recipe {
            dataset: dataset.to_owned(),
            method,
            source: Box::new(source),
        })
}

/// LeNet on so many images.
pub(super) fn problem(rows: usize) -> Problem {
    Problem {
        network: NetworkKind::LeNet,
        rows,
        features: PIXELS,
        classes: Some(CLASSES),
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
