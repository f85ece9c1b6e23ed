//! The protocol every factor keeps, and what is particular to each.

use ndarray::{Array1, Array2, Axis, array, s};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use svn_linalg::{
    BlockDiagonal, Cholesky, CholeskyParams, Diagonal, Factor, FactorError, FactorizeDamped,
    InputError, KroneckerEigen, LowRankPlusShift, Scaled, Symmetric, SymmetricEigen, Woodbury,
};

use crate::cases;
use crate::reference::*;

/// Condition number in the Frobenius norm, from the explicit inverse.
fn condition(a: &Array2<f64>) -> f64 {
    let inverse = eliminate(a.view(), Array2::eye(a.nrows()).view()).0;
    frobenius(a.view()) * frobenius(inverse.view())
}

fn damped(a: &Array2<f64>, damping: f64) -> Array2<f64> {
    let mut a = a.clone();
    a.diag_mut().mapv_inplace(|v| v + damping);
    a
}

#[test]
fn damped_solve_inverts_a_plus_lambda_identity() {
    let mut rng = rng(10);
    for case in cases::self_adjoint() {
        for damping in [1e-3, 1.0, 100.0] {
            let a = damped(&case.dense, damping);
            let n = a.nrows();
            let factor = (case.factorize)(damping).unwrap();
            assert_eq!(factor.dim(), n);
            let b = random(&mut rng, n, 4);
            let x = factor.solve(b.view()).unwrap();
            let tolerance = rounding(n) * condition(&a);
            let what = format!("{} with damping {damping}", case.name);
            assert_close(
                product(a.view(), x.view()).view(),
                b.view(),
                tolerance,
                &what,
            );
            assert_close(
                x.view(),
                eliminate(a.view(), b.view()).0.view(),
                tolerance,
                &what,
            );
            let single = factor.solve_vec(b.column(1)).unwrap().insert_axis(Axis(1));
            assert_close(single.view(), x.slice(s![.., 1..2]), tolerance, &what);
        }
    }
}

#[test]
fn inverse_sqrt_times_its_transpose_is_the_inverse() {
    for case in cases::self_adjoint() {
        let a = damped(&case.dense, 0.1);
        let n = a.nrows();
        let root = (case.factorize)(0.1)
            .unwrap()
            .inverse_sqrt(Array2::eye(n).view())
            .unwrap();
        let (inverse, _) = eliminate(a.view(), Array2::eye(n).view());
        let tolerance = rounding(n) * condition(&a);
        assert_close(
            product(root.view(), root.t()).view(),
            inverse.view(),
            tolerance,
            case.name,
        );
    }
}

#[test]
fn log_determinant_equals_elimination() {
    for case in cases::self_adjoint() {
        let a = damped(&case.dense, 0.1);
        let expected = eliminate(a.view(), Array2::zeros((a.nrows(), 0)).view()).1;
        let found = (case.factorize)(0.1).unwrap().log_det();
        let tolerance = rounding(a.nrows()) * condition(&a);
        assert!(
            (found - expected).abs() <= tolerance,
            "{}: {found} vs {expected}",
            case.name
        );
    }
}

#[test]
fn damping_is_never_added_twice() {
    for case in cases::self_adjoint() {
        let b = Array1::ones(case.dense.nrows());
        let first = (case.factorize)(2.0).unwrap();
        let second = (case.factorize)(2.0).unwrap();
        let x = first.solve_vec(b.view()).unwrap();
        assert_eq!(second.solve_vec(b.view()).unwrap(), x, "{}", case.name);
        assert_eq!(first.solve_vec(b.view()).unwrap(), x, "{}", case.name);
        // The operator is what it was.
        assert_close(
            case.operator.to_dense().view(),
            case.dense.view(),
            1e-11,
            case.name,
        );
    }
}

#[test]
fn factors_accept_any_layout_and_overwrite_nan() {
    for case in cases::self_adjoint() {
        let factor = (case.factorize)(1.0).unwrap();
        let n = factor.dim();
        let b = random(&mut rng(11), n, 3);
        let expected = factor.solve(b.view()).unwrap();
        let root = factor.inverse_sqrt(b.view()).unwrap();
        let mut spread = Array2::from_elem((2 * n, 6), f64::NAN);
        spread.slice_mut(s![..;2, ..;2]).assign(&b);
        let mut out = Array2::from_elem((3, n), f64::NAN);
        factor.solve_into(spread.slice(s![..;2, ..;2]), out.view_mut().reversed_axes());
        assert_close(out.t(), expected.view(), 1e-12, case.name);
        let mut out = Array2::from_elem((2 * n, 6), f64::NAN);
        factor.inverse_sqrt_into(b.view(), out.slice_mut(s![..;2, ..;2]));
        assert_close(out.slice(s![..;2, ..;2]), root.view(), 1e-12, case.name);
    }
}

