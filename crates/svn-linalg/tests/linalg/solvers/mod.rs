//! The protocol of the iterative solvers: one table of systems, CG and MINRES through the same checks.

mod columns;
mod input;
mod preconditioned;

use std::cell::Cell;

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use svn_linalg::{
    Breakdown, CgParams, CgStatus, Cholesky, CholeskyParams, Diagonal, Factor, FactorizeDamped,
    InputError, InverseOperator, LinearOperator, MinresParams, MinresStatus, SelfAdjoint,
    SolveError, Symmetric, cg, cg_columns, minres, minres_columns,
};

use crate::cases;
use crate::reference::*;

/// What both solvers report, in one form.
#[derive(Debug)]
pub struct Outcome {
    pub x: Array2<f64>,
    pub iterations: Vec<usize>,
    pub residuals: Vec<f64>,
    pub converged: Vec<bool>,
    pub limit: Vec<bool>,
}

type Solve = fn(
    &dyn SelfAdjoint,
    ArrayView2<'_, f64>,
    Option<ArrayView2<'_, f64>>,
    Option<&dyn SelfAdjoint>,
    f64,
    usize,
) -> Result<Outcome, SolveError>;

pub const SOLVERS: [(&str, Solve); 2] = [("CG", by_cg), ("MINRES", by_minres)];

fn by_cg(
    a: &dyn SelfAdjoint,
    b: ArrayView2<'_, f64>,
    x0: Option<ArrayView2<'_, f64>>,
    p: Option<&dyn SelfAdjoint>,
    tolerance: f64,
    max_iterations: usize,
) -> Result<Outcome, SolveError> {
    let params = CgParams {
        tolerance,
        max_iterations,
        ..CgParams::default()
    };
    let s = cg_columns(a, b, x0, p, &params)?;
    Ok(Outcome {
        iterations: s.infos.iter().map(|i| i.iterations).collect(),
        residuals: s.infos.iter().map(|i| i.relative_residual).collect(),
        converged: s
            .infos
            .iter()
            .map(|i| i.status == CgStatus::Converged)
            .collect(),
        limit: s
            .infos
            .iter()
            .map(|i| i.status == CgStatus::IterationLimit)
            .collect(),
        x: s.x,
    })
}

fn by_minres(
    a: &dyn SelfAdjoint,
    b: ArrayView2<'_, f64>,
    x0: Option<ArrayView2<'_, f64>>,
    p: Option<&dyn SelfAdjoint>,
    tolerance: f64,
    max_iterations: usize,
) -> Result<Outcome, SolveError> {
    let params = MinresParams {
        tolerance,
        max_iterations,
        ..MinresParams::default()
    };
    let s = minres_columns(a, b, x0, p, &params)?;
    Ok(Outcome {
        iterations: s.infos.iter().map(|i| i.iterations).collect(),
        residuals: s.infos.iter().map(|i| i.relative_residual).collect(),
        converged: s
            .infos
            .iter()
            .map(|i| i.status == MinresStatus::Converged)
            .collect(),
        limit: s
            .infos
            .iter()
            .map(|i| i.status == MinresStatus::IterationLimit)
            .collect(),
        x: s.x,
    })
}

pub fn relative_residual(a: &Array2<f64>, x: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
    let ax = product(a.view(), x.insert_axis(Axis(1))).remove_axis(Axis(1));
    norm((&b - &ax).view()) / norm(b)
}

