//! Factor of a diagonal matrix: its entries.

use ndarray::{Array1, ArrayView1, ArrayView2, ArrayViewMut2};

use super::{Factor, FactorError, FactorizeDamped};
use crate::input::check_non_negative;
use crate::operator::{Diagonal, diagonal_scale_into};

/// `diag(a) + λ I`, all entries positive.
#[derive(Debug, Clone, PartialEq)]
pub struct DiagonalFactor {
    inverse: Array1<f64>,
}

impl DiagonalFactor {
    /// Factor `diag(entries) + damping · I`.
    ///
    /// # Errors
    /// [`FactorError::NotPositive`] with the first entry that is not positive after damping.
    pub fn new(entries: ArrayView1<'_, f64>, damping: f64) -> Result<Self, FactorError> {
        check_non_negative("damping", damping)?;
        if let Some(index) = entries
            .iter()
            .position(|a| !((a + damping).recip().is_finite() && a + damping > 0.0))
        {
            return Err(FactorError::NotPositive {
                index,
                dim: entries.len(),
                value: entries[index],
                damping,
            });
        }
        Ok(Self {
            inverse: entries.mapv(|a| (a + damping).recip()),
        })
    }
}

impl FactorizeDamped for Diagonal {
    type Factor = DiagonalFactor;

    fn factorize_damped(&self, damping: f64) -> Result<DiagonalFactor, FactorError> {
        DiagonalFactor::new(self.entries(), damping)
    }
}

impl Factor for DiagonalFactor {
    fn dim(&self) -> usize {
        self.inverse.len()
    }

    fn solve_into(&self, b: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        diagonal_scale_into(self.inverse.view(), b, out);
    }

    fn inverse_sqrt_into(&self, z: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        diagonal_scale_into(self.inverse.mapv(f64::sqrt).view(), z, out);
    }

    fn log_det(&self) -> f64 {
        -self.inverse.iter().map(|a| a.ln()).sum::<f64>()
    }
}
