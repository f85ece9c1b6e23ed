//! Hamiltonian Monte Carlo with a unit mass matrix; the step size is adapted in the warm-up alone.
//!
//! ```text
//! p ~ N(0, I);  leapfrog steps of ε over a path uniform on (½, 3/2) times its length;  accept with min(1, exp(−ΔH))
//! warm-up   ln ε_{t+1} = ln(10 ε₀) − (√t / γ) (1/(t + t₀)) Σ_i (a* − a_i),    then the weighted mean of ln ε_t
//! ```
//!
//! References: Neal (2011), arXiv 1206.1901; Hoffman & Gelman (2014), arXiv 1111.4246 (dual averaging).

use ndarray::{Array1, ArrayView1};
use rand::RngExt;
use rand::rngs::ChaCha20Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::Serialize;

/// What a density may fail with.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A density and its gradient at one place.
#[derive(Debug, Clone)]
pub(crate) struct Point {
    pub log_density: f64,
    pub gradient: Array1<f64>,
}

/// What is sampled from.
pub(crate) trait Density {
    /// Number of coordinates.
    fn dim(&self) -> usize;

    /// Log density and its gradient.
    fn evaluate(&self, position: ArrayView1<'_, f64>) -> Result<Point, Failure>;
}

/// Settings of a chain.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Settings {
    /// Draws that are discarded.
    pub warm_up: usize,
    /// Draws that are kept.
    pub draws: usize,
    /// Mean length of a path.
    pub path: f64,
    /// Step size that the warm-up begins with; the kept draws do not have it.
    #[serde(skip)]
    pub first_step: f64,
    /// Most leapfrog steps of a path, for the first steps of a warm-up.
    #[serde(skip)]
    pub max_leaps: usize,
    /// Acceptance that the warm-up aims at.
    pub target_acceptance: f64,
}

/// What a chain tells of itself after its warm-up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    pub step_size: f64,
    /// Mean probability of acceptance.
    pub acceptance: f64,
    /// Paths whose energy grew by more than 1000.
    pub divergences: usize,
    /// Mean leapfrog steps of a path.
    pub leaps: f64,
}

/// Energy error from which on a path counts as divergent.
const DIVERGENT: f64 = 1000.0;

