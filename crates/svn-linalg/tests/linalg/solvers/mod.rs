//! The protocol of the iterative solvers: one table of systems, CG and MINRES through the same checks.

mod input;
mod preconditioned;

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use svn_linalg::{
    Breakdown, CgParams, CgStatus, Cholesky, CholeskyParams, Diagonal, Factor, FactorizeDamped,
    InputError, LinearOperator, MinresParams, MinresStatus, SelfAdjoint, SolveError, Symmetric, cg,
    minres,
};

use crate::cases::{self, Inverse};
use crate::reference::*;

/// What both solvers report, in one form.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub x: Array1<f64>,
    pub iterations: usize,
    pub residual: f64,
    pub converged: bool,
    pub limit: bool,
}

type Solve = fn(
    &dyn SelfAdjoint,
    ArrayView1<'_, f64>,
    Option<ArrayView1<'_, f64>>,
    Option<&dyn SelfAdjoint>,
    f64,
    usize,
) -> Result<Outcome, SolveError>;

pub(crate) const SOLVERS: [(&str, Solve); 2] = [("CG", by_cg), ("MINRES", by_minres)];

fn by_cg(
    a: &dyn SelfAdjoint,
    b: ArrayView1<'_, f64>,
    x0: Option<ArrayView1<'_, f64>>,
    p: Option<&dyn SelfAdjoint>,
    tolerance: f64,
    max_iterations: usize,
) -> Result<Outcome, SolveError> {
    let params = CgParams {
        tolerance,
        max_iterations,
        ..CgParams::default()
    };
    let s = cg(a, b, x0, p, &params)?;
    Ok(Outcome {
        iterations: s.info.iterations,
        residual: s.info.relative_residual,
        converged: s.info.status == CgStatus::Converged,
        limit: s.info.status == CgStatus::IterationLimit,
        x: s.x,
    })
}

fn by_minres(
    a: &dyn SelfAdjoint,
    b: ArrayView1<'_, f64>,
    x0: Option<ArrayView1<'_, f64>>,
    p: Option<&dyn SelfAdjoint>,
    tolerance: f64,
    max_iterations: usize,
) -> Result<Outcome, SolveError> {
    let params = MinresParams {
        tolerance,
        max_iterations,
        ..MinresParams::default()
    };
    let s = minres(a, b, x0, p, &params)?;
    Ok(Outcome {
        iterations: s.info.iterations,
        residual: s.info.relative_residual,
        converged: s.info.status == MinresStatus::Converged,
        limit: s.info.status == MinresStatus::IterationLimit,
        x: s.x,
    })
}

pub(crate) fn relative_residual(a: &Array2<f64>, x: &Array1<f64>, b: &Array1<f64>) -> f64 {
    norm((b - &image(a, x)).view()) / norm(b.view())
}

/// `Converged` if and only if the residual, computed here by loops, is at most the tolerance.
fn assert_honest(a: &Array2<f64>, b: &Array1<f64>, outcome: &Outcome, tolerance: f64, what: &str) {
    let residual = relative_residual(a, &outcome.x, b);
    let slack =
        rounding(a.nrows()) * (1.0 + frobenius(a.view()) * norm(outcome.x.view()) / norm(b.view()));
    assert!(
        (residual - outcome.residual).abs() <= slack,
        "{what}: reported residual"
    );
    if outcome.converged {
        assert!(
            residual <= tolerance + slack,
            "{what}: converged at {residual:e}"
        );
    } else {
        assert!(
            residual > tolerance - slack,
            "{what}: not converged at {residual:e}"
        );
    }
}

#[test]
fn every_operator_is_solved_and_agrees_with_elimination() {
    let mut rng = rng(30);
    for (solver, solve) in SOLVERS {
        for case in cases::self_adjoint() {
            let what = format!("{solver} on {}", case.name);
            for _ in 0..3 {
                // Consistent even where the operator is singular.
                let b = image(&case.dense, &random_vector(&mut rng, case.dense.nrows()));
                let outcome = solve(&*case.operator, b.view(), None, None, 1e-12, 2000).unwrap();
                assert!(outcome.converged, "{what}: {outcome:?}");
                assert_honest(&case.dense, &b, &outcome, 1e-12, &what);
            }
        }
    }
}

