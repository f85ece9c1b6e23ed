//! The study: features of the first 24 hours, hours of the stay, patients dealt to folds.

use std::collections::BTreeMap;

use ndarray::Axis;
use svn_models::recipe::{Method, NetworkKind, Problem, Recipe};
use svn_models::scaling::FeatureScaler;

use super::extra::{MimicExtra, measure};
use super::{LosTask, MimicDesign, NAME};
use crate::data::mimic::{FeatureTable, Manifest};
use crate::engine::{
    Design, EngineError, Fold, Model, Of, Part, Predicted, RunError, RunId, Study, distinct,
};
use crate::metrics::{Density, Metrics, target};
use crate::split::{FoldRows, Protocol, split};

/// What is asked for.
#[derive(Debug, Clone)]
pub struct MimicOptions {
    /// What is predicted.
    pub los: LosTask,
    /// Whether networks see `ln (1 + hours)`.
    pub log_target: bool,
    /// Parts of the cross-validation.
    pub folds: usize,
    /// Seeds of splits and training.
    pub seeds: Vec<u64>,
}

/// The study, its features in memory. A row is a patient, so that a split of rows is one of patients.
#[derive(Debug, Clone)]
pub struct Mimic {
    table: FeatureTable,
    manifest: Manifest,
    design: MimicDesign,
    folds: BTreeMap<u64, Vec<FoldRows>>,
}

impl Mimic {
    /// Of features that are at hand.
    ///
    /// # Errors
    /// [`EngineError::Split`] for fewer patients than parts.
    pub fn new(
        table: FeatureTable,
        manifest: Manifest,
        options: &MimicOptions,
    ) -> Result<Self, EngineError> {
        let design = MimicDesign {
            release: manifest.release,
            data_sha256: manifest.sha256.clone(),
            los: options.los,
            log_target: options.log_target,
            without_deaths: manifest.without_deaths,
            folds: options.folds,
        };
        let protocol = Protocol::Paper {
            folds: options.folds,
        };
        let folds = distinct(&options.seeds).into_iter().map(|seed| {
            let folds = split(protocol, NAME, table.rows(), None, seed);
            let dataset = design.dataset().to_owned();
            let folds = folds.map_err(|source| EngineError::Split { dataset, source })?;
            Ok::<_, EngineError>((seed, folds))
        });
        Ok(Self {
            folds: folds.collect::<Result<_, _>>()?,
            table,
            manifest,
            design,
        })
    }

    fn rows(&self, run: RunId) -> Result<&FoldRows, EngineError> {
        let folds = self.folds.get(&run.seed);
        let rows = folds.and_then(|folds| folds.get(run.fold));
        rows.ok_or_else(|| {
            EngineError::Arguments(format!(
                "there is no fold {} of seed {}",
                run.fold, run.seed
            ))
        })
    }

    /// Hours that are to be predicted.
    fn hours(&self, row: usize) -> f64 {
        match self.design.los {
            LosTask::LosTotal => self.table.hours[row],
            LosTask::LosRemaining => self.table.hours[row] - 24.0,
        }
    }

    fn part(&self, rows: &[usize]) -> Part {
        let log = self.design.log_target;
        Part {
            x: self.table.x.select(Axis(0), rows),
            y: rows
                .iter()
                .map(|&row| target(self.hours(row), log))
                .collect(),
        }
    }
}

impl Study for Mimic {
    const NAME: &'static str = NAME;
    type Design = MimicDesign;
    type Extra = MimicExtra;

    fn designs(&self) -> Vec<MimicDesign> {
        vec![self.design.clone()]
    }

    fn runs(&self, _: &MimicDesign) -> Vec<RunId> {
        let runs = |&seed| (0..self.design.folds).map(move |fold| RunId { seed, fold });
        self.folds.keys().flat_map(runs).collect()
    }

    fn problem(&self, _: &MimicDesign) -> Problem {
        let train = self.folds.values().flatten().map(|fold| fold.train.len());
        Problem {
            network: NetworkKind::Mlp,
            rows: train.min().unwrap_or(0),
            features: self.table.x.ncols(),
            classes: None,
        }
    }

    fn warnings(&self) -> Vec<String> {
        self.design.warnings()
    }

    /// On made-up patients Newton steps were best on validation patients after one to three epochs; later ones fit the noise.
    fn recipe(&self, _: &MimicDesign, method: Method) -> Recipe {
        Recipe {
            patience: method.is_newton().then_some(5),
            ..Recipe::default()
        }
    }

    /// A missing value is the mean over the training patients of the fold.
    fn fold(&self, of: Of<'_, MimicDesign>) -> Result<Fold, EngineError> {
        let rows = self.rows(of.run)?;
        let mut parts = [&rows.train, &rows.validation, &rows.test].map(|rows| self.part(rows));
        let [train, ..] = &parts;
        let scaler = FeatureScaler::fit(train.x.view()).map_err(|source| EngineError::Fold {
            dataset: of.design.dataset().to_owned(),
            run: of.run,
            source,
        })?;
        for part in &mut parts {
            for mut patient in part.x.rows_mut() {
                for (value, &mean) in patient.iter_mut().zip(scaler.means()) {
                    if value.is_nan() {
                        *value = mean;
                    }
                }
            }
        }
        let [train, validation, test] = parts;
        Ok(Fold {
            train,
            validation,
            test,
            labels: None,
        })
    }

    fn check(&self, of: Of<'_, MimicDesign>) -> Result<(), EngineError> {
        self.rows(of.run).map(drop)
    }

    fn extra(
        &self,
        of: Of<'_, MimicDesign>,
        _: &Fold,
        (_, predicted): (&dyn Model, &Predicted),
        metrics: &mut Metrics,
    ) -> Result<MimicExtra, RunError> {
        let Predicted::Numbers(prediction) = predicted else {
            return Ok(MimicExtra::default());
        };
        let rows = &self.rows(of.run).map_err(RunError::failed)?.test;
        let hours: Vec<f64> = rows.iter().map(|&row| self.hours(row)).collect();
        let whole: Vec<f64> = rows.iter().map(|&row| self.table.hours[row]).collect();
        if self.design.log_target {
            // Of logarithms, which nothing else here is of.
            metrics.values.remove("nll_epistemic");
        }
        let density = Density::new(prediction, self.design.log_target).map_err(RunError::failed)?;
        let (bands, intervals) = measure(&density, &hours, &whole, metrics);
        Ok(MimicExtra {
            flow: self.manifest.flow.clone(),
            events: self.manifest.counts.clone(),
            bands,
            intervals,
        })
    }

    fn data_warnings(&self, _: &MimicDesign) -> Vec<String> {
        self.design.warnings()
    }
}

#[cfg(test)]
#[path = "stays_tests.rs"]
mod tests;
