//! Folds of a table by hand.

use ndarray::{Array1, Array2};

use super::*;
use crate::data::mimic::{Counts, Flow, Release};

/// Feature 0 is the number of the patient, feature 1 is missing for every third, feature 2 for all.
fn study(los: LosTask, log_target: bool) -> Mimic {
    let x = Array2::from_shape_fn((40, 3), |(row, column)| match column {
        0 => row as f64,
        1 if row % 3 != 0 => 100.0 + row as f64,
        _ => f64::NAN,
    });
    let table = FeatureTable {
        names: ["a", "b", "c"].map(str::to_owned).to_vec(),
        x,
        hours: Array1::from_shape_fn(40, |row| 24.0 + row as f64),
    };
    let manifest = Manifest {
        version: 1,
        release: Release::Synthetic,
        without_deaths: false,
        sources: Vec::new(),
        sha256: "ab".to_owned(),
        flow: Flow::default(),
        counts: [const { None::<Counts> }; 3].map(Option::unwrap_or_default),
    };
    let options = MimicOptions {
        los,
        log_target,
        folds: 4,
        seeds: vec![0, 0, 7],
    };
    Mimic::new(table, manifest, &options).unwrap()
}

fn folds(study: &Mimic) -> Vec<(RunId, Fold)> {
    let [design] = &study.designs()[..] else {
        panic!("one design")
    };
    let runs = study.runs(design).into_iter();
    runs.map(|run| (run, study.fold(Of { design, run }).unwrap()))
        .collect()
}

fn patients(part: &Part) -> Vec<usize> {
    part.x.column(0).iter().map(|&row| row as usize).collect()
}

#[test]
fn each_patient_is_in_one_part_of_a_fold_and_tested_once() {
    let study = study(LosTask::LosTotal, false);
    let folds = folds(&study);
    assert_eq!(folds.len(), 8, "two seeds of four folds");
    for seed in [0, 7] {
        let mut tested = Vec::new();
        for (_, fold) in folds.iter().filter(|(run, _)| run.seed == seed) {
            let parts = [&fold.train, &fold.validation, &fold.test].map(patients);
            let mut all = parts.concat();
            all.sort_unstable();
            assert_eq!(all, (0..40).collect::<Vec<_>>());
            tested.extend(parts[2].clone());
        }
        tested.sort_unstable();
        assert_eq!(tested, (0..40).collect::<Vec<_>>());
    }
}

#[test]
fn missing_values_are_the_mean_of_the_training_patients_alone() {
    for (_, fold) in folds(&study(LosTask::LosTotal, false)) {
        let train = patients(&fold.train).into_iter();
        let known: Vec<f64> = train
            .filter(|row| row % 3 != 0)
            .map(|row| 100.0 + row as f64)
            .collect();
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        for part in [&fold.train, &fold.validation, &fold.test] {
            for patient in part.x.rows() {
                let row = patient[0] as usize;
                let expected = if row.is_multiple_of(3) {
                    mean
                } else {
                    100.0 + row as f64
                };
                assert!((patient[1] - expected).abs() < 1e-12);
                assert_eq!(patient[2], 0.0, "nobody has it");
            }
        }
    }
}

#[test]
fn targets_are_hours_of_the_stay_or_of_what_is_left() {
    for (los, log, of) in [
        (
            LosTask::LosTotal,
            false,
            (|row| 24.0 + row) as fn(f64) -> f64,
        ),
        (LosTask::LosRemaining, false, |row| row),
        (LosTask::LosTotal, true, |row| (25.0 + row).ln()),
        (LosTask::LosRemaining, true, |row| (1.0 + row).ln()),
    ] {
        for (_, fold) in folds(&study(los, log)) {
            for (row, y) in fold.test.x.column(0).iter().zip(&fold.test.y) {
                assert!((y - of(*row)).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn runs_that_there_are_not_are_refused() {
    let study = study(LosTask::LosTotal, false);
    let design = &study.designs()[0];
    for run in [RunId { seed: 0, fold: 4 }, RunId { seed: 1, fold: 0 }] {
        assert!(study.check(Of { design, run }).is_err());
    }
}
