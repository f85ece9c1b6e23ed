//! From the benchmark's settings to those of a fit in `svn-models`.

use rand::Rng;
use svn_models::curvature::Activation;
use svn_models::fit::{FitSettings, NoiseModel};
use svn_models::network::MlpSettings;
use svn_models::posterior::{CurvatureFamily, CurvaturePart, CurvatureSettings};

use super::{failed, method, required};
use crate::experiment::{FoldJob, Hessian, KernelMetric, Method, Noise, RunError};

/// Settings of a job's fit.
pub(super) fn fit_settings(job: &FoldJob) -> Result<FitSettings, RunError> {
    let settings = &job.settings;
    let hidden = required(settings.hidden.clone(), "hidden")?;
    let noise = match required(settings.noise, "noise")? {
        Noise::Homoscedastic => NoiseModel::Homoscedastic,
        Noise::Heteroscedastic => NoiseModel::Heteroscedastic,
    };
    let network = MlpSettings {
        inputs: job.train.x.ncols(),
        hidden: hidden.clone(),
        outputs: match noise {
            NoiseModel::Heteroscedastic => 2,
            _ => 1,
        },
        activation: Activation::Relu,
    };
    let last_layer = svn_models::network::last_layer(&network.build().map_err(failed)?);
    Ok(FitSettings {
        method: method::build(job, last_layer)?,
        hidden,
        activation: Activation::Relu,
        noise,
        prior_precision: required(settings.prior_precision, "prior-precision")?,
        particles: required(settings.particles, "particles")?,
        epochs: required(settings.epochs, "epochs")?,
        batch_size: required(settings.batch_size, "batch-size")?,
        curvature: curvature(job),
        seed: job.stream("training").next_u64(),
    })
}

fn curvature(job: &FoldJob) -> CurvatureSettings {
    let settings = &job.settings;
    // Of the last layer alone where no kernel asks for more.
    let last_layer_alone =
        job.method == Method::LlSvn && settings.metric != Some(KernelMetric::Curvature);
    CurvatureSettings {
        family: match settings.hessian {
            Some(Hessian::Diag) => CurvatureFamily::Diag,
            Some(Hessian::Kfac) => CurvatureFamily::Kfac,
            Some(Hessian::Full) | None => CurvatureFamily::Full,
        },
        part: if last_layer_alone {
            CurvaturePart::LastLayer
        } else {
            CurvaturePart::WholeNetwork
        },
        accumulated_batches: settings.ring.unwrap_or(1),
        ..CurvatureSettings::default()
    }
}
