//! The mixture of the members' Gaussians: density, distribution, quantiles, draws.
//!
//! ```text
//! p(y) = (1/N) Σ_p N(y; μ_p, σ_p² + v_p)        F(y) = (1/N) Σ_p Φ((y − μ_p) / √(σ_p² + v_p))
//! ```

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use ndarray::{Array1, Array2, ArrayView1};
use rand::rngs::ChaCha20Rng;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rayon::prelude::*;

use super::Prediction;
use super::classes::log_sum_exp;
use crate::ModelError;

/// Standard deviations beyond which a Gaussian has no mass in f64.
const FAR: f64 = 40.0;

/// Standard deviations within which a quantile is found.
const CLOSE: f64 = 1e-14;

/// `Φ⁻¹(level)`, by halving.
fn standard_quantile(level: f64) -> f64 {
    let (mut low, mut high) = (-FAR, FAR);
    loop {
        let middle = low + 0.5 * (high - low);
        if !(middle > low && middle < high) {
            return middle;
        }
        match 0.5 * libm::erfc(-middle * FRAC_1_SQRT_2) < level {
            true => low = middle,
            false => high = middle,
        }
    }
}

impl Prediction {
    /// `ln p(y)` of one target a row, in nats; finite however far the target is.
    ///
    /// # Shapes
    /// `targets` and the result: `n`.
    ///
    /// # Errors
    /// [`ModelError::Shape`] unless there is one target a row.
    pub fn log_density(&self, targets: ArrayView1<'_, f64>) -> Result<Array1<f64>, ModelError> {
        self.check_rows(targets.len())?;
        let members = (self.members() as f64).ln();
        Ok(Array1::from_shape_fn(self.rows(), |row| {
            let terms = self.components(row).map(|(mean, variance)| {
                -0.5 * ((targets[row] - mean).powi(2) / variance + (2.0 * PI * variance).ln())
            });
            log_sum_exp(terms) - members
        }))
    }

    /// `p(y)` of one target a row, in one over the units of the targets.
    ///
    /// # Errors
    /// As for [`log_density`](Self::log_density).
    pub fn density(&self, targets: ArrayView1<'_, f64>) -> Result<Array1<f64>, ModelError> {
        Ok(self.log_density(targets)?.mapv_into(f64::exp))
    }

    /// `F(y)` of one target a row: the probability of no more than that.
    ///
    /// # Errors
    /// As for [`log_density`](Self::log_density).
    pub fn cumulative(&self, targets: ArrayView1<'_, f64>) -> Result<Array1<f64>, ModelError> {
        self.check_rows(targets.len())?;
        let at = |row| self.cumulative_at(row, targets[row]);
        Ok(Array1::from_shape_fn(self.rows(), at))
    }

    /// The `y` with `F(y) = level`, `n`, to about `1e-14` standard deviations.
    ///
    /// It lies between the least and the largest quantile of a member, where Newton's method looks for it, and halves what is
    /// left wherever a step leads out.
    ///
    /// # Errors
    /// [`ModelError::Setting`] unless `0 < level < 1`.
    pub fn quantile(&self, level: f64) -> Result<Array1<f64>, ModelError> {
        if !(level > 0.0 && level < 1.0) {
            let expected = "a number between 0 and 1, neither of them";
            return Err(ModelError::setting("quantile", level, expected));
        }
        let z = standard_quantile(level);
        let rows: Vec<f64> = (0..self.rows())
            .into_par_iter()
            .map(|row| self.quantile_at(row, level, z))
            .collect();
        Ok(rows.into())
    }

