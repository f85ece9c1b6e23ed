//! Stochastic SVN on the hybrid Rosenbrock density in 5 and 10 dimensions, against exact moments.
//!
//! ```text
//! x₁ ~ N(1, 1/2a),   x_{j,1} | x₁ ~ N(x₁², 1/2b),   x_{j,i+1} | x_{j,i} ~ N(x_{j,i}², 1/2b),   a = 10, b = 30
//! E[(y² + σ e)^k] = Σ_l C(k, l) E[y^{2l}] σ^{k−l} E[e^{k−l}],   e ~ N(0, 1)
//! ```
//!
//! The recursion gives moments up to order `K` from those of the coordinate before up to `2K`; it starts from the moments
//! of a Gaussian, `E[x^{k+1}] = μ E[x^k] + k s² E[x^{k−1}]`. So means and variances are exact; no chain is needed.
//!
//! Reference: Pagani, Wiegand & Nadarajah (2022), *An n-dimensional Rosenbrock distribution for MCMC testing*.

use ndarray::{Array3, ArrayView2, ArrayViewMut1, ArrayViewMut2};
use svn_stein::linalg::DenseMatrices;
use svn_stein::target::{Curvature, Curved, Score, TargetError};
use svn_stein::*;

use super::reference::{Distance, Sums, print, sample};
use crate::common::normals;

const A: f64 = 10.0;
const B: f64 = 30.0;

/// `blocks` chains of `length` coordinates behind the first one.
struct Hybrid {
    blocks: usize,
    length: usize,
    hessian: Array3<f64>,
}

impl Hybrid {
    fn new(blocks: usize, length: usize) -> Self {
        Self {
            blocks,
            length,
            hessian: Array3::zeros((0, 0, 0)),
        }
    }

    /// Index of the coordinate whose square is the mean of coordinate `i > 0`.
    fn parent(&self, i: usize) -> usize {
        if (i - 1).is_multiple_of(self.length) {
            0
        } else {
            i - 1
        }
    }

    /// Mean and standard deviation of every coordinate.
    fn moments(&self) -> (Vec<f64>, Vec<f64>) {
        let mut order = 2_usize << self.length;
        let mut moments = gaussian(1.0, 0.5 / A, order);
        let mut of_depth = vec![(moments[1], moments[2])];
        while order > 2 {
            order /= 2;
            let noise = gaussian(0.0, 0.5 / B, order);
            moments = (0..=order)
                .map(|k| {
                    (0..=k)
                        .map(|l| binomial(k, l) * moments[2 * l] * noise[k - l])
                        .sum()
                })
                .collect();
            of_depth.push((moments[1], moments[2]));
        }
        (0..self.dim())
            .map(|i| of_depth[if i == 0 { 0 } else { (i - 1) % self.length + 1 }])
            .map(|(first, second)| (first, (second - first * first).sqrt()))
            .unzip()
    }
}

/// `E[x^k]` for `k = 0 … order` of `N(mean, variance)`.
fn gaussian(mean: f64, variance: f64, order: usize) -> Vec<f64> {
    let mut out = vec![1.0, mean];
    for k in 1..order {
        out.push(mean * out[k] + k as f64 * variance * out[k - 1]);
    }
    out
}

fn binomial(n: usize, k: usize) -> f64 {
    (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
}

impl Score for Hybrid {
    fn dim(&self) -> usize {
        1 + self.blocks * self.length
    }

    fn score_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        mut log_density: ArrayViewMut1<'_, f64>,
        mut score: ArrayViewMut2<'_, f64>,
    ) -> Result<(), TargetError> {
        let d = self.dim();
        self.hessian = Array3::zeros((particles.nrows(), d, d));
        for (p, x) in particles.rows().into_iter().enumerate() {
            let mut value = -A * (x[0] - 1.0).powi(2);
            let mut s = score.row_mut(p);
            s.fill(0.0);
            s[0] = -2.0 * A * (x[0] - 1.0);
            self.hessian[(p, 0, 0)] = 2.0 * A;
            for i in 1..d {
                let j = self.parent(i);
                let (residual, slope) = (x[i] - x[j] * x[j], -2.0 * x[j]);
                value -= B * residual * residual;
                s[i] -= 2.0 * B * residual;
                s[j] -= 2.0 * B * residual * slope;
                // Gauss-Newton: the residual of coordinate i has the gradient e_i − 2 x_j e_j.
                self.hessian[(p, i, i)] += 2.0 * B;
                self.hessian[(p, j, j)] += 2.0 * B * slope * slope;
                self.hessian[(p, i, j)] += 2.0 * B * slope;
                self.hessian[(p, j, i)] += 2.0 * B * slope;
            }
            log_density[p] = value;
        }
        Ok(())
    }
}

