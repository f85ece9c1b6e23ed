//! A fit in folds, and the linear model stacked with it.
//!
//! ```text
//! rows → 5 folds → members that have not seen a fold → out-of-fold predictions of all rows → epoch, weight of the linear model
//! p(y | x) = (M · mean of the members' densities + c · that of the linear model) / (M + c)
//! ```
//!
//! `c` is chosen among [`SHARES`] of the number of members `M`, so that the out-of-fold rows are most probable; 0 leaves the linear
//! model out. It was trained without the fold as well, and joins Gaussians and classes alone. Tails and a temperature, where they are asked for, are chosen on the same
//! predictions before it joins.
//!
//! # References
//! Wolpert, *Stacked generalization*, 1992; Yao et al., *Using stacking to average Bayesian predictive distributions*, 2018.

use std::collections::BTreeSet;

use ndarray::{ArrayView1, ArrayView2, Axis};

use super::split::folds;
use super::{Builder, Ensemble, Target, Training};
use crate::fit::{Observer, Part, Within, fit_folds, fit_linear_folds};
use crate::linear::{Linear, PENALTY};
use crate::predictive::Predictor;
use crate::recipe::{Method, Selection};
use crate::scaling::TargetScaler;
use crate::{LabelEncoding, Members, ModelError, Predicted, Rows};

/// Parts of the rows; fewer where there are fewer groups.
const FOLDS: usize = 5;

/// Members that the linear model may count as, in those of the ensemble.
const SHARES: [f64; 8] = [0.0, 0.125, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0];

/// What is said of each row by members that have not seen it.
#[derive(Debug, Clone, PartialEq)]
pub struct OutOfFold {
    /// In the order of the rows and the units of the target, the stacked linear model included.
    pub predicted: Predicted,
    /// The fold of each row, from 0.
    pub folds: Vec<usize>,
}

impl Builder<'_> {
    /// Whether the epoch is chosen in folds.
    pub(super) fn in_folds(&self) -> bool {
        self.recipe.select == Some(Selection::Kfold)
    }

    /// Targets are numbers, or indices of `labels`.
    pub(super) fn fit_folds(
        self,
        x: ArrayView2<'_, f64>,
        y: ArrayView1<'_, f64>,
        labels: Option<LabelEncoding>,
    ) -> Result<Ensemble, ModelError> {
        if labels.is_none() && self.is_undecided() {
            return self.race_likelihoods(y, |builder| builder.fit_folds(x, y, None));
        }
        self.check_names(x.ncols())?;
        self.check_start(Selection::Kfold)?;
        let strata: Option<Vec<usize>> = labels
            .as_ref()
            .map(|_| y.iter().map(|&class| class as usize).collect());
        let groups = self.groups.as_deref();
        let units = groups.map_or(y.len(), |groups| {
            groups.iter().collect::<BTreeSet<_>>().len()
        });
        let count = FOLDS.min(units);
        let fold = folds(y.len(), count, strata.as_deref(), groups, self.seed);
        let rows_of = |k: usize, own: bool| -> Vec<usize> {
            (0..y.len())
                .filter(|&row| (fold[row] == k) == own)
                .collect()
        };
        let features = self.feature_scaler(x)?;
        let scaler = match &labels {
            Some(_) => TargetScaler::IDENTITY,
            None => self.target_scaler(y)?,
        };
        let scaled = (features.transform(x)?, scaler.transform(y));
        let rows = |rows: &[usize]| {
            Rows::new(
                scaled.0.select(Axis(0), rows),
                scaled.1.select(Axis(0), rows),
            )
        };
        let parts = (0..count).map(|k| {
            let train = self.with_context(rows(&rows_of(k, false))?, &features)?;
            Ok((train, rows(&rows_of(k, true))?))
        });
        let parts: Vec<(Rows, Rows)> = parts.collect::<Result<_, ModelError>>()?;
        let fewest = parts.iter().map(|(train, _)| train.len()).min();
        let problem = self.problem((fewest.unwrap_or_default(), x.ncols()), labels.as_ref());
        let resolved = self.resolved(&problem)?;
        let mut settings = resolved.fit_settings(self.device, self.seed)?;
        settings.particles = settings.particles.div_ceil(count);
        let is_linear = self.method == Method::Linear;
        let shift = scaler.scale.ln();
        let nobody: &mut dyn Observer = &mut ();
        let mut watch = Within {
            observer: self.observer.unwrap_or(nobody),
            part: Part {
                units: shift,
                ..Part::default()
            },
        };
        let fit = match is_linear {
            true => {
                let whole = Rows::new(scaled.0.clone(), scaled.1.clone())?;
                fit_linear_folds(&settings, &whole, &parts)?
            }
            false => fit_folds(&settings, &parts, self.checkpoint, &mut watch)?,
        };
        let out_of_fold = fit.folds.iter().zip(&parts).enumerate();
        let out_of_fold = out_of_fold.map(|(k, (members, (_, own)))| {
            Ok((rows_of(k, true), said(members, own.features(), scaler)?))
        });
        let members_said = Predicted::gather(out_of_fold.collect::<Result<_, ModelError>>()?)?;
        let data = Data {
            x,
            y,
            classes: problem.classes,
        };
        let (predictor, members_said) = Predictor::out_of_fold(&resolved.recipe, members_said, y)?;
        let (predicted, linear) = match is_linear {
            true => (members_said, None),
            false => data.stacked(members_said, &fold)?,
        };
        let nll = match (&predicted, self.trial) {
            (Predicted::Numbers(prediction), Some(measure)) => measure.score(prediction, y)?,
            _ => loss(&predicted, y)?,
        };
        let mut history = fit.history;
        for epoch in &mut history {
            epoch.validation_nll = epoch.validation_nll.map(|nll| nll + shift);
        }
        Ok(Ensemble {
            predictor,
            features,
            feature_names: self.feature_names,
            target: match labels {
                Some(labels) => Target::Classes(labels),
                None => Target::Number(scaler),
            },
            linear,
            training: Training {
                train_rows: y.len(),
                validation_rows: y.len(),
                set_aside: Vec::new(),
                out_of_fold: Some(OutOfFold {
                    predicted,
                    folds: fold,
                }),
                validation_nll: nll,
                tried: Vec::new(),
                best_epoch: fit.best_epoch,
                epochs: history.len(),
                history,
                step_times: fit.step_times,
                epoch_times: fit.epoch_times,
                ending: fit.ending,
            },
            members: fit.ensemble,
            resolved,
        })
    }
}