#[test]
fn bad_damping_and_bad_shapes_are_typed_errors() {
    for case in cases::self_adjoint() {
        for damping in [-1.0, f64::NAN, f64::INFINITY] {
            let error = (case.factorize)(damping)
                .err()
                .unwrap_or_else(|| panic!("{}", case.name));
            let innermost = match error {
                FactorError::Block { source, .. } => *source,
                other => other,
            };
            let is_range = matches!(innermost, FactorError::Input(InputError::OutOfRange { .. }));
            assert!(is_range, "{}: {innermost}", case.name);
        }
        let n = case.dense.nrows();
        let error = (case.factorize)(1.0)
            .unwrap()
            .solve(Array2::zeros((n + 2, 1)).view())
            .unwrap_err();
        assert!(
            matches!(error, InputError::Shape { expected, found, .. } if expected == (n, 1) && found == (n + 2, 1))
        );
    }
}

#[test]
fn indefinite_operators_are_refused_and_the_refusal_says_where() {
    let a = array![[1.0, 2.0], [2.0, 1.0]]; // eigenvalues −1 and 3
    let strict = Symmetric::new(a.clone()).unwrap().factorize_damped(0.5);
    assert!(matches!(
        strict,
        Err(FactorError::NotPositiveDefinite {
            pivot: 1,
            dim: 2,
            jitter: 0.0
        })
    ));
    let eigen = SymmetricEigen::factorize(a.view()).unwrap();
    let Err(FactorError::NotPositive {
        index: 0,
        dim: 2,
        value,
        damping,
    }) = eigen.damped(0.5)
    else {
        panic!("accepted an indefinite matrix");
    };
    assert!((value + 1.0).abs() < 1e-15 && damping == 0.5);
    assert!(eigen.damped(1.5).is_ok());
    assert!(
        Diagonal::new(array![1.0, -2.0])
            .unwrap()
            .factorize_damped(1.0)
            .is_err()
    );
    assert!(
        KroneckerEigen::factorize(a.view(), array![[1.0]].view())
            .unwrap()
            .factorize_damped(0.5)
            .is_err()
    );
    assert!(
        LowRankPlusShift::new(array![[1.0, 0.0]], 1.0, 0.0)
            .unwrap()
            .factorize_damped(0.0)
            .is_err()
    );
    assert!(
        Scaled::new(-1.0, Diagonal::new(array![1.0]).unwrap())
            .unwrap()
            .factorize_damped(0.0)
            .is_err()
    );
    let blocks = vec![
        Symmetric::new(array![[1.0]]).unwrap(),
        Symmetric::new(a).unwrap(),
    ];
    let error = BlockDiagonal::new(blocks)
        .unwrap()
        .factorize_damped(0.0)
        .unwrap_err();
    assert!(
        matches!(error, FactorError::Block { index: 1, .. }),
        "{error}"
    );
}

#[test]
fn cholesky_of_a_rank_deficient_factor_is_detected_and_jitter_is_reported() {
    // Fewer samples than inputs, as in a Kronecker factor of a small batch.
    let mut exact = 0;
    for seed in 0..200 {
        let activations = random(&mut rng(seed), 4, 10);
        let a = product(activations.t(), activations.view());
        let strict = Cholesky::factorize(a.view(), &CholeskyParams::strict());
        let Err(FactorError::NotPositiveDefinite {
            pivot,
            dim: 10,
            jitter: 0.0,
        }) = strict
        else {
            panic!("rank 4 of 10 passed as positive definite with seed {seed}");
        };
        // The rank is the first pivot that vanishes, unless rounding in an ill-conditioned leading block hides it for a
        // few more.
        assert!(pivot >= 4, "pivot {pivot} belongs to the part of full rank");
        exact += usize::from(pivot == 4);
        let factor = Cholesky::factorize(a.view(), &CholeskyParams::default()).unwrap();
        let mean = a.diag().mean().unwrap();
        assert!(factor.jitter() > 0.0 && factor.jitter() <= 1e-6 * mean);
        let rebuilt = product(factor.lower(), factor.lower().t());
        assert_close(
            rebuilt.view(),
            damped(&a, factor.jitter()).view(),
            rounding(10),
            "L Lᵀ = A + jitter I",
        );
    }
    assert!(exact > 100, "{exact} of 200");
}

