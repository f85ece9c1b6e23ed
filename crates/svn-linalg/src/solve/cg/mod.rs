//! Preconditioned conjugate gradients for positive definite operators, stopping on negative curvature.
//!
//! ```text
//! r = b − A x,  z = P⁻¹ r,  p = z
//! α = rᵀz / pᵀAp      x += α p      r −= α A p      β = r₊ᵀz₊ / rᵀz      p = z₊ + β p
//! ```
//!
//! # What `Converged` says about the operator
//! The residual polynomial of CG has only positive roots as long as every `pᵀAp` is positive, so on an eigenvector
//! with a negative eigenvalue it exceeds 1: that part of the residual only grows. CG therefore cannot converge to
//! tolerance τ on an indefinite operator unless the part of the *initial residual* in the negative eigenspace is below
//! `τ ‖b‖` from the start. [`Definiteness::Probe`] starts from a vector with a part along every eigenvector, which
//! closes that gap too, at the price of a few more iterations.
//!
//! # References
//! Hestenes and Stiefel 1952; Steihaug 1983 for the stop on negative curvature.

mod outcome;

pub use outcome::{CgInfo, CgParams, CgSolution, CgStatus, Definiteness};

use ndarray::{Array1, ArrayView1};

use super::frame::{End, Exit, Frame, norm};
use super::{Breakdown, SolveError};
use crate::dense;
use crate::operator::SelfAdjoint;

/// Solve `A x = b`, `A` positive definite.
///
/// # Shapes
/// `b`, `x0`: `n`; `preconditioner` applies `P⁻¹`, `n × n`, positive definite.
///
/// # Errors
/// [`SolveError`] for bad input or a product that is not finite. Everything else is a [`CgStatus`].
///
/// # Examples
/// ```
/// use ndarray::array;
/// use svn_linalg::{CgParams, Symmetric, cg};
///
/// let a = Symmetric::new(array![[4.0, 1.0], [1.0, 3.0]])?;
/// let x = cg(&a, array![1.0, 2.0].view(), None, None, &CgParams::default())?.converged()?;
/// assert!((x[0] - 1.0 / 11.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn cg(
    operator: &dyn SelfAdjoint,
    b: ArrayView1<'_, f64>,
    x0: Option<ArrayView1<'_, f64>>,
    preconditioner: Option<&dyn SelfAdjoint>,
    params: &CgParams,
) -> Result<CgSolution, SolveError> {
    let (tolerance, limit) = (params.tolerance, params.max_iterations);
    let mut frame = Frame::new(operator, preconditioner, b, x0, tolerance, limit)?;
    if params.definiteness == Definiteness::Probe {
        frame.disturb(&Array1::from_shape_fn(b.len(), hash_to_unit))?;
    }
    let mut size = OperatorSize::default();
    let mut direction = None;
    let end = frame.run(|frame, r| descend(frame, r, &mut size, &mut direction))?;
    let status = match end {
        End::Converged => CgStatus::Converged,
        End::IterationLimit => CgStatus::IterationLimit,
        End::Stagnation => broken(Breakdown::Stagnation),
        End::Own(status) => status,
    };
    Ok(CgSolution {
        info: CgInfo {
            iterations: frame.iterations,
            relative_residual: frame.relative_residual,
            status,
        },
        x: frame.x,
        direction,
    })
}

fn broken(reason: Breakdown) -> CgStatus {
    CgStatus::Breakdown { reason }
}

/// SplitMix64 of the index, mapped to (−1, 1).
fn hash_to_unit(i: usize) -> f64 {
    let mut z = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// A search direction.
struct Direction {
    p: Array1<f64>,
    /// `rᵀz` where it started.
    rz: f64,
    /// `pᵀP p`, by its recurrence.
    length2: f64,
}

/// Conjugate directions from the residual `r`; one of negative curvature is left in `negative`.
fn descend(
    frame: &mut Frame<'_>,
    mut r: Array1<f64>,
    size: &mut OperatorSize,
    negative: &mut Option<Array1<f64>>,
) -> Result<Exit<CgStatus>, SolveError> {
    let mut last: Option<Direction> = None;
    loop {
        let mut p = frame.precondition(&r)?;
        let rz = dense::dot(r.view(), p.view());
        if rz <= 0.0 || rz.is_nan() {
            return Ok(Exit::Stuck(broken(Breakdown::Preconditioner)));
        }
        let mut length2 = rz;
        if let Some(last) = last {
            let beta = rz / last.rz;
            p.scaled_add(beta, &last.p);
            length2 += beta * beta * last.length2;
        }
        let direction = Direction { p, rz, length2 };
        let ap = frame.apply(&direction.p)?;
        frame.iterations += 1;
        let curvature = dense::dot(direction.p.view(), ap.view());
        if let Some(status) = size.judge(curvature, &direction, ap.view()) {
            if let CgStatus::NegativeCurvature { .. } = status {
                let length = norm(direction.p.view());
                *negative = Some(direction.p / length);
                // An operator known to be indefinite is never reported as solved.
                return Ok(Exit::Final(status));
            }
            return Ok(Exit::Stuck(status));
        }
        let alpha = rz / curvature;
        frame.advance(alpha, &direction.p);
        r.scaled_add(-alpha, &ap);
        if frame.is_due(&r) {
            return Ok(Exit::Claim);
        }
        last = Some(direction);
    }
}

/// How large the operator has shown itself, to tell curvature from rounding.
#[derive(Default)]
struct OperatorSize {
    /// Largest `|pᵀAp| / pᵀPp`: a bound from below on the norm of `P^(−1/2) A P^(−1/2)`.
    preconditioned: f64,
    /// Largest `‖A p‖ / ‖p‖`: the same for `A`.
    plain: f64,
}

impl OperatorSize {
    /// Whether `pᵀAp` is too small to go on, and what that says.
    ///
    /// In the metric of the preconditioner, so that units of the coordinates do not matter, rounding makes the
    /// curvature uncertain by `n ε` of its largest value. Below minus that it is negative for certain. Near zero a
    /// positive semi-definite `A` has `‖A p‖² ≤ ‖A‖ pᵀAp`, so an `A p` much longer than that proves `A` indefinite;
    /// otherwise `p` is a null vector.
    fn judge(
        &mut self,
        curvature: f64,
        direction: &Direction,
        ap: ArrayView1<'_, f64>,
    ) -> Option<CgStatus> {
        let dim = ap.len() as f64;
        let (p_norm, ap_norm) = (norm(direction.p.view()), norm(ap));
        let rayleigh = curvature / direction.length2;
        self.preconditioned = self.preconditioned.max(rayleigh.abs());
        self.plain = self.plain.max(ap_norm / p_norm);
        let rounding = f64::EPSILON * self.preconditioned;
        if rayleigh > rounding {
            return None;
        }
        let plain_rayleigh = curvature / p_norm / p_norm;
        let stretch = ap_norm / p_norm / self.plain;
        let null_stretch2 = plain_rayleigh.max(0.0) / self.plain + dim * f64::EPSILON;
        if rayleigh < -dim * rounding || stretch * stretch > 100.0 * null_stretch2 {
            Some(CgStatus::NegativeCurvature {
                curvature: plain_rayleigh,
            })
        } else {
            Some(broken(Breakdown::Singular))
        }
    }
}
