//! What is particular to CG: negative curvature, and what `Converged` says about the operator.

use ndarray::{Array1, array};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use svn_linalg::{
    Breakdown, CgParams, CgStatus, Definiteness, Diagonal, LinearOperator, NotConverged, Symmetric,
    cg,
};

use crate::reference::*;

fn curvature(status: CgStatus) -> f64 {
    match status {
        CgStatus::NegativeCurvature { curvature } => curvature,
        other => panic!("{other}"),
    }
}

#[test]
fn negative_curvature_is_the_status_and_its_direction_is_returned() {
    let mut rng = rng(50);
    for negatives in 1..6 {
        let mut spectrum = log_spaced(10, 1e3);
        // The smallest ones, so that CG has made progress before it meets them.
        spectrum
            .iter_mut()
            .rev()
            .take(negatives)
            .for_each(|v| *v = -*v);
        let a = with_spectrum(&mut rng, &spectrum);
        let operator = Symmetric::new(a.view()).unwrap();
        let b = random_vector(&mut rng, 10);
        let solution = cg(&operator, b.view(), None, None, &CgParams::default()).unwrap();
        let reported = curvature(solution.info.status);
        assert!(reported < 0.0);
        let p = solution
            .direction
            .clone()
            .expect("a direction comes with the status");
        assert!((norm(p.view()) - 1.0).abs() < 1e-14);
        let found = p.dot(&operator.apply_vec(p.view()).unwrap());
        assert!(
            (found - reported).abs() <= rounding(10),
            "pᵀAp of the direction is the curvature reported"
        );
        let text = solution.converged().unwrap_err().to_string();
        assert!(text.contains("negative curvature"), "{text}");
    }
}

#[test]
fn zero_curvature_of_an_indefinite_operator_is_not_a_singular_breakdown() {
    // pᵀAp = 1 − 1 = 0 exactly, with A p ≠ 0: only an indefinite operator does that.
    let operator = Diagonal::new(array![1.0, -1.0]).unwrap();
    let solution = cg(
        &operator,
        array![1.0, 1.0].view(),
        None,
        None,
        &CgParams::default(),
    )
    .unwrap();
    assert_eq!(curvature(solution.info.status), 0.0);
    assert_eq!(solution.x, array![0.0, 0.0]);
    assert_eq!(solution.info.relative_residual, 1.0);
}

#[test]
fn a_null_direction_of_a_semidefinite_operator_is_a_singular_breakdown() {
    let operator = Diagonal::new(array![1.0, 0.0]).unwrap();
    let solution = cg(
        &operator,
        array![0.0, 1.0].view(),
        None,
        None,
        &CgParams::default(),
    )
    .unwrap();
    assert_eq!(
        solution.info.status,
        CgStatus::Breakdown {
            reason: Breakdown::Singular
        }
    );
    let zero = Diagonal::constant(3, 0.0).unwrap();
    let solution = cg(
        &zero,
        array![1.0, 2.0, 3.0].view(),
        None,
        None,
        &CgParams::default(),
    )
    .unwrap();
    assert_eq!(
        solution.info.status,
        CgStatus::Breakdown {
            reason: Breakdown::Singular
        }
    );
    assert!(matches!(solution.converged(), Err(NotConverged::Cg(_))));
}

#[test]
fn negative_definite_operators_stop_at_the_first_step() {
    let operator = Diagonal::new(array![-1.0, -2.0]).unwrap();
    let solution = cg(
        &operator,
        array![1.0, 1.0].view(),
        None,
        None,
        &CgParams::default(),
    )
    .unwrap();
    assert!((curvature(solution.info.status) + 1.5).abs() < 1e-15);
    assert_eq!(solution.info.iterations, 1);
}

