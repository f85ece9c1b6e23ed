//! A runner for tests that trains in milliseconds: bagged ridge regression, fitted by normal equations.
//!
//! Member `p` sees a bootstrap sample; epoch `e` uses the penalty `10^{2−e}`; the epoch with the best validation NLL
//! is kept. Classes are fitted one-vs-rest and the scores, times 4, are the logits.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::time::{Duration, Instant};

use ndarray::{Array1, Array2, Array3, Axis};
use rand::RngExt;
use svn_bench::data::Task;
use svn_bench::experiment::{
    EpochPoint, EpochProgress, FoldJob, FoldOutcome, FoldRunner, Method, Part, RunError, Validated,
};
use svn_bench::metrics::{Metrics, classification_metrics, regression_metrics};
use svn_models::{ClassPrediction, Prediction};

/// Bagged ridge regression, with a delay per epoch and folds that fail on request.
#[derive(Default)]
pub(crate) struct Ridge {
    pub epoch_delay: Duration,
    pub fail: Option<(Method, usize)>,
    pub panic: Option<(Method, usize)>,
}

impl FoldRunner for Ridge {
    fn validate(
        &self,
        job: &FoldJob,
        progress: &dyn Fn(EpochProgress),
    ) -> Result<Validated, RunError> {
        // The ridge measures what it is given; the validation rows stand in for a test part.
        let outcome = self.run(job, &job.validation, progress)?;
        Ok(Validated {
            nll: outcome.metrics.value("nll").unwrap(),
            best_epoch: outcome.best_epoch,
            wall_s: outcome.wall_s,
        })
    }

    fn run(
        &self,
        job: &FoldJob,
        test: &Part,
        progress: &dyn Fn(EpochProgress),
    ) -> Result<FoldOutcome, RunError> {
        if self.fail == Some((job.method, job.fold)) {
            return Err(RunError::Failed(
                "the loss is not finite after step 3".into(),
            ));
        }
        assert!(
            self.panic != Some((job.method, job.fold)),
            "index out of bounds"
        );
        let start = Instant::now();
        let epochs = job.settings.epochs.unwrap_or(1).min(6);
        let mut outcome = FoldOutcome {
            epochs,
            ..FoldOutcome::default()
        };
        let mut best = f64::INFINITY;
        for epoch in 1..=epochs {
            let step = Instant::now();
            std::thread::sleep(self.epoch_delay);
            let weights = fit(job, 10f64.powi(2 - epoch as i32));
            let validation = measure(job, &weights, &job.validation).value("nll");
            if validation.is_some_and(|nll| nll < best) {
                best = validation.unwrap();
                outcome.best_epoch = epoch;
                outcome.metrics = measure(job, &weights, test);
            }
            outcome.curve.push(EpochPoint {
                epoch,
                validation_nll: validation,
            });
            outcome.step_ms.push(step.elapsed().as_secs_f64() * 1e3);
            progress(EpochProgress {
                epoch,
                epochs,
                validation_nll: validation,
            });
        }
        outcome.wall_s = start.elapsed().as_secs_f64();
        Ok(outcome)
    }
}

/// Weights of each member: (features + 1) × outputs.
fn fit(job: &FoldJob, penalty: f64) -> Vec<Array2<f64>> {
    let mut rng = job.stream("bootstrap");
    let n = job.train.y.len();
    (0..job.settings.particles.unwrap_or(5))
        .map(|_| {
            let rows: Vec<usize> = (0..n).map(|_| rng.random_range(0..n)).collect();
            let x = with_intercept(&job.train.x.select(Axis(0), &rows));
            let y = outputs(job, &job.train.y.select(Axis(0), &rows));
            let gram = x.t().dot(&x) + Array2::<f64>::eye(x.ncols()) * penalty;
            solve(gram, x.t().dot(&y))
        })
        .collect()
}

fn measure(job: &FoldJob, weights: &[Array2<f64>], part: &Part) -> Metrics {
    let x = with_intercept(&part.x);
    let predictions: Vec<Array2<f64>> = weights.iter().map(|w| x.dot(w)).collect();
    let (members, n) = (weights.len(), part.y.len());
    if job.dataset.task == Task::Classification {
        let logits = Array3::from_shape_fn((members, n, job.dataset.classes), |(p, i, c)| {
            4.0 * predictions[p][[i, c]]
        });
        return classification_metrics(&ClassPrediction::new(logits).unwrap(), &part.classes())
            .unwrap();
    }
    let fitted = with_intercept(&job.train.x);
    let variances: Vec<f64> = weights
        .iter()
        .map(|w| {
            let residual = &fitted.dot(w).column(0) - &job.train.y;
            residual.dot(&residual) / residual.len() as f64 + 1e-6
        })
        .collect();
    let noise = Array2::from_shape_fn((members, n), |(p, _)| variances[p]);
    let means = Array2::from_shape_fn((members, n), |(p, i)| predictions[p][[i, 0]]);
    let scaler = &job.target_scaler;
    let prediction = Prediction::new(means, noise).unwrap();
    let prediction = prediction.rescaled(scaler.mean, scaler.scale);
    regression_metrics(&prediction, None, part.original_y.view()).unwrap()
}

fn with_intercept(x: &Array2<f64>) -> Array2<f64> {
    ndarray::concatenate![Axis(1), x.view(), Array2::ones((x.nrows(), 1))]
}

fn outputs(job: &FoldJob, y: &Array1<f64>) -> Array2<f64> {
    let columns = job.dataset.classes.max(1);
    Array2::from_shape_fn((y.len(), columns), |(i, c)| {
        if job.dataset.classes == 0 {
            y[i]
        } else {
            f64::from(y[i] == c as f64)
        }
    })
}

/// Gauss elimination of a positive definite system; no pivots needed.
fn solve(mut a: Array2<f64>, mut b: Array2<f64>) -> Array2<f64> {
    let d = a.nrows();
    for k in 0..d {
        for i in (0..d).filter(|&i| i != k) {
            let factor = a[[i, k]] / a[[k, k]];
            for j in 0..d {
                a[[i, j]] -= factor * a[[k, j]];
            }
            for j in 0..b.ncols() {
                b[[i, j]] -= factor * b[[k, j]];
            }
        }
    }
    for k in 0..d {
        let pivot = a[[k, k]];
        b.row_mut(k).mapv_inplace(|value| value / pivot);
    }
    b
}