/// `Converged` if and only if the residual, computed here by loops, is at most the tolerance.
fn assert_honest(
    a: &Array2<f64>,
    b: ArrayView2<'_, f64>,
    outcome: &Outcome,
    tolerance: f64,
    what: &str,
) {
    for j in 0..b.ncols() {
        let residual = relative_residual(a, outcome.x.column(j), b.column(j));
        let slack = rounding(a.nrows())
            * (1.0 + frobenius(a.view()) * norm(outcome.x.column(j)) / norm(b.column(j)));
        assert!(
            (residual - outcome.residuals[j]).abs() <= slack,
            "{what}: reported residual"
        );
        if outcome.converged[j] {
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
}

#[test]
fn every_operator_is_solved_and_agrees_with_elimination() {
    let mut rng = rng(30);
    for (solver, solve) in SOLVERS {
        for case in cases::self_adjoint() {
            let what = format!("{solver} on {}", case.name);
            // Consistent even where the operator is singular.
            let x = random(&mut rng, case.dense.nrows(), 3);
            let b = product(case.dense.view(), x.view());
            let outcome = solve(&*case.operator, b.view(), None, None, 1e-12, 2000).unwrap();
            assert!(outcome.converged.iter().all(|&c| c), "{what}: {outcome:?}");
            assert_honest(&case.dense, b.view(), &outcome, 1e-12, &what);
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
            // b = A x* keeps ‖A‖‖x‖ / ‖b‖ of order one: a residual of 1e-12 is attainable at any condition.
            let b = product(a.view(), random(&mut rng, n, 2).view());
            let tolerance = 1e-12;
            let operator = Symmetric::new(a.view()).unwrap();
            let outcome = solve(&operator, b.view(), None, None, tolerance, 5000).unwrap();
            let what = format!("{solver} at condition {condition:e}");
            assert!(outcome.converged.iter().all(|&c| c), "{what}: {outcome:?}");
            assert_honest(&a, b.view(), &outcome, tolerance, &what);
            let direct = Cholesky::factorize(a.view(), &CholeskyParams::strict())
                .unwrap()
                .solve(b.view())
                .unwrap();
            for j in 0..2 {
                let gap = &outcome.x.column(j) - &direct.column(j);
                // ‖A e‖ = ‖residual gap‖, and ‖e‖_A² = eᵀ(A e) ≤ ‖A e‖² / λ_min.
                let a_gap = product(a.view(), gap.view().insert_axis(Axis(1))).remove_axis(Axis(1));
                let residual = (tolerance + rounding(n)) * norm(b.column(j)) * 2.0;
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
    let b = random(&mut rng, 16, 1);
    for (solver, solve) in SOLVERS {
        let reference = solve(&operator, b.view(), None, None, 1e-10, 500).unwrap();
        assert!(reference.converged[0]);
        for power in [-900, -300, -43, 43, 300, 900] {
            let factor = 2.0_f64.powi(power);
            let scaled = solve(&operator, (&b * factor).view(), None, None, 1e-10, 500).unwrap();
            assert_eq!(scaled.x, &reference.x * factor, "{solver} at 2^{power}");
            assert_eq!(
                scaled.iterations, reference.iterations,
                "{solver} at 2^{power}"
            );
        }
        for factor in [1e-13, 1e13, 1e-200, 1e200] {
            let scaled = solve(&operator, (&b * factor).view(), None, None, 1e-10, 500).unwrap();
            assert!(scaled.converged[0], "{solver} at {factor:e}");
            assert_close(
                (&scaled.x / factor).view(),
                reference.x.view(),
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
    let b = random(&mut rng, 10, 1);
    for (solver, solve) in SOLVERS {
        for factor in [1e-150, 1e-13, 1e13, 1e150] {
            let operator = Symmetric::new(&a * factor).unwrap();
            let outcome = solve(&operator, b.view(), None, None, 1e-10, 500).unwrap();
            assert!(outcome.converged[0], "{solver} at {factor:e}: {outcome:?}");
            let expected = eliminate(a.view(), b.view()).0;
            assert_close((&outcome.x * factor).view(), expected.view(), 1e-6, solver);
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
            let b = product(a.view(), random(&mut rng, 12, 2).view());
            let operator = Symmetric::new(a.view()).unwrap();
            let outcome = solve(&operator, b.view(), None, None, 1e-11, 200).unwrap();
            assert!(
                outcome.converged.iter().all(|&c| c),
                "{solver} at rank {rank}: {outcome:?}"
            );
            assert_honest(&a, b.view(), &outcome, 1e-11, solver);
            // From zero, the iterates stay in the range of A: this is the solution of least norm, the pseudo-inverse's.
            let eigen = svn_linalg::SymmetricEigen::factorize(a.view()).unwrap();
            let mut least = Array2::zeros((12, 2));
            eigen.apply_function_into(
                |v| if v > 0.5 { 1.0 / v } else { 0.0 },
                b.view(),
                least.view_mut(),
            );
            assert_close(outcome.x.view(), least.view(), 1e-9, solver);
        }
    }
}

#[test]
fn singular_inconsistent_systems_never_converge() {
    let mut rng = rng(34);
    for (solver, solve) in SOLVERS {
        let a = with_spectrum(&mut rng, &[2.0, 1.0, 0.5, 0.0, 0.0, 0.0]);
        let b = random(&mut rng, 6, 3);
        let operator = Symmetric::new(a.view()).unwrap();
        let outcome = solve(&operator, b.view(), None, None, 1e-8, 200).unwrap();
        assert!(
            outcome.converged.iter().all(|&c| !c),
            "{solver}: {outcome:?}"
        );
        assert_honest(&a, b.view(), &outcome, 1e-8, solver);
    }
}

#[test]
fn zero_right_hand_side_takes_no_iteration() {
    let operator = Symmetric::new(with_spectrum(&mut rng(35), &[1.0, 2.0, 3.0])).unwrap();
    let start = Array2::ones((3, 1));
    for (solver, solve) in SOLVERS {
        for x0 in [None, Some(start.view())] {
            let outcome =
                solve(&operator, Array2::zeros((3, 1)).view(), x0, None, 1e-8, 10).unwrap();
            assert_eq!(outcome.x, Array2::<f64>::zeros((3, 1)), "{solver}");
            assert_eq!(
                (
                    outcome.iterations[0],
                    outcome.residuals[0],
                    outcome.converged[0]
                ),
                (0, 0.0, true),
                "{solver}"
            );
        }
    }
}

#[test]
fn exact_start_takes_no_iteration_and_gives_no_nan() {
    let a = with_spectrum(&mut rng(36), &[1.0, 2.0, 4.0]);
    let x = Array2::from_elem((3, 1), 0.75);
    let operator = Symmetric::new(a).unwrap();
    let b = operator.apply(x.view()).unwrap(); // the solver's own product: the residual is exactly 0
    for (solver, solve) in SOLVERS {
        for tolerance in [1e-8, 0.0] {
            let outcome = solve(&operator, b.view(), Some(x.view()), None, tolerance, 10).unwrap();
            assert_eq!(outcome.x, x, "{solver}");
            assert_eq!(
                (
                    outcome.iterations[0],
                    outcome.residuals[0],
                    outcome.converged[0]
                ),
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
    let b = random(&mut rng, 20, 1);
    let operator = Symmetric::new(a.view()).unwrap();
    let near = eliminate(a.view(), b.view()).0 * (1.0 + 1e-6);
    for (solver, solve) in SOLVERS {
        let cold = solve(&operator, b.view(), None, None, 1e-8, 200).unwrap();
        let warm = solve(&operator, b.view(), Some(near.view()), None, 1e-8, 200).unwrap();
        assert!(
            warm.converged[0] && warm.iterations[0] < cold.iterations[0],
            "{solver}"
        );
    }
}

#[test]
fn iteration_limit_is_not_reported_of_a_converged_iterate() {
    // The limit set to exactly the iterations needed, one fewer, and none.
    let mut rng = rng(38);
    let a = with_spectrum(&mut rng, &log_spaced(12, 1e2));
    let b = random(&mut rng, 12, 1);
    let operator = Symmetric::new(a.view()).unwrap();
    for (solver, solve) in SOLVERS {
        let needed = solve(&operator, b.view(), None, None, 1e-8, 1000)
            .unwrap()
            .iterations[0];
        for limit in 0..=needed {
            let outcome = solve(&operator, b.view(), None, None, 1e-8, limit).unwrap();
            assert_honest(&a, b.view(), &outcome, 1e-8, solver);
            assert_eq!(outcome.iterations[0], limit, "{solver}");
            assert_eq!(
                outcome.converged[0],
                limit == needed,
                "{solver} with limit {limit} of {needed}"
            );
            assert_eq!(
                outcome.limit[0],
                limit < needed,
                "{solver} with limit {limit} of {needed}"
            );
        }
        // No iteration allowed, none needed.
        let x = eliminate(a.view(), b.view()).0;
        assert!(
            solve(&operator, b.view(), Some(x.view()), None, 1e-8, 0)
                .unwrap()
                .converged[0],
            "{solver}"
        );
    }
}

#[test]
fn a_tolerance_below_rounding_is_reported_as_stagnation() {
    // A generic b at condition 1e12: ‖A‖‖x‖ ε is 1e-4 ‖b‖, a residual of 1e-12 does not exist.
    let mut rng = rng(39);
    let a = with_spectrum(&mut rng, &log_spaced(16, 1e12));
    let b = random(&mut rng, 16, 1);
    let operator = Symmetric::new(a.view()).unwrap();
    for (solver, solve) in SOLVERS {
        let outcome = solve(&operator, b.view(), None, None, 1e-12, 20_000).unwrap();
        assert!(!outcome.converged[0], "{solver}");
        assert_honest(&a, b.view(), &outcome, 1e-12, solver);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 96, rng_seed: RngSeed::Fixed(44), failure_persistence: None, ..ProptestConfig::default()
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
        let b = random(&mut rng, n, 2) * 10.0_f64.powf(scale);
        let operator = Symmetric::new(a.view()).unwrap();
        let tolerance = 10.0_f64.powf(-tolerance_decade);
        for (solver, solve) in SOLVERS {
            let outcome = solve(&operator, b.view(), None, None, tolerance, limit).unwrap();
            prop_assert!(outcome.iterations.iter().all(|&i| i <= limit));
            for j in 0..2 {
                let residual = relative_residual(&a, outcome.x.column(j), b.column(j));
                let slack = rounding(n) * (1.0 + norm(outcome.x.column(j)) / norm(b.column(j)));
                prop_assert!((residual - outcome.residuals[j]).abs() <= slack, "{}", solver);
                prop_assert!(outcome.converged[j] == (outcome.residuals[j] <= tolerance)
                    || (solver == "CG" && negatives > 0 && !outcome.converged[j]), "{}", solver);
            }
        }
    }
}
