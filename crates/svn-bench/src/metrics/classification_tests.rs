//! Against probabilities in the plain, at extreme logits, with absent classes, and for faults.

use ndarray::array;

use super::super::reference::classes;
use super::*;

/// Sums of about a hundred terms of order 1.
const ROUNDING: f64 = 1e-13;

#[test]
fn metrics_are_their_definitions() {
    let (prediction, y) = classes(5, 97, 3);
    let metrics = classification_metrics(&prediction, &y).unwrap();
    let z = prediction.logits();
    let (mut nll, mut nll_logit, mut hits, mut brier, mut entropy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    let mut by_bin = vec![Vec::new(); 15];
    for i in 0..97 {
        let softmax = |z: &dyn Fn(usize) -> f64| {
            let total: f64 = (0..3).map(|c| z(c).exp()).sum();
            [z(0).exp() / total, z(1).exp() / total, z(2).exp() / total]
        };
        let mut p = [0.0; 3];
        for m in 0..5 {
            let member = softmax(&|c| z[[m, i, c]]);
            (0..3).for_each(|c| p[c] += member[c] / 5.0);
        }
        let of_mean = softmax(&|c| (0..5).map(|m| z[[m, i, c]]).sum::<f64>() / 5.0);
        nll -= p[y[i]].ln();
        nll_logit -= of_mean[y[i]].ln();
        let best = if p[0] >= p[1] && p[0] >= p[2] {
            0
        } else if p[1] >= p[2] {
            1
        } else {
            2
        };
        hits += f64::from(best == y[i]);
        brier += (0..3)
            .map(|c| (p[c] - f64::from(c == y[i])).powi(2))
            .sum::<f64>();
        entropy -= p.iter().map(|p| p * p.ln()).sum::<f64>();
        by_bin[(p[best] * 15.0).ceil() as usize - 1].push((p[best], best == y[i]));
    }
    let ece: f64 = by_bin
        .iter()
        .filter(|bin| !bin.is_empty())
        .map(|bin| {
            let size = bin.len() as f64;
            let accuracy = bin.iter().filter(|row| row.1).count() as f64 / size;
            let confidence = bin.iter().map(|row| row.0).sum::<f64>() / size;
            size / 97.0 * (accuracy - confidence).abs()
        })
        .sum();
    for (key, value) in [
        ("nll", nll / 97.0),
        ("nll_logit", nll_logit / 97.0),
        ("accuracy", hits / 97.0),
        ("brier", brier / 97.0),
        ("entropy", entropy / 97.0),
        ("ece", ece),
    ] {
        assert!(
            (metrics.value(key).unwrap() - value).abs() < ROUNDING,
            "{key}"
        );
    }
    assert_eq!(metrics.values.len(), 7);
    assert_eq!(metrics.warnings, Vec::<String>::new());
}

#[test]
fn auroc_is_the_macro_average_over_pairs() {
    let (prediction, y) = classes(2, 40, 3);
    let log_p = prediction.log_mean_probability();
    let mut macro_average = 0.0;
    for class in 0..3 {
        let (mut wins, mut pairs) = (0.0, 0.0);
        for i in (0..40).filter(|&i| y[i] == class) {
            for j in (0..40).filter(|&j| y[j] != class) {
                wins += f64::from(log_p[[i, class]] > log_p[[j, class]]);
                pairs += 1.0;
            }
        }
        macro_average += wins / pairs / 3.0;
    }
    let metrics = classification_metrics(&prediction, &y).unwrap();
    assert!((metrics.value("auroc").unwrap() - macro_average).abs() < ROUNDING);
}

#[test]
fn nll_is_the_mean_of_logarithms_not_the_logarithm_of_the_mean() {
    // p = ¾ and ¼ for the true class: −(ln ¾ + ln ¼)/2, not −ln ½.
    let prediction = ClassPrediction::new(array![[[3f64.ln(), 0.0], [0.0, 3f64.ln()]]]).unwrap();
    let nll = classification_metrics(&prediction, &[0, 0])
        .unwrap()
        .value("nll")
        .unwrap();
    assert!((nll + (0.75f64.ln() + 0.25f64.ln()) / 2.0).abs() < ROUNDING);
}

#[test]
fn mean_probability_is_not_the_probability_of_the_mean_logit() {
    // Members p = 0.9 and 0.5: mean 0.7; mean logit ln(9)/2 gives 0.75.
    let prediction = ClassPrediction::bernoulli(array![[9f64.ln()], [0.0]].view()).unwrap();
    let metrics = classification_metrics(&prediction, &[1]).unwrap();
    assert!((metrics.value("nll").unwrap() + 0.7f64.ln()).abs() < ROUNDING);
    assert!((metrics.value("nll_logit").unwrap() + 0.75f64.ln()).abs() < ROUNDING);
}

#[test]
fn extreme_logits_keep_their_logarithm() {
    // p = e^{-1000} underflows to 0; −ln p is 1000. With a second member at p = ½, ln p̄ = ln ¼.
    let alone = ClassPrediction::bernoulli(array![[-1000.0, 1000.0]].view()).unwrap();
    let metrics = classification_metrics(&alone, &[1, 0]).unwrap();
    assert_eq!(metrics.value("nll"), Some(1000.0));
    assert_eq!(
        metrics.value("brier"),
        Some(2.0),
        "the Brier score sums over classes: 2 is the worst"
    );
    assert_eq!(
        (metrics.value("accuracy"), metrics.value("ece")),
        (Some(0.0), Some(1.0))
    );
    assert_eq!(metrics.value("entropy"), Some(0.0));
    let pair = ClassPrediction::bernoulli(array![[-1000.0], [0.0]].view()).unwrap();
    let nll = classification_metrics(&pair, &[1])
        .unwrap()
        .value("nll")
        .unwrap();
    assert!((nll - 4f64.ln()).abs() < ROUNDING);
}

#[test]
fn saturated_probabilities_still_rank() {
    // All p₁ round to 1, yet the order is perfect.
    let prediction = ClassPrediction::bernoulli(array![[50.0, 60.0, 70.0, 80.0]].view()).unwrap();
    let metrics = classification_metrics(&prediction, &[0, 0, 1, 1]).unwrap();
    assert_eq!(metrics.value("auroc"), Some(1.0));
}

#[test]
fn absent_class_is_null_with_a_warning() {
    let (prediction, mut y) = classes(2, 20, 3);
    y.iter_mut().for_each(|class| *class %= 2);
    let metrics = classification_metrics(&prediction, &y).unwrap();
    assert_eq!(metrics.values["auroc"], None);
    assert_eq!(
        metrics.warnings,
        ["auroc: class 2 is absent from the test part"]
    );
    let metrics = classification_metrics(&prediction, &[1; 20]).unwrap();
    assert_eq!(
        metrics.warnings,
        [
            "auroc: class 0 is absent from the test part",
            "auroc: class 1 is all of the test part",
            "auroc: class 2 is absent from the test part"
        ]
    );
}

#[test]
fn one_member_works() {
    let (prediction, y) = classes(1, 30, 4);
    let metrics = classification_metrics(&prediction, &y).unwrap();
    assert!(metrics.values.values().all(Option::is_some));
    assert!((metrics.value("nll").unwrap() - metrics.value("nll_logit").unwrap()).abs() < ROUNDING);
}

#[test]
fn faults() {
    let (prediction, _) = classes(1, 2, 2);
    let measure = |y: &[usize]| {
        classification_metrics(&prediction, y)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(measure(&[0]), "target has shape [1], expected [2]");
    assert_eq!(
        measure(&[0, 2]),
        "target 2 at test row 1, expected a class index below 2"
    );
}
