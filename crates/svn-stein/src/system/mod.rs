//! The Stein variational Newton system `A α = v` and the ways to solve it.
//!
//! ```text
//! (A α)_m = (1/N) Σ_p K̃_pm (H_p + λ I) u_p + Σ_n R_mn α_n,    u_p = Σ_n K̃_pn α_n,    K̃ = (K² + ridge · I)^½
//! block-diagonal:  (A α)_m = (1/N) Σ_p K_pm² (H_p + λ I) α_m + R_mm α_m
//! step             V_m = Σ_n K_mn α_n
//! ```
//!
//! The ridge keeps the system regular where `K` is not, when particles nearly coincide. In `K̃` it leaves the structure
//! as it is, whatever the scale of `H_p`, so that the data part always falls apart into one factor a particle.
//!
//! | symbol | shape | meaning |
//! |---|---|---|
//! | `α`, `v`, `V` | `N × d` | unknown, SVGD field, step |
//! | `K`, `g` | `N × N` | kernel and its slopes |
//! | `Y` | `N × d` | centred particles times the metric |
//! | `H_p` | `d × d`, never formed | curvature |
//! | `λ` | scalar | Levenberg damping |
//!
//! Reference: Detommaso et al. (2018), arXiv 1806.03085.

mod assembled;
mod block;
mod choice;
mod coupled;
mod decoupled;
mod direct;
mod eigenbasis;
mod info;
mod inverse;
mod krylov;
mod noise;
mod operator;
mod scratch;
mod solver;

pub use info::{SolveInfo, SolveRoute, SolveStatus};
pub use scratch::Scratch;
pub use solver::Solver;

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis};
use svn_linalg::{ParticleOperators, SymmetricEigen, dense, gram, parallel};

use crate::curvature::validate;
use crate::error::SteinError;
use crate::gram::KernelView;
use crate::repulsion::Coupling;
use svn_linalg::dense::first_non_finite;

const SINGULAR_KERNEL: &str =
    "the kernel matrix is singular: particles coincide and the setting `ridge` is zero";

/// The system at one set of particles.
#[derive(Debug)]
pub struct SvnSystem<'a> {
    kernel: KernelView<'a>,
    curvature: &'a dyn ParticleOperators,
    coupling: Coupling,
    damping: f64,
    /// `K̃`; `K` itself without a ridge.
    mixing: Array2<f64>,
    /// Eigenvalues and eigenvectors of `K̃`.
    roots: Array1<f64>,
    vectors: Array2<f64>,
}

impl<'a> SvnSystem<'a> {
    /// The system with Levenberg damping `λ = damping`. The `ridge` is relative to the eigenvalues of `K²`.
    ///
    /// # Errors
    /// [`SteinError::Shape`] if kernel and curvature do not fit each other; [`SteinError::Setting`] for a negative
    /// damping or ridge; [`SteinError::NonFinite`] or [`SteinError::Curvature`] for curvature that
    /// fails [its check](ParticleOperators::check); [`SteinError::Singular`] for a kernel matrix that is not
    /// finite.
    pub fn new(
        kernel: KernelView<'a>,
        curvature: &'a dyn ParticleOperators,
        coupling: Coupling,
        damping: f64,
        ridge: f64,
    ) -> Result<Self, SteinError> {
        let system = Self::of_valid(kernel, curvature, coupling, damping, ridge)?;
        let (n, d) = system.shape();
        validate(curvature, n, d)?;
        Ok(system)
    }

