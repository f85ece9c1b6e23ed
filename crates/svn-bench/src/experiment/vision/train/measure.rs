//! What a trained ensemble says of test images, corrupted images and foreign images.

use ndarray::{ArrayView2, Axis};
use svn_models::predictive::Predictor;
use svn_models::{ClassPrediction, Members};

use super::Run;
use crate::data::images::Corruption;
use crate::experiment::RunError;
use crate::experiment::uci::train::failed;
use crate::experiment::vision::CorruptionPoint;
use crate::metrics::{
    Metrics, ReliabilityBin, classification_metrics, out_of_distribution_auroc, reliability,
};
use crate::split::stream;

/// Everything that is measured.
pub(super) struct Measured {
    pub metrics: Metrics,
    pub corruption: Vec<CorruptionPoint>,
    pub reliability: Vec<ReliabilityBin>,
}

/// Of an ensemble.
pub(super) struct Measure<'a> {
    pub members: &'a Members,
    pub predictor: Predictor,
}

impl Measure<'_> {
    fn predict(&self, images: ArrayView2<'_, f64>) -> Result<ClassPrediction, RunError> {
        self.predictor
            .predict_classes(self.members, images)
            .map_err(failed)
    }

    /// Measure on the run's test images.
    pub(super) fn measure(&self, run: &Run<'_>) -> Result<Measured, RunError> {
        let own = &run.images.own;
        let images = own.scaled(&run.rows.test);
        let targets: Vec<usize> = own
            .targets(&run.rows.test)
            .iter()
            .map(|&y| y as usize)
            .collect();
        let prediction = self.predict(images.view())?;
        let mut metrics = classification_metrics(&prediction, &targets).map_err(failed)?;
        if let Some(foreign) = &run.images.foreign {
            // As many of its test images as there are own ones.
            let rows: Vec<usize> = (foreign.train..foreign.len()).take(targets.len()).collect();
            let foreign = self.predict(foreign.scaled(&rows).view())?;
            let auroc = out_of_distribution_auroc(&prediction, &foreign);
            metrics.values.insert("ood_auroc".to_owned(), auroc);
            let entropy = foreign.entropy().mean();
            metrics.values.insert("ood_entropy".to_owned(), entropy);
        }
        if let Some(temperature) = self.predictor.temperature() {
            metrics
                .values
                .insert("temperature".to_owned(), Some(temperature));
        }
        let corruption = match run.configuration.corruption {
            None => Vec::new(),
            Some(count) => {
                // Evenly over the test part, whose first images may be easier than its last ones.
                let (n, count) = (targets.len(), count.min(targets.len()));
                let rows: Vec<usize> = (0..count).map(|k| k * n / count).collect();
                let targets: Vec<usize> = rows.iter().map(|&row| targets[row]).collect();
                self.corrupted(run, images.select(Axis(0), &rows).view(), &targets)?
            }
        };
        Ok(Measured {
            reliability: reliability(&prediction, &targets).map_err(failed)?,
            metrics,
            corruption,
        })
    }

    /// The same images, worse and worse. All methods see the same noise.
    fn corrupted(
        &self,
        run: &Run<'_>,
        images: ArrayView2<'_, f64>,
        targets: &[usize],
    ) -> Result<Vec<CorruptionPoint>, RunError> {
        let mut points = Vec::new();
        let clean = classification_metrics(&self.predict(images)?, targets).map_err(failed)?;
        for kind in [Corruption::Rotation, Corruption::Noise] {
            points.push(point(kind, 0.0, &clean));
            for (index, &level) in kind.levels().iter().enumerate() {
                let words = [
                    "corruption",
                    &run.configuration.dataset,
                    kind.name(),
                    &index.to_string(),
                ];
                let mut random = stream(0, &words);
                let prediction = self.predict(kind.apply(images, level, &mut random).view())?;
                let metrics = classification_metrics(&prediction, targets).map_err(failed)?;
                points.push(point(kind, level, &metrics));
            }
        }
        Ok(points)
    }
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
