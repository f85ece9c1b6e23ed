//! Curvature kept as its rows, `H_p = w J_pᵀ J_p + δ I`: the Full Gauss-Newton / Fisher matrix, never `d × d` unless that is
//! the smaller side.

use ndarray::{Array1, Array2, Array3, ArrayView1, ArrayView2, ArrayViewMut2, Axis, s};

use super::{MatrixFault, ParticleOperators, ParticleRows, check_settings};
use crate::dense;
use crate::factor::{Cholesky, CholeskyParams, Factor, FactorError, LowRankFactor};
use crate::gram::gram;
use crate::operator::{LowRankPlusShift, Rows, SelfAdjoint};
use crate::parallel;

/// `H_p = weight · J_pᵀ J_p + shift · I`; the rows are owned or borrowed.
#[derive(Debug, Clone, Copy)]
pub struct LowRank<R> {
    /// `J_p`, `R × d` for each of `N` particles: an `N × R × d` array, or whatever else multiplies like one.
    pub rows: R,
    /// The factor before `J_pᵀ J_p`; non-negative.
    pub weight: f64,
    /// The multiple of the identity, usually the prior precision `δ`; positive.
    pub shift: f64,
}

/// [`LowRank`] of rows that live elsewhere.
pub type LowRankView<'a> = LowRank<&'a dyn ParticleRows>;

impl<R: ParticleRows> LowRank<R> {
    /// The same with the rows borrowed.
    pub fn view(&self) -> LowRankView<'_> {
        LowRank {
            rows: &self.rows,
            weight: self.weight,
            shift: self.shift,
        }
    }
}

impl<'a> LowRankView<'a> {
    /// `J_pᵀ J_p` and nothing else.
    pub fn of(rows: &'a dyn ParticleRows) -> Self {
        Self {
            rows,
            weight: 1.0,
            shift: 0.0,
        }
    }

    /// `H_p` as an operator.
    pub fn matrix(self, particle: usize) -> LowRankPlusShift<Box<dyn Rows + 'a>> {
        LowRankPlusShift::unchecked(self.rows.rows(particle), self.weight, self.shift)
    }

    /// Factor of `H_p + damping · I` on the side of the rows, whichever is smaller.
    ///
    /// # Errors
    /// [`FactorError::NotPositive`] unless `shift + damping > 0`.
    pub fn factor_rows(
        self,
        particle: usize,
        damping: f64,
    ) -> Result<LowRankFactor<Box<dyn Rows + 'a>>, FactorError> {
        let (rows, mu) = (self.rows.rows(particle), self.shift + damping);
        match self.rows.kept_factors() {
            Some(kept) => LowRankFactor::kept(rows, self.weight, mu, |ratio, make| {
                kept.factor(particle, ratio, make)
            }),
            None => LowRankFactor::new(rows, self.weight, mu),
        }
    }

    /// Whether the rows are the side that takes less to factor. There are fewer than parameters then, or up to about twice as many
    /// where their inner products are kept.
    pub fn is_flat(self) -> bool {
        let [rows, parameters] = self.side_work();
        rows <= parameters
    }

    /// About the multiplications of a factor of `H_p`.
    pub fn factor_work(self) -> f64 {
        let [rows, parameters] = self.side_work();
        rows.min(parameters)
    }

    /// Multiplications of the matrix and its Cholesky factor on the side of the rows, and on that of the parameters.
    fn side_work(self) -> [f64; 2] {
        let (r, d) = (self.rows.count() as f64, self.rows.dim() as f64);
        let inner = if self.rows.keeps_gram() {
            0.0
        } else {
            r * r * d / 2.0
        };
        [inner + r.powi(3) / 6.0, r * d * d / 2.0 + d.powi(3) / 6.0]
    }

    /// [`ParticleOperators::factor`] for as long as the rows live.
    ///
    /// # Errors
    /// As there.
    pub fn factor_either(
        self,
        particle: usize,
        damping: f64,
    ) -> Result<Box<dyn Factor + 'a>, FactorError> {
        if self.is_flat() {
            return Ok(Box::new(self.factor_rows(particle, damping)?));
        }
        let mut matrix = Array2::zeros((self.rows.dim(), self.rows.dim()));
        self.add_dense(particle, 1.0, damping, &mut matrix);
        Ok(Box::new(Cholesky::factorize(
            matrix.view(),
            &CholeskyParams::default(),
        )?))
    }

    /// `out += scale · (H_p + damping · I)`.
    fn add_dense(self, particle: usize, scale: f64, damping: f64, out: &mut Array2<f64>) {
        let rows = self.rows.rows(particle).written_out();
        *out += &gram(scale * self.weight, rows.t());
        let shift = scale * (self.shift + damping);
        out.diag_mut().mapv_inplace(|x| x + shift);
    }
}

