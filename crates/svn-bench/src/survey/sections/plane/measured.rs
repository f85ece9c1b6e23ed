//! Particles on the double banana: where they go, and how far their moments are from the density's.
//!
//! ```text
//! e_m = |L⁻¹ (m − μ)|        e_S = |L⁻¹ S L⁻ᵀ − I|_F        Σ = L Lᵀ; μ, Σ by quadrature, m, S of the particles
//! ```

use std::time::Instant;

use ndarray::{Array1, Array2, ArrayView2, Axis};
use rand::distr::weighted::WeightedIndex;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};
use svn_models::ModelError;
use svn_models::stein::plane::{DoubleBanana, Quadrature, Target};
use svn_models::stein::{FirstOrder, KernelSettings, Method, Newton, NewtonEnsemble, Sampler};

use crate::perf;
use crate::split::stream;

/// Where the density is, but for a negligible part.
pub(super) const WIDE: ((f64, f64), (f64, f64)) = ((-2.5, 2.5), (-2.0, 3.0));

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// Particles whose paths are kept, and their steps.
    pub(super) paths: (usize, usize),
    /// Particles whose moments are measured.
    pub(super) particles: usize,
    /// From how many starts.
    pub(super) starts: usize,
    /// After which steps, ascending.
    pub(super) steps: &'static [usize],
}

/// What was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Measured {
    /// Where the times are from.
    pub(super) machine: String,
    /// Particles whose moments were measured.
    pub(super) particles: usize,
    /// All methods.
    pub(super) methods: Vec<Moved>,
    /// Errors of as many independent draws from the density as there are particles, a mean of logarithms to base ten.
    pub(super) draws: Errors,
}

/// One method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Moved {
    pub(super) method: String,
    /// Places of each particle, step by step, in thousandths.
    pub(super) paths: Vec<Vec<[i32; 2]>>,
    /// From each start, after each step of the plan.
    pub(super) runs: Vec<Vec<At>>,
}

/// After a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct At {
    pub(super) step: usize,
    /// Milliseconds of all steps so far.
    pub(super) ms: f64,
    pub(super) errors: Errors,
}

/// `e_m`, standard deviations, and `e_S`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Errors {
    pub(super) mean: f64,
    pub(super) covariance: f64,
}

/// Move particles by every method from the same starts.
///
/// # Errors
/// [`ModelError`] of a step that fails.
pub(super) fn measured(plan: &Plan, seed: u64) -> Result<Measured, ModelError> {
    let truth = Truth::new();
    let start = |particles: usize, run: usize| {
        let mut rng = stream(seed, &["plane", "start", &run.to_string()]);
        Array2::from_shape_simple_fn((particles, 2), || StandardNormal.sample(&mut rng))
    };
    let moved = |(name, method): (&str, Method)| {
        let runs = (1..=plan.starts).map(|run| {
            let start = start(plan.particles, run);
            errors(&method, start, plan.steps, &truth)
        });
        Ok::<_, ModelError>(Moved {
            method: name.to_owned(),
            paths: paths(&method, start(plan.paths.0, 0), plan.paths.1)?,
            runs: runs.collect::<Result<_, _>>()?,
        })
    };
    Ok(Measured {
        machine: perf::machine(),
        particles: plan.particles,
        methods: methods().into_iter().map(moved).collect::<Result<_, _>>()?,
        draws: truth.draws(plan.particles, seed),
    })
}

