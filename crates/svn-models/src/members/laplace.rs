//! Variances of each member's outputs under its Laplace approximation: the components of a mixture of Laplace.
//!
//! ```text
//! H_p = w Σ_{i ∈ training} J_iᵀ R_i R_iᵀ J_i + δ I        v_pc(x) = j_pc(x) H_p⁻¹ j_pc(x)ᵀ,   j_pc = ∂f_pc/∂φ_p
//! ```
//!
//! The outputs are the mean in regression and the logits of classes. One pass over all training rows for each member:
//! rows of recent batches alone would leave the prior's variance in directions that they do not see. The pass does not
//! depend on `δ`, which may be another than in training, such as the one that suits validation rows best. With `r`
//! curvature rows in all and `d` parameters the smaller side is factored:
//!
//! ```text
//! r ≤ d:   v = (1/δ) [ |j|² − (w/δ) |L⁻¹ R̂ jᵀ|² ],   L Lᵀ = I + (w/δ) R̂ R̂ᵀ
//! r > d:   v = |L⁻¹ jᵀ|²,                             L Lᵀ = H_p
//! ```
//!
//! Where `d` is too large to factor and `r d` too much to keep, as of a network for images, it is the Laplace approximation of the last layer alone: `φ_p` are its
//! parameters, the layers below are taken as they are.
//!
//! Reference: MacKay, *A practical Bayesian framework for backpropagation networks* (1992); Eschenhagen et al.,
//! *Mixtures of Laplace approximations for improved post-hoc uncertainty in deep learning* (2021); Kristiadi, Hein and Hennig, *Being Bayesian, even just a bit,
//! fixes overconfidence in ReLU networks* (2020; the last layer).

use ndarray::{Array2, Array3, ArrayView2, Axis, s};
use svn_curvature::{Backend, Linearized, Precision};
use svn_linalg::Factor;

use super::Members;
use super::member_curvature::{MemberCurvature, Part};
use super::output_variances::OutputVariances;
use crate::ModelError;
use crate::likelihood::no_laplace_variances;

/// Rows of features that are linearised at once.
pub(super) const CHUNK: usize = 512;

/// Largest side that is factored: a matrix of 200 MB, in about 2 s on one core. Curvature rows may take as much.
pub(super) const LAPLACE_DIM: usize = 5000;

/// The members' curvature at all training rows, ready for any prior precision.
#[derive(Debug)]
pub struct Laplace {
    members: Vec<MemberCurvature>,
}

impl Members {
    /// The curvature of every member at the training features (`n × p`).
    ///
    /// It is the Fisher information, for which the targets do not matter: that of all parameters where these are at most 5000, or curvature rows times
    /// parameters at most 25 million, else that of the last layer. Memory: one square matrix a member, of the number of parameters or of curvature rows, and in
    /// the latter case the rows.
    ///
    /// # Errors
    /// [`ModelError::Setting`] if both the parameters of the last layer and the curvature rows are more than 5000, or for a mixture density or levels;
    /// [`ModelError::Shape`] if the width is not the network's.
    pub fn laplace(&self, training: ArrayView2<'_, f64>) -> Result<Laplace, ModelError> {
        self.laplace_within(training, LAPLACE_DIM)
    }

    /// With another largest side that is factored.
    pub(super) fn laplace_within(
        &self,
        training: ArrayView2<'_, f64>,
        largest: usize,
    ) -> Result<Laplace, ModelError> {
        self.check_width(training)?;
        if !self.likelihood.has_laplace_variances() {
            return Err(no_laplace_variances());
        }
        let rows = training.nrows() * self.likelihood.curvature_rank();
        let dim = Part::Whole.dim(self);
        let whole = whole_fits(dim, rows, largest);
        let part = if whole { Part::Whole } else { Part::LastLayer };
        let dim = part.dim(self);
        if rows.min(dim) > largest {
            let expected = format!("at most {largest} of the last layer");
            return Err(too_large("Laplace variances", dim, rows, &expected));
        }
        let members = 0..self.particles.nrows();
        Ok(Laplace {
            members: members
                .map(|member| MemberCurvature::new(self, member, part, training))
                .collect::<Result<_, _>>()?,
        })
    }

    fn check_width(&self, features: ArrayView2<'_, f64>) -> Result<(), ModelError> {
        let width = self.network.inputs();
        if features.ncols() == width {
            return Ok(());
        }
        Err(ModelError::Shape {
            what: "features of Laplace variances".into(),
            found: features.shape().to_vec(),
            expected: vec![features.nrows(), width],
        })
    }

    /// One member's network linearised at a chunk of rows, in f64.
    pub(super) fn linearize(
        &self,
        member: usize,
        part: Part,
        features: ArrayView2<'_, f64>,
    ) -> Result<Box<dyn Linearized>, ModelError> {
        let backend = Backend {
            precision: Precision::Double,
            ..self.backend
        };
        let samples = backend.samples(&self.network, features)?;
        let weights = self.particles.slice(s![member..member + 1, ..]);
        let linear = samples.linearize(&self.network, weights)?;
        Ok(match part {
            Part::Whole => linear,
            Part::LastLayer => linear.last_layer(),
        })
    }
}

