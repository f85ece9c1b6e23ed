//! Variance of each member's mean under its Laplace approximation: the components of a mixture of Laplace.
//!
//! ```text
//! H_p = w Σ_{i ∈ training} J_iᵀ R_i R_iᵀ J_i + δ I        v_p(x) = j_p(x) H_p⁻¹ j_p(x)ᵀ,   j_p = ∂μ_p/∂φ_p
//! ```
//!
//! One pass over all training rows for each member: rows of recent batches alone would leave the prior's variance in
//! directions that they do not see. With `r` curvature rows in all and `d` parameters the smaller side is factored:
//!
//! ```text
//! r ≤ d:   v = (1/δ) [ |j|² − (w/δ) |L⁻¹ R̂ jᵀ|² ],   L Lᵀ = I + (w/δ) R̂ R̂ᵀ
//! r > d:   v = |L⁻¹ jᵀ|²,                             L Lᵀ = H_p
//! ```
//!
//! Reference: MacKay, *A practical Bayesian framework for backpropagation networks* (1992); Eschenhagen et al.,
//! *Mixtures of Laplace approximations for improved post-hoc uncertainty in deep learning* (2021).

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut1, Axis, s};
use svn_curvature::{Linearization, convert};
use svn_linalg::{Cholesky, CholeskyParams, gram};
use tch::Kind;

use super::Ensemble;
use crate::{Likelihood, ModelError};

/// Rows of features that are linearised at once.
const CHUNK: usize = 512;

/// Largest side that is factored: a matrix of 200 MB, in about 2 s on one core.
pub const LAPLACE_DIM: usize = 5000;

impl Ensemble {
    /// Laplace variance of every member's mean at the rows of each of `at`; each result is `N × rows`.
    ///
    /// `training` (`n × p`) are the features the members were trained on, `prior_precision` is `δ`. The curvature is the
    /// Fisher information, for which the targets do not matter. Variances are in squared units of the targets given to
    /// training, observation noise left out.
    ///
    /// # Errors
    /// [`ModelError::Setting`] if both the parameters and the curvature rows are more than [`LAPLACE_DIM`], if `δ` is not
    /// positive, or for a likelihood without a mean; [`ModelError::Shape`] if a width is not the network's.
    pub fn laplace_variances(
        &self,
        training: ArrayView2<'_, f64>,
        prior_precision: f64,
        at: &[ArrayView2<'_, f64>],
    ) -> Result<Vec<Array2<f64>>, ModelError> {
        if !(prior_precision.is_finite() && prior_precision > 0.0) {
            return Err(ModelError::setting(
                "prior precision",
                prior_precision,
                "a positive number",
            ));
        }
        if !matches!(
            self.likelihood,
            Likelihood::Gaussian(_) | Likelihood::Heteroscedastic(_)
        ) {
            return Err(ModelError::setting(
                "likelihood of Laplace variances",
                format!("{:?}", self.likelihood),
                "one of regression",
            ));
        }
        let width: usize = self.network.input_shape().iter().product();
        for rows in std::iter::once(&training).chain(at) {
            if rows.ncols() != width {
                return Err(ModelError::Shape {
                    what: "features of Laplace variances".into(),
                    found: rows.shape().to_vec(),
                    expected: vec![rows.nrows(), width],
                });
            }
        }
        let (rows, dim) = (
            training.nrows() * self.likelihood.curvature_rank(),
            self.particles.ncols(),
        );
        if rows.min(dim) > LAPLACE_DIM {
            return Err(ModelError::setting(
                "number of parameters for Laplace variances",
                dim,
                &format!(
                    "at most {LAPLACE_DIM}, or as few curvature rows (found {rows}); take a smaller network"
                ),
            ));
        }
        let members = self.particles.nrows();
        let mut variances: Vec<Array2<f64>> = at
            .iter()
            .map(|rows| Array2::zeros((members, rows.nrows())))
            .collect();
        for member in 0..members {
            let laplace = MemberLaplace::new(self, member, training, prior_precision)?;
            for (rows, out) in at.iter().zip(&mut variances) {
                laplace.variances_into(self, member, *rows, out.row_mut(member))?;
            }
        }
        Ok(variances)
    }

    /// One member's network linearised at a chunk of rows.
    fn linearize(
        &self,
        member: usize,
        features: ArrayView2<'_, f64>,
    ) -> Result<Linearization, ModelError> {
        let weights = self.particles.slice(s![member..member + 1, ..]);
        let parameters = convert::tensor_on(weights, Kind::Double, self.device)?;
        let features = convert::tensor_on(features, Kind::Double, self.device)?;
        Ok(self.network.linearize(&parameters, &features)?)
    }
}

/// `H_p`, factored on its smaller side.
enum MemberLaplace {
    /// Few rows: `R̂` and the factor of `I + (w/δ) R̂ R̂ᵀ`.
    Rows {
        rows: Array2<f64>,
        factor: Cholesky,
        weight: f64,
        precision: f64,
    },
    /// Few parameters: the factor of `H_p`.
    Dense(Cholesky),
}

impl MemberLaplace {
    fn new(
        ensemble: &Ensemble,
        member: usize,
        training: ArrayView2<'_, f64>,
        precision: f64,
    ) -> Result<Self, ModelError> {
        let likelihood = ensemble.likelihood;
        let (rank, weight) = (likelihood.curvature_rank(), likelihood.curvature_weight());
        let (count, dim) = (training.nrows() * rank, ensemble.particles.ncols());
        let chunk_rows = |features: ArrayView2<'_, f64>| -> Result<Array2<f64>, ModelError> {
            let linear = ensemble.linearize(member, features)?;
            let root = likelihood.curvature_root(linear.outputs())?;
            Ok(convert::array(&linear.rows(&root)?.f_squeeze_dim(0)?)?)
        };
        let chunks = training.axis_chunks_iter(Axis(0), CHUNK);
        if count <= dim {
            let mut rows = Array2::zeros((count, dim));
            for (chunk, start) in chunks.zip((0..).step_by(CHUNK * rank)) {
                let end = start + chunk.nrows() * rank;
                rows.slice_mut(s![start..end, ..])
                    .assign(&chunk_rows(chunk)?);
            }
            let mut small = gram(weight / precision, rows.view());
            small.diag_mut().mapv_inplace(|entry| entry + 1.0);
            return Ok(Self::Rows {
                rows,
                factor: factorize(&small, member)?,
                weight,
                precision,
            });
        }
        let mut hessian = Array2::zeros((dim, dim));
        for chunk in chunks {
            hessian += &gram(weight, chunk_rows(chunk)?.t());
        }
        hessian.diag_mut().mapv_inplace(|entry| entry + precision);
        Ok(Self::Dense(factorize(&hessian, member)?))
    }

