//! A data set with its folds, and the scaled arrays of one fold.

use ndarray::Axis;

use super::{ProtocolName, UciOptions};
use crate::data::{Dataset, Manifest, SearchPath, Task, load_named};
use crate::experiment::{DatasetSummary, ExperimentError, FoldJob, Method, Part, Recipe};
use crate::record::PartSizes;
use crate::split::{FoldRows, Protocol, split};
use svn_models::scaling::{FeatureScaler, ScaleError, TargetScaler};

/// A data set, loaded and split.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The data.
    pub data: Dataset,
    /// How it is cut.
    pub protocol: Protocol,
    /// Rows of each fold.
    pub folds: Vec<FoldRows>,
    /// What a runner may know.
    pub summary: DatasetSummary,
}

impl Prepared {
    /// Load and split a data set of the manifest.
    ///
    /// # Errors
    /// [`ExperimentError::Data`], [`ExperimentError::Split`].
    pub fn load(
        name: &str,
        options: &UciOptions,
        manifest: &Manifest,
        path: &SearchPath,
    ) -> Result<Self, ExperimentError> {
        Self::new(load_named(name, manifest, path)?, options)
    }

    /// Split a data set.
    ///
    /// # Errors
    /// [`ExperimentError::Split`].
    pub fn new(data: Dataset, options: &UciOptions) -> Result<Self, ExperimentError> {
        let rows = data.rows();
        let protocol = match (options.protocol, options.folds) {
            (ProtocolName::Paper, folds) => Protocol::Paper {
                folds: folds.unwrap_or(5),
            },
            (ProtocolName::Standard, Some(splits)) => Protocol::Standard { splits },
            (ProtocolName::Standard, None) => Protocol::standard(rows),
        };
        let classes = data.class_indices();
        let stratify = (data.task == Task::Classification).then_some(classes.as_slice());
        let folds =
            split(protocol, &data.name, rows, stratify, options.seed).map_err(|source| {
                ExperimentError::Split {
                    dataset: data.name.clone(),
                    source,
                }
            })?;
        let summary = DatasetSummary {
            name: data.name.clone(),
            task: data.task,
            rows,
            features: data.x.ncols(),
            classes: data.labels.as_ref().map_or(0, |labels| labels.len()),
            train_rows: folds.iter().map(|fold| fold.train.len()).min().unwrap_or(0),
        };
        Ok(Self {
            data,
            protocol,
            folds,
            summary,
        })
    }

    /// Rows of the parts of a fold.
    pub fn sizes(&self, fold: usize) -> PartSizes {
        let rows = &self.folds[fold];
        PartSizes {
            train: rows.train.len(),
            validation: rows.validation.len(),
            test: rows.test.len(),
        }
    }

    /// The job of one fold and its test part: rows picked, scalers fitted on the training rows, all parts scaled.
    ///
    /// # Errors
    /// [`ExperimentError::Scale`].
    pub fn job_and_test(
        &self,
        fold: usize,
        method: Method,
        settings: &Recipe,
        seed: u64,
    ) -> Result<(FoldJob, Part), ExperimentError> {
        let (job, features) = self.scaled(fold, method, settings, seed)?;
        let test = self
            .part(&self.folds[fold].test, &features, &job.target_scaler)
            .map_err(|source| self.scale_error(fold, source))?;
        Ok((job, test))
    }

    /// The job of one fold, without its test part.
    ///
    /// # Errors
    /// [`ExperimentError::Scale`].
    pub fn job(
        &self,
        fold: usize,
        method: Method,
        settings: &Recipe,
        seed: u64,
    ) -> Result<FoldJob, ExperimentError> {
        Ok(self.scaled(fold, method, settings, seed)?.0)
    }

    fn scaled(
        &self,
        fold: usize,
        method: Method,
        settings: &Recipe,
        seed: u64,
    ) -> Result<(FoldJob, FeatureScaler), ExperimentError> {
        let wrap = |source| self.scale_error(fold, source);
        let rows = &self.folds[fold];
        let features =
            FeatureScaler::fit(self.data.x.select(Axis(0), &rows.train).view()).map_err(wrap)?;
        let target_scaler = match self.data.task {
            Task::Classification => TargetScaler::IDENTITY,
            Task::Regression => {
                TargetScaler::fit(self.data.y.select(Axis(0), &rows.train).view()).map_err(wrap)?
            }
        };
        let part = |rows| self.part(rows, &features, &target_scaler).map_err(wrap);
        let job = FoldJob {
            dataset: self.summary.clone(),
            method,
            settings: settings.clone(),
            fold,
            seed,
            train: part(&rows.train)?,
            validation: part(&rows.validation)?,
            target_scaler,
        };
        Ok((job, features))
    }

    fn part(
        &self,
        rows: &[usize],
        features: &FeatureScaler,
        target: &TargetScaler,
    ) -> Result<Part, ScaleError> {
        let original_y = self.data.y.select(Axis(0), rows);
        Ok(Part {
            x: features.transform(self.data.x.select(Axis(0), rows).view())?,
            y: target.transform(original_y.view()),
            original_y,
        })
    }

    fn scale_error(&self, fold: usize, source: ScaleError) -> ExperimentError {
        ExperimentError::Scale {
            dataset: self.data.name.clone(),
            fold,
            source,
        }
    }
}
