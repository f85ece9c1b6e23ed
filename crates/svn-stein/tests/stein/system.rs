//! The Newton system: kernels, couplings and every solver against explicit loops and dense matrices.

use crate::common::*;
use ndarray::{Array1, Array2, array};
use svn_stein::{
    Bandwidth, Component, Coupling, Curvature, Kernel, KernelGram, KernelSettings, Metric, Scratch,
    SolveRoute, SolveStatus, Solver, SvnSystem,
};

const RIDGE: f64 = 1e-6;

fn settings(kernel: Kernel, metric: Metric) -> KernelSettings {
    KernelSettings {
        kernel,
        metric,
        bandwidth: Bandwidth::Median,
    }
}

fn largest(x: &Array2<f64>) -> f64 {
    x.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}

#[test]
fn kernel_gradient_is_the_finite_difference_for_every_kernel_metric_and_curvature() {
    let (n, d) = (4, 3);
    let x = normals(1, (n, d));
    let sum = Kernel::Sum(vec![
        Component {
            kernel: Kernel::Rbf,
            weight: 2.0,
            bandwidth_scale: 0.5,
        },
        Component {
            kernel: Kernel::Imq,
            weight: 1.0,
            bandwidth_scale: 3.0,
        },
    ]);
    for kernel in [Kernel::Rbf, Kernel::Imq, Kernel::Delta, sum] {
        for metric in METRICS {
            for bandwidth in [
                Bandwidth::Median,
                Bandwidth::Dimension,
                Bandwidth::Fixed(1.3),
            ] {
                for (name, curvature) in curvatures(7, n, d) {
                    let settings = KernelSettings {
                        kernel: kernel.clone(),
                        metric,
                        bandwidth,
                    };
                    let mut gram = KernelGram::new(n, d);
                    gram.update(&settings, x.view(), Some(curvature.view()))
                        .unwrap();
                    let m = metric_matrix(metric, &curvature.matrices(), d);
                    let h = gram.bandwidth();
                    for p in 0..n {
                        for q in (0..n).filter(|&q| q != p) {
                            let (a, b) = (x.row(p).to_owned(), x.row(q).to_owned());
                            let value = kernel_value(&kernel, h, &m, &a, &b);
                            assert!(
                                (gram.kernel()[(p, q)] - value).abs() < 1e-13,
                                "{kernel:?} {metric:?} {name}"
                            );
                            let difference = kernel_gradient(&kernel, h, &m, &a, &b);
                            let y = gram.transformed();
                            let g = (&y.row(p) - &y.row(q)) * gram.slope()[(p, q)];
                            // Central differences: error h² k''' / 6 plus rounding ε / h, both below 1e-9 at h = 1e-5.
                            let error = (&g - &difference).mapv(f64::abs).sum();
                            assert!(
                                error < 1e-8,
                                "{kernel:?} {metric:?} {name}: {g} against {difference}"
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn every_solver_agrees_with_dense_assembly_from_the_definition() {
    let (d, damping) = (4, 0.3);
    let mut routes = Vec::new();
    for n in 1..=5 {
        let x = normals(20 + n as u64, (n, d));
        let v = normals(40 + n as u64, (n, d));
        // The last kernel matrix is nearly constant: only then does the ridge matter.
        for (kernel, bandwidth) in [
            (Kernel::Rbf, Bandwidth::Median),
            (Kernel::Imq, Bandwidth::Median),
            (Kernel::Delta, Bandwidth::Median),
            (Kernel::Rbf, Bandwidth::Fixed(3e3)),
        ] {
            for metric in METRICS {
                for (name, curvature) in curvatures(60 + n as u64, n, d) {
                    let settings = KernelSettings {
                        kernel: kernel.clone(),
                        metric,
                        bandwidth,
                    };
                    let mut gram = KernelGram::new(n, d);
                    gram.update(&settings, x.view(), Some(curvature.view()))
                        .unwrap();
                    let hessians = curvature.matrices();
                    let m = metric_matrix(metric, &hessians, d);
                    let reference = Reference::new(&settings, gram.bandwidth(), &m, x.view());
                    for coupling in COUPLINGS {
                        let case = format!(
                            "N={n} {kernel:?} {bandwidth:?} {metric:?} {name} {coupling:?}"
                        );
                        let a = reference.system(&hessians, coupling, damping, RIDGE);
                        let system =
                            SvnSystem::new(gram.view(), curvature.view(), coupling, damping, RIDGE)
                                .unwrap();
                        let scale = largest(&a);
                        // The reference takes its square root by iteration, to ε times a condition number of 4 / RIDGE.
                        let root = if coupling == Coupling::BlockDiagonal {
                            1e-13
                        } else {
                            1e-10
                        };
                        let error = largest(&(&system.assemble().unwrap() - &a));
                        assert!(
                            error < root * scale,
                            "{case}: assembled matrix off by {error}"
                        );

                        let mut product = Array2::zeros((n, d));
                        system.multiply_into(v.view(), product.view_mut());
                        let error = (&flatten(product.view()) - &a.dot(&flatten(v.view())))
                            .mapv(f64::abs)
                            .sum();
                        assert!(
                            error < 10.0 * root * scale,
                            "{case}: operator off by {error}"
                        );

                        let (eigenvalues, _) = algebra::eigen(&a);
                        let smallest = eigenvalues
                            .iter()
                            .fold(f64::INFINITY, |m, x| m.min(x.abs()));
                        let condition =
                            eigenvalues.iter().fold(0.0, |m: f64, x| m.max(x.abs())) / smallest;
                        if coupling != Coupling::Exact {
                            assert!(eigenvalues[0] > 0.0, "{case}: not positive definite");
                        }
                        let expected = algebra::solve(&a, flatten(v.view()).view());
                        let size = expected.dot(&expected).sqrt();
                        let krylov = if coupling == Coupling::Exact {
                            Solver::Minres {
                                tolerance: 1e-13,
                                max_iterations: 2000,
                            }
                        } else {
                            Solver::Cg {
                                tolerance: 1e-13,
                                max_iterations: 2000,
                            }
                        };
                        let preconditioned = Solver::Preconditioned {
                            tolerance: 1e-13,
                            max_iterations: 2000,
                        };
                        for solver in [
                            Solver::Auto,
                            Solver::Direct,
                            Solver::Dense,
                            krylov,
                            preconditioned,
                        ] {
                            let iterates = matches!(
                                solver,
                                Solver::Cg { .. }
                                    | Solver::Minres { .. }
                                    | Solver::Preconditioned { .. }
                            );
                            if iterates && condition > 1e5 {
                                continue;
                            }
                            let mut alpha = Array2::zeros((n, d));
                            let info = system
                                .solve_into(
                                    v.view(),
                                    solver,
                                    &mut Scratch::default(),
                                    alpha.view_mut(),
                                )
                                .unwrap_or_else(|e| panic!("{case} {solver:?}: {e}"));
                            let error = (&flatten(alpha.view()) - &expected)
                                .mapv(|x| x * x)
                                .sum()
                                .sqrt();
                            // A relative residual of 1e-9 allows an error of cond times that.
                            let tolerance = 1e-9 * condition;
                            assert!(
                                error < tolerance * size,
                                "{case} {solver:?}: off by {error:e} of {size:e}, cond {condition:e}, {info:?}"
                            );
                            assert!(
                                info.relative_residual <= 1e-9_f64.max(1e-14 * condition),
                                "{case} {solver:?}: {info:?}"
                            );
                            routes.push(info.route);
                        }
                    }
                }
            }
        }
    }
    // Every route was taken somewhere in the table.
    for route in [
        SolveRoute::Decoupled,
        SolveRoute::PerParticle,
        SolveRoute::Dense,
        SolveRoute::Cg,
        SolveRoute::Minres,
        SolveRoute::Preconditioned,
    ] {
        assert!(routes.contains(&route), "{route:?} was never taken");
    }
}

/// `exp(−36)` is above the rounding of one, `exp(−36.1)` below it.
#[test]
fn particles_are_apart_where_the_kernel_is_below_rounding() {
    let at = |square: f64| {
        let x = array![[0.0], [square.sqrt()]];
        let settings = KernelSettings {
            kernel: Kernel::Rbf,
            metric: Metric::Identity,
            bandwidth: Bandwidth::Fixed(1.0),
        };
        let mut gram = KernelGram::new(2, 1);
        gram.update(&settings, x.view(), None).unwrap();
        (gram.kernel()[(0, 1)], gram.slope()[(0, 1)])
    };
    let (value, slope) = at(36.0);
    assert!(
        value > f64::EPSILON && slope == -2.0 * value,
        "{value:e} {slope:e}"
    );
    assert_eq!(at(36.1), (0.0, 0.0));
}

/// `ξ ~ N(0, A)`: the sample covariance of many draws.
#[test]
fn noise_has_the_covariance_of_the_system() {
    let (n, d, draws) = (2, 2, 4000);
    let x = normals(70, (n, d));
    for (name, curvature) in curvatures(71, n, d) {
        let mut gram = KernelGram::new(n, d);
        gram.update(&settings(Kernel::Rbf, Metric::Identity), x.view(), None)
            .unwrap();
        for coupling in COUPLINGS {
            let system = SvnSystem::new(gram.view(), curvature.view(), coupling, 1.0, 0.1).unwrap();
            let a = system.assemble().unwrap();
            let mut covariance = Array2::<f64>::zeros(a.dim());
            let mut xi = Array2::zeros((n, d));
            for step in 0..draws {
                system.noise_into(5, step, xi.view_mut()).unwrap();
                let z = flatten(xi.view());
                for i in 0..z.len() {
                    for j in 0..z.len() {
                        covariance[(i, j)] += z[i] * z[j] / draws as f64;
                    }
                }
            }
            for ((i, j), c) in covariance.indexed_iter() {
                let deviation =
                    ((a[(i, i)] * a[(j, j)] + a[(i, j)] * a[(i, j)]) / draws as f64).sqrt();
                let error = (c - a[(i, j)]).abs();
                assert!(
                    error < 5.0 * deviation,
                    "{name} {coupling:?} ({i},{j}): {c} against {}",
                    a[(i, j)]
                );
            }
        }
    }
}

/// `exact` is the second variation of the KL divergence along `φ → φ + s Σ_n α_n k(φ_n, φ)`, and the field is minus
/// the first: both by differences of the functional itself, with the Jacobian of the map by differences of the kernel.
#[test]
fn exact_coupling_is_the_second_variation_of_the_kl_divergence() {
    let (n, d) = (3, 2);
    let x = normals(5, (n, d));
    let precision = array![[2.0, 0.6], [0.6, 1.1]];
    let hessians = vec![precision.clone(); n];
    let owned = Owned::dense(ndarray::stack(ndarray::Axis(0), &vec![precision.view(); n]).unwrap());
    for kernel in [Kernel::Rbf, Kernel::Imq] {
        for metric in METRICS {
            let settings = settings(kernel.clone(), metric);
            let mut gram = KernelGram::new(n, d);
            gram.update(&settings, x.view(), Some(owned.view()))
                .unwrap();
            let (h, m) = (gram.bandwidth(), metric_matrix(metric, &hessians, d));
            let value = |a: &Array1<f64>, b: &Array1<f64>| kernel_value(&kernel, h, &m, a, b);
            for seed in 0..4 {
                let alpha = normals(100 + seed, (n, d));
                let map = |at: &Array1<f64>| {
                    (0..n).fold(Array1::<f64>::zeros(d), |sum, q| {
                        sum + &alpha.row(q) * value(at, &x.row(q).to_owned())
                    })
                };
                let jacobians: Vec<Array2<f64>> = (0..n)
                    .map(|p| {
                        let at = x.row(p).to_owned();
                        let mut jacobian = Array2::zeros((d, d));
                        for i in 0..d {
                            let (mut up, mut down) = (at.clone(), at.clone());
                            up[i] += 1e-5;
                            down[i] -= 1e-5;
                            jacobian
                                .column_mut(i)
                                .assign(&((map(&up) - map(&down)) / 2e-5));
                        }
                        jacobian
                    })
                    .collect();
                let functional = |s: f64| {
                    (0..n)
                        .map(|p| {
                            let at = x.row(p).to_owned();
                            let moved = &at + &(map(&at) * s);
                            let j = Array2::<f64>::eye(d) + &jacobians[p] * s;
                            let determinant: f64 = j[(0, 0)] * j[(1, 1)] - j[(0, 1)] * j[(1, 0)];
                            0.5 * moved.dot(&precision.dot(&moved)) - determinant.ln()
                        })
                        .sum::<f64>()
                        / n as f64
                };
                let s = 1e-4;
                let second = (functional(s) - 2.0 * functional(0.0) + functional(-s)) / (s * s);
                let system =
                    SvnSystem::new(gram.view(), owned.view(), Coupling::Exact, 0.0, 0.0).unwrap();
                let mut product = Array2::zeros((n, d));
                system.multiply_into(alpha.view(), product.view_mut());
                let quadratic = (&alpha * &product).sum();
                // Second difference at s = 1e-4: truncation s² ~ 1e-8 times the fourth derivative, rounding ε/s² ~ 1e-8.
                assert!(
                    (second - quadratic).abs() < 2e-6 * (1.0 + quadratic.abs()),
                    "{kernel:?} {metric:?}: {second} against {quadratic}"
                );
                let first = (functional(s) - functional(-s)) / (2.0 * s);
                let score = -x.dot(&precision);
                let mut field = Array2::zeros((n, d));
                let _ = svn_stein::svgd_into(&gram, score.view(), 1.0, field.view_mut());
                let slope = -(&alpha * &field).sum();
                assert!(
                    (first - slope).abs() < 1e-6 * (1.0 + slope.abs()),
                    "field: {first} against {slope}"
                );
            }
        }
    }
}

#[test]
fn exact_coupling_is_indefinite_for_close_particles_and_is_never_sent_to_cg() {
    let n = 3;
    let x = array![[0.0, 0.0], [1.0, 0.2], [0.3, 1.1]];
    let curvature = Owned::diagonal(Array2::from_elem((n, 2), 1e-3));
    let settings = KernelSettings {
        kernel: Kernel::Rbf,
        metric: Metric::Identity,
        bandwidth: Bandwidth::Fixed(1.0),
    };
    let mut gram = KernelGram::new(n, 2);
    gram.update(&settings, x.view(), None).unwrap();
    let system = SvnSystem::new(gram.view(), curvature.view(), Coupling::Exact, 0.0, 0.0).unwrap();
    let (eigenvalues, _) = algebra::eigen(&system.assemble().unwrap());
    assert!(
        eigenvalues[0] < -1e-2,
        "the case is meant to be indefinite: {eigenvalues}"
    );
    let v = normals(3, (n, 2));
    let mut alpha = Array2::zeros((n, 2));
    let auto = system
        .solve_into(
            v.view(),
            Solver::Auto,
            &mut Scratch::default(),
            alpha.view_mut(),
        )
        .unwrap();
    assert_ne!(auto.route, SolveRoute::Cg);
    assert!(auto.relative_residual < 1e-10, "{auto:?}");
    let asked = Solver::Cg {
        tolerance: 1e-10,
        max_iterations: 100,
    };
    let cg = system
        .solve_into(v.view(), asked, &mut Scratch::default(), alpha.view_mut())
        .unwrap();
    assert_eq!(cg.status, SolveStatus::NegativeCurvature, "{cg:?}");
}

#[test]
fn low_rank_without_rows_or_weight_is_the_shift() {
    let (n, d) = (3, 4);
    let x = normals(9, (n, d));
    let v = normals(10, (n, d));
    let mut gram = KernelGram::new(n, d);
    gram.update(&settings(Kernel::Rbf, Metric::Identity), x.view(), None)
        .unwrap();
    let diagonal = Array2::from_elem((n, d), 0.7);
    let empty = ndarray::Array3::zeros((n, 0, d));
    let zero = ndarray::Array3::zeros((n, 2, d));
    let full = normals(11, (n, 2 * d))
        .into_shape_with_order((n, 2, d))
        .unwrap();
    for coupling in COUPLINGS {
        let solve = |curvature: Curvature<'_>| {
            let system = SvnSystem::new(gram.view(), &*curvature, coupling, 0.1, RIDGE).unwrap();
            let mut alpha = Array2::zeros((n, d));
            system
                .solve_into(
                    v.view(),
                    Solver::Direct,
                    &mut Scratch::default(),
                    alpha.view_mut(),
                )
                .unwrap();
            alpha
        };
        let expected = solve(Box::new(DiagonalMatrices::new(diagonal.view())));
        for (rows, weight) in [(&empty, 1.0), (&zero, 1.0), (&full, 0.0)] {
            let found = solve(Box::new(LowRank {
                rows,
                weight,
                shift: 0.7,
            }));
            let error = largest(&(&found - &expected));
            assert!(error < 1e-9 * largest(&expected), "{coupling:?}: {error}");
        }
    }
}

#[test]
fn kept_scratch_gives_the_same_solution_as_fresh_memory() {
    let (n, d) = (4, 6);
    let mut scratch = Scratch::default();
    for seed in 0..3 {
        let x = normals(200 + seed, (n, d));
        let v = normals(300 + seed, (n, d));
        let (_, curvature) = curvatures(400 + seed, n, d).swap_remove(0);
        let mut gram = KernelGram::new(n, d);
        gram.update(
            &settings(Kernel::Rbf, Metric::Curvature),
            x.view(),
            Some(curvature.view()),
        )
        .unwrap();
        for coupling in COUPLINGS {
            let system =
                SvnSystem::new(gram.view(), curvature.view(), coupling, 0.2, RIDGE).unwrap();
            let (mut kept, mut fresh) = (Array2::zeros((n, d)), Array2::zeros((n, d)));
            system
                .solve_into(v.view(), Solver::Direct, &mut scratch, kept.view_mut())
                .unwrap();
            system
                .solve_into(
                    v.view(),
                    Solver::Direct,
                    &mut Scratch::default(),
                    fresh.view_mut(),
                )
                .unwrap();
            assert_eq!(kept, fresh, "{coupling:?}");
        }
    }
}

#[test]
fn bandwidths_are_positive_for_one_identical_and_equidistant_particles() {
    let triangle = array![[0.0, 0.0], [1.0, 0.0], [0.5, 0.75_f64.sqrt()]];
    let pairs = array![[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 2.0]];
    for x in [
        array![[1.0, 2.0]],
        Array2::from_elem((4, 2), 3.0),
        triangle,
        pairs,
        array![[0.0, 0.0], [1e-200, 0.0]],
    ] {
        for bandwidth in [Bandwidth::Median, Bandwidth::Dimension] {
            let settings = KernelSettings {
                bandwidth,
                ..KernelSettings::default()
            };
            let mut gram = KernelGram::new(x.nrows(), 2);
            gram.update(&settings, x.view(), None).unwrap();
            assert!(
                gram.bandwidth() > 0.0 && gram.bandwidth().is_finite(),
                "{bandwidth:?} {x}"
            );
            assert!(
                gram.kernel()
                    .iter()
                    .chain(gram.slope())
                    .all(|k| k.is_finite()),
                "{bandwidth:?} {x}"
            );
        }
    }
    let triangle = array![[0.0, 0.0], [1.0, 0.0], [0.5, 0.75_f64.sqrt()]];
    let mut gram = KernelGram::new(3, 2);
    gram.update(&KernelSettings::default(), triangle.view(), None)
        .unwrap();
    // All squared distances are one, so h = 1 / ln 4 and k = exp(−ln 4) = 1/4.
    assert!((gram.kernel()[(0, 1)] - 0.25).abs() < 1e-14);
}

/// 280 and 560 rows in each block, which are factored in single precision where the damping allows that.
#[test]
fn large_blocks_are_solved_to_double_precision_at_any_damping() {
    let (n, r, d) = (4, 70, 300);
    let x = normals(5, (n, d));
    let v = normals(6, (n, d));
    let rows = normals(7, (n * r, d))
        .into_shape_with_order((n, r, d))
        .unwrap();
    let curvature = svn_linalg::LowRank {
        rows,
        weight: 1.0,
        shift: 1.0,
    };
    let mut scratch = Scratch::default();
    for damping in [1e3, 10.0, 0.0] {
        let mut gram = KernelGram::new(n, d);
        let kernel = settings(Kernel::Rbf, Metric::Identity);
        gram.update(&kernel, x.view(), None).unwrap();
        let system = SvnSystem::new(
            gram.view(),
            &curvature,
            Coupling::BlockDiagonal,
            damping,
            0.0,
        )
        .unwrap();
        let mut solve = |solver| {
            let mut alpha = Array2::zeros((n, d));
            let info = system
                .solve_into(v.view(), solver, &mut scratch, alpha.view_mut())
                .unwrap();
            assert!(info.relative_residual < 1e-10, "{damping} {info:?}");
            (alpha, info)
        };
        let (direct, info) = solve(Solver::Direct);
        assert_eq!((info.route, info.iterations), (SolveRoute::PerParticle, 0));
        let iterated = solve(Solver::Cg {
            tolerance: 1e-12,
            max_iterations: 5000,
        })
        .0;
        let error = largest(&(&direct - &iterated));
        assert!(error < 1e-8 * largest(&direct), "{damping}: {error:e}");
    }
}
