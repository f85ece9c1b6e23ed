//! What is particular to MINRES: indefinite and singular systems.

use ndarray::array;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use svn_linalg::{
    CgParams, Cholesky, CholeskyParams, Diagonal, MinresParams, MinresStatus, NotConverged,
    Symmetric, cg, minres,
};

use crate::cases::Inverse;
use crate::reference::*;
use crate::solvers::relative_residual;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 96, rng_seed: RngSeed::Fixed(60), failure_persistence: None, ..ProptestConfig::default()
    })]

    /// Indefinite systems are solved, with and without a positive definite preconditioner.
    #[test]
    fn indefinite_systems_agree_with_elimination(
        seed in any::<u64>(), n in 2_usize..16, decades in 0.0..6.0_f64, preconditioned in any::<bool>(),
    ) {
        let mut rng = rng(seed);
        let kappa = 10.0_f64.powf(decades);
        let mut spectrum = log_spaced(n, kappa);
        spectrum.iter_mut().step_by(2).for_each(|v| *v = -*v);
        let a = with_spectrum(&mut rng, &spectrum);
        let p = with_spectrum(&mut rng, &log_spaced(n, 10.0));
        let inverse = Inverse(Cholesky::factorize(p.view(), &CholeskyParams::strict()).unwrap());
        let operator = Symmetric::new(a.view()).unwrap();
        let b = random_vector(&mut rng, n);
        let params = MinresParams { tolerance: 1e-9, max_iterations: 5000, ..MinresParams::default() };
        let p: Option<&dyn svn_linalg::SelfAdjoint> = if preconditioned { Some(&inverse) } else { None };
        let x = minres(&operator, b.view(), None, p, &params).unwrap().converged().unwrap();
        prop_assert!(relative_residual(&a, &x, &b) <= 1e-9 * 1.01);
        assert_close(column(&x), column(&solution(&a, &b)), 2e-9 * kappa, "solution");
    }

    /// The residual of MINRES is the least over the Krylov space: no larger than CG's after the same steps.
    #[test]
    fn residual_is_at_most_that_of_cg(seed in any::<u64>(), steps in 1_usize..10) {
        let mut rng = rng(seed);
        let a = with_spectrum(&mut rng, &log_spaced(12, 1e3));
        let operator = Symmetric::new(a).unwrap();
        let b = random_vector(&mut rng, 12);
        let ours = minres(&operator, b.view(), None, None,
            &MinresParams { max_iterations: steps, ..MinresParams::default() }).unwrap();
        let theirs = cg(&operator, b.view(), None, None,
            &CgParams { max_iterations: steps, ..CgParams::default() }).unwrap();
        prop_assert!(ours.info.relative_residual <= theirs.info.relative_residual * (1.0 + 1e-10) + 1e-8);
        prop_assert!(ours.info.relative_residual <= 1.0 + 1e-14);
    }
}

#[test]
fn residual_never_increases_with_the_iterations() {
    let mut rng = rng(61);
    let mut spectrum = log_spaced(20, 1e3);
    spectrum.iter_mut().step_by(3).for_each(|v| *v = -*v);
    let operator = Symmetric::new(with_spectrum(&mut rng, &spectrum)).unwrap();
    let b = random_vector(&mut rng, 20);
    let mut last = 1.0;
    for steps in 0..60 {
        let params = MinresParams {
            max_iterations: steps,
            ..MinresParams::default()
        };
        let residual = minres(&operator, b.view(), None, None, &params)
            .unwrap()
            .info
            .relative_residual;
        assert!(
            residual <= last * (1.0 + 1e-10),
            "{residual} after {last} at step {steps}"
        );
        last = residual;
    }
    assert!(last <= 1e-8);
}

#[test]
fn inconsistent_systems_end_in_a_least_squares_solution() {
    let mut rng = rng(62);
    for spectrum in [
        [2.0, 1.0, 0.5, 0.0, 0.0, 0.0],
        [2.0, -1.0, 0.5, -0.25, 0.0, 0.0],
        [0.0; 6],
    ] {
        let a = with_spectrum(&mut rng, &spectrum);
        let b = random_vector(&mut rng, 6);
        let solution = minres(
            &Symmetric::new(a.view()).unwrap(),
            b.view(),
            None,
            None,
            &MinresParams::default(),
        )
        .unwrap();
        let MinresStatus::LeastSquares { normal_residual } = solution.info.status else {
            panic!("{:?}", solution.info);
        };
        assert!(normal_residual <= 1e-13);
        // The normal equations, by loops: A (b − A x) = 0.
        let residual = &b - &image(&a, &solution.x);
        assert!(norm(image(&a, &residual).view()) <= 1e-12 * norm(b.view()));
        assert!(matches!(solution.converged(), Err(NotConverged::Minres(_))));
    }
}

#[test]
fn ill_conditioned_is_not_mistaken_for_singular() {
    // ‖A r‖ / (‖A‖ ‖r‖) goes down to 1 / condition along the way; that is not yet orthogonal to the range.
    let operator = Diagonal::new(array![1.0, -1e-10]).unwrap();
    let x = minres(
        &operator,
        array![1.0, 1.0].view(),
        None,
        None,
        &MinresParams::default(),
    )
    .unwrap();
    let x = x.converged().unwrap();
    assert!(
        (x[0] - 1.0).abs() < 1e-6 && (x[1] + 1e10).abs() < 1e3,
        "{x}"
    );
}

#[test]
fn an_invariant_subspace_ends_the_recurrence_cleanly() {
    // b is an eigenvector: β = 0 after one step.
    let operator = Diagonal::new(array![3.0, -2.0, 1.0]).unwrap();
    let solution = minres(
        &operator,
        array![0.0, 4.0, 0.0].view(),
        None,
        None,
        &MinresParams::default(),
    )
    .unwrap();
    assert_eq!(solution.info.iterations, 1);
    assert_eq!(solution.converged().unwrap(), array![0.0, -2.0, 0.0]);
}