#[test]
fn cholesky_jitter_escalates_as_its_params_say_and_then_gives_up() {
    // Eigenvalues −1e-3 and 1.999: 1e-4 is not enough, 1e-2 is.
    let a = array![[0.999, 1.0], [1.0, 0.999]];
    let params = CholeskyParams {
        initial: 1e-6,
        growth: 100.0,
        attempts: 3,
    };
    let factor = Cholesky::factorize(a.view(), &params).unwrap();
    assert!(
        (factor.jitter() - 1e-2 * 0.999).abs() < 1e-15,
        "{}",
        factor.jitter()
    );
    let Err(FactorError::NotPositiveDefinite { jitter, .. }) = Cholesky::factorize(
        a.view(),
        &CholeskyParams {
            attempts: 2,
            ..params
        },
    ) else {
        panic!("the largest jitter is below the negative eigenvalue");
    };
    assert!((jitter - 1e-4 * 0.999).abs() < 1e-16);
    assert!(Cholesky::factorize(Array2::zeros((3, 3)).view(), &CholeskyParams::default()).is_err());
}

#[test]
fn cholesky_params_out_of_range_are_errors() {
    let a = Array2::<f64>::eye(2);
    let default = CholeskyParams::default();
    for params in [
        CholeskyParams {
            growth: 0.5,
            ..default
        },
        CholeskyParams {
            growth: f64::NAN,
            ..default
        },
        CholeskyParams {
            initial: -1.0,
            ..default
        },
        CholeskyParams {
            initial: f64::INFINITY,
            ..default
        },
    ] {
        let error = Cholesky::factorize(a.view(), &params).unwrap_err();
        assert!(
            matches!(error, FactorError::Input(InputError::OutOfRange { .. })),
            "{error}"
        );
    }
}

/// Larger than the block sizes of OpenBLAS, whose code is another there.
#[test]
fn factors_beyond_the_block_size_of_blas() {
    let mut rng = rng(19);
    let n = 300;
    let rows = random(&mut rng, n + 20, n);
    let a = rows.t().dot(&rows);
    let b = random(&mut rng, n, 70);
    let scale = frobenius(a.view());
    let cholesky = Cholesky::factorize(a.view(), &CholeskyParams::strict()).unwrap();
    assert!(
        cholesky
            .lower()
            .indexed_iter()
            .all(|((i, j), &v)| i >= j || v == 0.0)
    );
    assert_close(
        product(cholesky.lower(), cholesky.lower().t()).view(),
        a.view(),
        rounding(n),
        "L Lᵀ",
    );
    let eigen = SymmetricEigen::factorize(a.view()).unwrap();
    let condition = eigen.values()[n - 1] / eigen.values()[0];
    let scaled = &eigen.vectors() * &eigen.values();
    assert_close(
        product(scaled.view(), eigen.vectors().t()).view(),
        a.view(),
        rounding(n),
        "U diag(θ) Uᵀ",
    );
    for x in [
        cholesky.solve(b.view()).unwrap(),
        eigen.damped(0.0).unwrap().solve(b.view()).unwrap(),
    ] {
        let residual = frobenius((product(a.view(), x.view()) - &b).view());
        assert!(
            residual <= rounding(n) * scale * frobenius(x.view()),
            "condition {condition:e}: {residual:e}"
        );
    }
    let thin = random(&mut rng, 200, n);
    let deficient = thin.t().dot(&thin);
    let strict = Cholesky::factorize(deficient.view(), &CholeskyParams::strict());
    assert!(
        matches!(
            strict,
            Err(FactorError::NotPositiveDefinite {
                pivot: 200..,
                dim: 300,
                ..
            })
        ),
        "rank 200"
    );
    assert_eq!(
        SymmetricEigen::factorize(deficient.view()).unwrap().rank(),
        200
    );
}