/// What members say, in the units of the target.
fn said(
    members: &Members,
    features: ArrayView2<'_, f64>,
    scaler: TargetScaler,
) -> Result<Predicted, ModelError> {
    Ok(match members.likelihood().classes() {
        Some(_) => Predicted::Classes(members.predict_classes(features)?),
        None => {
            let prediction = members.predict(features)?;
            Predicted::Numbers(prediction.rescaled(scaler.mean, scaler.scale))
        }
    })
}

/// Mean loss of the rows, nats.
fn loss(predicted: &Predicted, y: ArrayView1<'_, f64>) -> Result<f64, ModelError> {
    match predicted {
        Predicted::Numbers(prediction) => prediction.negative_log_density(y),
        Predicted::Classes(prediction) => prediction.negative_log_likelihood(y),
    }
}

struct Data<'a> {
    /// In the units of the data.
    x: ArrayView2<'a, f64>,
    /// Numbers, or indices of classes.
    y: ArrayView1<'a, f64>,
    classes: Option<usize>,
}

impl Data<'_> {
    fn linear(&self, rows: &[usize]) -> Result<Linear, ModelError> {
        let (x, y) = (self.x.select(Axis(0), rows), self.y.select(Axis(0), rows));
        match self.classes {
            None => Linear::ridge(x.view(), y.view(), PENALTY),
            Some(classes) => {
                let y: Vec<usize> = y.iter().map(|&class| class as usize).collect();
                Linear::logistic(x.view(), &y, classes, PENALTY)
            }
        }
    }

    fn said(&self, linear: &Linear, rows: &[usize]) -> Result<Predicted, ModelError> {
        let x = self.x.select(Axis(0), rows);
        match self.classes {
            None => linear.predict(x.view()).map(Predicted::Numbers),
            Some(_) => linear.predict_classes(x.view()).map(Predicted::Classes),
        }
    }

    /// The out-of-fold predictions with the linear model as so many members that they are most probable, and that model, trained
    /// on all rows.
    fn stacked(
        &self,
        members: Predicted,
        fold: &[usize],
    ) -> Result<(Predicted, Option<(Linear, usize)>), ModelError> {
        let count = match &members {
            Predicted::Numbers(prediction) if !prediction.is_gaussian() => {
                return Ok((members, None));
            }
            Predicted::Numbers(prediction) => prediction.members(),
            Predicted::Classes(prediction) => prediction.members(),
        };
        let rows = |keep: &dyn Fn(usize) -> bool| -> Vec<usize> {
            (0..fold.len()).filter(|&row| keep(fold[row])).collect()
        };
        let folds: BTreeSet<usize> = fold.iter().copied().collect();
        let parts = folds.into_iter().map(|k| {
            let linear = self.linear(&rows(&|other| other != k))?;
            let own = rows(&|other| other == k);
            let said = self.said(&linear, &own)?;
            Ok((own, said))
        });
        let linear = Predicted::gather(parts.collect::<Result<_, ModelError>>()?)?;
        let mut best = (members.clone(), 0, loss(&members, self.y)?);
        for share in SHARES {
            let copies = (share * count as f64).round() as usize;
            let stacked = members.clone().with_member(&linear, copies)?;
            let found = loss(&stacked, self.y)?;
            if found < best.2 {
                best = (stacked, copies, found);
            }
        }
        let (predicted, copies, _) = best;
        let linear = match copies {
            0 => None,
            copies => Some((self.linear(&rows(&|_| true))?, copies)),
        };
        Ok((predicted, linear))
    }
}
