//! What a trained ensemble says of foreign images, and of corrupted ones.

use ndarray::{ArrayView2, Axis};

use super::{CorruptionPoint, VisionDesign, VisionExtra};
use crate::data::images::{Corruption, ImageSet};
use crate::engine::{Fold, Model, Predicted, RunError};
use crate::metrics::{Metrics, classification_metrics, out_of_distribution_auroc, reliability};
use crate::split::stream;

/// Reliability and corruption; scores of foreign images go to the metrics.
pub(super) fn extra(
    design: &VisionDesign,
    foreign: Option<&ImageSet>,
    fold: &Fold,
    (model, predicted): (&dyn Model, &Predicted),
    metrics: &mut Metrics,
) -> Result<VisionExtra, RunError> {
    let Predicted::Classes(prediction) = predicted else {
        return Ok(VisionExtra::default());
    };
    let targets = fold.test.classes();
    let predict = |x: ArrayView2<'_, f64>| model.predict_classes(x).map_err(RunError::failed);
    if let Some(foreign) = foreign {
        // As many of its test images as there are own ones.
        let rows: Vec<usize> = (foreign.train..foreign.len()).take(targets.len()).collect();
        let foreign = predict(foreign.scaled(&rows).view())?;
        for (key, auroc) in out_of_distribution_auroc(prediction, &foreign) {
            metrics.values.insert(key.to_owned(), auroc);
        }
        let entropy = foreign.entropy().mean();
        metrics.values.insert("ood_entropy".to_owned(), entropy);
    }
    let corruption = match design.corruption {
        None => Vec::new(),
        Some(count) => {
            // Evenly over the test part, whose first images may be easier than its last ones.
            let (n, count) = (targets.len(), count.min(targets.len()));
            let rows: Vec<usize> = (0..count).map(|k| k * n / count).collect();
            let targets: Vec<usize> = rows.iter().map(|&row| targets[row]).collect();
            let images = fold.test.x.select(Axis(0), &rows);
            corrupted(&design.dataset, model, images.view(), &targets)?
        }
    };
    Ok(VisionExtra {
        corruption,
        reliability: reliability(prediction, &targets).map_err(RunError::failed)?,
    })
}

/// The same images, worse and worse. All methods see the same noise.
fn corrupted(
    dataset: &str,
    model: &dyn Model,
    images: ArrayView2<'_, f64>,
    targets: &[usize],
) -> Result<Vec<CorruptionPoint>, RunError> {
    let measure = |images: ArrayView2<'_, f64>| {
        let prediction = model.predict_classes(images).map_err(RunError::failed)?;
        classification_metrics(&prediction, targets).map_err(RunError::failed)
    };
    let mut points = Vec::new();
    let clean = measure(images)?;
    for kind in [Corruption::Rotation, Corruption::Noise] {
        points.push(point(kind, 0.0, &clean));
        for (index, &level) in kind.levels().iter().enumerate() {
            let words = ["corruption", dataset, kind.name(), &index.to_string()];
            let mut random = stream(0, &words);
            let metrics = measure(kind.apply(images, level, &mut random).view())?;
            points.push(point(kind, level, &metrics));
        }
    }
    Ok(points)
}

fn point(kind: Corruption, level: f64, metrics: &Metrics) -> CorruptionPoint {
    CorruptionPoint {
        kind,
        level,
        // Both are defined for any prediction of at least one image.
        accuracy: metrics.value("accuracy").unwrap_or_default(),
        nll: metrics.value("nll"),
        ece: metrics.value("ece").unwrap_or_default(),
    }
}