    fn variances_into(
        &self,
        ensemble: &Ensemble,
        member: usize,
        features: ArrayView2<'_, f64>,
        mut out: ArrayViewMut1<'_, f64>,
    ) -> Result<(), ModelError> {
        for (chunk, mut out) in features
            .axis_chunks_iter(Axis(0), CHUNK)
            .zip(out.axis_chunks_iter_mut(Axis(0), CHUNK))
        {
            let linear = ensemble.linearize(member, chunk)?;
            // The root (1, 0, …): rows are the gradients of the mean, which is the first output.
            let root = linear.outputs().f_zeros_like()?.f_unsqueeze(3)?;
            let _ = root.f_select(2, 0)?.f_fill_(1.0)?;
            let gradients: Array2<f64> = convert::array(&linear.rows(&root)?.f_squeeze_dim(0)?)?;
            out.assign(&self.quadratic(&gradients)?);
        }
        Ok(())
    }

    /// `j H⁻¹ jᵀ` of each row `j`.
    fn quadratic(&self, gradients: &Array2<f64>) -> Result<Array1<f64>, ModelError> {
        let half = |factor: &Cholesky, mut columns: Array2<f64>| {
            factor
                .solve_lower_inplace(columns.view_mut())
                .map_err(|error| ModelError::setting("gradients", error, "finite numbers"))?;
            Ok::<_, ModelError>(columns.map_axis(Axis(0), |column| column.dot(&column)))
        };
        match self {
            Self::Dense(factor) => half(factor, gradients.t().to_owned()),
            Self::Rows {
                rows,
                factor,
                weight,
                precision,
            } => {
                let explained = half(factor, rows.dot(&gradients.t()))?;
                let prior = gradients.map_axis(Axis(1), |row| row.dot(&row));
                // Rounding may leave less than nothing of a direction that the data determine.
                Ok((prior - explained * (weight / precision))
                    .mapv_into(|v| (v / precision).max(0.0)))
            }
        }
    }
}

fn factorize(matrix: &Array2<f64>, member: usize) -> Result<Cholesky, ModelError> {
    Cholesky::factorize(matrix.view(), &CholeskyParams::strict()).map_err(|error| {
        ModelError::setting(
            &format!("curvature of member {member}"),
            error,
            "a positive definite matrix",
        )
    })
}

#[cfg(test)]
#[path = "laplace_tests.rs"]
mod tests;
