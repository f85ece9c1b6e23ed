//! A density of one's own, sampled first by its score alone, then with its curvature as well.
//!
//! ```text
//! y_i ~ N(a (1 − exp(−b t_i)), 0.1²),   log a, log b ~ N(0, 1)
//! cargo run -p svn-stein --example own_density
//! ```
//!
//! The curvature is the Gauss-Newton matrix `JᵀJ/0.01 + I`: positive definite wherever the particles are.

use ndarray::{Array2, Array3, ArrayView2, ArrayViewMut1, ArrayViewMut2};
use svn_stein::linalg::DenseMatrices;
use svn_stein::target::{Curvature, Curved, Score, TargetError};
use svn_stein::{
    FirstOrder, KernelSettings, Method, Newton, Sampler, ScoreOnly, SteinError, Stop, run,
};

const NOISE: f64 = 0.1;
const TRUTH: [f64; 2] = [2.0, 0.7];

/// The data, and room for the curvature of each particle.
struct Saturation {
    rows: Vec<(f64, f64)>,
    curvature: Array3<f64>,
}

impl Saturation {
    fn new() -> Self {
        let [a, b] = TRUTH;
        // Noise that needs no generator: both signs, and no trend.
        let noise = |i: usize| NOISE * (2.4 * (i * i) as f64).sin();
        let row = |i: usize| {
            let t = 0.25 * (i + 1) as f64;
            (t, a * (1.0 - (-b * t).exp()) + noise(i))
        };
        Self {
            rows: (0..20).map(row).collect(),
            curvature: Array3::zeros((0, 2, 2)),
        }
    }
}

impl Score for Saturation {
    fn dim(&self) -> usize {
        2
    }

    fn score_into(
        &mut self,
        phi: ArrayView2<'_, f64>,
        mut log_density: ArrayViewMut1<'_, f64>,
        mut score: ArrayViewMut2<'_, f64>,
    ) -> Result<(), TargetError> {
        self.curvature = Array3::zeros((phi.nrows(), 2, 2));
        for (p, phi) in phi.rows().into_iter().enumerate() {
            let (a, b) = (phi[0].exp(), phi[1].exp());
            log_density[p] = -0.5 * phi.dot(&phi);
            score.row_mut(p).assign(&(-&phi));
            for i in 0..2 {
                self.curvature[[p, i, i]] = 1.0;
            }
            for &(t, y) in &self.rows {
                let decay = (-b * t).exp();
                let residual = (y - a * (1.0 - decay)) / NOISE;
                // Derivatives by log a and log b, in standard deviations of the noise.
                let slope = [a * (1.0 - decay) / NOISE, a * b * t * decay / NOISE];
                log_density[p] -= 0.5 * residual * residual;
                for i in 0..2 {
                    score[[p, i]] += residual * slope[i];
                    for j in 0..2 {
                        self.curvature[[p, i, j]] += slope[i] * slope[j];
                    }
                }
            }
        }
        Ok(())
    }
}

impl Curved for Saturation {
    fn curvature_into(
        &mut self,
        phi: ArrayView2<'_, f64>,
        log_density: ArrayViewMut1<'_, f64>,
        score: ArrayViewMut2<'_, f64>,
    ) -> Result<Curvature<'_>, TargetError> {
        self.score_into(phi, log_density, score)?;
        Ok(Box::new(DenseMatrices::new(self.curvature.view())))
    }
}

/// Mean and standard deviation of `a` and `b` over the particles.
fn moments(particles: ArrayView2<'_, f64>) -> [(f64, f64); 2] {
    [0, 1].map(|column| {
        let values = particles.column(column).mapv(f64::exp);
        (values.mean().unwrap_or(f64::NAN), values.std(0.0))
    })
}

/// Runs a method from the same start, tells where it ended and checks it against the truth.
fn follow(
    name: &str,
    method: Method,
    target: &mut impl Curved,
    steps: u64,
) -> Result<(), SteinError> {
    let start = Array2::from_shape_fn((30, 2), |(p, i)| ((7 * p + 3 * i) as f64).sin());
    let mut sampler = Sampler::new(method)?;
    let mut state = sampler.init(start, 0)?;
    run(
        &mut sampler,
        &mut state,
        target,
        Stop::after(steps),
        &mut [],
    )?;
    let [a, b] = moments(state.particles());
    println!(
        "{name}, {steps} steps: a = {:.3} ± {:.3}, b = {:.3} ± {:.3}",
        a.0, a.1, b.0, b.1
    );
    for ((mean, sd), truth) in [a, b].into_iter().zip(TRUTH) {
        let near = (mean - truth).abs() < 0.2 && sd < 0.2;
        assert!(near, "{name}: {mean} ± {sd} beside {truth}");
    }
    Ok(())
}

fn main() -> Result<(), SteinError> {
    let svgd = Method::Svgd {
        kernel: KernelSettings::default(),
        step: FirstOrder::adam(0.05),
    };
    // A target that has no curvature is wrapped.
    follow("svgd", svgd, &mut ScoreOnly(Saturation::new()), 1000)?;
    let svn = Method::Svn(Newton::default());
    follow("svn", svn, &mut Saturation::new(), 100)
}
