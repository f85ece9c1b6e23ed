//! From the settings of a run to those of a fit in `svn-models`.

use rand::Rng;
use svn_models::curvature;
use svn_models::fit::{FitSettings, Task};
use svn_models::network::{NetworkSettings, last_layer};
use svn_models::posterior::{CurvatureFamily, CurvaturePart, CurvatureRoot, CurvatureSettings};
use svn_models::stein::{self, DensityEstimator, FirstOrder, Rate, StepRule};
use svn_models::{BackendKind, Device};

use super::Run;
use crate::data::images::{CLASSES, PIXELS};
use crate::experiment::uci::train::method::{kernel, newton};
use crate::experiment::uci::train::{failed, required};
use crate::experiment::vision::{Activation, LlMode, Root};
use crate::experiment::{Hessian, KernelMetric, Method, RunError, Schedule};
use crate::split::stream;

/// Settings for all layers of a run: of pretrained LL-SVN, those of the first-order steps before.
pub(super) fn network_settings(run: &Run<'_>, device: Device) -> Result<FitSettings, RunError> {
    let settings = &run.configuration.settings;
    let activation = match required(run.configuration.vision.activation, "activation")? {
        Activation::Sigmoid => curvature::Activation::Sigmoid,
        Activation::Relu => curvature::Activation::Relu,
        Activation::Tanh => curvature::Activation::Tanh,
    };
    let fold = run.fold.to_string();
    let mut random = stream(
        run.seed,
        &["vision", "training", &run.configuration.dataset, &fold],
    );
    let mut fit = FitSettings {
        method: stein::Method::Ensemble {
            step: FirstOrder::adam(1.0),
        },
        network: NetworkSettings::LeNet { activation },
        task: Task::Classes(CLASSES),
        prior_precision: required(settings.prior_precision, "prior-precision")?,
        particles: required(settings.particles, "particles")?,
        epochs: required(settings.epochs, "epochs")?,
        batch_size: required(settings.batch_size, "batch-size")?,
        curvature: curvature_settings(run),
        precision: None,
        noise_floor: None,
        averaging: settings.averaging,
        backend: BackendKind::Auto,
        device,
        seed: random.next_u64(),
    };
    fit.method = match run.configuration.vision.ll_mode {
        Some(LlMode::Pretrained) => method(run, &fit, Method::Svgd)?,
        _ => method(run, &fit, run.configuration.method)?,
    };
    Ok(fit)
}

/// Settings for the last layer alone, after all layers have been trained.
pub(super) fn last_layer_settings(run: &Run<'_>, device: Device) -> Result<FitSettings, RunError> {
    let mut fit = network_settings(run, device)?;
    fit.method = method(run, &fit, Method::Svn)?;
    Ok(fit)
}

/// The method, its step sizes falling along half a cosine to zero at the last step unless the settings say otherwise.
fn method(run: &Run<'_>, fit: &FitSettings, method: Method) -> Result<stein::Method, RunError> {
    let (settings, vision) = (&run.configuration.settings, &run.configuration.vision);
    let rows = run.rows.train.len();
    let steps = (fit.epochs * rows.div_ceil(fit.batch_size)) as u64;
    let rate = |lr| match settings.schedule.unwrap_or(Schedule::Cosine) {
        Schedule::Cosine => Rate::cosine(lr, steps),
        Schedule::Constant => Rate::constant(lr),
    };
    let first_order = || -> Result<FirstOrder, RunError> {
        Ok(FirstOrder {
            rule: StepRule::adam(),
            rate: rate(required(settings.lr, "lr")?),
        })
    };
    let newton = || {
        newton(
            settings,
            rate(required(vision.newton_lr, "newton-lr")?),
            rows,
        )
    };
    Ok(match method {
        Method::Ensemble => stein::Method::Ensemble {
            step: first_order()?,
        },
        Method::Wgd => stein::Method::Wgd {
            kernel: kernel(settings)?,
            estimator: DensityEstimator::Kde,
            step: first_order()?,
        },
        Method::Svgd => stein::Method::Svgd {
            kernel: kernel(settings)?,
            step: first_order()?,
        },
        Method::Svn => stein::Method::Svn(newton()?),
        Method::Ssvn => stein::Method::Ssvn(newton()?),
        Method::LlSvn => stein::Method::LlSvn {
            newton: newton()?,
            coordinates: last_layer(&fit.build_network(PIXELS).map_err(failed)?),
            rest: first_order()?,
        },
    })
}

fn curvature_settings(run: &Run<'_>) -> CurvatureSettings {
    let settings = &run.configuration.settings;
    // Of the last layer alone where no kernel asks for more.
    let last_layer_alone = run.configuration.method == Method::LlSvn
        && settings.metric != Some(KernelMetric::Curvature);
    CurvatureSettings {
        family: match settings.hessian {
            Some(Hessian::Full) => CurvatureFamily::Full,
            Some(Hessian::Kfac) => CurvatureFamily::Kfac,
            Some(Hessian::Ekfac) => CurvatureFamily::Ekfac,
            Some(Hessian::Diag) | None => CurvatureFamily::Diag,
        },
        part: if last_layer_alone {
            CurvaturePart::LastLayer
        } else {
            CurvaturePart::WholeNetwork
        },
        root: match run.configuration.vision.root {
            Some(Root::Exact) => CurvatureRoot::Exact,
            Some(Root::Sampled) | None => CurvatureRoot::Sampled(1),
        },
        accumulated_batches: settings.ring.unwrap_or(1),
        ..CurvatureSettings::default()
    }
}
