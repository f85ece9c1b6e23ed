//! The curvature of a member at all training rows: what its Laplace approximation is made of, see [`Laplace`](super::Laplace).

use std::ops::Range;

use ndarray::{Array2, ArrayView2, Axis, s};
use svn_linalg::{Cholesky, CholeskyParams, Factor, LowRankFactor, gram};

use super::Members;
use super::laplace::{CHUNK, not_factored};
use crate::network::last_layer;
use crate::{Likelihood, ModelError};

/// Whose parameters have an approximation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    LastLayer,
}

impl Part {
    /// The one with so many parameters.
    pub(super) fn of(dim: usize, members: &Members) -> Result<Self, ModelError> {
        let parts = [Self::Whole, Self::LastLayer];
        let found = parts.into_iter().find(|part| part.dim(members) == dim);
        found.ok_or_else(|| ModelError::Shape {
            what: "parameters of a Laplace approximation".into(),
            found: vec![dim],
            expected: vec![Self::Whole.dim(members)],
        })
    }

    /// Number of its parameters.
    pub(super) fn dim(self, members: &Members) -> usize {
        match self {
            Self::Whole => members.particles.ncols(),
            Self::LastLayer => last_layer(&members.network).indices().len(),
        }
    }
}

/// What `H_p` is made of, whatever `δ`.
#[derive(Debug)]
pub(crate) enum MemberCurvature {
    /// Few rows: `R̂` and `R̂ R̂ᵀ`.
    Rows {
        rows: Array2<f64>,
        gram: Array2<f64>,
        weight: f64,
    },
    /// Few parameters: `w R̂ᵀ R̂`.
    Dense(Array2<f64>),
}

impl MemberCurvature {
    /// From what [`part`](Self::part) gave; none of nothing.
    pub(crate) fn from_parts(
        rows: Option<Array2<f64>>,
        matrix: Option<Array2<f64>>,
        likelihood: Likelihood,
    ) -> Result<Option<Self>, String> {
        Ok(match (rows, matrix) {
            (Some(rows), None) => Some(Self::Rows {
                gram: gram(1.0, rows.view()),
                rows,
                weight: likelihood.curvature_weight(),
            }),
            (None, Some(matrix)) if matrix.is_square() => Some(Self::Dense(matrix)),
            (None, None) => None,
            _ => return Err("the curvature of a member is no square matrix".to_owned()),
        })
    }

    /// Parameters that it is of.
    pub(super) fn dim(&self) -> usize {
        match self {
            Self::Rows { rows, .. } => rows.ncols(),
            Self::Dense(matrix) => matrix.ncols(),
        }
    }

    /// The one array that it is made of, and its name.
    pub(crate) fn part(&self) -> (&'static str, ArrayView2<'_, f64>) {
        match self {
            Self::Rows { rows, .. } => ("rows", rows.view()),
            Self::Dense(matrix) => ("matrix", matrix.view()),
        }
    }

    pub(super) fn new(
        ensemble: &Members,
        member: usize,
        part: Part,
        training: ArrayView2<'_, f64>,
    ) -> Result<Self, ModelError> {
        let likelihood = ensemble.likelihood;
        let (rank, weight) = (likelihood.curvature_rank(), likelihood.curvature_weight());
        let dim = part.dim(ensemble);
        let count = training.nrows() * rank;
        let chunk_rows = |features: ArrayView2<'_, f64>| -> Result<Array2<f64>, ModelError> {
            let linear = ensemble.linearize(member, part, features)?;
            let root = likelihood.curvature_root(linear.outputs())?;
            Ok(linear.rows(root.view())?.index_axis_move(Axis(0), 0))
        };
        let chunks = training.axis_chunks_iter(Axis(0), CHUNK);
        if count <= dim {
            let mut rows = Array2::zeros((count, dim));
            for (chunk, start) in chunks.zip((0..).step_by(CHUNK * rank)) {
                let end = start + chunk.nrows() * rank;
                rows.slice_mut(s![start..end, ..])
                    .assign(&chunk_rows(chunk)?);
            }
            let gram = gram(1.0, rows.view());
            return Ok(Self::Rows { rows, gram, weight });
        }
        let mut hessian = Array2::zeros((dim, dim));
        for chunk in chunks {
            hessian += &gram(weight, chunk_rows(chunk)?.t());
        }
        Ok(Self::Dense(hessian))
    }

    /// `H_p`, factored on its smaller side.
    pub(super) fn factor(
        &self,
        member: usize,
        precision: f64,
    ) -> Result<Box<dyn Factor + '_>, ModelError> {
        let factor = match self {
            Self::Rows { rows, gram, weight } => {
                LowRankFactor::with_gram(rows, gram.view(), *weight, precision)
                    .map(|factor| Box::new(factor) as Box<dyn Factor>)
            }
            Self::Dense(hessian) => {
                let params = CholeskyParams::strict();
                Cholesky::factorize_with_damping(hessian.view(), precision, &params)
                    .map(|factor| Box::new(factor) as Box<dyn Factor>)
            }
        };
        factor.map_err(|error| not_factored(member, error))
    }

    /// The smaller side, factored, and the shift of it that the prior is.
    ///
    /// ```text
    /// r ≤ d:   R̂ R̂ᵀ + (δ/w) I          r > d:   w R̂ᵀ R̂ + δ I
    /// ```
    pub(super) fn smaller_side(
        &self,
        member: usize,
        precision: f64,
    ) -> Result<(Cholesky, f64), ModelError> {
        let (matrix, shift) = match self {
            Self::Rows { gram, weight, .. } => (gram, precision / weight),
            Self::Dense(hessian) => (hessian, precision),
        };
        let params = CholeskyParams::strict();
        let factor = Cholesky::factorize_with_damping(matrix.view(), shift, &params);
        Ok((factor.map_err(|error| not_factored(member, error))?, shift))
    }

    /// How many directions of the parameters of each range the rows determine rather than the prior.
    ///
    /// ```text
    /// γ_l = d_l − δ tr (H_p⁻¹)_ll = tr R̂_lᵀ (R̂ R̂ᵀ + (δ/w) I)⁻¹ R̂_l
    /// ```
    pub(super) fn determined(
        &self,
        member: usize,
        precision: f64,
        ranges: &[Range<usize>],
    ) -> Result<Vec<f64>, ModelError> {
        let (factor, shift) = self.smaller_side(member, precision)?;
        let each = |of: &dyn Fn(&Range<usize>) -> f64| ranges.iter().map(of).collect();
        Ok(match self {
            Self::Rows { rows, .. } => each(&|range| {
                let columns = rows.slice(s![.., range.clone()]);
                factor.inverse_quadratic(columns.t()).sum()
            }),
            Self::Dense(_) => {
                let variances = factor.inverse_quadratic(Array2::eye(factor.dim()).view());
                each(&|range| range.len() as f64 - shift * variances.slice(s![range.clone()]).sum())
            }
        })
    }
}
