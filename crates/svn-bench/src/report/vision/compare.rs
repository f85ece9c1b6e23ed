//! A Newton method beside the first-order methods on the same seeds and folds: paired differences.
//!
//! ```text
//! d_k = metric of the method − metric of the baseline for seed and fold k      d̄ ± s_d/√K
//! ```

use crate::experiment::Method;
use crate::experiment::vision::VisionRecord;
use crate::metrics::Estimate;
use crate::report::Versus;

/// Metrics that are compared.
const KEYS: [&str; 7] = [
    "nll",
    "nll_logit",
    "accuracy",
    "ece",
    "brier",
    "auroc",
    "ood_auroc",
];

/// Records of one configuration.
pub(super) type Group<'a> = [&'a VisionRecord];

/// Differences of a Newton method to the first-order methods on the same images; nothing for the others.
pub(super) fn versus(group: &Group<'_>, all: &[Vec<&VisionRecord>]) -> Vec<Versus> {
    let Some(first) = group
        .first()
        .filter(|first| first.configuration.method.is_newton())
    else {
        return Vec::new();
    };
    [Method::Ensemble, Method::Wgd, Method::Svgd]
        .into_iter()
        .filter_map(|method| {
            let baseline = best_of(method, first, all)?;
            let difference = |key: &&str| {
                let pairs = group.iter().filter_map(|own| {
                    let same =
                        |other: &&&VisionRecord| other.seed == own.seed && other.fold == own.fold;
                    Some(own.metric(key)? - baseline.iter().find(same)?.metric(key)?)
                });
                (
                    (*key).to_owned(),
                    Estimate::of(&pairs.collect::<Vec<f64>>()),
                )
            };
            Some(Versus {
                baseline: method,
                config: baseline.first()?.config.clone(),
                differences: KEYS.iter().map(difference).collect(),
            })
        })
        .collect()
}

/// Of the configurations of a method on the same images, network and device, the one whose best validation NLL is least
/// on average.
fn best_of<'a, 'b>(
    method: Method,
    like: &VisionRecord,
    all: &'b [Vec<&'a VisionRecord>],
) -> Option<&'b Vec<&'a VisionRecord>> {
    let score = |group: &Group<'_>| {
        let best = group.iter().filter_map(|record| {
            let values = record.curve.iter().filter_map(|point| point.validation_nll);
            values.min_by(f64::total_cmp)
        });
        Estimate::of(&best.collect::<Vec<_>>()).map_or(f64::INFINITY, |estimate| estimate.mean)
    };
    let same = |record: &VisionRecord| {
        let (a, b) = (&record.configuration, &like.configuration);
        a.method == method
            && (&a.dataset, &a.data_sha256) == (&b.dataset, &b.data_sha256)
            && (a.split, a.limits, a.device) == (b.split, b.limits, b.device)
            && a.settings.activation == b.settings.activation
            && a.settings.particles == b.settings.particles
            && a.settings.temperature == b.settings.temperature
    };
    all.iter()
        .filter(|group| group.first().is_some_and(|first| same(first)))
        .min_by(|a, b| score(a).total_cmp(&score(b)))
}
