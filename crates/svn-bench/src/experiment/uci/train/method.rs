//! From the benchmark's settings to a particle method of `svn-stein`.

use svn_models::stein;
use svn_models::stein::{
    Coordinates, Damping, DensityEstimator, FirstOrder, KernelSettings, Metric, Newton, Rate,
    StepRule,
};

use super::required;
use crate::experiment::{
    Bandwidth, Coupling, FoldJob, Kernel, KernelMetric, Method, RunError, Schedule, Solver,
    TrainSettings,
};

/// Relative residual and iterations of the paper's conjugate gradients.
const CG: stein::Solver = stein::Solver::Cg {
    tolerance: 1e-6,
    max_iterations: 50,
};

/// Adam's rate for what is not the last layer, under LL-SVN: the default of the first-order methods.
const REST_LR: f64 = 0.03;

/// The method of a job, its step size falling along half a cosine to zero at the last step unless the settings say otherwise.
pub(super) fn build(job: &FoldJob, last_layer: Coordinates) -> Result<stein::Method, RunError> {
    let settings = &job.settings;
    let rows = job.train.y.len();
    let batches = rows.div_ceil(required(settings.batch_size, "batch-size")?);
    let steps = (required(settings.epochs, "epochs")? * batches) as u64;
    let lr = required(settings.lr, "lr")?;
    let rate = match settings.schedule.unwrap_or(Schedule::Cosine) {
        Schedule::Cosine => Rate::cosine(lr, steps),
        Schedule::Constant => Rate::constant(lr),
    };
    let step = FirstOrder {
        rule: StepRule::adam(),
        rate,
    };
    Ok(match job.method {
        Method::Ensemble => stein::Method::Ensemble { step },
        Method::Wgd => stein::Method::Wgd {
            kernel: kernel(settings)?,
            estimator: DensityEstimator::Kde,
            step,
        },
        Method::Svgd => stein::Method::Svgd {
            kernel: kernel(settings)?,
            step,
        },
        Method::Svn => stein::Method::Svn(newton(settings, rate, rows)?),
        Method::Ssvn => stein::Method::Ssvn(newton(settings, rate, rows)?),
        Method::LlSvn => stein::Method::LlSvn {
            newton: newton(settings, rate, rows)?,
            coordinates: last_layer,
            rest: FirstOrder {
                rule: StepRule::adam(),
                rate: Rate {
                    initial: REST_LR,
                    ..rate
                },
            },
        },
    })
}

pub(in crate::experiment) fn newton(
    settings: &TrainSettings,
    rate: Rate,
    rows: usize,
) -> Result<Newton, RunError> {
    Ok(Newton {
        kernel: kernel(settings)?,
        coupling: coupling(required(settings.coupling, "coupling")?),
        solver: match required(settings.solver, "solver")? {
            Solver::Auto => stein::Solver::Auto,
            Solver::Direct => stein::Solver::Direct,
            Solver::Cg => CG,
        },
        rate,
        damping: Damping::Constant(required(settings.damping, "damping")?),
        trust_region: settings
            .trust_region
            .filter(|bound| *bound > 0.0)
            .map(|bound| bound * rows as f64),
        ..Newton::plain()
    })
}

fn coupling(coupling: Coupling) -> stein::Coupling {
    match coupling {
        Coupling::Exact => stein::Coupling::Exact,
        Coupling::Gram => stein::Coupling::Gram,
        Coupling::BlockRepulsion => stein::Coupling::BlockRepulsion,
        Coupling::BlockDiagonal => stein::Coupling::BlockDiagonal,
    }
}

pub(in crate::experiment) fn kernel(settings: &TrainSettings) -> Result<KernelSettings, RunError> {
    Ok(KernelSettings {
        kernel: match required(settings.kernel, "kernel")? {
            Kernel::Rbf => stein::Kernel::Rbf,
            Kernel::Imq => stein::Kernel::Imq,
        },
        metric: match required(settings.metric, "metric")? {
            KernelMetric::Identity => Metric::Identity,
            KernelMetric::Curvature => Metric::Curvature,
        },
        bandwidth: match required(settings.bandwidth, "bandwidth")? {
            Bandwidth::Fixed(value) => stein::Bandwidth::Fixed(value),
            Bandwidth::Dimension => stein::Bandwidth::Dimension,
            Bandwidth::Median => stein::Bandwidth::Median,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_solver_is_the_one_of_its_name() {
        for (name, expected) in [
            ("auto", stein::Solver::Auto),
            ("direct", stein::Solver::Direct),
            ("cg", CG),
        ] {
            let settings = TrainSettings {
                coupling: Some(Coupling::Gram),
                kernel: Some(Kernel::Rbf),
                metric: Some(KernelMetric::Curvature),
                bandwidth: Some(Bandwidth::Median),
                solver: Some(name.parse().unwrap()),
                damping: Some(1.0),
                ..TrainSettings::default()
            };
            let newton = newton(&settings, Rate::constant(1.0), 10).unwrap();
            assert_eq!(newton.solver, expected, "{name}");
        }
    }
}
