//! Settings of each method where the user gives none; chosen on validation rows, see `docs/experiments/uci-first.md` and,
//! for more than 4000 training rows, `docs/experiments/uci.md`.

use crate::data::Task;
use crate::experiment::{
    Bandwidth, Binary, Coupling, DatasetSummary, Hessian, Kernel, KernelMetric, Method, Noise,
    Predictive, Size, Solver, TrainSettings,
};

/// Fill in what is left out. What a method does not use stays empty, so that the record does not claim it was used.
pub(super) fn resolve(
    dataset: &DatasetSummary,
    method: Method,
    given: &TrainSettings,
) -> TrainSettings {
    let newton = method.is_newton();
    let classes = dataset.task == Task::Classification;
    let has_kernel = method != Method::Ensemble;
    let metric = if newton && method != Method::LlSvn {
        KernelMetric::Curvature
    } else {
        KernelMetric::Identity
    };
    let metric = given.metric.or(Some(metric)).filter(|_| has_kernel);
    // Rows are kept where the method or its kernel asks for curvature.
    let curved = newton || metric == Some(KernelMetric::Curvature);
    // One large batch shows a Newton step more directions than a ring of small ones, and at less noise.
    let (lr, batch_size, damping, trust_region, ring) = match (newton, dataset.size()) {
        (true, Size::Small) => (1.0, 16, 20.0, 0.1, 6),
        (true, Size::Medium) => (1.0, 256, 100.0, 0.03, 1),
        (true, Size::Large) => (1.0, 384, 500.0, 0.03, 1),
        (false, Size::Small) => (0.03, 16, 0.0, 0.0, 6),
        (false, Size::Medium | Size::Large) => (0.01, 32, 0.0, 0.0, 6),
    };
    TrainSettings {
        epochs: given.epochs.or(Some(50)),
        lr: given.lr.or(Some(lr)),
        batch_size: given
            .batch_size
            .or(Some(batch_size.min(dataset.train_rows.max(1)))),
        particles: given.particles.or(Some(5)),
        hidden: given.hidden.clone().or(Some(vec![50, 50])),
        noise: given
            .noise
            .or(Some(Noise::Heteroscedastic))
            .filter(|_| !classes),
        noise_floor: given
            .noise_floor
            .filter(|_| !classes && given.noise != Some(Noise::Homoscedastic)),
        prior_precision: given.prior_precision.or(Some(prior_precision(method))),
        hessian: given.hessian.or(Some(Hessian::Full)).filter(|_| curved),
        coupling: given.coupling.or(Some(Coupling::Gram)).filter(|_| newton),
        kernel: given.kernel.or(Some(Kernel::Rbf)).filter(|_| has_kernel),
        metric,
        bandwidth: given
            .bandwidth
            .or(Some(Bandwidth::Median))
            .filter(|_| has_kernel),
        solver: given.solver.or(Some(Solver::Auto)).filter(|_| newton),
        damping: given.damping.or(Some(damping)).filter(|_| newton),
        trust_region: given.trust_region.or(Some(trust_region)).filter(|_| newton),
        ring: given.ring.or(Some(ring)).filter(|_| curved),
        curvature_rows: given.curvature_rows.filter(|_| curved),
        schedule: given.schedule,
        averaging: given.averaging,
        binary: given
            .binary
            .or(Some(Binary::Bernoulli))
            .filter(|_| dataset.classes == 2),
        predictive: given
            .predictive
            .filter(|kind| !classes || *kind == Predictive::Laplace),
        temperature: given.temperature.filter(|_| classes),
        backend: given.backend,
    }
}

/// What suited the validation rows of yacht, autompg and energy best, of 1, 3 and 10 (of 1, 2 and 3 for SVN).
fn prior_precision(method: Method) -> f64 {
    match method {
        Method::Ensemble => 1.0,
        Method::Wgd | Method::Svgd => 3.0,
        Method::Svn | Method::LlSvn | Method::Ssvn => 2.0,
    }
}
