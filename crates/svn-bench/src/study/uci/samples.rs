//! Fixed records for the tests of reports and figures.

use svn_models::posterior::CurvatureFamily;
use svn_models::recipe::{Method, Recipe};

use super::{NAME, UciDesign};
use crate::data::Task;
use crate::engine::{Entry, EpochPoint, KernelUse, PartSizes, Record, SCHEMA, Timing};
use crate::split::Protocol;

/// A design of a regression set, or of `heart`.
pub(crate) fn design(dataset: &str) -> UciDesign {
    UciDesign {
        dataset: dataset.to_owned(),
        task: match dataset {
            "heart" => Task::Classification,
            _ => Task::Regression,
        },
        data_sha256: "0123456789abcdef".to_owned(),
        protocol: Protocol::Paper { folds: 5 },
    }
}

/// Three folds of two methods on a regression and a classification set, in canonical order.
pub(crate) fn records() -> Vec<Record<UciDesign, ()>> {
    let mut records = Vec::new();
    for dataset in ["heart", "yacht"] {
        for method in [Method::Ensemble, Method::Svn] {
            records.extend((0..3).map(|fold| record(dataset, method, fold)));
        }
    }
    records
}

/// The hash again, after a change.
pub(crate) fn rehash(record: &mut Record<UciDesign, ()>) {
    record.config = record.of().configuration().hash();
}

fn record(dataset: &str, method: Method, fold: usize) -> Record<UciDesign, ()> {
    let newton = method == Method::Svn;
    let base = if newton { 0.25 } else { 0.5 };
    let design = design(dataset);
    let keys: &[&str] = match design.task {
        Task::Classification => &["nll", "nll_logit", "accuracy", "ece", "brier", "auroc"],
        Task::Regression => &["nll", "nll_paper", "rmse", "crps", "coverage90"],
    };
    // The last key is defined in no fold: one particle, an absent class.
    let metrics = keys.iter().enumerate().map(|(index, key)| {
        let value = base + 0.125 * fold as f64 + index as f64;
        ((*key).to_owned(), (index + 1 < keys.len()).then_some(value))
    });
    let curve = (1..=4).map(|epoch| EpochPoint {
        epoch,
        validation_nll: (epoch != 2).then_some(base + 4.0 / epoch as f64),
    });
    let warning = "a member of the ensemble was left out".to_owned();
    let mut record = Record {
        schema: SCHEMA,
        study: NAME.to_owned(),
        config: String::new(),
        design,
        method,
        settings: Recipe {
            epochs: Some(50),
            particles: Some(5),
            lr: Some(if newton { 0.3 } else { 0.01 }),
            hessian: newton.then_some(CurvatureFamily::Full),
            ..Recipe::default()
        },
        seed: 0,
        fold,
        rows: PartSizes {
            train: 197,
            validation: 49,
            test: 62,
        },
        epochs: 4,
        best_epoch: 3 + fold % 2,
        validation_nll: None,
        metrics: metrics.collect(),
        extra: (),
        curve: curve.collect(),
        kernel: newton.then_some(KernelUse {
            mean: 0.5,
            repulsion: if dataset == "heart" { 0.25 } else { 0.001 },
            effective_parameters: None,
        }),
        warnings: vec![warning; usize::from(newton && fold > 0)],
        timing: Timing::of(&[1.0, 2.0, 4.0], &[0.25; 4], 1.5),
    };
    rehash(&mut record);
    record
}
