//! Gram matrix of all curvature rows and of `Y`, kept from step to step.
//!
//! ```text
//! E_(p,i),(q,j) = J_p[i]·J_q[j]     N R × N R      the dearest part of a step: (N R)² d / 2
//! C_(p,i),a     = J_p[i]·y_a        N R × N
//! y_a·y_b                           N × N
//! ```
//!
//! Targets that replace a few rows a step can have only those recomputed.

use std::ops::Range;

use ndarray::{Array2, ArrayView2, ArrayView3, Axis, s};

/// Inner products of the curvature rows.
#[derive(Debug, Clone, Default)]
pub struct RowGram {
    rows: Array2<f64>,
    cross: Array2<f64>,
    transformed: Array2<f64>,
    valid: Vec<bool>,
    particles: usize,
    count: usize,
}

impl RowGram {
    /// Say that only rows `changed` (of every particle) differ from the last update, or all (`None`).
    ///
    /// Blocks that do not touch a changed row are kept. Without this call every block is recomputed.
    pub(super) fn update(
        &mut self,
        rows: ArrayView3<'_, f64>,
        transformed: ArrayView2<'_, f64>,
        changed: Option<Range<usize>>,
        needed: impl Fn(usize, usize) -> bool,
    ) {
        let (n, r, _) = rows.dim();
        if self.particles != n || self.count != r {
            *self = Self {
                rows: Array2::zeros((n * r, n * r)),
                cross: Array2::zeros((n * r, n)),
                transformed: Array2::zeros((n, n)),
                valid: vec![false; n * n],
                particles: n,
                count: r,
            };
        }
        for p in 0..n {
            let jp = rows.index_axis(Axis(0), p);
            for q in 0..=p {
                if !needed(p, q) {
                    self.valid[p * n + q] = false;
                    continue;
                }
                let jq = rows.index_axis(Axis(0), q);
                match changed.clone().filter(|_| self.valid[p * n + q]) {
                    Some(range) => {
                        let left = jp.slice(s![range.clone(), ..]).dot(&jq.t());
                        let right = jp.dot(&jq.slice(s![range.clone(), ..]).t());
                        let (rows, columns) = (p * r, q * r);
                        self.rows
                            .slice_mut(s![
                                rows + range.start..rows + range.end,
                                columns..columns + r
                            ])
                            .assign(&left);
                        self.rows
                            .slice_mut(s![
                                rows..rows + r,
                                columns + range.start..columns + range.end
                            ])
                            .assign(&right);
                    }
                    None => {
                        let mut block = self
                            .rows
                            .slice_mut(s![p * r..(p + 1) * r, q * r..(q + 1) * r]);
                        ndarray::linalg::general_mat_mul(1.0, &jp, &jq.t(), 0.0, &mut block);
                    }
                }
                if q < p {
                    let (upper, lower) = (
                        s![q * r..(q + 1) * r, p * r..(p + 1) * r],
                        s![p * r..(p + 1) * r, q * r..(q + 1) * r],
                    );
                    let block = self.rows.slice(lower).t().to_owned();
                    self.rows.slice_mut(upper).assign(&block);
                }
                self.valid[p * n + q] = true;
            }
            let mut cross = self.cross.slice_mut(s![p * r..(p + 1) * r, ..]);
            ndarray::linalg::general_mat_mul(1.0, &jp, &transformed.t(), 0.0, &mut cross);
        }
        ndarray::linalg::general_mat_mul(
            1.0,
            &transformed,
            &transformed.t(),
            0.0,
            &mut self.transformed,
        );
    }

    /// Block `E_p,q`, `R × R`.
    pub(super) fn block(&self, p: usize, q: usize) -> ArrayView2<'_, f64> {
        let r = self.count;
        self.rows.slice(s![p * r..(p + 1) * r, q * r..(q + 1) * r])
    }

    /// `J_p Yᵀ`, `R × N`.
    pub(super) fn cross(&self, p: usize) -> ArrayView2<'_, f64> {
        self.cross
            .slice(s![p * self.count..(p + 1) * self.count, ..])
    }

    /// `Y Yᵀ`, `N × N`.
    pub(super) fn transformed(&self) -> ArrayView2<'_, f64> {
        self.transformed.view()
    }
}
