//! Momentum of Newton steps: the field averaged over the batches of the last steps, before the system is solved.
//!
//! ```text
//! m_t = β m_(t−1) + (1 − β) v_t,   v̄_t = m_t / (1 − β^t),   (H + λ I) V = v̄_t
//! ```
//!
//! Noise that differs from batch to batch has in the long run `(1 − β)/(1 + β)` of its variance in `v̄`, while the step is that of the old places as well, about `β/(1 − β)` steps
//! ago. A trust region that has to cut noisy steps short cuts these less. Targets that are not stochastic have nothing to average.
//!
//! Reference: Polyak, *Some methods of speeding up the convergence of iteration methods*, 1964; the correction of the start as in Adam (Kingma & Ba, 2015).

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use crate::error::SteinError;

/// `m_t` and `1 − β^t`; part of the state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Momentum {
    mean: Array2<f64>,
    weight: f64,
}

impl Momentum {
    /// `field` becomes `v̄` and is remembered in `memory`; what is of another shape there is forgotten, and all without a `beta`.
    pub(crate) fn average(memory: &mut Option<Self>, beta: f64, field: &mut Array2<f64>) {
        if beta == 0.0 {
            *memory = None;
            return;
        }
        let fits = |known: &Self| known.mean.dim() == field.dim();
        let known = memory.take().filter(fits).unwrap_or_else(|| Self {
            mean: Array2::zeros(field.dim()),
            weight: 0.0,
        });
        let known = memory.insert(known);
        known.weight = beta * known.weight + (1.0 - beta);
        let weight = known.weight;
        known.mean.zip_mut_with(field, |mean, now| {
            *mean = beta * *mean + (1.0 - beta) * now;
        });
        field.zip_mut_with(&known.mean, |v, mean| *v = mean / weight);
    }

    /// # Errors
    /// [`SteinError::Setting`] for a `beta` outside `[0, 1)`.
    pub(crate) fn validate(beta: f64) -> Result<(), SteinError> {
        if (0.0..1.0).contains(&beta) {
            return Ok(());
        }
        Err(SteinError::Setting {
            name: "momentum",
            value: beta.to_string(),
            expected: "a number from 0 to below 1",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::arr2;

    /// Against the sum written out, `v̄_t = Σ_s β^(t−s) v_s / Σ_s β^(t−s)`.
    #[test]
    fn it_is_the_weighted_mean_of_all_fields() {
        let (beta, mut memory) = (0.7_f64, None);
        let fields: [f64; 4] = [3.0, -1.0, 0.5, 8.0];
        for t in 0..fields.len() {
            let mut field = arr2(&[[fields[t], 2.0]]);
            Momentum::average(&mut memory, beta, &mut field);
            let weights = (0..=t).map(|s| beta.powi((t - s) as i32));
            let sum: f64 = weights.clone().zip(fields).map(|(w, v)| w * v).sum();
            let expected = sum / weights.sum::<f64>();
            assert!((field[(0, 0)] - expected).abs() < 1e-14, "{t}");
            assert!((field[(0, 1)] - 2.0).abs() < 1e-14, "{t}");
        }
    }

    #[test]
    fn other_particles_begin_anew() {
        let mut memory = None;
        Momentum::average(&mut memory, 0.9, &mut arr2(&[[1.0, 2.0]]));
        let mut field = arr2(&[[5.0]]);
        Momentum::average(&mut memory, 0.9, &mut field);
        assert!((field[(0, 0)] - 5.0).abs() < 1e-14);
    }
}
