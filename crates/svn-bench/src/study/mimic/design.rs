//! What is predicted of whom.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::data::Task;
use crate::data::mimic::Release;
use crate::engine::Design;

/// Which length of stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum LosTask {
    /// Hours in the unit, from begin to end.
    #[default]
    LosTotal,
    /// Hours that are left at the prediction hour: 24 less.
    LosRemaining,
}

/// Everything but method, settings, seed and fold that a result depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MimicDesign {
    /// Which tables.
    pub release: Release,
    /// SHA-256 of the table of features.
    pub data_sha256: String,
    /// What is predicted.
    pub los: LosTask,
    /// Whether networks see `ln (1 + hours)` in place of hours.
    pub log_target: bool,
    /// Whether patients were left out who died in hospital.
    pub without_deaths: bool,
    /// Parts of the cross-validation.
    pub folds: usize,
}

impl Design for MimicDesign {
    fn dataset(&self) -> &str {
        match self.release {
            Release::Full => "mimic-iv",
            Release::Demo | Release::DerivedDemo => "mimic-iv-demo",
            Release::Synthetic => "made-up",
        }
    }

    fn data_sha256(&self) -> &str {
        &self.data_sha256
    }

    fn task(&self) -> Task {
        Task::Regression
    }

    fn protocol(&self) -> &'static str {
        "paper"
    }

    fn folds(&self) -> usize {
        self.folds
    }

    /// One column: tables must fit a terminal.
    fn columns(&self) -> Vec<(&'static str, String)> {
        let los = match self.los {
            LosTask::LosTotal => "total",
            LosTask::LosRemaining => "remaining",
        };
        let target = if self.log_target { "-log" } else { "" };
        vec![("stay", format!("{los}{target}"))]
    }
}

impl MimicDesign {
    /// What a reader must know of the data before the figures.
    pub(super) fn warnings(&self) -> Vec<String> {
        let texts: &[&str] = match self.release {
            Release::Full => &[],
            Release::Demo => &[SMOKE],
            Release::DerivedDemo => &[SMOKE, DERIVED],
            Release::Synthetic => {
                &["made-up patients, not MIMIC-IV: see docs/mimic.md for how to get access"]
            }
        };
        texts.iter().map(|text| (*text).to_owned()).collect()
    }
}

const SMOKE: &str = "the open demo of 100 patients: a smoke test, its figures are no benchmark";
const DERIVED: &str = "numeric extracts in place of chartevents and labevents: results count by the time they were drawn, as \
                       nobody tells when they were stored, and tubes in the throat are not seen";