impl<R: ParticleRows> ParticleOperators for LowRank<R> {
    fn particles(&self) -> usize {
        self.rows.particles()
    }

    fn dim(&self) -> usize {
        self.rows.dim()
    }

    fn operator(&self, particle: usize) -> Box<dyn SelfAdjoint + '_> {
        Box::new(self.view().matrix(particle))
    }

    fn factor(&self, particle: usize, damping: f64) -> Result<Box<dyn Factor + '_>, FactorError> {
        self.view().factor_either(particle, damping)
    }

    fn diagonal(&self, particle: usize) -> Array1<f64> {
        self.rows.rows(particle).squared_columns() * self.weight + self.shift
    }

    fn factor_size(&self) -> usize {
        if self.view().is_flat() {
            self.rows.count()
        } else {
            self.rows.dim()
        }
    }

    fn low_rank(&self) -> Option<LowRankView<'_>> {
        Some(self.view())
    }

    /// Of the `d × d` matrix, the right side where the rows of all particles that count are more than `d`.
    fn factor_sum(
        &self,
        weights: ArrayView1<'_, f64>,
        damping: f64,
    ) -> Option<Result<Box<dyn Factor + '_>, FactorError>> {
        let mut matrix = Array2::zeros((self.dim(), self.dim()));
        for (p, &weight) in weights.iter().enumerate().filter(|(_, w)| **w != 0.0) {
            self.view().add_dense(p, weight, damping, &mut matrix);
        }
        let factor = Cholesky::factorize(matrix.view(), &CholeskyParams::default());
        Some(factor.map(|factor| Box::new(factor) as Box<dyn Factor>))
    }

    fn restrict(&self, coordinates: &[usize]) -> Box<dyn ParticleOperators + '_> {
        let (n, r) = (self.rows.particles(), self.rows.count());
        let mut rows = Array3::zeros((n, r, coordinates.len()));
        for (p, mut out) in rows.outer_iter_mut().enumerate() {
            let written = self.rows.rows(p).written_out();
            out.assign(&written.select(Axis(1), coordinates));
        }
        Box::new(LowRank {
            rows,
            weight: self.weight,
            shift: self.shift,
        })
    }

    fn multiply_into(
        &self,
        particle: usize,
        damping: f64,
        x: ArrayView2<'_, f64>,
        out: ArrayViewMut2<'_, f64>,
    ) {
        self.view()
            .matrix(particle)
            .multiply_rows_into(x, damping, out);
    }

    fn quadratic(&self, particle: usize, x: ArrayView1<'_, f64>) -> f64 {
        let projected = self.rows.rows(particle).project(x.insert_axis(Axis(0)));
        let square: f64 = projected.iter().map(|x| x * x).sum();
        self.weight * square + self.shift * dense::dot(x, x)
    }

    fn multiply_mean_into(&self, x: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        let weight = self.weight * (1.0 / self.particles() as f64);
        let rows: Vec<_> = (0..self.particles()).map(|p| self.rows.rows(p)).collect();
        let work = 2 * rows.len() * self.rows.count() * x.len();
        let tasks: Vec<_> = out.axis_chunks_iter_mut(Axis(0), 1).collect();
        parallel::for_each(tasks, work, |i, mut out| {
            let x = x.slice(s![i..=i, ..]);
            out.zip_mut_with(&x, |o, &x| *o = self.shift * x);
            for rows in &rows {
                let projected = rows.project(x);
                rows.combine_into(weight, projected.view(), 1.0, out.view_mut());
            }
        });
    }

    fn check(&self) -> Result<(), MatrixFault> {
        check_settings(self.weight, self.shift)?;
        match self.rows.non_finite() {
            Some(particle) => Err(MatrixFault::NonFinite { particle }),
            None => Ok(()),
        }
    }
}