    /// `z` is the quantile of the standard normal.
    fn quantile_at(&self, row: usize, level: f64, z: f64) -> f64 {
        let ends = self.components(row).map(|(mean, variance)| {
            let sd = variance.sqrt();
            (mean + z * sd, mean + z * sd, sd)
        });
        let (mut low, mut high, sd) = ends
            .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1), a.2.min(b.2)))
            .unwrap_or((f64::NAN, f64::NAN, f64::NAN));
        let mut y = low + 0.5 * (high - low);
        loop {
            let (excess, density) = self.cumulative_and_density_at(row, y);
            let excess = excess - level;
            if excess < 0.0 {
                low = y;
            } else {
                high = y;
            }
            let middle = low + 0.5 * (high - low);
            let newton = y - excess / density;
            let next = match newton > low && newton < high {
                true => newton,
                false => middle,
            };
            // Nothing lies between neighbours; a member alone begins at its end.
            if !(middle > low && middle < high) || (next - y).abs() <= CLOSE * sd {
                return if newton.is_finite() { next } else { y };
            }
            y = next;
        }
    }

    /// Ends of the interval that has `level` of the probability and as much on either side of it, `n` each.
    ///
    /// # Errors
    /// [`ModelError::Setting`] unless `0 < level < 1`.
    pub fn interval(&self, level: f64) -> Result<(Array1<f64>, Array1<f64>), ModelError> {
        Ok((
            self.quantile(0.5 - 0.5 * level)?,
            self.quantile(0.5 + 0.5 * level)?,
        ))
    }

    /// Draws of each row's target, `count × n`; the same for the same seed. Rows are drawn independently of each other.
    pub fn sample(&self, count: usize, seed: u64) -> Array2<f64> {
        let mut random = ChaCha20Rng::seed_from_u64(seed);
        Array2::from_shape_fn((count, self.rows()), |(_, row)| {
            let member = random.random_range(0..self.members());
            let normal: f64 = random.sample(StandardNormal);
            self.means()[[member, row]] + normal * self.member_variance(member, row).sqrt()
        })
    }

    /// Mean and variance of each member at a row.
    fn components(&self, row: usize) -> impl Iterator<Item = (f64, f64)> + Clone + '_ {
        (0..self.members()).map(move |p| (self.means()[[p, row]], self.member_variance(p, row)))
    }

    fn cumulative_at(&self, row: usize, y: f64) -> f64 {
        let below = |(mean, variance): (f64, f64)| {
            0.5 * libm::erfc((mean - y) / variance.sqrt() * FRAC_1_SQRT_2)
        };
        self.components(row).map(below).sum::<f64>() / self.members() as f64
    }

    fn cumulative_and_density_at(&self, row: usize, y: f64) -> (f64, f64) {
        let at = |(mean, variance): (f64, f64)| {
            let sd = variance.sqrt();
            let z = (mean - y) / sd;
            let density = (-0.5 * z * z).exp() / (sd * (2.0 * PI).sqrt());
            (0.5 * libm::erfc(z * FRAC_1_SQRT_2), density)
        };
        let sums = self.components(row).map(at);
        let (below, density) = sums.fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        let members = self.members() as f64;
        (below / members, density / members)
    }

    fn check_rows(&self, found: usize) -> Result<(), ModelError> {
        if found == self.rows() {
            return Ok(());
        }
        Err(ModelError::Shape {
            what: "targets beside the prediction".into(),
            found: vec![found],
            expected: vec![self.rows()],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use ndarray::{Axis, array};
    use proptest::prelude::*;

    /// Two humps at the first row, one at the second.
    fn prediction() -> Prediction {
        let (means, noise) = (
            array![[-3.0, 1.0], [3.0, 1.0]],
            array![[0.5, 4.0], [1.5, 4.0]],
        );
        let prediction = Prediction::new(means, noise).unwrap();
        prediction
            .with_laplace(array![[0.5, 0.0], [0.5, 0.0]])
            .unwrap()
    }

    #[test]
    fn the_density_is_the_sum_of_the_members_and_integrates_to_one() {
        let prediction = prediction();
        let normal =
            |y: f64, m: f64, v: f64| (-(y - m).powi(2) / (2.0 * v)).exp() / (2.0 * PI * v).sqrt();
        let expected = 0.5 * (normal(0.7, -3.0, 1.0) + normal(0.7, 3.0, 2.0));
        let found = prediction.density(array![0.7, 0.0].view()).unwrap();
        assert_relative_eq!(found[0], expected, max_relative = 1e-14);
        let (low, step) = (-20.0, 1e-3);
        let (mut mass, mut cumulative) = (0.0, 0.0);
        for i in 0..40_000 {
            let y = low + step * f64::from(i);
            let density = prediction.density(array![y, y].view()).unwrap()[0];
            mass += step * density;
            if i == 21_000 {
                cumulative = mass - 0.5 * step * density;
            }
        }
        assert_relative_eq!(mass, 1.0, max_relative = 1e-9);
        let at_one = prediction.cumulative(array![1.0, 1.0].view()).unwrap();
        assert_relative_eq!(at_one[0], cumulative, max_relative = 1e-6);
        assert_relative_eq!(at_one[1], 0.5, max_relative = 1e-14);
        // 1e4 standard deviations away the logarithm is there still.
        let far = prediction.log_density(array![1e4, 1e4].view()).unwrap();
        assert!(far.iter().all(|value| value.is_finite() && *value < -1e6));
    }

    #[test]
    fn draws_have_the_moments_and_the_quantiles() {
        let prediction = prediction();
        let draws = prediction.sample(40_000, 7);
        assert_eq!(draws, prediction.sample(40_000, 7));
        // Five standard errors.
        for row in 0..2 {
            let column = draws.index_axis(Axis(1), row);
            let (mean, sd) = (column.mean().unwrap(), column.std(0.0));
            let error = prediction.sd()[row] / 200.0;
            assert!(
                (mean - prediction.mean()[row]).abs() < 5.0 * error,
                "{mean}"
            );
            assert!((sd - prediction.sd()[row]).abs() < 5.0 * error, "{sd}");
            let (low, high) = prediction.interval(0.8).unwrap();
            let inside = column.iter().filter(|y| **y > low[row] && **y < high[row]);
            let share = inside.count() as f64 / 40_000.0;
            assert!((share - 0.8).abs() < 5.0 * 0.002, "{share}");
        }
    }

    #[test]
    fn levels_and_lengths_are_checked() {
        let message = |level| prediction().quantile(level).unwrap_err().to_string();
        for level in [0.0, 1.0, -0.5, f64::NAN] {
            assert!(message(level).starts_with("quantile is "), "{level}");
        }
        assert!(prediction().interval(1.0).is_err());
        assert!(prediction().log_density(array![1.0].view()).is_err());
    }

    proptest! {
        #[test]
        fn quantiles_invert_the_distribution(
            means in proptest::collection::vec(-1e3..1e3_f64, 1..6), level in 0.001..0.999_f64, scale in -3..3_i32
        ) {
            let n = means.len();
            let means = Array2::from_shape_vec((n, 1), means).unwrap();
            let noise = Array2::from_shape_fn((n, 1), |(p, _)| 10f64.powi(scale) * (1.0 + p as f64));
            let prediction = Prediction::new(means, noise).unwrap();
            let y = prediction.quantile(level).unwrap();
            let back = prediction.cumulative(y.view()).unwrap()[0];
            // A last place of y moves F by at most its density times 1e3 · eps.
            prop_assert!((back - level).abs() < 1e-10, "{back} {level}");
            // The slow way: halve the line until nothing lies between neighbours.
            let (mut low, mut high) = (-1e6, 1e6);
            loop {
                let middle = low + 0.5 * (high - low);
                if !(middle > low && middle < high) {
                    break;
                }
                match prediction.cumulative_at(0, middle) < level {
                    true => low = middle,
                    false => high = middle,
                }
            }
            let density = prediction.density(y.view()).unwrap()[0];
            // Where the density is small, rounding of F is many places of y.
            let close = 1e-12 * 1e3 + 1e-15 / density.max(1e-300);
            prop_assert!((y[0] - low).abs() <= close, "{} {low} {close}", y[0]);
        }
    }
}
