//! Independent systems whose eigenbases are at hand: in them a solve is elementwise, and what a step asks of its solution is a sum.
//!
//! ```text
//! H_m = B diag(s) Bᵀ      α_m = N B α̂,   α̂ = (Bᵀ v_m) / (s + λ)      α_mᵀ H_m α_m = N² Σ_i s_i α̂_i²
//! ```
//!
//! Two changes of basis a particle, where a factor, its residual and the trust region take six.

use ndarray::{Array1, ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2};
use svn_linalg::{dense, parallel};

use super::direct::CONVERGED;
use super::{SolveInfo, SolveRoute, SolveStatus, SvnSystem, is_identity};

/// What is known of one particle's solution.
#[derive(Debug, Clone, Copy, Default)]
struct Solved {
    /// `α_mᵀ H_m α_m`, undamped.
    quadratic: f64,
    /// `‖Bᵀ v‖ / ‖v‖ − 1`: all that the residual of an elementwise solve can come from is a basis that is not orthogonal.
    residual: f64,
}

/// `out = A⁻¹ rhs` of particles that do not interact, and `α_mᵀ H_m α_m`; `None`, whatever `out`, where a basis is not at hand, or a matrix is
/// singular or its basis not orthogonal.
pub(super) fn solve(
    system: &SvnSystem<'_>,
    rhs: ArrayView2<'_, f64>,
    mut out: ArrayViewMut2<'_, f64>,
) -> Option<(SolveInfo, Array1<f64>)> {
    if !(system.is_decoupled() && is_identity(system.kernel.kernel)) {
        return None;
    }
    let n = system.shape().0;
    let mut solved = vec![None; n];
    let tasks = out.outer_iter_mut().zip(rhs.outer_iter()).zip(&mut solved);
    parallel::for_each(
        tasks.collect(),
        system.product_work(),
        |m, ((out, rhs), solved)| {
            *solved = particle(system, m, rhs, out);
        },
    );
    let solved: Vec<Solved> = solved.into_iter().collect::<Option<_>>()?;
    let relative_residual = solved.iter().map(|one| one.residual).fold(0.0, f64::max);
    let info = SolveInfo {
        route: SolveRoute::PerParticle,
        status: SolveStatus::Solved,
        iterations: 0,
        relative_residual,
        size: system.curvature.factor_size(),
    };
    let quadratic = solved.iter().map(|one| one.quadratic).collect();
    (relative_residual <= CONVERGED).then_some((info, quadratic))
}

fn particle(
    system: &SvnSystem<'_>,
    m: usize,
    rhs: ArrayView1<'_, f64>,
    mut out: ArrayViewMut1<'_, f64>,
) -> Option<Solved> {
    let mut sums = Sums::default();
    out.assign(&rhs);
    let there = system
        .curvature
        .in_eigenbasis(m, out.as_slice_mut()?, &mut |x, s| {
            sums.solve(x, s, system.shape().0 as f64, system.damping);
        });
    let regular = sums.least() > f64::EPSILON * sums.largest();
    let norm = dense::dot(rhs, rhs).sqrt();
    (there && regular).then(|| Solved {
        quadratic: sums.quadratic.iter().sum(),
        residual: if norm == 0.0 {
            0.0
        } else {
            (sums.square.iter().sum::<f64>().sqrt() / norm - 1.0).abs()
        },
    })
}

/// Sums side by side, so that none waits for the one before.
const LANES: usize = 8;

/// What is gathered over the coordinates of one particle.
struct Sums {
    square: [f64; LANES],
    quadratic: [f64; LANES],
    /// Of the damped eigenvalues.
    least: [f64; LANES],
    largest: [f64; LANES],
}

impl Default for Sums {
    fn default() -> Self {
        Self {
            square: [0.0; LANES],
            quadratic: [0.0; LANES],
            least: [f64::INFINITY; LANES],
            largest: [0.0; LANES],
        }
    }
}

impl Sums {
    /// `x ← count · x / (s + damping)`.
    fn solve(&mut self, x: &mut [f64], s: &[f64], count: f64, damping: f64) {
        let (lanes, rest) = x.as_chunks_mut::<LANES>();
        let (spectra, last) = s.as_chunks::<LANES>();
        for (x, s) in lanes.iter_mut().zip(spectra) {
            for lane in 0..LANES {
                self.coordinate(lane, &mut x[lane], s[lane], count, damping);
            }
        }
        for (lane, (x, &s)) in rest.iter_mut().zip(last).enumerate() {
            self.coordinate(lane, x, s, count, damping);
        }
    }

    #[inline(always)]
    fn coordinate(&mut self, lane: usize, x: &mut f64, s: f64, count: f64, damping: f64) {
        let damped = s + damping;
        if damped < self.least[lane] {
            self.least[lane] = damped;
        }
        if damped > self.largest[lane] {
            self.largest[lane] = damped;
        }
        self.square[lane] += *x * *x;
        *x *= count / damped;
        self.quadratic[lane] += s * *x * *x;
    }

