//! Preconditioners: exact, diagonal, badly scaled, indefinite.

use super::*;

#[test]
fn an_exact_preconditioner_needs_very_few_iterations() {
    let mut rng = rng(40);
    for (solver, solve) in SOLVERS {
        for case in cases::self_adjoint() {
            let what = format!("{solver} on {}", case.name);
            let operator = svn_linalg::Damped::new(&*case.operator, 0.3).unwrap();
            let mut dense = case.dense.clone();
            dense.diag_mut().mapv_inplace(|v| v + 0.3);
            let inverse = Inverse((case.factorize)(0.3).unwrap());
            for _ in 0..2 {
                let b = random_vector(&mut rng, dense.nrows());
                let outcome = solve(&operator, b.view(), None, Some(&inverse), 1e-10, 100).unwrap();
                assert!(
                    outcome.converged && outcome.iterations <= 2,
                    "{what}: {outcome:?}"
                );
                assert_honest(&dense, &b, &outcome, 1e-10, &what);
            }
        }
    }
}

#[test]
fn a_diagonal_preconditioner_undoes_bad_scaling() {
    let mut rng = rng(41);
    let core = with_spectrum(&mut rng, &log_spaced(20, 10.0));
    let d = Array1::from_shape_fn(20, |i| 10.0_f64.powf(i as f64 / 5.0));
    let a = Array2::from_shape_fn((20, 20), |(i, j)| core[[i, j]] * d[i] * d[j]);
    let b = image(&a, &random_vector(&mut rng, 20));
    let jacobi = Inverse(
        Diagonal::new(a.diag().to_owned())
            .unwrap()
            .factorize_damped(0.0)
            .unwrap(),
    );
    let operator = Symmetric::new(a.view()).unwrap();
    for (solver, solve) in SOLVERS {
        let plain = solve(&operator, b.view(), None, None, 1e-10, 5000).unwrap();
        let scaled = solve(&operator, b.view(), None, Some(&jacobi), 1e-10, 5000).unwrap();
        assert!(
            scaled.converged && scaled.iterations <= 40,
            "{solver}: {scaled:?}"
        );
        assert!(plain.iterations > 2 * scaled.iterations, "{solver}");
        assert_honest(&a, &b, &scaled, 1e-10, solver);
    }
}

#[test]
fn scaling_over_twenty_decades_is_not_mistaken_for_a_null_vector() {
    // pᵀAp / (‖A‖ ‖p‖²) is 1e-40 here, far below rounding, while the preconditioned system is well conditioned.
    let mut rng = rng(45);
    let core = with_spectrum(&mut rng, &log_spaced(12, 10.0));
    let d = Array1::from_shape_fn(12, |i| 10.0_f64.powf(-10.0 + 20.0 * i as f64 / 11.0));
    let a = Array2::from_shape_fn((12, 12), |(i, j)| core[[i, j]] * d[i] * d[j]);
    let jacobi = Diagonal::new(a.diag().to_owned())
        .unwrap()
        .factorize_damped(0.0)
        .unwrap();
    let b = d.clone(); // x of order 1 / d
    let operator = Symmetric::new(a.view()).unwrap();
    for (solver, solve) in SOLVERS {
        let outcome = solve(
            &operator,
            b.view(),
            None,
            Some(&Inverse(&jacobi)),
            1e-12,
            100,
        )
        .unwrap();
        assert!(
            outcome.converged && outcome.iterations <= 20,
            "{solver}: {outcome:?}"
        );
        assert_honest(&a, &b, &outcome, 1e-12, solver);
    }
}

#[test]
fn tolerance_zero_ends_in_stagnation_soon_and_at_rounding_level() {
    // The recurrences of r shrink far below rounding; rᵀz would underflow and be blamed on the preconditioner.
    let mut rng = rng(46);
    let a = with_spectrum(&mut rng, &log_spaced(10, 1e2));
    let operator = Symmetric::new(a.view()).unwrap();
    for _ in 0..3 {
        let b = random_vector(&mut rng, 10);
        let params = CgParams {
            tolerance: 0.0,
            max_iterations: 100_000,
            ..CgParams::default()
        };
        let info = cg(&operator, b.view(), None, None, &params).unwrap().info;
        let reason = Breakdown::Stagnation;
        assert_eq!(info.status, CgStatus::Breakdown { reason });
        assert!(
            info.iterations < 100 && info.relative_residual < 1e-13,
            "{info:?}"
        );
        let params = MinresParams {
            tolerance: 0.0,
            max_iterations: 100_000,
            ..MinresParams::default()
        };
        let info = minres(&operator, b.view(), None, None, &params)
            .unwrap()
            .info;
        assert_eq!(info.status, MinresStatus::Breakdown { reason });
        assert!(
            info.iterations < 100 && info.relative_residual < 1e-13,
            "{info:?}"
        );
    }
}

#[test]
fn an_indefinite_preconditioner_is_a_breakdown() {
    let operator = Symmetric::new(Array2::<f64>::eye(2)).unwrap();
    let p = Diagonal::new(ndarray::array![1.0, -1.0]).unwrap();
    let b = ndarray::array![1.0, 2.0];
    let by_cg = cg(&operator, b.view(), None, Some(&p), &CgParams::default()).unwrap();
    assert_eq!(
        by_cg.info.status,
        CgStatus::Breakdown {
            reason: Breakdown::Preconditioner
        }
    );
    let by_minres = minres(
        &operator,
        b.view(),
        None,
        Some(&p),
        &MinresParams::default(),
    )
    .unwrap();
    assert_eq!(
        by_minres.info.status,
        MinresStatus::Breakdown {
            reason: Breakdown::Preconditioner
        }
    );
    assert!(
        by_cg
            .converged()
            .unwrap_err()
            .to_string()
            .contains("preconditioner")
    );
    assert!(
        by_minres
            .converged()
            .unwrap_err()
            .to_string()
            .contains("preconditioner")
    );
}
