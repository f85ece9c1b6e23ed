//! Defaults of perceptrons and of LeNet, by method and number of rows.
//!
//! Those of perceptrons were chosen on validation rows of the UCI sets, see `docs/experiments/uci-first.md` and, for more than 4000
//! training rows, `docs/experiments/uci.md`; those of LeNet on validation images, see `docs/experiments/vision.md`.

use svn_curvature::Activation;
use svn_stein::Coupling;

use super::{Head, Method, Problem, Recipe, Size};
use crate::posterior::CurvatureFamily;

/// What a network and a size decide.
pub(super) struct Defaults {
    pub activation: Activation,
    pub epochs: usize,
    pub lr: f64,
    pub newton_lr: f64,
    pub batch_size: usize,
    pub prior_precision: f64,
    pub hessian: CurvatureFamily,
    pub coupling: Coupling,
    pub damping: f64,
    pub trust_region: f64,
    pub ring: usize,
    pub curvature_every: Option<usize>,
    pub curvature_refresh: Option<usize>,
    pub momentum: Option<f64>,
}

pub(super) fn perceptron(
    method: Method,
    problem: &Problem,
    likelihood: Option<Head>,
    given: &Recipe,
) -> Defaults {
    let size = Size::of(problem.rows);
    // Some hundred rows of numbers bear a weaker prior; classes, which a network tells apart sooner or later, do not. See
    // `docs/experiments/front-door.md`.
    let some = size == Size::Small
        && problem.classes.is_none()
        && method.is_newton()
        && method != Method::LlSvn;
    // Chosen on validation rows of concrete, energy and power.
    let drawn = likelihood == Some(Head::Mixture);
    let averaged = Averaged::new(method, problem, likelihood, given.hessian);
    // One large batch shows a Newton step more directions than a ring of small ones, and at less noise.
    let of_batches = match (method.is_newton(), size) {
        (true, _) if drawn => mixture(size),
        (true, _) if some => (32, 30.0, 0.03, 6),
        (true, Size::Few | Size::Small) => (16, 20.0, 0.1, 6),
        (true, Size::Medium) => (256, 100.0, 0.03, 1),
        (true, Size::Large) => (384, 500.0, 0.03, 1),
        (false, _) => (first_order_batch(problem.rows), 0.0, 0.0, 6),
    };
    let (batch_size, damping, trust_region, ring) = match averaged {
        Some(steps) => {
            let bound = steps.nats / problem.rows.max(1) as f64;
            (steps.batch_size, steps.damping, bound, steps.ring)
        }
        None => of_batches,
    };
    let averages = averages(method, problem, given.batch_size.unwrap_or(batch_size));
    let momentum = averaged
        .and_then(|steps| steps.momentum)
        .filter(|_| averages);
    // What is left of the noise of batches, of which such steps mostly are.
    let noise = match given.momentum.or(momentum) {
        Some(beta) if averages && averaged.is_some() => (1.0 - beta) / (1.0 + beta),
        _ => 1.0,
    };
    Defaults {
        activation: Activation::Relu,
        epochs: 50,
        lr: match size {
            Size::Few | Size::Small => 0.03,
            _ if method == Method::LlSvn => 0.03,
            Size::Medium | Size::Large => 0.01,
        },
        newton_lr: 1.0,
        batch_size,
        // What suited the validation rows of yacht, autompg and energy best, of 1, 3 and 10 (of 1, 2 and 3 for SVN).
        prior_precision: match method {
            _ if drawn && method.is_newton() && size <= Size::Small => 0.3,
            _ if some => 1.0,
            Method::Ensemble => 1.0,
            Method::Wgd | Method::Svgd | Method::FunctionWgd => 3.0,
            Method::NewtonEnsemble
            | Method::FunctionSvn
            | Method::Svn
            | Method::LlSvn
            | Method::Ssvn
            | Method::Linear => 2.0,
        },
        hessian: CurvatureFamily::Full,
        coupling: Coupling::Gram,
        damping,
        trust_region: trust_region * noise,
        ring,
        curvature_every: averaged.map(|steps| steps.every),
        curvature_refresh: averaged.and_then(|steps| steps.refresh),
        momentum,
    }
}

