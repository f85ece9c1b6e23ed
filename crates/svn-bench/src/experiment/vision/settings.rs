//! What an image experiment has besides the common training settings, and the defaults of both.

use serde::{Deserialize, Serialize};

use super::{Activation, LlMode, Root};
use crate::experiment::settings::out_of_range;
use crate::experiment::{
    Bandwidth, Coupling, Hessian, Kernel, KernelMetric, Method, SettingsError, Solver,
    TrainSettings,
};

/// Settings of LeNet and of its last layer. `None` is the default, which [`resolve`] fills in.
///
/// | Name | Purpose | Range |
/// |---|---|---|
/// | `activation` | of LeNet; sigmoid if left out | |
/// | `newton_lr` | step size of Newton steps; left out, `lr` for `svn` and `ssvn`. Else `lr` is that of first-order steps | > 0 |
/// | `ll_mode` | how LL-SVN treats the last layer; joint if left out | |
/// | `root` | root of the curvature in the outputs; sampled if left out, exact for `full` | |
/// | `patience` | epochs without a better validation NLL after which training stops; 0 is never | ≥ 0 |
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "documented as a table above")]
pub struct VisionSettings {
    pub activation: Option<Activation>,
    pub newton_lr: Option<f64>,
    pub ll_mode: Option<LlMode>,
    pub root: Option<Root>,
    pub patience: Option<usize>,
}

impl VisionSettings {
    /// Check the ranges.
    ///
    /// # Errors
    /// [`SettingsError`].
    pub fn validate(&self) -> Result<(), SettingsError> {
        match self.newton_lr {
            Some(lr) if !(lr.is_finite() && lr > 0.0) => {
                Err(out_of_range("newton-lr", lr, "a positive finite number"))
            }
            _ => Ok(()),
        }
    }
}

/// Training rows from which on batches are large and epochs few.
const MANY_ROWS: usize = 4000;

/// Fill in what is left out, for a method and a training part of so many rows. What a method does not use stays empty,
/// so that the record does not claim it was used.
pub fn resolve(
    method: Method,
    train_rows: usize,
    given: &TrainSettings,
    vision: &VisionSettings,
) -> (TrainSettings, VisionSettings) {
    let newton = method.is_newton();
    let last_layer = method == Method::LlSvn;
    let first_order = !newton || last_layer;
    let has_kernel = method != Method::Ensemble;
    let many = train_rows >= MANY_ROWS;
    let metric = match method {
        Method::Svn | Method::Ssvn => KernelMetric::Curvature,
        _ => KernelMetric::Identity,
    };
    let metric = given.metric.or(Some(metric)).filter(|_| has_kernel);
    let curved = newton || metric == Some(KernelMetric::Curvature);
    let hessian = if last_layer {
        Hessian::Kfac
    } else {
        Hessian::Diag
    };
    let hessian = given.hessian.or(Some(hessian)).filter(|_| curved);
    let root = match hessian {
        Some(Hessian::Full) => Root::Exact,
        _ => Root::Sampled,
    };
    let batch = if many { 128 } else { 32 };
    let activation = vision.activation.unwrap_or(Activation::Sigmoid);
    let lr = match activation {
        Activation::Sigmoid => 0.004,
        Activation::Relu | Activation::Tanh => 0.001,
    };
    let train = TrainSettings {
        epochs: given.epochs.or(Some(if many { 20 } else { 50 })),
        lr: given.lr.or(Some(lr)).filter(|_| first_order),
        batch_size: given.batch_size.or(Some(batch.min(train_rows.max(1)))),
        particles: given.particles.or(Some(5)),
        prior_precision: given.prior_precision.or(Some(1.0)),
        hessian,
        coupling: given
            .coupling
            .or(Some(Coupling::BlockDiagonal))
            .filter(|_| newton),
        kernel: given.kernel.or(Some(Kernel::Rbf)).filter(|_| has_kernel),
        metric,
        bandwidth: given
            .bandwidth
            .or(Some(Bandwidth::Median))
            .filter(|_| has_kernel),
        solver: given.solver.or(Some(Solver::Auto)).filter(|_| newton),
        damping: given.damping.or(Some(10.0)).filter(|_| newton),
        trust_region: given.trust_region.or(Some(TRUST_REGION)).filter(|_| newton),
        ring: given.ring.or(Some(10)).filter(|_| curved),
        schedule: given.schedule,
        averaging: given.averaging,
        temperature: given.temperature,
        ..TrainSettings::default()
    };
    // One step size can only be meant for the one kind of step there is.
    let only_lr = given.lr.filter(|_| !first_order);
    let newton_lr = vision.newton_lr.or(only_lr).or(Some(0.3));
    let vision = VisionSettings {
        activation: Some(activation),
        newton_lr: newton_lr.filter(|_| newton),
        ll_mode: vision
            .ll_mode
            .or(Some(LlMode::Joint))
            .filter(|_| last_layer),
        root: vision.root.or(Some(root)).filter(|_| curved),
        patience: vision.patience.filter(|&patience| patience > 0),
    };
    (train, vision)
}

