//! From the benchmark's settings to those of a fit in `svn-models`.

use rand::Rng;
use svn_models::Device;
use svn_models::curvature::Activation;
use svn_models::fit::{FitSettings, NoiseModel, Task};
use svn_models::network::{NetworkSettings, last_layer};
use svn_models::posterior::{CurvatureFamily, CurvaturePart, CurvatureSettings};

use super::{failed, method, required};
use crate::data;
use crate::experiment::{Binary, FoldJob, Hessian, KernelMetric, Method, Noise, RunError};

/// Settings of a job's fit.
pub(super) fn fit_settings(job: &FoldJob) -> Result<FitSettings, RunError> {
    let settings = &job.settings;
    let network = NetworkSettings::Mlp {
        hidden: required(settings.hidden.clone(), "hidden")?,
        activation: Activation::Relu,
    };
    let task = task(job)?;
    let outputs = task.likelihood().map_err(failed)?.outputs();
    let built = network
        .build(job.train.x.ncols(), outputs)
        .map_err(failed)?;
    Ok(FitSettings {
        method: method::build(job, last_layer(&built))?,
        network,
        task,
        prior_precision: required(settings.prior_precision, "prior-precision")?,
        particles: required(settings.particles, "particles")?,
        epochs: required(settings.epochs, "epochs")?,
        batch_size: required(settings.batch_size, "batch-size")?,
        curvature: curvature(job),
        precision: None,
        noise_floor: settings.noise_floor,
        averaging: settings.averaging,
        backend: settings.backend.unwrap_or_default(),
        device: Device::Cpu,
        seed: job.stream("training").next_u64(),
    })
}

fn task(job: &FoldJob) -> Result<Task, RunError> {
    Ok(match job.dataset.task {
        data::Task::Regression => Task::Regression(match required(job.settings.noise, "noise")? {
            Noise::Homoscedastic => NoiseModel::Homoscedastic,
            Noise::Heteroscedastic => NoiseModel::Heteroscedastic,
        }),
        data::Task::Classification => match job.settings.binary {
            Some(Binary::Bernoulli) => Task::Binary,
            _ => Task::Classes(job.dataset.classes),
        },
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
            Some(Hessian::Ekfac) => CurvatureFamily::Ekfac,
            Some(Hessian::Full) | None => CurvatureFamily::Full,
        },
        part: if last_layer_alone {
            CurvaturePart::LastLayer
        } else {
            CurvaturePart::WholeNetwork
        },
        rows: settings.curvature_rows,
        accumulated_batches: settings.ring.unwrap_or(1),
        ..CurvatureSettings::default()
    }
}