/// Run a chain from `start`; `keep` sees the position after each kept draw.
pub(crate) fn run(
    density: &impl Density,
    start: Array1<f64>,
    settings: Settings,
    rng: &mut ChaCha20Rng,
    mut keep: impl FnMut(ArrayView1<'_, f64>, &mut ChaCha20Rng) -> Result<(), Failure>,
) -> Result<Run, Failure> {
    let mut position = start;
    let mut here = density.evaluate(position.view())?;
    let mut step = StepSize::new(settings.first_step, settings.target_acceptance);
    let (mut acceptance, mut divergences, mut leaps) = (0.0, 0, 0);
    for draw in 0..settings.warm_up + settings.draws {
        let warm = draw < settings.warm_up;
        let size = if warm { step.size() } else { step.settled() };
        let path = settings.path * rng.random_range(0.5..1.5);
        let count = ((path / size).ceil() as usize).clamp(1, settings.max_leaps);
        let momentum = Array1::from_shape_simple_fn(density.dim(), || StandardNormal.sample(rng));
        let end = leapfrog(density, (&position, &here), momentum, size, count)?;
        let accepted = (-end.error).exp().min(1.0);
        // Not finite: as bad as can be.
        let accepted = if accepted.is_finite() { accepted } else { 0.0 };
        if rng.random::<f64>() < accepted {
            (position, here) = (end.position, end.point);
        }
        if warm {
            step.learn(accepted);
            continue;
        }
        acceptance += accepted / settings.draws as f64;
        divergences += usize::from(end.error.is_nan() || end.error > DIVERGENT);
        leaps += count;
        keep(position.view(), rng)?;
    }
    Ok(Run {
        step_size: step.settled(),
        acceptance,
        divergences,
        leaps: leaps as f64 / settings.draws as f64,
    })
}

/// The end of a path.
struct End {
    position: Array1<f64>,
    point: Point,
    /// `ΔH`.
    error: f64,
}

fn leapfrog(
    density: &impl Density,
    (position, here): (&Array1<f64>, &Point),
    mut momentum: Array1<f64>,
    size: f64,
    count: usize,
) -> Result<End, Failure> {
    let energy =
        |point: &Point, momentum: &Array1<f64>| 0.5 * momentum.dot(momentum) - point.log_density;
    let before = energy(here, &momentum);
    let (mut position, mut point) = (position.clone(), here.clone());
    momentum.scaled_add(0.5 * size, &point.gradient);
    for leap in 1..=count {
        position.scaled_add(size, &momentum);
        point = density.evaluate(position.view())?;
        let share = if leap == count { 0.5 } else { 1.0 };
        momentum.scaled_add(share * size, &point.gradient);
    }
    let error = energy(&point, &momentum) - before;
    Ok(End {
        position,
        point,
        error,
    })
}

/// Dual averaging of `ln ε`.
struct StepSize {
    target: f64,
    centre: f64,
    count: f64,
    shortfall: f64,
    log: f64,
    log_mean: f64,
}

impl StepSize {
    fn new(first: f64, target: f64) -> Self {
        Self {
            target,
            centre: (10.0 * first).ln(),
            count: 0.0,
            shortfall: 0.0,
            log: first.ln(),
            log_mean: 0.0,
        }
    }

    fn learn(&mut self, accepted: f64) {
        const GAMMA: f64 = 0.05;
        const DELAY: f64 = 10.0;
        const POWER: f64 = 0.75;
        self.count += 1.0;
        let share = 1.0 / (self.count + DELAY);
        self.shortfall += share * (self.target - accepted - self.shortfall);
        self.log = self.centre - self.count.sqrt() / GAMMA * self.shortfall;
        let weight = self.count.powf(-POWER);
        self.log_mean += weight * (self.log - self.log_mean);
    }

    /// `ε` of the next draw of the warm-up.
    fn size(&self) -> f64 {
        self.log.exp()
    }

    /// `ε` after it.
    fn settled(&self) -> f64 {
        self.log_mean.exp()
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;
    use rand::SeedableRng;

    use super::*;

    /// `N(μ, diag(σ²))`.
    struct Normal {
        mean: Array1<f64>,
        sd: Array1<f64>,
    }

    impl Density for Normal {
        fn dim(&self) -> usize {
            self.mean.len()
        }

        fn evaluate(&self, position: ArrayView1<'_, f64>) -> Result<Point, Failure> {
            let z = (&position - &self.mean) / &self.sd;
            Ok(Point {
                log_density: -0.5 * z.dot(&z),
                gradient: -z / &self.sd,
            })
        }
    }

    #[test]
    fn a_normal_density_has_its_moments_and_the_steps_their_acceptance() {
        let density = Normal {
            mean: array![1.0, -2.0],
            sd: array![1.0, 0.3],
        };
        let settings = Settings {
            warm_up: 500,
            draws: 4000,
            path: 1.5,
            first_step: 0.01,
            max_leaps: 500,
            target_acceptance: 0.8,
        };
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let mut kept = Vec::new();
        let start = array![10.0, 10.0];
        let run = run(&density, start, settings, &mut rng, |x, _| {
            kept.push(x.to_owned());
            Ok(())
        });
        let run = run.unwrap();
        assert_eq!((kept.len(), run.divergences), (4000, 0));
        assert!((run.acceptance - 0.8).abs() < 0.1, "{run:?}");
        for i in 0..2 {
            let column = Array1::from_iter(kept.iter().map(|x| x[i]));
            // Standard errors of 1000 independent draws, which is fewer than these are worth.
            let error = (column.mean().unwrap() - density.mean[i]) / density.sd[i];
            assert!(error.abs() < 4.0 / 1000_f64.sqrt(), "{i}: {error}");
            let ratio = column.std(1.0) / density.sd[i];
            assert!((ratio - 1.0).abs() < 4.0 / 2000_f64.sqrt(), "{i}: {ratio}");
        }
    }
}
