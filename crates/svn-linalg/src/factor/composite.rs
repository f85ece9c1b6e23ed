//! Factors of composed operators from the factors of their parts.
//!
//! ```text
//! c A + λ I            = c (A + (λ/c) I)
//! (A + μ I) + λ I      = A + (μ + λ) I
//! diag(A_i) + λ I      = diag(A_i + λ I)
//! ```

use ndarray::{ArrayView2, ArrayViewMut2};

use super::{Factor, FactorError, FactorizeDamped};
use crate::input::{InputError, check_non_negative};
use crate::operator::{BlockDiagonal, Damped, Scaled, for_each_block};

/// `c A`, factored, `c > 0`.
#[derive(Debug, Clone)]
pub struct ScaledFactor<F> {
    factor: f64,
    inner: F,
}

impl<F: Factor> ScaledFactor<F> {
    /// `factor · A` of the factored `A`.
    ///
    /// # Errors
    /// [`InputError::OutOfRange`] unless the factor is positive and finite.
    pub fn new(factor: f64, inner: F) -> Result<Self, InputError> {
        if !(factor.is_finite() && factor > 0.0) {
            return Err(InputError::OutOfRange {
                name: "factor of a scaled operator",
                range: "positive to be factored",
                value: factor,
            });
        }
        Ok(Self { factor, inner })
    }
}

impl<A: FactorizeDamped> FactorizeDamped for Scaled<A> {
    type Factor = ScaledFactor<A::Factor>;

    fn factorize_damped(&self, damping: f64) -> Result<Self::Factor, FactorError> {
        let inner = self.operator().factorize_damped(damping / self.factor());
        Ok(ScaledFactor::new(self.factor(), inner?)?)
    }
}

impl<F: Factor> Factor for ScaledFactor<F> {
    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn solve_into(&self, b: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        self.inner.solve_into(b, out.view_mut());
        out /= self.factor;
    }

    fn inverse_sqrt_into(&self, z: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        self.inner.inverse_sqrt_into(z, out.view_mut());
        out /= self.factor.sqrt();
    }

    fn log_det(&self) -> f64 {
        self.inner.log_det() + self.dim() as f64 * self.factor.ln()
    }
}

impl<A: FactorizeDamped> FactorizeDamped for Damped<A> {
    type Factor = A::Factor;

    fn factorize_damped(&self, damping: f64) -> Result<Self::Factor, FactorError> {
        check_non_negative("damping", damping)?;
        self.operator().factorize_damped(self.damping() + damping)
    }
}

/// `diag(A_1, …, A_m)`, factored.
#[derive(Debug, Clone)]
pub struct BlockFactor<F> {
    blocks: Vec<F>,
}

impl<F> BlockFactor<F> {
    /// The factors in the order of the blocks.
    pub fn blocks(&self) -> &[F] {
        &self.blocks
    }
}

impl<A: FactorizeDamped> FactorizeDamped for BlockDiagonal<A> {
    type Factor = BlockFactor<A::Factor>;

    /// # Errors
    /// [`FactorError::Block`] names the block.
    fn factorize_damped(&self, damping: f64) -> Result<Self::Factor, FactorError> {
        let blocks = self.blocks().iter().enumerate().map(|(index, block)| {
            block
                .factorize_damped(damping)
                .map_err(|source| FactorError::Block {
                    index,
                    source: Box::new(source),
                })
        });
        Ok(BlockFactor {
            blocks: blocks.collect::<Result<_, _>>()?,
        })
    }
}

impl<F: Factor> Factor for BlockFactor<F> {
    fn dim(&self) -> usize {
        self.blocks.iter().map(F::dim).sum()
    }

    fn solve_into(&self, b: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        for_each_block(
            &self.blocks,
            |f| (f.dim(), f.dim()),
            b,
            out,
            |f, b, out| f.solve_into(b, out),
        );
    }

    fn inverse_sqrt_into(&self, z: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        for_each_block(
            &self.blocks,
            |f| (f.dim(), f.dim()),
            z,
            out,
            |f, z, out| {
                f.inverse_sqrt_into(z, out);
            },
        );
    }

    fn log_det(&self) -> f64 {
        self.blocks.iter().map(F::log_det).sum()
    }
}