#[test]
fn cholesky_pivot_test_ignores_scaling_of_rows_and_columns() {
    // D A D has the pivots of A times D²: units of the parameters must not decide what is singular.
    let a = with_spectrum(&mut rng(12), &log_spaced(6, 1e6));
    let d = Array1::from_shape_fn(6, |i| 10.0_f64.powi(8 * (i as i32) - 20));
    let scaled = Array2::from_shape_fn((6, 6), |(i, j)| a[[i, j]] * d[i] * d[j]);
    assert!(Cholesky::factorize(scaled.view(), &CholeskyParams::strict()).is_ok());
}

#[test]
fn cholesky_half_solves_give_the_quadratic_form() {
    let a = with_spectrum(&mut rng(13), &log_spaced(8, 1e3));
    let b = random(&mut rng(14), 8, 2);
    let factor = Cholesky::factorize(a.view(), &CholeskyParams::strict()).unwrap();
    let mut half = b.clone();
    factor.solve_lower_inplace(half.view_mut()).unwrap();
    let solution = eliminate(a.view(), b.view()).0;
    for j in 0..2 {
        let expected = b.column(j).dot(&solution.column(j));
        assert!((half.column(j).dot(&half.column(j)) / expected - 1.0).abs() < rounding(8) * 1e3);
    }
    factor.solve_transposed_inplace(half.view_mut()).unwrap();
    assert_close(
        half.view(),
        solution.view(),
        rounding(8) * 1e3,
        "two half solves",
    );
    assert!(
        factor
            .solve_lower_inplace(Array2::zeros((7, 1)).view_mut())
            .is_err()
    );
}

#[test]
fn eigendecomposition_recovers_a_known_spectrum() {
    let spectrum = [3.0, -2.0, 0.5, 0.0, 1e-6, 7.0];
    let a = with_spectrum(&mut rng(15), &spectrum);
    let eigen = SymmetricEigen::factorize(a.view()).unwrap();
    let mut sorted = spectrum;
    sorted.sort_by(f64::total_cmp);
    for (found, expected) in eigen.values().iter().zip(sorted) {
        assert!(
            (found - expected).abs() <= rounding(6) * 7.0,
            "{found} vs {expected}"
        );
    }
    assert_eq!(eigen.rank(), 5);
    let u = eigen.vectors();
    assert_close(
        product(u.t(), u).view(),
        Array2::eye(6).view(),
        rounding(6),
        "orthogonal",
    );
    let scaled = &u * &eigen.values();
    assert_close(
        product(scaled.view(), u.t()).view(),
        a.view(),
        rounding(6),
        "U diag(θ) Uᵀ",
    );
}

#[test]
fn woodbury_keeps_its_accuracy_when_rows_dominate_the_diagonal() {
    // w JᵀJ of size 1e8 over a diagonal of 1e-4: condition 1e12.
    let rows = random(&mut rng(16), 4, 9) * 1e4;
    let operator = LowRankPlusShift::new(rows.clone(), 1.0, 1e-4).unwrap();
    let dense = damped(&product(rows.t(), rows.view()), 1e-4);
    let b = random(&mut rng(17), 9, 2);
    let x = operator
        .factorize_damped(0.0)
        .unwrap()
        .solve(b.view())
        .unwrap();
    let exact = eliminate(dense.view(), b.view()).0;
    assert_close(
        x.view(),
        exact.view(),
        rounding(9) * 1e12,
        "against elimination",
    );
    // Off the row space, (A⁻¹ b) is b / shift, to full accuracy.
    let projector = {
        let gram = product(rows.view(), rows.t());
        let inner = eliminate(gram.view(), product(rows.view(), b.view()).view()).0;
        &b - &product(rows.t(), inner.view())
    };
    assert_close(
        x.view(),
        projector.mapv(|v| v / 1e-4).view(),
        1e-7,
        "null space of the rows",
    );
}

#[test]
fn nan_and_infinity_are_rejected_before_lapack() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut a = Array2::<f64>::eye(5);
        a[[3, 1]] = bad;
        let expected = |error: FactorError| {
            let FactorError::Input(InputError::NonFinite {
                row: 3,
                column: 1,
                value,
                ..
            }) = error
            else {
                panic!("{error}");
            };
            assert_eq!(value.to_bits(), bad.to_bits());
        };
        expected(SymmetricEigen::factorize(a.view()).unwrap_err());
        expected(Cholesky::factorize(a.view(), &CholeskyParams::default()).unwrap_err());
        let error = KroneckerEigen::factorize(Array2::eye(2).view(), a.view()).unwrap_err();
        let FactorError::Block { index: 1, source } = error else {
            panic!("{error}")
        };
        expected(*source);
    }
}