    /// The same of curvature that was looked at already.
    ///
    /// # Errors
    /// As for [`Self::new`], but of the curvature.
    pub(crate) fn of_valid(
        kernel: KernelView<'a>,
        curvature: &'a dyn ParticleOperators,
        coupling: Coupling,
        damping: f64,
        ridge: f64,
    ) -> Result<Self, SteinError> {
        let (n, d) = kernel.transformed.dim();
        if n == 0 || d == 0 {
            return Err(SteinError::Empty {
                particles: n,
                dim: d,
            });
        }
        for (what, found) in [
            ("kernel matrix", kernel.kernel),
            ("kernel slopes", kernel.slope),
        ] {
            if found.dim() != (n, n) {
                return Err(SteinError::Shape {
                    what,
                    found: found.shape().to_vec(),
                    expected: vec![n, n],
                });
            }
        }
        for (name, value) in [("damping", damping), ("ridge", ridge)] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(SteinError::Setting {
                    name,
                    value: value.to_string(),
                    expected: "a non-negative number",
                });
            }
        }
        let (values, vectors) = if is_identity(kernel.kernel) {
            (Array1::ones(n), Array2::eye(n))
        } else {
            let eigen =
                SymmetricEigen::factorize(kernel.kernel).map_err(|e| SteinError::Singular {
                    coupling: coupling.name(),
                    size: n,
                    reason: e.to_string(),
                })?;
            (eigen.values().to_owned(), eigen.vectors().to_owned())
        };
        let largest = values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let least = n as f64 * f64::EPSILON * largest;
        if ridge == 0.0
            && coupling != Coupling::BlockDiagonal
            && values.iter().any(|x| x.abs() <= least)
        {
            return Err(SteinError::Singular {
                coupling: coupling.name(),
                size: n,
                reason: SINGULAR_KERNEL.into(),
            });
        }
        let mut system = Self {
            kernel,
            curvature,
            coupling,
            damping,
            // Without a ridge this is K itself, which rounding may make slightly indefinite.
            roots: values.mapv(|x| match ridge {
                0.0 => x,
                _ => (x * x + ridge).sqrt(),
            }),
            vectors,
            mixing: Array2::zeros((0, 0)),
        };
        system.mixing = if ridge == 0.0 {
            kernel.kernel.to_owned()
        } else {
            system.function(|root| root)
        };
        Ok(system)
    }

    /// A function of `K̃`, by half a product where it is positive.
    fn function(&self, f: impl Fn(f64) -> f64) -> Array2<f64> {
        let values = self.roots.mapv(f);
        if values.iter().all(|&x| x > 0.0) {
            return gram(1.0, (&self.vectors * &values.mapv(f64::sqrt)).view());
        }
        dense::product((&self.vectors * &values).view(), self.vectors.t())
    }

    /// A factorisation of size `size` that failed.
    fn singular(&self, size: usize, reason: impl ToString) -> SteinError {
        SteinError::Singular {
            coupling: self.coupling.name(),
            size,
            reason: reason.to_string(),
        }
    }

    /// `K̃⁻¹`.
    fn mixing_inverse(&self) -> Result<Array2<f64>, SteinError> {
        let inverse = self.function(f64::recip);
        if inverse.iter().all(|x| x.is_finite()) {
            return Ok(inverse);
        }
        Err(self.singular(self.shape().0, SINGULAR_KERNEL))
    }

    /// Whether the system is `N` independent ones.
    fn is_block_diagonal(&self) -> bool {
        self.coupling == Coupling::BlockDiagonal || self.is_decoupled()
    }

    /// About the multiplications of one product with `H_p` or with its inverse for every particle.
    fn product_work(&self) -> usize {
        let (n, d) = self.shape();
        self.curvature.factor_size().saturating_mul(2 * n * d)
    }

    /// Particles `N` and coordinates `d`.
    pub fn shape(&self) -> (usize, usize) {
        self.kernel.transformed.dim()
    }

    /// Whether particles do not interact at all (`K = I`), so that every coupling is block-diagonal.
    fn is_decoupled(&self) -> bool {
        self.kernel.slope.iter().all(|&g| g == 0.0)
            && self
                .kernel
                .kernel
                .indexed_iter()
                .all(|((p, m), &k)| p == m || k == 0.0)
    }

    /// Solve `A α = rhs`.
    ///
    /// `scratch` keeps memory from call to call; pass [`Scratch::default`] for a single solve.
    ///
    /// # Shapes
    /// `rhs`, `out`: `N × d`.
    ///
    /// # Errors
    /// [`SteinError::Singular`] if a factorisation fails; [`SteinError::NonFinite`] if `rhs` is not finite;
    /// [`SteinError::Shape`].
    pub fn solve_into(
        &self,
        rhs: ArrayView2<'_, f64>,
        solver: Solver,
        scratch: &mut Scratch,
        mut out: ArrayViewMut2<'_, f64>,
    ) -> Result<SolveInfo, SteinError> {
        let (n, d) = self.shape();
        for (what, found) in [("right-hand side", rhs.dim()), ("solution", out.dim())] {
            if found != (n, d) {
                return Err(SteinError::Shape {
                    what,
                    found: vec![found.0, found.1],
                    expected: vec![n, d],
                });
            }
        }
        if let Some(particle) = first_non_finite(rhs.rows()) {
            return Err(SteinError::NonFinite {
                what: "right-hand side of the Newton system",
                particle,
            });
        }
        scratch.fit((n, d));
        let info = match self.choose(solver) {
            Solver::Cg {
                tolerance,
                max_iterations,
            } => krylov::cg(
                self,
                rhs,
                tolerance,
                max_iterations,
                scratch,
                out.view_mut(),
            )?,
            Solver::Minres {
                tolerance,
                max_iterations,
            } => krylov::minres(
                self,
                rhs,
                tolerance,
                max_iterations,
                scratch,
                out.view_mut(),
            )?,
            Solver::Preconditioned {
                tolerance,
                max_iterations,
            } => direct::preconditioned(
                self,
                rhs,
                tolerance,
                max_iterations,
                scratch,
                out.view_mut(),
            )?,
            Solver::Dense => direct::dense(self, rhs, scratch, out.view_mut())?,
            Solver::Auto | Solver::Direct => direct::solve(self, rhs, scratch, out.view_mut())?,
        };
        match first_non_finite(out.rows()) {
            Some(_) => Err(self.singular(info.size, "the solution is not finite")),
            None => Ok(info),
        }
    }
}

