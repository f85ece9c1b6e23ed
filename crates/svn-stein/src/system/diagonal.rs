//! Diagonal curvature: one `N × N` system per coordinate.
//!
//! ```text
//! A₀ restricted to coordinate i:   P_i = (1/N) K diag_p(h_pi + λ) K + ρ I_N
//! T = Σ_i Z_iᵀ P_i⁻¹ Z_i,   Z_i[m, f] = Σ_a F_(m,a),f y_a[i]                   r × r
//! ```

use ndarray::{Array2, Array3, ArrayView2, ArrayViewMut2, Axis, s};

use super::SvnSystem;
use super::reduced::symmetrise;
use super::woodbury::Base;
use crate::error::SteinError;
use crate::repulsion::RepulsionFactor;

pub(super) struct PerCoordinate<'a> {
    /// Lower Cholesky factors, `d × N × N`.
    factors: Array3<f64>,
    transformed: ArrayView2<'a, f64>,
}

impl<'a> PerCoordinate<'a> {
    pub fn new(system: &SvnSystem<'a>, h: ArrayView2<'_, f64>) -> Result<Self, SteinError> {
        let (n, d) = h.dim();
        let k = system.kernel.kernel;
        let mut factors = Array3::zeros((d, n, n));
        let mut scaled = Array2::zeros((n, n));
        for i in 0..d {
            for p in 0..n {
                let weight = (h[(p, i)] + system.damping) / n as f64;
                scaled
                    .row_mut(p)
                    .zip_mut_with(&k.row(p), |s, &k| *s = weight * k);
            }
            let mut block = factors.index_axis_mut(Axis(0), i);
            ndarray::linalg::general_mat_mul(1.0, &k, &scaled, 0.0, &mut block);
            block.diag_mut().mapv_inplace(|x| x + system.ridge);
            if !cholesky_in_place(block) {
                return Err(SteinError::Singular {
                    coupling: system.coupling.name(),
                    size: n,
                    reason: format!("the block of coordinate {i} is not positive definite"),
                });
            }
        }
        Ok(Self {
            factors,
            transformed: system.kernel.transformed,
        })
    }
}

impl Base for PerCoordinate<'_> {
    fn solve_into(
        &self,
        rhs: ArrayView2<'_, f64>,
        mut out: ArrayViewMut2<'_, f64>,
    ) -> Result<(), SteinError> {
        out.assign(&rhs);
        for (i, factor) in self.factors.outer_iter().enumerate() {
            let mut column = out.slice_mut(s![.., i..=i]);
            forward(factor, &mut column);
            backward(factor, &mut column);
        }
        Ok(())
    }

    fn project(&self, factor: &RepulsionFactor) -> Result<Array2<f64>, SteinError> {
        let (r, n, _) = factor.columns.dim();
        let columns = factor
            .columns
            .view()
            .into_shape_with_order((r * n, n))
            .map_err(|e| SteinError::Singular {
                coupling: "diagonal",
                size: r,
                reason: e.to_string(),
            })?;
        let mut t = Array2::zeros((r, r));
        let mut z = Array2::zeros((n, r));
        for (i, lower) in self.factors.outer_iter().enumerate() {
            let flat = columns.dot(&self.transformed.column(i));
            for (index, &x) in flat.iter().enumerate() {
                z[(index % n, index / n)] = x;
            }
            forward(lower, &mut z.view_mut());
            ndarray::linalg::general_mat_mul(1.0, &z.t(), &z, 1.0, &mut t);
        }
        symmetrise(&mut t);
        Ok(t)
    }

    fn size(&self) -> usize {
        self.factors.dim().1
    }
}

/// Lower Cholesky factor in place for the small matrices here; false at a pivot that is not positive.
pub(super) fn cholesky_in_place(mut a: ArrayViewMut2<'_, f64>) -> bool {
    let n = a.nrows();
    for j in 0..n {
        let mut pivot = a[(j, j)];
        for k in 0..j {
            pivot -= a[(j, k)] * a[(j, k)];
        }
        if !(pivot > 0.0 && pivot.is_finite()) {
            return false;
        }
        let pivot = pivot.sqrt();
        a[(j, j)] = pivot;
        for i in j + 1..n {
            let mut x = a[(i, j)];
            for k in 0..j {
                x -= a[(i, k)] * a[(j, k)];
            }
            a[(i, j)] = x / pivot;
        }
    }
    true
}

/// `b ← L⁻¹ b`.
fn forward(lower: ArrayView2<'_, f64>, b: &mut ArrayViewMut2<'_, f64>) {
    for c in 0..b.ncols() {
        for i in 0..lower.nrows() {
            let mut x = b[(i, c)];
            for k in 0..i {
                x -= lower[(i, k)] * b[(k, c)];
            }
            b[(i, c)] = x / lower[(i, i)];
        }
    }
}

/// `b ← L⁻ᵀ b`.
fn backward(lower: ArrayView2<'_, f64>, b: &mut ArrayViewMut2<'_, f64>) {
    for c in 0..b.ncols() {
        for i in (0..lower.nrows()).rev() {
            let mut x = b[(i, c)];
            for k in i + 1..lower.nrows() {
                x -= lower[(k, i)] * b[(k, c)];
            }
            b[(i, c)] = x / lower[(i, i)];
        }
    }
}