    fn least(&self) -> f64 {
        self.least.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn largest(&self) -> f64 {
        self.largest.iter().copied().fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};
    use svn_linalg::{DiagonalMatrices, Factor, FactorError, ParticleOperators, SelfAdjoint};

    use super::*;
    use crate::gram::KernelView;
    use crate::repulsion::Coupling;

    const N: usize = 3;
    /// Two sets of lanes and a remainder.
    const D: usize = 2 * LANES + 3;

    fn solved(
        kernel: &Array2<f64>,
        diagonals: &Array2<f64>,
        damping: f64,
    ) -> Option<(Array2<f64>, SolveInfo, Array1<f64>)> {
        let slope = Array2::zeros((N, N));
        let transformed = Array2::zeros((N, D));
        let view = KernelView {
            kernel: kernel.view(),
            slope: slope.view(),
            transformed: transformed.view(),
        };
        let curvature = DiagonalMatrices::new(diagonals.view());
        solved_with(view, &curvature, damping)
    }

    fn solved_with<'a>(
        view: KernelView<'a>,
        curvature: &'a dyn ParticleOperators,
        damping: f64,
    ) -> Option<(Array2<f64>, SolveInfo, Array1<f64>)> {
        let system = SvnSystem::new(view, curvature, Coupling::Gram, damping, 0.0)
            .unwrap_or_else(|error| panic!("{error}"));
        let mut alpha = Array2::zeros((N, D));
        let (info, quadratic) = solve(&system, rhs().view(), alpha.view_mut())?;
        Some((alpha, info, quadratic))
    }

    fn rhs() -> Array2<f64> {
        Array2::from_shape_fn((N, D), |(m, i)| ((7 * m + i) as f64).sin())
    }

    fn diagonals() -> Array2<f64> {
        Array2::from_shape_fn((N, D), |(m, i)| 0.5 + (m + 3 * i) as f64)
    }

    #[test]
    fn solution_and_quadratic_are_those_of_each_coordinate() {
        let (h, damping) = (diagonals(), 0.25);
        let Some((alpha, info, quadratic)) = solved(&Array2::eye(N), &h, damping) else {
            panic!("a diagonal is its own eigenbasis")
        };
        assert_eq!(info.route, SolveRoute::PerParticle);
        for m in 0..N {
            let mut sum = 0.0;
            for i in 0..D {
                let expected = N as f64 * rhs()[(m, i)] / (h[(m, i)] + damping);
                assert!((alpha[(m, i)] - expected).abs() <= 1e-15 * expected.abs());
                sum += h[(m, i)] * expected * expected;
            }
            assert!((quadratic[m] - sum).abs() <= 1e-14 * sum);
        }
    }

    #[test]
    fn what_interacts_or_is_singular_is_left_to_the_factors() {
        let mut kernel = Array2::eye(N);
        kernel[(0, 1)] = 0.1;
        kernel[(1, 0)] = 0.1;
        assert!(solved(&kernel, &diagonals(), 0.25).is_none());
        let mut flat = diagonals();
        flat[(1, 4)] = 0.0;
        assert!(solved(&Array2::eye(N), &flat, 0.0).is_none());
        assert!(solved(&Array2::eye(N), &flat, 0.25).is_some());
        let scaled = Array2::from_diag(&array![1.0, 1.0, 2.0]);
        assert!(solved(&scaled, &diagonals(), 0.25).is_none());
    }

    /// A diagonal whose "basis" is a hundredth too long.
    #[derive(Debug)]
    struct Skewed(DiagonalMatrices<ndarray::OwnedRepr<f64>>);

    impl ParticleOperators for Skewed {
        fn particles(&self) -> usize {
            self.0.particles()
        }

        fn dim(&self) -> usize {
            self.0.dim()
        }

        fn operator(&self, particle: usize) -> Box<dyn SelfAdjoint + '_> {
            self.0.operator(particle)
        }

        fn factor(&self, p: usize, damping: f64) -> Result<Box<dyn Factor + '_>, FactorError> {
            self.0.factor(p, damping)
        }

        fn diagonal(&self, particle: usize) -> Array1<f64> {
            self.0.diagonal(particle)
        }

        fn factor_size(&self) -> usize {
            1
        }

        fn in_eigenbasis(
            &self,
            particle: usize,
            x: &mut [f64],
            f: &mut dyn FnMut(&mut [f64], &[f64]),
        ) -> bool {
            x.iter_mut().for_each(|x| *x *= 1.01);
            self.0.in_eigenbasis(particle, x, f)
        }
    }

    #[test]
    fn a_basis_that_is_not_orthogonal_is_left_to_the_factors() {
        let (kernel, slope) = (Array2::eye(N), Array2::zeros((N, N)));
        let transformed = Array2::zeros((N, D));
        let view = KernelView {
            kernel: kernel.view(),
            slope: slope.view(),
            transformed: transformed.view(),
        };
        let plain = DiagonalMatrices::new(diagonals());
        let skewed = Skewed(DiagonalMatrices::new(diagonals()));
        assert!(solved_with(view, &plain, 0.25).is_some());
        assert!(solved_with(view, &skewed, 0.25).is_none());
    }
}