/// Whether `K = I`, entry by entry.
fn is_identity(k: ArrayView2<'_, f64>) -> bool {
    k.indexed_iter()
        .all(|((p, m), &k)| k == f64::from(u8::from(p == m)))
}

/// `f` for each of `0..n`, about as many multiplications in all; the first error in order counts.
fn for_each_particle<T: Send>(
    n: usize,
    multiplications: usize,
    f: impl Fn(usize) -> Result<T, SteinError> + Sync + Send,
) -> Result<Vec<T>, SteinError> {
    parallel::map(n, multiplications, f).into_iter().collect()
}

/// `f(p, row p of out)`, rows as `1 × d` matrices, about as many multiplications in all.
fn for_each_row(
    mut out: ArrayViewMut2<'_, f64>,
    multiplications: usize,
    f: impl Fn(usize, ArrayViewMut2<'_, f64>) + Sync + Send,
) {
    let rows: Vec<_> = out.axis_chunks_iter_mut(Axis(0), 1).collect();
    parallel::for_each(rows, multiplications, f);
}

/// `A x`.
fn vector_product(a: ArrayView2<'_, f64>, x: ArrayView1<'_, f64>) -> Array1<f64> {
    let mut y = Array1::zeros(a.nrows());
    dense::multiply_vector(1.0, a, x, 0.0, y.view_mut());
    y
}

/// `(A + Aᵀ) / 2` in place: what rounding left of symmetry.
fn symmetrise(a: &mut Array2<f64>) {
    for i in 0..a.nrows() {
        for j in 0..i {
            let mean = 0.5 * (a[(i, j)] + a[(j, i)]);
            a[(i, j)] = mean;
            a[(j, i)] = mean;
        }
    }
}