#[test]
fn condition_numbers_up_to_1e12_agree_with_direct_solves() {
    for (solver, solve) in SOLVERS {
        for (seed, condition) in [(1, 1e2), (2, 1e4), (3, 1e6), (4, 1e8), (5, 1e10), (6, 1e12)] {
            let mut rng = rng(seed);
            let n = 24;
            let a = with_spectrum(&mut rng, &log_spaced(n, condition));
            let tolerance = 1e-12;
            let operator = Symmetric::new(a.view()).unwrap();
            let factor = Cholesky::factorize(a.view(), &CholeskyParams::strict()).unwrap();
            let what = format!("{solver} at condition {condition:e}");
            for _ in 0..2 {
                // b = A x* keeps ‖A‖‖x‖ / ‖b‖ of order one: a residual of 1e-12 is attainable at any condition.
                let b = image(&a, &random_vector(&mut rng, n));
                let outcome = solve(&operator, b.view(), None, None, tolerance, 5000).unwrap();
                assert!(outcome.converged, "{what}: {outcome:?}");
                assert_honest(&a, &b, &outcome, tolerance, &what);
                let gap = &outcome.x - &factor.solve_vec(b.view()).unwrap();
                // ‖A e‖ = ‖residual gap‖, and ‖e‖_A² = eᵀ(A e) ≤ ‖A e‖² / λ_min.
                let a_gap = image(&a, &gap);
                let residual = (tolerance + rounding(n)) * norm(b.view()) * 2.0;
                assert!(
                    norm(a_gap.view()) <= residual,
                    "{what}: {:e}",
                    norm(a_gap.view())
                );
                assert!(
                    gap.dot(&a_gap).abs().sqrt() <= residual * condition.sqrt(),
                    "{what}: energy norm"
                );
                assert!(norm(gap.view()) <= residual * condition, "{what}: error");
            }
        }
    }
}

#[test]
fn solutions_scale_exactly_with_the_right_hand_side() {
    // pᵀAp underflows or overflows in a solver that works on b as it is; here 2ᵏ b gives 2ᵏ x, bit for bit.
    let mut rng = rng(31);
    let a = with_spectrum(&mut rng, &log_spaced(16, 1e4));
    let operator = Symmetric::new(a.view()).unwrap();
    let b = random_vector(&mut rng, 16);
    for (solver, solve) in SOLVERS {
        let reference = solve(&operator, b.view(), None, None, 1e-10, 500).unwrap();
        assert!(reference.converged);
        for power in [-900, -300, -43, 43, 300, 900] {
            let factor = 2.0_f64.powi(power);
            let scaled = solve(&operator, (&b * factor).view(), None, None, 1e-10, 500).unwrap();
            assert_eq!(scaled.x, &reference.x * factor, "{solver} at 2^{power}");
            assert_eq!(
                scaled.iterations, reference.iterations,
                "{solver} at 2^{power}"
            );
        }
        for factor in [1e-300, 1e-200, 1e-13, 1e13, 1e200, 1e300] {
            let scaled = solve(&operator, (&b * factor).view(), None, None, 1e-10, 500).unwrap();
            assert!(scaled.converged, "{solver} at {factor:e}");
            assert_close(
                column(&(&scaled.x / factor)),
                column(&reference.x),
                1e4 * 1e-10,
                solver,
            );
        }
    }
}

#[test]
fn operators_of_any_scale_are_solved() {
    let mut rng = rng(32);
    let a = with_spectrum(&mut rng, &log_spaced(10, 1e3));
    let b = random_vector(&mut rng, 10);
    for (solver, solve) in SOLVERS {
        for factor in [1e-150, 1e-13, 1e13, 1e150] {
            let operator = Symmetric::new(&a * factor).unwrap();
            let outcome = solve(&operator, b.view(), None, None, 1e-10, 500).unwrap();
            assert!(outcome.converged, "{solver} at {factor:e}: {outcome:?}");
            let expected = solution(&a, &b);
            assert_close(
                column(&(&outcome.x * factor)),
                column(&expected),
                1e-6,
                solver,
            );
        }
    }
}

#[test]
fn singular_consistent_systems_converge() {
    let mut rng = rng(33);
    for (solver, solve) in SOLVERS {
        for rank in [1, 3, 11] {
            let mut spectrum = vec![0.0; 12];
            (0..rank).for_each(|i| spectrum[i] = 1.0 + i as f64);
            let a = with_spectrum(&mut rng, &spectrum);
            let operator = Symmetric::new(a.view()).unwrap();
            let eigen = svn_linalg::SymmetricEigen::factorize(a.view()).unwrap();
            for _ in 0..2 {
                let b = image(&a, &random_vector(&mut rng, 12));
                let outcome = solve(&operator, b.view(), None, None, 1e-11, 200).unwrap();
                assert!(outcome.converged, "{solver} at rank {rank}: {outcome:?}");
                assert_honest(&a, &b, &outcome, 1e-11, solver);
                // From zero, the iterates stay in the range of A: this is the solution of least norm, the pseudo-inverse's.
                let mut least = Array2::zeros((12, 1));
                eigen.apply_function_into(
                    |v| if v > 0.5 { 1.0 / v } else { 0.0 },
                    column(&b),
                    least.view_mut(),
                );
                assert_close(column(&outcome.x), least.view(), 1e-9, solver);
            }
        }
    }
}

