//! A runner for tests that trains in milliseconds: bagged ridge regression, fitted by normal equations.
//!
//! Member `p` sees a bootstrap sample; epoch `e` uses the penalty `10^{2−e}`; the epoch with the best validation NLL
//! is kept. Classes are fitted one-vs-rest and the scores, times 4, are the logits.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::time::{Duration, Instant};

use ndarray::{Array1, Array2, Array3, ArrayView2, Axis};
use rand::RngExt;
use svn_bench::engine::{
    Context, EpochPoint, EpochProgress, Fold, Model, Part, RunError, Trained, Trainer,
};
use svn_bench::metrics::{classification_metrics, regression_metrics};
use svn_models::recipe::{Method, Resolved};
use svn_models::scaling::{FeatureScaler, TargetScaler};
use svn_models::{ClassPrediction, ModelError, Prediction};

/// Bagged ridge regression, with a delay per epoch and folds that fail on request.
#[derive(Default)]
pub(crate) struct Ridge {
    pub epoch_delay: Duration,
    pub fail: Option<(Method, usize)>,
    pub panic: Option<(Method, usize)>,
}

impl Trainer for Ridge {
    fn fit(
        &self,
        fold: &Fold,
        resolved: &Resolved,
        context: &Context<'_>,
    ) -> Result<Trained, RunError> {
        let job = (resolved.method, context.run.fold);
        if self.fail == Some(job) {
            return Err(RunError::Failed(
                "the loss is not finite after step 3".into(),
            ));
        }
        assert!(self.panic != Some(job), "index out of bounds");
        let epochs = resolved.recipe.epochs.unwrap_or(1).min(6);
        let members = resolved.recipe.particles.unwrap_or(5);
        let (mut best, mut trained) = (f64::INFINITY, None);
        let (mut curve, mut step_ms) = (Vec::new(), Vec::new());
        for epoch in 1..=epochs {
            let step = Instant::now();
            std::thread::sleep(self.epoch_delay);
            let model = RidgeModel::fit(fold, members, 10f64.powi(2 - epoch as i32), context);
            let validation_nll = model.nll(&fold.validation);
            if validation_nll.is_some_and(|nll| nll < best) {
                best = validation_nll.unwrap();
                trained = Some((epoch, model));
            }
            curve.push(EpochPoint {
                epoch,
                validation_nll,
            });
            step_ms.push(step.elapsed().as_secs_f64() * 1e3);
            (context.progress)(EpochProgress {
                epoch,
                epochs,
                validation_nll,
            });
        }
        let (best_epoch, model) = trained.unwrap();
        Ok(Trained {
            model: Box::new(model),
            validation_nll: None,
            epochs,
            best_epoch,
            curve,
            kernel: None,
            epoch_s: step_ms.iter().map(|ms| ms / 1e3).collect(),
            step_ms,
            warnings: Vec::new(),
        })
    }
}

struct RidgeModel {
    features: FeatureScaler,
    target: TargetScaler,
    /// Of each member: (features + 1) × outputs.
    weights: Vec<Array2<f64>>,
    /// Of each member, standardised; none for classes.
    noise: Option<Vec<f64>>,
}

impl RidgeModel {
    fn fit(fold: &Fold, members: usize, penalty: f64, context: &Context<'_>) -> Self {
        let Part { x, y } = &fold.train;
        let features = FeatureScaler::fit(x.view()).unwrap();
        let x = with_intercept(&features.transform(x.view()).unwrap());
        let classes = fold.labels.as_ref().map(|labels| labels.len());
        let target = match classes {
            Some(_) => TargetScaler::IDENTITY,
            None => TargetScaler::fit(y.view()).unwrap(),
        };
        let y = target.transform(y.view());
        let mut rng = context.stream("bootstrap");
        let n = y.len();
        let member = |_| {
            let rows: Vec<usize> = (0..n).map(|_| rng.random_range(0..n)).collect();
            let x = x.select(Axis(0), &rows);
            let y = outputs(classes, &y.select(Axis(0), &rows));
            let gram = x.t().dot(&x) + Array2::<f64>::eye(x.ncols()) * penalty;
            solve(gram, x.t().dot(&y))
        };
        let weights: Vec<Array2<f64>> = (0..members).map(member).collect();
        let noise = weights.iter().map(|w| {
            let residual = &x.dot(w).column(0) - &y;
            residual.dot(&residual) / n as f64 + 1e-6
        });
        Self {
            noise: classes.is_none().then(|| noise.collect()),
            weights,
            features,
            target,
        }
    }

    fn outputs(&self, x: ArrayView2<'_, f64>) -> Vec<Array2<f64>> {
        let x = with_intercept(&self.features.transform(x).unwrap());
        self.weights.iter().map(|w| x.dot(w)).collect()
    }

    fn nll(&self, part: &Part) -> Option<f64> {
        let metrics = match self.noise {
            Some(_) => {
                let prediction = self.predict(part.x.view()).unwrap();
                regression_metrics(&prediction, None, part.y.view())
            }
            None => {
                let prediction = self.predict_classes(part.x.view()).unwrap();
                classification_metrics(&prediction, &part.classes())
            }
        };
        metrics.unwrap().value("nll")
    }
}

impl Model for RidgeModel {
    fn predict(&self, x: ArrayView2<'_, f64>) -> Result<Prediction, ModelError> {
        let outputs = self.outputs(x);
        let shape = (outputs.len(), x.nrows());
        let variances = self.noise.as_ref().unwrap();
        let noise = Array2::from_shape_fn(shape, |(p, _)| variances[p]);
        let means = Array2::from_shape_fn(shape, |(p, i)| outputs[p][[i, 0]]);
        let prediction = Prediction::new(means, noise)?;
        Ok(prediction.rescaled(self.target.mean, self.target.scale))
    }

    fn predict_classes(&self, x: ArrayView2<'_, f64>) -> Result<ClassPrediction, ModelError> {
        let outputs = self.outputs(x);
        let shape = (outputs.len(), x.nrows(), outputs[0].ncols());
        ClassPrediction::new(Array3::from_shape_fn(shape, |(p, i, c)| {
            4.0 * outputs[p][[i, c]]
        }))
    }
}

fn with_intercept(x: &Array2<f64>) -> Array2<f64> {
    ndarray::concatenate![Axis(1), x.view(), Array2::ones((x.nrows(), 1))]
}

fn outputs(classes: Option<usize>, y: &Array1<f64>) -> Array2<f64> {
    let columns = classes.unwrap_or(1);
    Array2::from_shape_fn((y.len(), columns), |(i, c)| match classes {
        None => y[i],
        Some(_) => f64::from(y[i] == c as f64),
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