#[test]
fn asymmetric_and_rectangular_matrices_are_rejected() {
    let skew = array![[1.0, 2.0], [-2.0, 1.0]];
    let error = SymmetricEigen::factorize(skew.view()).unwrap_err();
    assert!(
        matches!(
            error,
            FactorError::Input(InputError::NotSymmetric {
                row: 1,
                column: 0,
                value: -2.0,
                transposed: 2.0,
                ..
            })
        ),
        "{error}"
    );
    let error =
        Cholesky::factorize(Array2::zeros((2, 3)).view(), &CholeskyParams::default()).unwrap_err();
    assert!(
        error.to_string().contains("(2, 3)") && error.to_string().contains("(2, 2)"),
        "{error}"
    );
    assert!(Cholesky::factorize(Array2::zeros((0, 0)).view(), &CholeskyParams::default()).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64, rng_seed: RngSeed::Fixed(18), failure_persistence: None, ..ProptestConfig::default()
    })]

    /// Woodbury = dense, for any number of rows, weight, and shift over six decades.
    #[test]
    fn woodbury_equals_dense(seed in any::<u64>(), r in 0_usize..8, d in 1_usize..8, w in 0.0..10.0_f64, damping in 0.0..1.0_f64) {
        let mut rng = rng(seed);
        let rows = random(&mut rng, r, d);
        let shift = 10.0_f64.powf(3.0 * random_vector(&mut rng, 1)[0]);
        let mut dense = product(rows.t(), rows.view()) * w;
        for i in 0..d {
            dense[[i, i]] += shift + damping;
        }
        // With more rows than columns the small matrix has a condition of its own.
        let mut small = product(rows.view(), rows.t()) * (w / (shift + damping));
        small.diag_mut().mapv_inplace(|x| x + 1.0);
        let condition = if r > 0 { condition(&dense).max(condition(&small)) } else { condition(&dense) };
        let factor = LowRankPlusShift::new(rows, w, shift).unwrap().factorize_damped(damping).unwrap();
        let tolerance = rounding(r + d) * condition;
        let identity = Array2::eye(d);
        let (inverse, log_det) = eliminate(dense.view(), identity.view());
        assert_close(factor.solve(identity.view()).unwrap().view(), inverse.view(), tolerance, "inverse");
        let root = factor.inverse_sqrt(identity.view()).unwrap();
        assert_close(product(root.view(), root.t()).view(), inverse.view(), tolerance, "root");
        prop_assert!((factor.log_det() - log_det).abs() <= tolerance);
    }

    /// `(A + λI) solve(b) = b` up to `ε n cond`, for condition numbers up to 1e12.
    #[test]
    fn dense_factors_solve_ill_conditioned_systems(seed in any::<u64>(), n in 2_usize..12, decades in 0.0..12.0_f64) {
        let mut rng = rng(seed);
        let kappa = 10.0_f64.powf(decades);
        let a = with_spectrum(&mut rng, &log_spaced(n, kappa));
        let b = random(&mut rng, n, 2);
        let cholesky = Cholesky::factorize(a.view(), &CholeskyParams::strict()).unwrap();
        let eigen = SymmetricEigen::factorize(a.view()).unwrap();
        let tolerance = rounding(n) * kappa;
        for x in [cholesky.solve(b.view()).unwrap(), eigen.damped(0.0).unwrap().solve(b.view()).unwrap()] {
            assert_close(product(a.view(), x.view()).view(), b.view(), tolerance, "residual");
        }
    }
}

#[test]
fn woodbury_reads_the_upper_triangle_and_takes_a_jitter_where_nothing_else_helps() {
    let t = array![[3.0, 1.0], [f64::NAN, 2.0]];
    let small = Woodbury::new(t.view()).unwrap();
    let solved = small.solve_rows(array![[5.0, 4.0]].view());
    assert_close(solved.view(), array![[1.0, 1.0]].view(), 1e-15, "I + T");
    // Singular to rounding.
    let t = array![[0.0, 1.0], [1.0, 1e-16]];
    assert!(Woodbury::new(t.view()).is_ok());
    assert!(Woodbury::new(array![[-3.0]].view()).is_err());
    assert!(Woodbury::new(Array2::zeros((1, 2)).view()).is_err());
}
