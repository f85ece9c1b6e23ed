//! Preconditioned MINRES for symmetric operators of any signature: it minimises `‖b − A x‖` over the Krylov space.
//!
//! Lanczos builds `A V_k = V_{k+1} T_k`, Givens rotations keep `T_k` triangular as it grows:
//!
//! ```text
//! z₊ = A v − (α/β) z − (β/β₋) z₋      v = P⁻¹ z / β       α = vᵀA v       β = √(zᵀP⁻¹z)
//! x₊ = x + φ w                        r₊ = s² r − φ̄ c z₊/β₊
//! ```
//!
//! The residual vector is carried along (last line), so the stop is on the 2-norm with and without a preconditioner.
//!
//! # References
//! Paige and Saunders 1975; the residual recurrence as in Choi, Paige and Saunders 2011.

mod outcome;

pub use outcome::{MinresInfo, MinresParams, MinresSolution, MinresStatus};

use ndarray::{Array1, ArrayView1};

use super::frame::{End, Exit, Frame, norm};
use super::{Breakdown, SolveError};
use crate::dense;
use crate::input::check_non_negative;
use crate::operator::SelfAdjoint;

/// Solve `A x = b`, `A` symmetric.
///
/// # Shapes
/// `b`, `x0`: `n`; `preconditioner` applies `P⁻¹`, `n × n`, positive definite even where `A` is not.
///
/// # Errors
/// [`SolveError`] for bad input or a product that is not finite. Everything else is a [`MinresStatus`].
///
/// # Examples
/// ```
/// use ndarray::array;
/// use svn_linalg::{MinresParams, Symmetric, minres};
///
/// let indefinite = Symmetric::new(array![[1.0, 2.0], [2.0, 1.0]])?;
/// let x = minres(&indefinite, array![3.0, 3.0].view(), None, None, &MinresParams::default())?.converged()?;
/// assert!((x[0] - 1.0).abs() < 1e-8 && (x[1] - 1.0).abs() < 1e-8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn minres(
    operator: &dyn SelfAdjoint,
    b: ArrayView1<'_, f64>,
    x0: Option<ArrayView1<'_, f64>>,
    preconditioner: Option<&dyn SelfAdjoint>,
    params: &MinresParams,
) -> Result<MinresSolution, SolveError> {
    check_non_negative("range_tolerance", params.range_tolerance)?;
    let (tolerance, limit) = (params.tolerance, params.max_iterations);
    let mut frame = Frame::new(operator, preconditioner, b, x0, tolerance, limit)?;
    let mut size = OperatorSize {
        largest: 0.0,
        range_tolerance: params.range_tolerance,
    };
    let end = frame.run(|frame, r| iterate(frame, r, &mut size))?;
    let status = match end {
        End::Converged => MinresStatus::Converged,
        End::IterationLimit => MinresStatus::IterationLimit,
        End::Stagnation => broken(Breakdown::Stagnation),
        End::Own(status) => status,
    };
    Ok(MinresSolution {
        info: MinresInfo {
            iterations: frame.iterations,
            relative_residual: frame.relative_residual,
            status,
        },
        x: frame.x,
    })
}

fn broken(reason: Breakdown) -> MinresStatus {
    MinresStatus::Breakdown { reason }
}

/// How large the operator has shown itself, to tell a residual orthogonal to its range from rounding.
struct OperatorSize {
    /// Frobenius norm of the last rows of `T`, at most √3 ‖A‖; largest seen.
    largest: f64,
    range_tolerance: f64,
}

/// Lanczos vectors from the residual `r`.
fn iterate(
    frame: &mut Frame<'_>,
    r: Array1<f64>,
    size: &mut OperatorSize,
) -> Result<Exit<MinresStatus>, SolveError> {
    let y = frame.precondition(&r)?;
    let zy = dense::dot(r.view(), y.view());
    if zy <= 0.0 || zy.is_nan() {
        return Ok(Exit::Stuck(broken(Breakdown::Preconditioner)));
    }
    let mut lanczos = Lanczos::start(r, y, zy.sqrt());
    loop {
        let mut z = frame.apply(&lanczos.v)?;
        frame.iterations += 1;
        if lanczos.steps > 0 {
            z.scaled_add(-lanczos.beta / lanczos.beta_last, &lanczos.z_last);
        }
        let alpha = dense::dot(lanczos.v.view(), z.view());
        z.scaled_add(-alpha / lanczos.beta, &lanczos.z);
        let y = frame.precondition(&z)?;
        if let Some(exit) = lanczos.close(frame, alpha, z, y, size) {
            return Ok(exit);
        }
    }
}