/// SVGD by Adam, and the Newton methods with their default settings.
fn methods() -> [(&'static str, Method); 3] {
    let svgd = Method::Svgd {
        kernel: KernelSettings::default(),
        step: FirstOrder::adam(0.05),
    };
    let apart = NewtonEnsemble::default();
    [
        ("SVGD", svgd),
        ("Newton ensemble", Method::NewtonEnsemble(apart)),
        ("SVN", Method::Svn(Newton::default())),
    ]
}

fn paths(
    method: &Method,
    start: Array2<f64>,
    steps: usize,
) -> Result<Vec<Vec<[i32; 2]>>, ModelError> {
    let mut sampler = Sampler::new(method.clone())?;
    let mut state = sampler.init(start, 0)?;
    let mut target = Target::new(DoubleBanana);
    let mut paths = vec![Vec::with_capacity(steps + 1); state.particles().nrows()];
    for step in 0..=steps {
        if step > 0 {
            sampler.step(&mut state, &mut target)?;
        }
        for (path, place) in paths.iter_mut().zip(state.particles().rows()) {
            path.push([place[0], place[1]].map(|along| (1e3 * along).round() as i32));
        }
    }
    Ok(paths)
}

fn errors(
    method: &Method,
    start: Array2<f64>,
    steps: &[usize],
    truth: &Truth,
) -> Result<Vec<At>, ModelError> {
    let mut sampler = Sampler::new(method.clone())?;
    let mut state = sampler.init(start, 0)?;
    let mut target = Target::new(DoubleBanana);
    let (mut ms, mut found) = (0.0, Vec::with_capacity(steps.len()));
    for step in 1..=steps.last().copied().unwrap_or(0) {
        let clock = Instant::now();
        sampler.step(&mut state, &mut target)?;
        ms += clock.elapsed().as_secs_f64() * 1e3;
        if steps.contains(&step) {
            let errors = truth.errors(state.particles());
            found.push(At { step, ms, errors });
        }
    }
    Ok(found)
}

/// The density by quadrature.
pub(super) struct Truth {
    grid: Quadrature,
    mean: Array1<f64>,
    /// `L`, of `Σ = L Lᵀ`.
    root: [[f64; 2]; 2],
}

impl Truth {
    pub(super) fn new() -> Self {
        let grid = Quadrature::new(&DoubleBanana, WIDE.0, WIDE.1, 200);
        let covariance = grid.covariance();
        let first = covariance[(0, 0)].sqrt();
        let off = covariance[(1, 0)] / first;
        Self {
            mean: grid.mean(),
            root: [[first, 0.0], [off, (covariance[(1, 1)] - off * off).sqrt()]],
            grid,
        }
    }

    /// Of equally weighted particles, `N × 2`.
    pub(super) fn errors(&self, particles: ArrayView2<'_, f64>) -> Errors {
        let [[a, _], [b, c]] = self.root;
        let whitened = particles.rows().into_iter().map(|place| {
            let first = (place[0] - self.mean[0]) / a;
            [first, (place[1] - self.mean[1] - b * first) / c]
        });
        let whitened: Vec<[f64; 2]> = whitened.collect();
        let whitened = Array2::from(whitened);
        let mean = whitened
            .mean_axis(Axis(0))
            .unwrap_or_else(|| Array1::zeros(2));
        let centred = &whitened - &mean;
        let off =
            centred.t().dot(&centred) / whitened.nrows().max(1) as f64 - Array2::<f64>::eye(2);
        let norm = |squares: f64| squares.sqrt();
        Errors {
            mean: norm(mean.mapv(|along| along * along).sum()),
            covariance: norm(off.mapv(|entry| entry * entry).sum()),
        }
    }

    /// Of independent draws, the geometric mean of many.
    fn draws(&self, particles: usize, seed: u64) -> Errors {
        const TIMES: usize = 200;
        let mut rng = stream(seed, &["plane", "draws"]);
        let Ok(places) = WeightedIndex::new(self.grid.weights()) else {
            return Errors {
                mean: f64::NAN,
                covariance: f64::NAN,
            };
        };
        let mut logs = [0.0; 2];
        for _ in 0..TIMES {
            let rows: Vec<usize> = (0..particles).map(|_| places.sample(&mut rng)).collect();
            let errors = self.errors(self.grid.points().select(Axis(0), &rows).view());
            logs[0] += errors.mean.log10() / TIMES as f64;
            logs[1] += errors.covariance.log10() / TIMES as f64;
        }
        Errors {
            mean: 10f64.powf(logs[0]),
            covariance: 10f64.powf(logs[1]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four points at `μ ± √2 L e_i` have the density's own mean and covariance.
    #[test]
    fn points_with_the_moments_of_the_density_have_no_error() {
        let truth = Truth::new();
        let [[a, _], [b, c]] = truth.root;
        let (root, mean) = (2f64.sqrt(), &truth.mean);
        let place = |x: f64, y: f64| [mean[0] + root * a * x, mean[1] + root * (b * x + c * y)];
        let at = |scale: f64| {
            Array2::from(vec![
                place(scale, 0.0),
                place(-scale, 0.0),
                place(0.0, scale),
                place(0.0, -scale),
            ])
        };
        let exact = truth.errors(at(1.0).view());
        assert!(exact.mean < 1e-12 && exact.covariance < 1e-12, "{exact:?}");
        // Twice as wide: four times the covariance, three in excess on both axes.
        let wide = truth.errors(at(2.0).view());
        assert!((wide.covariance - 3.0 * root).abs() < 1e-12, "{wide:?}");
        // A standard deviation to the right, along the first column of L.
        let mut moved = at(1.0);
        moved.rows_mut().into_iter().for_each(|mut row| {
            row[0] += a;
            row[1] += b;
        });
        assert!((truth.errors(moved.view()).mean - 1.0).abs() < 1e-12);
    }

    /// Of a squared error of the mean the expectation is 2/N.
    #[test]
    fn independent_draws_are_off_as_their_number_says() {
        let draws = Truth::new().draws(50, 0);
        // The geometric mean of |z|, z normal in the plane, is √(2 e^−γ) = 1.06, in units of 1/√N; 200 draws leave 5 %.
        let expected = (2.0 * (-0.577_215_664_9f64).exp() / 50.0).sqrt();
        assert!((draws.mean / expected - 1.0).abs() < 0.2, "{draws:?}");
    }
}