#[test]
fn singular_inconsistent_systems_never_converge() {
    let mut rng = rng(34);
    for (solver, solve) in SOLVERS {
        let a = with_spectrum(&mut rng, &[2.0, 1.0, 0.5, 0.0, 0.0, 0.0]);
        let operator = Symmetric::new(a.view()).unwrap();
        for _ in 0..3 {
            let b = random_vector(&mut rng, 6);
            let outcome = solve(&operator, b.view(), None, None, 1e-8, 200).unwrap();
            assert!(!outcome.converged, "{solver}: {outcome:?}");
            assert_honest(&a, &b, &outcome, 1e-8, solver);
        }
    }
}

#[test]
fn zero_right_hand_side_takes_no_iteration() {
    let operator = Symmetric::new(with_spectrum(&mut rng(35), &[1.0, 2.0, 3.0])).unwrap();
    let (b, start) = (Array1::zeros(3), Array1::ones(3));
    for (solver, solve) in SOLVERS {
        for x0 in [None, Some(start.view())] {
            let outcome = solve(&operator, b.view(), x0, None, 1e-8, 10).unwrap();
            assert_eq!(outcome.x, b, "{solver}");
            assert_eq!(
                (outcome.iterations, outcome.residual, outcome.converged),
                (0, 0.0, true),
                "{solver}"
            );
        }
    }
}

#[test]
fn exact_start_takes_no_iteration_and_gives_no_nan() {
    let a = with_spectrum(&mut rng(36), &[1.0, 2.0, 4.0]);
    let x = Array1::from_elem(3, 0.75);
    let operator = Symmetric::new(a).unwrap();
    let b = operator.apply_vec(x.view()).unwrap(); // the solver's own product: the residual is exactly 0
    for (solver, solve) in SOLVERS {
        for tolerance in [1e-8, 0.0] {
            let outcome = solve(&operator, b.view(), Some(x.view()), None, tolerance, 10).unwrap();
            assert_eq!(outcome.x, x, "{solver}");
            assert_eq!(
                (outcome.iterations, outcome.residual, outcome.converged),
                (0, 0.0, true),
                "{solver}"
            );
        }
    }
}

#[test]
fn a_good_start_saves_iterations() {
    let mut rng = rng(37);
    let a = with_spectrum(&mut rng, &log_spaced(20, 1e3));
    let b = random_vector(&mut rng, 20);
    let operator = Symmetric::new(a.view()).unwrap();
    let near = solution(&a, &b) * (1.0 + 1e-6);
    for (solver, solve) in SOLVERS {
        let cold = solve(&operator, b.view(), None, None, 1e-8, 200).unwrap();
        let warm = solve(&operator, b.view(), Some(near.view()), None, 1e-8, 200).unwrap();
        assert!(
            warm.converged && warm.iterations < cold.iterations,
            "{solver}"
        );
    }
}

#[test]
fn an_eigenvector_is_solved_at_once() {
    let mut rng = rng(42);
    let a = with_spectrum(&mut rng, &log_spaced(15, 1e3));
    let eigen = svn_linalg::SymmetricEigen::factorize(a.view()).unwrap();
    let b = eigen.vectors().column(7).to_owned();
    let operator = Symmetric::new(a).unwrap();
    for (solver, solve) in SOLVERS {
        // Rounding leaves ε of the other eigenvectors, amplified by the condition: below the tolerance.
        let outcome = solve(&operator, b.view(), None, None, 1e-9, 500).unwrap();
        assert!(
            outcome.converged && outcome.iterations <= 2,
            "{solver}: {outcome:?}"
        );
    }
}