/// The three-term recurrence and its rotations; names as in the literature.
struct Lanczos {
    z: Array1<f64>,
    z_last: Array1<f64>,
    v: Array1<f64>,
    beta: f64,
    beta_last: f64,
    cosine: f64,
    sine: f64,
    delta_bar: f64,
    epsilon: f64,
    phi_bar: f64,
    w: Array1<f64>,
    w_last: Array1<f64>,
    r: Array1<f64>,
    steps: usize,
}

impl Lanczos {
    /// From the residual `r` and `y = P⁻¹ r`, `beta = √(rᵀy) > 0`.
    fn start(r: Array1<f64>, y: Array1<f64>, beta: f64) -> Self {
        let n = r.len();
        Self {
            v: y / beta,
            z: r.clone(),
            z_last: Array1::zeros(n),
            beta,
            beta_last: beta,
            cosine: -1.0,
            sine: 0.0,
            delta_bar: 0.0,
            epsilon: 0.0,
            phi_bar: beta,
            w: Array1::zeros(n),
            w_last: Array1::zeros(n),
            r,
            steps: 0,
        }
    }

    /// Take the step to the next Lanczos vector `z`, `y = P⁻¹ z`: rotate, update `x` and the residual.
    fn close(
        &mut self,
        frame: &mut Frame<'_>,
        alpha: f64,
        z: Array1<f64>,
        y: Array1<f64>,
        size: &mut OperatorSize,
    ) -> Option<Exit<MinresStatus>> {
        let zy = dense::dot(z.view(), y.view());
        let rounding = f64::EPSILON * norm(z.view()) * norm(y.view());
        if zy.is_nan() || zy < -(z.len() as f64) * rounding {
            return Some(Exit::Stuck(broken(Breakdown::Preconditioner)));
        }
        let beta = zy.max(0.0).sqrt();
        let row = alpha
            .hypot(beta)
            .hypot(if self.steps == 0 { 0.0 } else { self.beta });
        size.largest = size.largest.max(row);

        let delta = self.cosine * self.delta_bar + self.sine * alpha;
        let gamma_bar = self.sine * self.delta_bar - self.cosine * alpha;
        let epsilon_next = self.sine * beta;
        let delta_bar_next = -self.cosine * beta;
        // ‖A r‖ / ‖r‖ of the residual before this step, in the norm of the preconditioner.
        let normal = gamma_bar.hypot(delta_bar_next);
        if normal <= size.range_tolerance * size.largest {
            if self.steps > 0 {
                return Some(Exit::Restart);
            }
            let normal_residual = if normal > 0.0 {
                normal / size.largest
            } else {
                0.0
            };
            return Some(Exit::Stuck(MinresStatus::LeastSquares { normal_residual }));
        }
        let gamma = gamma_bar.hypot(beta);
        let (cosine, sine) = (gamma_bar / gamma, beta / gamma);
        let phi = cosine * self.phi_bar;
        self.phi_bar *= sine;

        let mut w = &self.v - &(&self.w_last * self.epsilon) - &(&self.w * delta);
        w /= gamma;
        frame.advance(phi, &w);
        self.w_last = std::mem::replace(&mut self.w, w);
        self.r *= sine * sine;
        let invariant = beta <= f64::EPSILON * size.largest;
        if !invariant {
            self.r.scaled_add(-self.phi_bar * cosine / beta, &z);
        }
        if invariant || frame.is_due(&self.r) {
            return Some(Exit::Claim);
        }
        self.v = y / beta;
        self.z_last = std::mem::replace(&mut self.z, z);
        self.beta_last = std::mem::replace(&mut self.beta, beta);
        (self.cosine, self.sine, self.delta_bar, self.epsilon) =
            (cosine, sine, delta_bar_next, epsilon_next);
        self.steps += 1;
        None
    }
}