impl Curved for Hybrid {
    fn curvature_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        log_density: ArrayViewMut1<'_, f64>,
        score: ArrayViewMut2<'_, f64>,
    ) -> Result<Curvature<'_>, TargetError> {
        self.score_into(particles, log_density, score)?;
        Ok(Box::new(DenseMatrices::new(self.hessian.view())))
    }
}

fn distance(hybrid: &mut Hybrid, rate: f64, damping: f64, steps: u64) -> Distance {
    let settings = Newton {
        rate: Rate::constant(rate),
        ridge: 0.1,
        damping: Damping::Constant(damping),
        ..Newton::plain()
    };
    let d = hybrid.dim();
    let (mean, sd) = hybrid.moments();
    let mut sums = Sums::new(d);
    // Settings were chosen with seeds 1, 2 and 3.
    let (start, seed) = (normals(4, (10, d)) * 0.3 + 1.0, 4);
    let mut collect = |x: ArrayView2<'_, f64>| sums.add(x);
    let method = Method::Ssvn(settings);
    sample(
        method,
        hybrid,
        start,
        seed,
        steps,
        (steps / 8, 1),
        &mut collect,
    );
    Distance::new(&sums, &mean, &sd)
}

#[test]
fn moments_agree_with_draws() {
    // Ancestral sampling: 200 000 draws, bounds of 5 standard errors and more even for the heavy last coordinate.
    let hybrid = Hybrid::new(2, 3);
    let (mean, sd) = hybrid.moments();
    let mut x = normals(1, (200_000, hybrid.dim()));
    for mut row in x.rows_mut() {
        row[0] = 1.0 + row[0] * (0.5 / A).sqrt();
        for i in 1..row.len() {
            row[i] = row[hybrid.parent(i)].powi(2) + row[i] * (0.5 / B).sqrt();
        }
    }
    let mut sums = Sums::new(hybrid.dim());
    sums.add(x.view());
    let found = Distance::new(&sums, &mean, &sd);
    assert!(
        found.worst_mean < 0.012 && found.worst_sd < 0.05,
        "{found:?}"
    );
}

#[test]
fn ssvn_samples_five_and_ten_dimensions() {
    let five = distance(&mut Hybrid::new(2, 2), 0.03, 30.0, 6000);
    let ten = distance(&mut Hybrid::new(3, 3), 0.1, 3.0, 6000);
    print(
        "hybrid Rosenbrock, exact moments",
        &[("ssvn, 5-D", five), ("ssvn, 10-D", ten)],
    );
    // 10 particles and 5250 steps of correlation time 2/rate = 70 and 20, several times that where damping or a curved ridge
    // slow them: a few hundred draws, so about 0.05 by chance in a mean, and 0.1 in the standard deviation of a coordinate
    // with heavy tails, up to three times that at the worst. Less damping in five dimensions lets single excursions into the
    // tail weigh more (0.6 off in one standard deviation). The rest is bias: the method leaves out the divergence of its diffusion K A^-1 K / N, which pulls
    // towards large curvature, here large x. It grows with the dimension, to more than half a standard deviation in ten,
    // whatever the step. The bounds keep that from growing; they do not say that it is right. Standard deviations
    // of fourth and eighth powers come out between 0.1 and 0.4 off at the worst, seed by seed, so their root mean square counts.
    assert!(five.worst_mean < 0.4 && five.worst_sd < 0.3, "{five:?}");
    assert!(ten.worst_mean < 1.0 && ten.rms_sd < 0.35, "{ten:?}");
}
