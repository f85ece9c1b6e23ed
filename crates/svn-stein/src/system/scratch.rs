//! Arrays of one solve, kept for the next.

use ndarray::{Array1, Array2};
use svn_linalg::MixedMemory;

/// Working memory of [`SvnSystem::solve_into`](super::SvnSystem::solve_into): a few `N × d` arrays and
/// the factors of large systems. What it holds
/// between solves means nothing.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    pub(super) mixed: Array2<f64>,
    pub(super) solved: Array2<f64>,
    pub(super) product: Array2<f64>,
    pub(super) residual: Array2<f64>,
    pub(super) correction: Array2<f64>,
    /// `α_mᵀ H_m α_m` of the last solution, undamped, where the way there gave it.
    pub(crate) quadratic: Option<Array1<f64>>,
    /// Factors of block-diagonal systems.
    pub(super) factors: Vec<MixedMemory>,
}

impl Scratch {
    /// Make room for `N × d`.
    pub(super) fn fit(&mut self, shape: (usize, usize)) {
        self.quadratic = None;
        for array in [
            &mut self.mixed,
            &mut self.solved,
            &mut self.product,
            &mut self.residual,
            &mut self.correction,
        ] {
            if array.dim() != shape {
                *array = Array2::zeros(shape);
            }
        }
    }
}
