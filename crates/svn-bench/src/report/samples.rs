//! Fixed records for the tests of reports and figures.

use svn_models::posterior::CurvatureFamily;

use crate::data::Task;
use crate::experiment::{EpochPoint, FoldOutcome, Method, Recipe};
use crate::record::{Configuration, PartSizes, Record};
use crate::split::Protocol;

/// Three folds of two methods on a regression and a classification set, in canonical order.
pub(crate) fn records() -> Vec<Record> {
    let mut records = Vec::new();
    for (dataset, task, keys) in [
        (
            "heart",
            Task::Classification,
            ["nll", "nll_logit", "accuracy", "ece", "brier", "auroc"].as_slice(),
        ),
        (
            "yacht",
            Task::Regression,
            ["nll", "nll_paper", "rmse", "crps", "coverage90"].as_slice(),
        ),
    ] {
        for method in [Method::Ensemble, Method::Svn] {
            for fold in 0..3 {
                records.push(record(dataset, task, keys, method, fold));
            }
        }
    }
    records
}

fn record(dataset: &str, task: Task, keys: &[&str], method: Method, fold: usize) -> Record {
    let newton = method == Method::Svn;
    let configuration = Configuration {
        dataset: dataset.to_owned(),
        task,
        data_sha256: "00".to_owned(),
        method,
        protocol: Protocol::Paper { folds: 5 },
        seed: 0,
        settings: Recipe {
            epochs: Some(50),
            particles: Some(5),
            lr: Some(if newton { 0.3 } else { 0.01 }),
            hessian: newton.then_some(CurvatureFamily::Full),
            ..Recipe::default()
        },
    };
    let base = if newton { 0.25 } else { 0.5 };
    let mut outcome = FoldOutcome {
        epochs: 4,
        best_epoch: 3 + fold % 2,
        wall_s: 1.5,
        ..FoldOutcome::default()
    };
    for (index, key) in keys.iter().enumerate() {
        let value = base + 0.125 * fold as f64 + index as f64;
        // The last key is defined in no fold: one particle, an absent class.
        outcome
            .metrics
            .values
            .insert((*key).to_owned(), (index + 1 < keys.len()).then_some(value));
    }
    outcome.curve = (1..=4)
        .map(|epoch| EpochPoint {
            epoch,
            validation_nll: (epoch != 2).then_some(base + 4.0 / epoch as f64),
        })
        .collect();
    if newton && fold > 0 {
        outcome
            .warnings
            .push("kernel: particles do not interact, mean off-diagonal K is 0".to_owned());
    }
    outcome.step_ms = vec![1.0, 2.0, 4.0];
    Record::new(
        &configuration,
        fold,
        PartSizes {
            train: 197,
            validation: 49,
            test: 62,
        },
        outcome,
    )
}