#[test]
fn an_iteration_costs_one_product() {
    struct Counting<'a>(&'a dyn SelfAdjoint, std::cell::Cell<usize>);
    impl LinearOperator for Counting<'_> {
        fn nrows(&self) -> usize {
            self.0.nrows()
        }
        fn ncols(&self) -> usize {
            self.0.ncols()
        }
        fn apply_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
            self.1.set(self.1.get() + x.ncols());
            self.0.apply_into(x, out);
        }
        fn apply_transpose_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
            self.apply_into(x, out);
        }
    }
    impl SelfAdjoint for Counting<'_> {}

    let mut rng = rng(43);
    let dense = Symmetric::new(with_spectrum(&mut rng, &log_spaced(15, 1e2))).unwrap();
    let b = random_vector(&mut rng, 15);
    for (solver, solve) in SOLVERS {
        let operator = Counting(&dense, std::cell::Cell::new(0));
        let outcome = solve(&operator, b.view(), None, None, 1e-8, 500).unwrap();
        // And one for the true residual at the start, one at the end.
        assert_eq!(operator.1.get(), outcome.iterations + 2, "{solver}");
    }
}

#[test]
fn iteration_limit_is_not_reported_of_a_converged_iterate() {
    // The limit set to exactly the iterations needed, one fewer, and none.
    let mut rng = rng(38);
    let a = with_spectrum(&mut rng, &log_spaced(12, 1e2));
    let b = random_vector(&mut rng, 12);
    let operator = Symmetric::new(a.view()).unwrap();
    for (solver, solve) in SOLVERS {
        let needed = solve(&operator, b.view(), None, None, 1e-8, 1000)
            .unwrap()
            .iterations;
        for limit in 0..=needed {
            let outcome = solve(&operator, b.view(), None, None, 1e-8, limit).unwrap();
            assert_honest(&a, &b, &outcome, 1e-8, solver);
            assert_eq!(outcome.iterations, limit, "{solver}");
            assert_eq!(
                outcome.converged,
                limit == needed,
                "{solver} with limit {limit} of {needed}"
            );
            assert_eq!(
                outcome.limit,
                limit < needed,
                "{solver} with limit {limit} of {needed}"
            );
        }
        // No iteration allowed, none needed.
        let x = solution(&a, &b);
        let outcome = solve(&operator, b.view(), Some(x.view()), None, 1e-8, 0).unwrap();
        assert!(outcome.converged, "{solver}");
    }
}

#[test]
fn a_tolerance_below_rounding_is_reported_as_stagnation() {
    // A generic b at condition 1e12: ‖A‖‖x‖ ε is 1e-4 ‖b‖, a residual of 1e-12 does not exist.
    let mut rng = rng(39);
    let a = with_spectrum(&mut rng, &log_spaced(16, 1e12));
    let b = random_vector(&mut rng, 16);
    let operator = Symmetric::new(a.view()).unwrap();
    for (solver, solve) in SOLVERS {
        let outcome = solve(&operator, b.view(), None, None, 1e-12, 20_000).unwrap();
        assert!(!outcome.converged, "{solver}");
        assert_honest(&a, &b, &outcome, 1e-12, solver);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 192, rng_seed: RngSeed::Fixed(44), failure_persistence: None, ..ProptestConfig::default()
    })]

    /// The status and the true residual never contradict each other, whatever the system: definite, indefinite or
    /// singular, well or badly conditioned, any limit, any scale.
    #[test]
    fn status_never_contradicts_the_residual(
        seed in any::<u64>(), n in 2_usize..14, decades in 0.0..10.0_f64, negatives in 0_usize..4, zeros in 0_usize..3,
        limit in 0_usize..60, tolerance_decade in 2.0..12.0_f64, scale in -13.0..13.0_f64,
    ) {
        let mut rng = rng(seed);
        let mut spectrum = log_spaced(n, 10.0_f64.powf(decades));
        spectrum.iter_mut().take(negatives).for_each(|v| *v = -*v);
        spectrum.iter_mut().rev().take(zeros).for_each(|v| *v = 0.0);
        let a = with_spectrum(&mut rng, &spectrum);
        let b = random_vector(&mut rng, n) * 10.0_f64.powf(scale);
        let operator = Symmetric::new(a.view()).unwrap();
        let tolerance = 10.0_f64.powf(-tolerance_decade);
        for (solver, solve) in SOLVERS {
            let outcome = solve(&operator, b.view(), None, None, tolerance, limit).unwrap();
            prop_assert!(outcome.iterations <= limit);
            let residual = relative_residual(&a, &outcome.x, &b);
            let slack = rounding(n) * (1.0 + norm(outcome.x.view()) / norm(b.view()));
            prop_assert!((residual - outcome.residual).abs() <= slack, "{}", solver);
            prop_assert!(outcome.converged == (outcome.residual <= tolerance)
                || (solver == "CG" && negatives > 0 && !outcome.converged), "{}", solver);
        }
    }
}
