//! Factors of rows that have not changed since they were made.
//!
//! ```text
//! w J_pᵀ J_p + μ I is factored through I + (w/μ) J_p J_pᵀ = L Lᵀ,  a function of the rows and of w/μ alone
//! ```
//!
//! A Newton step whose curvature is that of the step before then costs products with the rows and two triangular solves. What is kept
//! follows from the rows: a factor that is made anew has the same bits, so that it is no part of any state.

use std::sync::{Arc, Mutex};

use crate::factor::{FactorError, Woodbury};

/// A factor, and the `w/μ` that it was made for.
#[derive(Debug)]
struct Kept {
    ratio: f64,
    factor: Arc<Woodbury>,
}

/// The latest factor `L` of each particle.
#[derive(Debug, Default)]
pub struct KeptFactors {
    particles: Vec<Mutex<Option<Kept>>>,
}

impl KeptFactors {
    /// Room for `particles` factors.
    pub fn new(particles: usize) -> Self {
        Self {
            particles: (0..particles).map(|_| Mutex::default()).collect(),
        }
    }

    /// Forget all: the rows are others.
    pub fn clear(&mut self) {
        *self = Self::new(self.particles.len());
    }

    /// The factor for `ratio = w/μ`: that of the last call if it was for the same, else what `make` gives.
    ///
    /// # Errors
    /// Those of `make`, after which nothing is kept.
    pub(crate) fn factor(
        &self,
        particle: usize,
        ratio: f64,
        make: impl FnOnce() -> Result<Woodbury, FactorError>,
    ) -> Result<Arc<Woodbury>, FactorError> {
        let Some(kept) = self.particles.get(particle) else {
            return make().map(Arc::new);
        };
        // A thread that panicked left a factor or none, and either is right.
        let mut kept = kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(kept) = kept.as_ref().filter(|kept| kept.ratio == ratio) {
            return Ok(Arc::clone(&kept.factor));
        }
        *kept = None;
        let factor = Arc::new(make()?);
        *kept = Some(Kept {
            ratio,
            factor: Arc::clone(&factor),
        });
        Ok(factor)
    }
}

/// A copy of the rows may be written to on its own, and makes factors of its own.
impl Clone for KeptFactors {
    fn clone(&self) -> Self {
        Self::new(self.particles.len())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use ndarray::array;

    use super::*;

    #[test]
    fn a_factor_is_made_once_for_the_same_rows_and_ratio() {
        let mut kept = KeptFactors::new(2);
        let made = Cell::new(0);
        let make = || {
            made.set(made.get() + 1);
            Woodbury::new(array![[2.0]].view())
        };
        let calls = [(0, 0.5), (0, 0.5), (1, 0.5), (0, 0.25), (0, 0.5)];
        let counts = calls.map(|(particle, ratio)| {
            kept.factor(particle, ratio, make).unwrap();
            made.get()
        });
        assert_eq!(counts, [1, 1, 2, 3, 4]);
        kept.clear();
        kept.factor(0, 0.5, make).unwrap();
        assert_eq!(made.get(), 5);
    }

    #[test]
    fn a_failure_is_not_kept() {
        let kept = KeptFactors::new(1);
        let bad = || Woodbury::new(array![[f64::NAN]].view());
        assert!(kept.factor(0, 1.0, bad).is_err());
        assert!(kept.factor(0, 1.0, || Ok(Woodbury::none())).is_ok());
    }
}