/// Whether there is something that momentum averages: Newton steps from batches that differ, and no noise of the method's own.
pub(super) fn averages(method: Method, problem: &Problem, batch_size: usize) -> bool {
    method.is_newton() && method != Method::Ssvn && batch_size < problem.rows
}

/// Rows of a batch of first-order steps on a perceptron.
pub(super) fn first_order_batch(rows: usize) -> usize {
    match Size::of(rows) {
        Size::Few | Size::Small => 16,
        Size::Medium | Size::Large => 32,
    }
}

/// Batch, damping, trust region and ring of Newton steps on a mixture density, whose curvature is drawn: more batches and more
/// damping than where it is exact.
fn mixture(size: Size) -> (usize, f64, f64, usize) {
    match size {
        Size::Few | Size::Small => (32, 100.0, 0.03, 8),
        Size::Medium => (128, 100.0, 0.1, 4),
        Size::Large => (128, 1000.0, 0.03, 4),
    }
}

/// Newton steps with curvature that is an average over batches: it knows of all rows, so that it may be old. See `docs/experiments/seconds.md`.
#[derive(Clone, Copy)]
pub(super) struct Averaged {
    batch_size: usize,
    damping: f64,
    /// Of the trust region, for all rows together and without momentum.
    nats: f64,
    ring: usize,
    every: usize,
    refresh: Option<usize>,
    momentum: Option<f64>,
}

impl Averaged {
    /// None of what was not measured: other families and networks, classes, a last layer, and in eigenbases a repulsion between functions and drawn curvature.
    pub(super) fn new(
        method: Method,
        problem: &Problem,
        likelihood: Option<Head>,
        family: Option<CurvatureFamily>,
    ) -> Option<Self> {
        if !method.is_newton()
            || method == Method::LlSvn
            || problem.classes.is_some()
            || problem.network.is_convolutional()
        {
            return None;
        }
        let plain = method != Method::FunctionSvn && likelihood != Some(Head::Mixture);
        let size = Size::of(problem.rows);
        let nats = if size == Size::Large { 40.0 } else { 20.0 };
        let some = size <= Size::Small;
        match family? {
            CurvatureFamily::Diag => Some(Self {
                batch_size: if some { 32 } else { 64 },
                damping: 100.0,
                nats,
                ring: 8,
                every: 10,
                refresh: None,
                momentum: None,
            }),
            CurvatureFamily::Ekfac if plain && some => Some(Self {
                batch_size: 32,
                damping: 30.0,
                nats,
                ring: 10,
                every: 4,
                refresh: Some(100),
                momentum: Some(0.8),
            }),
            CurvatureFamily::Ekfac if plain => Some(Self {
                batch_size: 128,
                damping: 30.0,
                nats,
                ring: 20,
                every: 10,
                refresh: Some(200),
                momentum: None,
            }),
            _ => None,
        }
    }
}

pub(super) fn lenet(method: Method, rows: usize, activation: Option<Activation>) -> Defaults {
    let many = rows >= 4000;
    let activation = activation.unwrap_or(Activation::Sigmoid);
    Defaults {
        activation,
        epochs: if many { 20 } else { 50 },
        lr: match activation {
            Activation::Sigmoid => 0.004,
            _ => 0.001,
        },
        newton_lr: 0.3,
        batch_size: if many { 128 } else { 32 },
        prior_precision: 1.0,
        hessian: match method {
            Method::LlSvn => CurvatureFamily::Kfac,
            _ => CurvatureFamily::Diag,
        },
        coupling: Coupling::BlockDiagonal,
        damping: 10.0,
        // 5 nats for 500 rows.
        trust_region: 0.01,
        ring: 10,
        curvature_every: None,
        curvature_refresh: None,
        momentum: None,
    }
}