impl Laplace {
    /// Of members whose curvature is known.
    pub(crate) fn of(members: Vec<MemberCurvature>) -> Self {
        Self { members }
    }

    /// The curvature of each member.
    pub(crate) fn curvature(&self) -> &[MemberCurvature] {
        &self.members
    }

    /// Variances of the outputs of every one of the `members` that this is of at the rows of each of `at` under prior precision `δ`; each result is
    /// `N × rows × outputs`, the outputs being the mean in regression and the logits of classes.
    ///
    /// Variances of means are in squared units of the targets given to training, observation noise left out.
    ///
    /// # Errors
    /// [`ModelError::Setting`] if `δ` is not positive; [`ModelError::Shape`] if a width is not the network's, or the members are others.
    pub fn variances(
        &self,
        members: &Members,
        prior_precision: f64,
        at: &[ArrayView2<'_, f64>],
    ) -> Result<Vec<Array3<f64>>, ModelError> {
        check_precision(prior_precision)?;
        self.check_members(members)?;
        for rows in at {
            members.check_width(*rows)?;
        }
        let outputs = match members.likelihood {
            numbers if numbers.classes().is_none() => 1,
            other => other.outputs(),
        };
        let mut variances: Vec<Array3<f64>> = at
            .iter()
            .map(|rows| Array3::zeros((self.members.len(), rows.nrows(), outputs)))
            .collect();
        for (member, curvature) in self.members.iter().enumerate() {
            let part = Part::of(curvature.dim(), members)?;
            let factor = curvature.factor(member, prior_precision)?;
            let of_outputs = OutputVariances::new(
                (&members.network, part),
                curvature,
                (member, outputs),
                factor,
            )?;
            for (rows, out) in at.iter().zip(&mut variances) {
                let mut out = out.index_axis_mut(Axis(0), member);
                for (chunk, out) in rows
                    .axis_chunks_iter(Axis(0), CHUNK)
                    .zip(out.axis_chunks_iter_mut(Axis(0), CHUNK))
                {
                    let linear = members.linearize(member, part, chunk)?;
                    of_outputs.at(linear.as_ref(), out)?;
                }
            }
        }
        Ok(variances)
    }
}

impl Laplace {
    /// Directions of the weights that the training rows determine rather than the prior, `tr C (C + δ I)⁻¹` with `H = C + δ I`, the mean over
    /// members (MacKay's effective number of parameters).
    ///
    /// # Errors
    /// [`ModelError::Setting`] if `δ` is not positive, or so small that a curvature cannot be factored.
    pub fn effective_dimension(&self, prior_precision: f64) -> Result<f64, ModelError> {
        check_precision(prior_precision)?;
        let mut sum = 0.0;
        for (member, curvature) in self.members.iter().enumerate() {
            // The smaller side has the same eigenvalues but for zeros, which count as nothing.
            let (factor, shift) = curvature.smaller_side(member, prior_precision)?;
            let side = factor.dim();
            let variances = factor.inverse_quadratic(Array2::eye(side).view());
            sum += side as f64 - shift * variances.sum();
        }
        Ok(sum / self.members.len().max(1) as f64)
    }

    pub(super) fn check_members(&self, members: &Members) -> Result<(), ModelError> {
        if members.particles.nrows() == self.members.len() {
            return Ok(());
        }
        Err(ModelError::Shape {
            what: "members of Laplace variances".into(),
            found: vec![members.particles.nrows()],
            expected: vec![self.members.len()],
        })
    }

    /// Refuses a curvature of the last layer alone, or of other members.
    pub(super) fn check_whole(&self, members: &Members) -> Result<(), ModelError> {
        self.check_members(members)?;
        let dim = Part::Whole.dim(members);
        match self
            .curvature()
            .iter()
            .find(|curvature| curvature.dim() != dim)
        {
            None => Ok(()),
            Some(other) => Err(ModelError::Shape {
                what: "parameters of an evidence".into(),
                found: vec![other.dim()],
                expected: vec![dim],
            }),
        }
    }
}

/// Whether the curvature of all `dim` parameters is to be had from so many rows: as a square matrix of `dim`, or as the rows where these take no more than the
/// largest such matrix.
pub(super) fn whole_fits(dim: usize, rows: usize, largest: usize) -> bool {
    dim <= largest || rows.saturating_mul(dim) <= largest * largest
}

/// For whoever asks for a curvature of which neither side can be factored.
pub(super) fn too_large(what: &str, dim: usize, rows: usize, expected: &str) -> ModelError {
    ModelError::setting(
        &format!("number of parameters for {what}"),
        dim,
        &format!("{expected}, or fewer curvature rows (found {rows}); take a smaller network"),
    )
}

pub(super) fn check_precision(precision: f64) -> Result<(), ModelError> {
    if precision.is_finite() && precision > 0.0 {
        return Ok(());
    }
    let expected = "a positive number";
    Err(ModelError::setting("prior precision", precision, expected))
}

pub(super) fn not_factored(member: usize, error: impl std::fmt::Display) -> ModelError {
    ModelError::setting(
        &format!("curvature of member {member}"),
        error,
        "a positive definite matrix",
    )
}

#[cfg(test)]
#[path = "laplace_tests.rs"]
pub(super) mod tests;
