//! Reference moments from files, moments of particles, and the distance between the two.

use ndarray::{Array1, Array2, ArrayView2, Axis};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use svn_stein::{Curved, Flow, Info, Method, Sampler, State, Stop, run};

/// Mean and standard deviation of some quantities with their Monte Carlo standard errors, by a long HMC run.
#[derive(Deserialize)]
pub(crate) struct Moments {
    pub mean: Vec<f64>,
    pub sd: Vec<f64>,
    pub mean_se: Vec<f64>,
    pub sd_se: Vec<f64>,
    pub worst_r_hat: f64,
}

/// Read a file of `tests/stein/reference`.
pub(crate) fn read<T: DeserializeOwned>(name: &str) -> T {
    let path = format!(
        "{}/tests/stein/reference/{name}",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}

impl Moments {
    /// The reference has to be much better known than the bounds of the tests that use it: chains that agree
    /// (split R-hat) and standard errors below `share` of a standard deviation.
    pub(crate) fn check(&self, share: f64) {
        assert!(self.worst_r_hat < 1.02, "R-hat {}", self.worst_r_hat);
        for (i, &sd) in self.sd.iter().enumerate() {
            assert!(
                self.mean_se[i] < share * sd && self.sd_se[i] < share * sd,
                "quantity {i}"
            );
        }
    }
}

/// Sums of values and squares over particles and steps.
pub(crate) struct Sums {
    count: f64,
    first: Array1<f64>,
    second: Array1<f64>,
}

impl Sums {
    pub(crate) fn new(quantities: usize) -> Self {
        Self {
            count: 0.0,
            first: Array1::zeros(quantities),
            second: Array1::zeros(quantities),
        }
    }

    /// Add every row.
    pub(crate) fn add(&mut self, values: ArrayView2<'_, f64>) {
        self.count += values.nrows() as f64;
        self.first += &values.sum_axis(Axis(0));
        self.second += &values.mapv(|v| v * v).sum_axis(Axis(0));
    }

    pub(crate) fn mean(&self) -> Array1<f64> {
        &self.first / self.count
    }

    /// Population standard deviation.
    pub(crate) fn sd(&self) -> Array1<f64> {
        let mean = self.mean();
        (&self.second / self.count - &mean * &mean).mapv(|v| v.max(0.0).sqrt())
    }
}

/// How far moments are from the reference.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Distance {
    /// Largest `|mean − mean_ref| / sd_ref`, and its root mean square.
    pub worst_mean: f64,
    pub rms_mean: f64,
    /// Largest `|sd / sd_ref − 1|`, its root mean square, and the mean of `sd / sd_ref`.
    pub worst_sd: f64,
    pub rms_sd: f64,
    pub ratio: f64,
}

impl Distance {
    pub(crate) fn new(found: &Sums, mean_ref: &[f64], sd_ref: &[f64]) -> Self {
        let (mean, sd) = (found.mean(), found.sd());
        let n = mean.len() as f64;
        let mut out = Self {
            worst_mean: 0.0,
            rms_mean: 0.0,
            worst_sd: 0.0,
            rms_sd: 0.0,
            ratio: 0.0,
        };
        for i in 0..mean.len() {
            let z = ((mean[i] - mean_ref[i]) / sd_ref[i]).abs();
            let ratio = sd[i] / sd_ref[i];
            out.worst_mean = out.worst_mean.max(z);
            out.rms_mean += z * z / n;
            out.worst_sd = out.worst_sd.max((ratio - 1.0).abs());
            out.rms_sd += (ratio - 1.0).powi(2) / n;
            out.ratio += ratio / n;
        }
        out.rms_mean = out.rms_mean.sqrt();
        out.rms_sd = out.rms_sd.sqrt();
        out
    }
}

/// A table with one line a method, to be read with `--nocapture`.
pub(crate) fn print(title: &str, rows: &[(&str, Distance)]) {
    let mut text = format!(
        "\n{title}\n{:<22} {:>10} {:>9} {:>10} {:>9} {:>9}\n",
        "", "worst mean", "rms mean", "worst sd", "rms sd", "sd ratio"
    );
    for (name, d) in rows {
        text += &format!(
            "{name:<22} {:>10.3} {:>9.3} {:>10.3} {:>9.3} {:>9.3}\n",
            d.worst_mean, d.rms_mean, d.worst_sd, d.rms_sd, d.ratio
        );
    }
    // One call, so that tests that run at the same time do not mix their lines.
    eprintln!("{text}");
}

/// Run `steps` steps and hand the particles of every `every`-th step after `warm_up` to `collect`; the last ones only
/// where `every` is zero.
pub(crate) fn sample(
    method: Method,
    target: &mut dyn Curved,
    start: Array2<f64>,
    seed: u64,
    steps: u64,
    (warm_up, every): (u64, u64),
    collect: &mut dyn FnMut(ArrayView2<'_, f64>),
) {
    let mut sampler = Sampler::new(method).unwrap();
    let mut state = sampler.init(start, seed).unwrap();
    let mut observe = |state: &mut State, info: &Info| {
        if every > 0 && info.step > warm_up && info.step.is_multiple_of(every) {
            collect(state.particles());
        }
        Ok(Flow::Continue)
    };
    run(
        &mut sampler,
        &mut state,
        target,
        Stop::after(steps),
        &mut [&mut observe],
    )
    .unwrap();
    if every == 0 {
        collect(state.particles());
    }
}