#[test]
fn a_right_hand_side_that_hides_the_negative_part_is_caught_by_the_probe() {
    // b has no part along the negative eigenvector: the Krylov space never sees it, a probing start does.
    let operator = Diagonal::new(array![2.0, 1.0, -1.0]).unwrap();
    let b = array![1.0, 1.0, 0.0];
    let blind = cg(&operator, b.view(), None, None, &CgParams::default()).unwrap();
    assert_eq!(blind.info.status, CgStatus::Converged); // and x does solve the system
    let params = CgParams {
        definiteness: Definiteness::Probe,
        ..CgParams::default()
    };
    let probed = cg(&operator, b.view(), None, None, &params).unwrap();
    assert!(curvature(probed.info.status) < 0.0);
    let exact_start = array![0.5, 1.0, 0.0];
    let probed = cg(&operator, b.view(), Some(exact_start.view()), None, &params).unwrap();
    assert!(curvature(probed.info.status) < 0.0);
    // A definite operator is still solved.
    let definite = Diagonal::new(array![2.0, 1.0, 0.5]).unwrap();
    let x = cg(&definite, b.view(), None, None, &params)
        .unwrap()
        .converged()
        .unwrap();
    assert!((x - array![0.5, 1.0, 0.0]).iter().all(|e| e.abs() < 1e-7));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256, rng_seed: RngSeed::Fixed(51), failure_persistence: None, ..ProptestConfig::default()
    })]

    /// No indefinite operator is ever reported as solved: any number and size of negative eigenvalues, any tolerance
    /// below the right-hand side's part along them, any scale.
    #[test]
    fn convergence_on_an_indefinite_operator_is_impossible(
        seed in any::<u64>(), n in 2_usize..16, negatives in 1_usize..6, decades in 0.0..8.0_f64,
        tolerance_decade in 2.0..10.0_f64, scale in -13.0..13.0_f64, probe in any::<bool>(),
    ) {
        let mut rng = rng(seed);
        let mut spectrum = log_spaced(n, 10.0_f64.powf(decades));
        let step = (n / negatives).max(1);
        spectrum.iter_mut().step_by(step).for_each(|v| *v = -*v);
        let a = with_spectrum(&mut rng, &spectrum);
        let operator = Symmetric::new(a.view()).unwrap();
        let b = random_vector(&mut rng, n) * 10.0_f64.powf(scale);
        let tolerance = 10.0_f64.powf(-tolerance_decade);
        let definiteness = if probe { Definiteness::Probe } else { Definiteness::Krylov };
        let params = CgParams { tolerance, max_iterations: 10_000, definiteness };
        // The theorem: the part along the negative eigenvectors, if above the tolerance, only grows.
        let eigen = svn_linalg::SymmetricEigen::factorize(a.view()).unwrap();
        let hidden: f64 = eigen.values().iter().zip(eigen.vectors().columns())
            .filter(|(v, _)| **v < 0.0).map(|(_, u)| u.dot(&b).powi(2)).sum::<f64>().sqrt() / norm(b.view());
        prop_assume!(hidden > 2.0 * tolerance);
        let solution = cg(&operator, b.view(), None, None, &params).unwrap();
        prop_assert!(solution.info.status != CgStatus::Converged, "{:?}", solution.info);
    }

    /// In exact arithmetic n steps suffice; with few distinct eigenvalues, as many steps as there are of those.
    #[test]
    fn iterations_equal_the_number_of_distinct_eigenvalues(seed in any::<u64>(), distinct in 1_usize..6, n in 6_usize..20) {
        let mut rng = rng(seed);
        let spectrum: Vec<f64> = (0..n).map(|i| 1.0 + (i % distinct) as f64).collect();
        let operator = Symmetric::new(with_spectrum(&mut rng, &spectrum)).unwrap();
        let b = random_vector(&mut rng, n);
        let solution = cg(&operator, b.view(), None, None, &CgParams::default()).unwrap();
        prop_assert_eq!(solution.info.status, CgStatus::Converged);
        prop_assert!(solution.info.iterations <= distinct, "{} steps", solution.info.iterations);
    }
}

#[test]
fn identical_calls_give_identical_bits() {
    let mut rng = rng(52);
    let operator = Symmetric::new(with_spectrum(&mut rng, &log_spaced(30, 1e5))).unwrap();
    let b: Array1<f64> = random_vector(&mut rng, 30);
    let params = CgParams {
        definiteness: Definiteness::Probe,
        ..CgParams::default()
    };
    let first = cg(&operator, b.view(), None, None, &params).unwrap();
    assert_eq!(cg(&operator, b.view(), None, None, &params).unwrap(), first);
}
