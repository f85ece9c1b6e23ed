//! Which way of solving takes the least, by sizes and multiplications alone.

use super::{Solver, SvnSystem};
use crate::repulsion::rank;

/// Largest matrix the automatic choice factorises before it turns to an iterative solver.
const DIRECT_LIMIT: usize = 4096;
/// Largest `N d` at which the whole system is assembled: 32 MB.
const DENSE_LIMIT: usize = 2048;
/// Multiplications of a direct solve from which on an iteration is tried instead: a second or so.
pub(super) const DIRECT_WORK: f64 = 4e9;
/// Largest repulsion rank the automatic choice factorises.
pub(super) const REPULSION_LIMIT: usize = 1024;

impl SvnSystem<'_> {
    /// What [`Solver::Auto`] stands for here.
    pub(super) fn choose(&self, solver: Solver) -> Solver {
        if solver != Solver::Auto {
            return solver;
        }
        let (n, d) = self.shape();
        let block = self.is_block_diagonal();
        let size = match self.curvature.low_rank() {
            Some(low) if block && !self.is_decoupled() => d.min(n * low.rows.count()),
            _ => self.curvature.factor_size(),
        };
        let (tolerance, max_iterations) = (1e-6, 200);
        if size > DIRECT_LIMIT || self.is_costly_to_factor(2 * max_iterations) {
            // The factors themselves are what is too dear.
            return if self.coupling.is_psd() {
                Solver::Cg {
                    tolerance,
                    max_iterations,
                }
            } else {
                Solver::Minres {
                    tolerance,
                    max_iterations,
                }
            };
        }
        let direct =
            self.decoupled_work() <= DIRECT_WORK && rank(self.coupling, n) <= REPULSION_LIMIT;
        if block || direct || self.is_denser() {
            Solver::Direct
        } else {
            Solver::Preconditioned {
                tolerance,
                max_iterations,
            }
        }
    }

    /// Whether factors of rows take more than so many products with them.
    fn is_costly_to_factor(&self, products: usize) -> bool {
        let low = self.curvature.low_rank();
        low.is_some_and(|low| {
            low.factor_work() > products as f64 * 2.0 * (low.rows.count() * low.rows.dim()) as f64
        })
    }

    /// Multiplications of the decoupled route that grow with the particles: the small matrix of the repulsion.
    pub(super) fn decoupled_work(&self) -> f64 {
        let n = self.shape().0 as f64;
        let r = rank(self.coupling, self.shape().0) as f64;
        n * r * n * (n + r) + r.powi(3) / 6.0
    }

    /// Whether the whole `N d × N d` matrix takes less than the decoupled route: many particles of few coordinates.
    pub(super) fn is_denser(&self) -> bool {
        let (n, d) = self.shape();
        let size = (n * d) as f64;
        let work = (n as f64).powi(3) * (d * d) as f64 + size.powi(3) / 6.0;
        !self.is_block_diagonal() && n * d <= DENSE_LIMIT && work < self.decoupled_work()
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, ArrayViewMut2};
    use svn_linalg::{LowRank, ParticleRows, Rows};

    use super::*;
    use crate::gram::KernelView;
    use crate::repulsion::Coupling;

    /// Rows that nobody asks for.
    #[derive(Debug)]
    struct Sizes {
        rows: usize,
        dim: usize,
        keeps_gram: bool,
    }

    impl ParticleRows for Sizes {
        fn particles(&self) -> usize {
            5
        }

        fn count(&self) -> usize {
            self.rows
        }

        fn dim(&self) -> usize {
            self.dim
        }

        fn rows(&self, _: usize) -> Box<dyn Rows + '_> {
            Box::new(Array2::zeros((self.rows, self.dim)))
        }

        fn cross_gram_into(&self, _: usize, _: usize, _: ArrayViewMut2<'_, f64>) {}

        fn keeps_gram(&self) -> bool {
            self.keeps_gram
        }

        fn non_finite(&self) -> Option<usize> {
            None
        }
    }

    #[track_caller]
    fn chosen(coupling: Coupling, (rows, dim, keeps_gram): (usize, usize, bool)) -> Solver {
        let rows = Sizes {
            rows,
            dim,
            keeps_gram,
        };
        let curvature = LowRank {
            rows,
            weight: 1.0,
            shift: 1.0,
        };
        let kernel = Array2::from_shape_fn((5, 5), |(p, m)| if p == m { 1.0 } else { 0.5 });
        let slope = Array2::from_shape_fn((5, 5), |(p, m)| if p == m { 0.0 } else { -0.1 });
        let transformed = Array2::zeros((5, dim));
        let view = KernelView {
            kernel: kernel.view(),
            slope: slope.view(),
            transformed: transformed.view(),
        };
        let system = SvnSystem::new(view, &curvature, coupling, 0.1, 0.0);
        system
            .unwrap_or_else(|error| panic!("{error}"))
            .choose(Solver::Auto)
    }

    #[test]
    fn factors_are_taken_where_they_cost_less_than_iterations() {
        let cg = Solver::Cg {
            tolerance: 1e-6,
            max_iterations: 200,
        };
        for (sizes, expected) in [
            // The shapes of yacht and power, ring of eight batches.
            ((128, 2951, true), Solver::Direct),
            ((3072, 2851, true), Solver::Direct),
            // Without inner products, and with so many rows that the other side is a d × d matrix.
            ((3072, 2851, false), cg),
            ((4000, 1900, true), cg),
            ((4000, 600, true), Solver::Direct),
            // More than fits.
            ((4097, 50_000, true), cg),
        ] {
            assert_eq!(chosen(Coupling::Gram, sizes), expected, "{sizes:?}");
        }
        // Rows of all five particles stand in each block.
        let sizes = (1000, 50_000, true);
        assert_eq!(chosen(Coupling::Gram, sizes), Solver::Direct);
        assert_eq!(chosen(Coupling::BlockDiagonal, sizes), cg);
    }
}