/// Nats a row; 5 nats for 500 rows.
const TRUST_REGION: f64 = 0.01;

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(method: Method) -> (TrainSettings, VisionSettings) {
        resolve(
            method,
            400,
            &TrainSettings::default(),
            &VisionSettings::default(),
        )
    }

    #[test]
    fn a_method_records_what_it_uses_and_nothing_else() {
        let (train, vision) = resolved(Method::Ensemble);
        assert_eq!(
            (train.kernel, train.hessian, train.damping),
            (None, None, None)
        );
        assert_eq!(
            (vision.newton_lr, vision.ll_mode, vision.root),
            (None, None, None)
        );
        assert_eq!(
            (train.lr, train.batch_size, train.epochs),
            (Some(0.004), Some(32), Some(50))
        );

        let (train, vision) = resolved(Method::Svn);
        assert_eq!((train.lr, vision.newton_lr), (None, Some(0.3)));
        assert_eq!(train.hessian, Some(Hessian::Diag));
        assert_eq!(train.metric, Some(KernelMetric::Curvature));
        assert_eq!(train.coupling, Some(Coupling::BlockDiagonal));
        assert_eq!(train.solver, Some(Solver::Auto));

        let (train, vision) = resolved(Method::LlSvn);
        assert_eq!((train.lr, vision.newton_lr), (Some(0.004), Some(0.3)));
        assert_eq!(train.hessian, Some(Hessian::Kfac));
        assert_eq!(train.metric, Some(KernelMetric::Identity));
        assert_eq!(
            (vision.ll_mode, vision.root),
            (Some(LlMode::Joint), Some(Root::Sampled))
        );

        let (train, vision) = resolved(Method::Svgd);
        assert_eq!(
            (train.kernel, train.hessian, vision.root),
            (Some(Kernel::Rbf), None, None)
        );
    }

    #[test]
    fn a_step_size_is_that_of_newton_steps_where_there_are_no_others() {
        let rates = |method, lr, newton_lr| {
            let given = TrainSettings {
                lr,
                ..TrainSettings::default()
            };
            let vision = VisionSettings {
                newton_lr,
                ..VisionSettings::default()
            };
            let (train, vision) = resolve(method, 400, &given, &vision);
            (train.lr, vision.newton_lr)
        };
        for method in [Method::Svn, Method::Ssvn] {
            assert_eq!(rates(method, Some(0.1), None), (None, Some(0.1)));
            assert_eq!(rates(method, Some(0.1), Some(0.2)), (None, Some(0.2)));
        }
        let ll_svn = rates(Method::LlSvn, Some(0.1), None);
        assert_eq!(ll_svn, (Some(0.1), Some(0.3)));
        let svgd = rates(Method::Svgd, Some(0.1), Some(0.2));
        assert_eq!(svgd, (Some(0.1), None));
    }

    #[test]
    fn what_is_given_goes_first() {
        let given = TrainSettings {
            hessian: Some(Hessian::Full),
            batch_size: Some(7),
            ..TrainSettings::default()
        };
        let vision = VisionSettings {
            activation: Some(Activation::Relu),
            patience: Some(0),
            ..VisionSettings::default()
        };
        let (train, vision) = resolve(Method::LlSvn, 48_000, &given, &vision);
        assert_eq!(
            (train.batch_size, train.epochs, train.lr),
            (Some(7), Some(20), Some(0.001))
        );
        assert_eq!((vision.root, vision.patience), (Some(Root::Exact), None));
    }
}
