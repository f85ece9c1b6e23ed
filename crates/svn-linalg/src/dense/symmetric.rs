//! Symmetric matrices of any signs, by `faer`: eigenvalues and vectors, and Bunch-Kaufman factors; one thread.

use faer::Side;
use faer::linalg::solvers::{Lblt, SelfAdjointEigen, Solve};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, ShapeBuilder};

use super::large::{view, view_mut};

/// Eigenvalues of a symmetric matrix, ascending, and its eigenvectors as columns; the lower triangle is read.
///
/// `None` if the iteration does not converge.
pub(crate) fn eigen(a: ArrayView2<'_, f64>) -> Option<(Array1<f64>, Array2<f64>)> {
    let n = a.nrows();
    let found = SelfAdjointEigen::new(view(&a), Side::Lower).ok()?;
    let values = found.S().column_vector().iter().copied().collect();
    let columns = found.U().col_iter();
    let vectors: Vec<f64> = columns.flat_map(|column| column.iter().copied()).collect();
    Some((values, Array2::from_shape_vec((n, n).f(), vectors).ok()?))
}

/// `P A Pᵀ = L B Lᵀ` of a symmetric matrix, `B` with blocks of one and two rows.
#[derive(Debug, Clone)]
pub(crate) struct Indefinite(Lblt<f64>);

impl Indefinite {
    /// Factors a symmetric matrix, whose lower triangle is read.
    ///
    /// `Err` is the index of a block of `B` that is exactly zero.
    pub(crate) fn new(a: ArrayView2<'_, f64>) -> Result<Self, usize> {
        let factor = Lblt::new(view(&a), Side::Lower);
        let (diagonal, beside) = (factor.B_diag().column_vector(), factor.B_subdiag());
        let beside = beside.column_vector();
        let is_zero = |&i: &usize| {
            let alone = beside[i] == 0.0 && (i == 0 || beside[i - 1] == 0.0);
            alone && diagonal[i] == 0.0
        };
        match (0..a.nrows()).find(is_zero) {
            Some(index) => Err(index),
            None => Ok(Self(factor)),
        }
    }

    /// `b ← A⁻¹ b`.
    pub(crate) fn solve(&self, mut b: ArrayViewMut2<'_, f64>) {
        self.0.solve_in_place(view_mut(&mut b));
    }
}
