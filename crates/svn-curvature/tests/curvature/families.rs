//! Full, Diag, KFAC and EKFAC against dense curvature by dual numbers: every architecture with every likelihood.

use crate::common::{
    Case, Dual, PARTICLES, SAMPLES, backends, cases, cases_of, duals, evaluate, frobenius_error,
    layer_blocks, likelihoods, outer, reference_curvature, reference_factors, reference_loss,
    relative_error,
};
use ndarray::linalg::kron;
use ndarray::{Array1, Array2, Array3, Array4, ArrayView2, ArrayView3, Axis, s};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use svn_curvature::{
    Accumulate, BatchSlots, Diag, DiagAccumulator, EkfacAccumulator, KfacAccumulator,
    KroneckerCurvature, Linearized, Loss, WrittenRows,
};
use svn_linalg::{LinearOperator, LowRank, ParticleOperators};

/// The promise of the crate; rounding stays far below.
const EXACT: f64 = 1e-10;

fn full(lin: &dyn Linearized, root: &Array4<f64>) -> LowRank<Array3<f64>> {
    let columns = root.dim().3;
    let mut rows = WrittenRows::new(lin, 1, lin.batch() * columns);
    rows.write(lin, root.view(), 0).unwrap();
    LowRank {
        rows: rows.rows().to_owned(),
        weight: 1.0,
        shift: 0.0,
    }
}

fn rows(full: &LowRank<Array3<f64>>, particle: usize) -> Array2<f64> {
    let rows = full.rows.index_axis(Axis(0), particle);
    rows.t().dot(&rows)
}

fn diagonals(diag: &Diag) -> Array2<f64> {
    let rows: Vec<_> = (0..diag.particles()).map(|p| diag.diagonal(p)).collect();
    Array2::from_shape_fn((rows.len(), diag.dim()), |(p, i)| rows[p][i])
}

fn dense(curvature: &dyn ParticleOperators, particle: usize) -> Array2<f64> {
    curvature.operator(particle).to_dense()
}

fn kfac(lin: &dyn Linearized, root: &Array4<f64>) -> KroneckerCurvature {
    let mut accumulator = KfacAccumulator::new(lin);
    accumulator.accumulate(lin, root.view()).unwrap();
    accumulator.finish().unwrap()
}

fn diag(lin: &dyn Linearized, root: &Array4<f64>) -> Diag {
    let mut accumulator = DiagAccumulator::new(lin);
    accumulator.accumulate(lin, root.view()).unwrap();
    accumulator.finish().unwrap()
}

fn ekfac(lin: &dyn Linearized, root: &Array4<f64>) -> KroneckerCurvature {
    let mut accumulator = EkfacAccumulator::new(&kfac(lin, root));
    accumulator.accumulate(lin, root.view()).unwrap();
    accumulator.finish().unwrap()
}

/// Calls `check` with each case and likelihood, its root and the dense reference, over the first `samples` samples.
fn for_all(
    samples: usize,
    mut check: impl FnMut(&str, &Case, &dyn Linearized, &Array4<f64>, &Array3<f64>),
) {
    for (likelihood, loss, outputs, y) in likelihoods() {
        for case in cases(outputs) {
            let case = case.rows(0..samples);
            let lin = case.linearize();
            let root = loss.root(lin.outputs()).unwrap();
            let reference = reference_curvature(loss, &case, y.slice(s![..samples, ..]));
            let name = format!("{}, {likelihood}", case.name);
            check(&name, &case, &*lin, &root, &reference);
        }
    }
}

#[test]
fn full_equals_dense_curvature() {
    for_all(SAMPLES, |name, _, lin, root, reference| {
        let full = full(lin, root);
        for p in 0..PARTICLES {
            let reference = reference.index_axis(Axis(0), p);
            for dense in [rows(&full, p), dense(&full, p)] {
                let error = frobenius_error(&dense, &reference);
                assert!(error < EXACT, "{name}, particle {p}: {error:e}");
            }
        }
    });
}

#[test]
fn full_equals_the_hessian_where_the_network_is_linear_in_its_parameters() {
    for (likelihood, loss, outputs, y) in likelihoods() {
        if loss == Loss::HeteroscedasticGaussian {
            continue; // Its Fisher matrix is the Hessian in expectation only.
        }
        for case in cases_of("single linear layer", outputs) {
            let lin = case.linearize();
            let full = full(&*lin, &loss.root(lin.outputs()).unwrap());
            for p in 0..PARTICLES {
                let mut hessian = Array2::zeros((lin.dim(), lin.dim()));
                for ((i, j), entry) in hessian.indexed_iter_mut() {
                    let mut params = duals(case.params.row(p));
                    params[i].0[1] = 1.0;
                    params[j].0[2] = 1.0;
                    *entry = total_loss(loss, &case, &params, y.view()).0[3];
                }
                let error = frobenius_error(&dense(&full, p), &hessian);
                assert!(error < EXACT, "{}, {likelihood}: {error:e}", case.name);
            }
        }
    }
}

/// `Σ_i ℓ(f_i, y_i)` of one particle.
fn total_loss(loss: Loss, case: &Case, params: &[Dual], y: ArrayView2<'_, f64>) -> Dual {
    let rows = case.x.outer_iter().zip(y.outer_iter());
    let row = |(x, y)| reference_loss(loss, &evaluate(&case.network, params, &duals(x), |_| {}), y);
    rows.map(row).sum()
}

#[test]
fn diag_equals_the_diagonal_of_dense_curvature() {
    for_all(SAMPLES, |name, _, lin, root, reference| {
        let diag = diag(lin, root);
        let error = relative_error(
            &diagonals(&diag),
            &Array2::from_shape_fn((PARTICLES, diag.dim()), |(p, i)| reference[[p, i, i]]),
        );
        assert!(error < EXACT, "{name}: {error:e}");
    });
}

#[test]
fn kfac_equals_the_layer_blocks_for_deep_linear_networks_with_squared_loss() {
    for_all(SAMPLES, |name, case, lin, root, reference| {
        if !name.contains("linear") || !name.contains(", gaussian") {
            return;
        }
        let kfac = kfac(lin, root);
        for p in 0..PARTICLES {
            let blocks = layer_blocks(&case.network, &reference.index_axis(Axis(0), p));
            let error = frobenius_error(&dense(&kfac, p), &blocks);
            assert!(error < EXACT, "{name}: {error:e}");
        }
    });
}

#[test]
fn kfac_equals_the_layer_blocks_for_a_single_sample_without_convolution() {
    let mut checked = 0;
    for_all(1, |name, case, lin, root, reference| {
        if case.has_images() {
            return;
        }
        checked += 1;
        let kfac = kfac(lin, root);
        for p in 0..PARTICLES {
            let blocks = layer_blocks(&case.network, &reference.index_axis(Axis(0), p));
            let error = frobenius_error(&dense(&kfac, p), &blocks);
            assert!(error < EXACT, "{name}: {error:e}");
        }
    });
    assert_eq!(checked, 4 * 8 * backends().len());
}

#[test]
fn kfac_equals_the_explicit_kronecker_product_of_factors_by_unfolding_and_dual_numbers() {
    // For every layer, convolutions included: inputs by loops, cotangents from the layer's outputs one by one.
    for (likelihood, loss, outputs, _) in likelihoods() {
        for case in cases(outputs) {
            let lin = case.linearize();
            let root = loss.root(lin.outputs()).unwrap();
            let kfac = kfac(&*lin, &root);
            for p in 0..PARTICLES {
                let explicit = explicit_kfac(&case, p, root.index_axis(Axis(0), p));
                let error = frobenius_error(&dense(&kfac, p), &explicit);
                assert!(error < EXACT, "{}, {likelihood}: {error:e}", case.name);
            }
        }
    }
}

/// KFAC of one particle for one `b × c × k` root: the layers' products along the diagonal, in the order of the flat
/// vector.
fn explicit_kfac(case: &Case, particle: usize, root: ArrayView3<'_, f64>) -> Array2<f64> {
    let layout = case.network.layout();
    let mut all = Array2::zeros((layout.dim(), layout.dim()));
    let mut start = 0;
    for (a, g) in reference_factors(case, particle, root) {
        let (width, outputs) = (a.nrows(), g.nrows());
        let mut blocks = layout.blocks().iter();
        let weight = blocks.find(|block| block.range().start == start).unwrap();
        let fan_in = weight.len() / outputs;
        let place = |row: usize| {
            let (o, k) = (row / width, row % width);
            start
                + if k < fan_in {
                    o * fan_in + k
                } else {
                    outputs * fan_in + o
                }
        };
        let product = kron(&g, &a);
        for ((i, j), value) in product.indexed_iter() {
            all[[place(i), place(j)]] = *value;
        }
        start += product.nrows();
    }
    assert_eq!(start, layout.dim());
    all
}

#[test]
fn ekfac_is_never_further_from_the_layer_blocks_than_kfac() {
    let mut gained = 0;
    for_all(SAMPLES, |name, case, lin, root, reference| {
        let (kfac, ekfac) = (kfac(lin, root), ekfac(lin, root));
        for p in 0..PARTICLES {
            let blocks = layer_blocks(&case.network, &reference.index_axis(Axis(0), p));
            let without = frobenius_error(&dense(&kfac, p), &blocks);
            let with = frobenius_error(&dense(&ekfac, p), &blocks);
            assert!(with <= without + EXACT, "{name}: {with:e} > {without:e}");
            gained += usize::from(with < 0.9 * without);
        }
    });
    assert!(
        gained > 20,
        "the correction shows on {gained} particles only"
    );
}

#[test]
fn ekfac_has_the_exact_diagonal_in_the_eigenbasis() {
    // Trace and diagonal survive the projection on the eigenbasis, so the trace equals that of the dense curvature.
    for_all(SAMPLES, |name, _, lin, root, reference| {
        let ekfac = ekfac(lin, root);
        for p in 0..PARTICLES {
            let (trace, exact) = (
                dense(&ekfac, p).diag().sum(),
                reference.index_axis(Axis(0), p).diag().sum(),
            );
            assert!(
                (trace / exact - 1.0).abs() < EXACT,
                "{name}: {trace} instead of {exact}"
            );
        }
    });
}

#[test]
fn every_family_restricted_to_the_last_layer_is_the_last_block_of_the_whole() {
    for_all(SAMPLES, |name, case, lin, root, _| {
        let last = case.linearize().last_layer();
        let last = &*last;
        let tail = |dense: Array2<f64>| {
            let start = lin.dim() - last.dim();
            dense.slice(s![start.., start..]).to_owned()
        };
        let pairs: [(Box<dyn ParticleOperators>, Box<dyn ParticleOperators>); 4] = [
            (Box::new(diag(last, root)), Box::new(diag(lin, root))),
            (Box::new(full(last, root)), Box::new(full(lin, root))),
            (Box::new(kfac(last, root)), Box::new(kfac(lin, root))),
            (Box::new(ekfac(last, root)), Box::new(ekfac(lin, root))),
        ];
        for (restricted, whole) in &pairs {
            let error = frobenius_error(&dense(&**restricted, 1), &tail(dense(&**whole, 1)));
            assert!(error < EXACT, "{name}: {error:e}");
        }
    });
}

#[test]
fn rows_of_gradients_are_the_sum_of_their_squares() {
    for (likelihood, loss, outputs, y) in likelihoods() {
        for case in cases(outputs) {
            let lin = case.linearize();
            let gradient = loss.value_and_gradient(lin.outputs(), y.view()).unwrap().1;
            let full = full(&*lin, &gradient.insert_axis(Axis(3)));
            let mut reference: Array2<f64> = Array2::zeros((lin.dim(), lin.dim()));
            for i in 0..SAMPLES {
                let (row, y) = (case.rows(i..i + 1), y.slice(s![i..i + 1, ..]));
                let mut params = duals(case.params.row(1));
                let slope = |k: usize| {
                    params[k].0[1] = 1.0;
                    let value = total_loss(loss, &row, &params, y);
                    params[k].0[1] = 0.0;
                    value.0[1]
                };
                reference += &outer(&(0..lin.dim()).map(slope).collect::<Array1<f64>>());
            }
            let error = frobenius_error(&dense(&full, 1), &reference);
            assert!(error < EXACT, "{}, {likelihood}: {error:e}", case.name);
        }
    }
}

#[test]
fn monte_carlo_fisher_converges_at_one_over_root_s() {
    // From 16 to 1024 columns the error falls by 8; the mean over seeds and particles is good to a factor of 1.5.
    for (likelihood, loss, outputs, _) in likelihoods() {
        for case in cases_of("relu mlp", outputs) {
            let lin = case.linearize();
            let exact = full(&*lin, &loss.root(lin.outputs()).unwrap());
            let mean_error = |samples: usize| {
                let mut total = 0.0;
                for seed in 0..8 {
                    let mut rng = ChaCha8Rng::seed_from_u64(seed);
                    let root = loss.monte_carlo_root(lin.outputs(), samples, &mut rng);
                    let drawn = full(&*lin, &root.unwrap());
                    for p in 0..PARTICLES {
                        total += frobenius_error(&dense(&drawn, p), &dense(&exact, p)) / 24.0;
                    }
                }
                total
            };
            let ratio = mean_error(16) / mean_error(1024);
            assert!(
                (8.0 / 1.5..8.0 * 1.5).contains(&ratio),
                "{}, {likelihood}: {ratio}",
                case.name
            );
        }
    }
}

#[test]
fn roots_of_drawn_and_observed_gradients_serve_every_family() {
    let (_, loss, outputs, y) = likelihoods().swap_remove(2);
    for case in cases(outputs) {
        let lin = case.linearize();
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let drawn = loss.monte_carlo_root(lin.outputs(), 2, &mut rng).unwrap();
        let observed = loss.value_and_gradient(lin.outputs(), y.view()).unwrap().1;
        for root in [drawn, observed.insert_axis(Axis(3))] {
            let full = full(&*lin, &root);
            let diag = diag(&*lin, &root);
            let ekfac = ekfac(&*lin, &root);
            for p in 0..PARTICLES {
                let exact = dense(&full, p);
                let error = frobenius_error(&dense(&diag, p), &Array2::from_diag(&exact.diag()));
                assert!(error < EXACT, "{}: {error:e}", case.name);
                let trace = dense(&ekfac, p).diag().sum();
                let error = (trace / exact.diag().sum() - 1.0).abs();
                assert!(error < EXACT, "{}: {error:e}", case.name);
            }
        }
    }
}

#[test]
fn single_precision_curvature_agrees_with_double() {
    let (_, loss, outputs, _) = likelihoods().swap_remove(2);
    for case in cases(outputs) {
        let (lin, single) = (case.linearize(), case.single().linearize());
        let (root, single_root) = (
            loss.root(lin.outputs()).unwrap(),
            loss.root(single.outputs()).unwrap(),
        );
        let exact = dense(&kfac(&*lin, &root), 0);
        let error = frobenius_error(&dense(&kfac(&*single, &single_root), 0), &exact);
        assert!(error < 1e-5, "{}: {error:e}", case.name);
        let error = frobenius_error(
            &dense(&ekfac(&*single, &single_root), 0),
            &dense(&ekfac(&*lin, &root), 0),
        );
        assert!(error < 1e-4, "{}: {error:e}", case.name);
    }
}

#[test]
fn damped_factors_solve_the_damped_system() {
    let damping = 0.3;
    for_all(SAMPLES, |name, _, lin, root, _| {
        let families: [Box<dyn ParticleOperators>; 4] = [
            Box::new(diag(lin, root)),
            Box::new(full(lin, root)),
            Box::new(kfac(lin, root)),
            Box::new(ekfac(lin, root)),
        ];
        for family in &families {
            let b = Array2::from_shape_fn((family.dim(), 2), |(i, j)| ((i + 3 * j) as f64).sin());
            let damped = dense(&**family, 2) + Array2::<f64>::eye(family.dim()) * damping;
            // Twice, so that a damping that piles up would show.
            for _ in 0..2 {
                let x = family.factor(2, damping).unwrap().solve(b.view()).unwrap();
                let residual = frobenius_error(&damped.dot(&x), &b);
                // ε · condition number, at most 1e-16 · 1e5 here.
                assert!(residual < 1e-9, "{name}: {residual:e}");
            }
        }
    });
}

/// A solve and `xᵀ H x` in the eigenbasis against the factor and the dense matrix.
#[test]
fn a_function_in_the_eigenbasis_is_that_of_the_matrix() {
    let damping = 0.3;
    for_all(SAMPLES, |name, _, lin, root, _| {
        let families: [(bool, Box<dyn ParticleOperators>); 4] = [
            (true, Box::new(diag(lin, root))),
            (false, Box::new(full(lin, root))),
            (true, Box::new(kfac(lin, root))),
            (true, Box::new(ekfac(lin, root))),
        ];
        for (has_basis, family) in &families {
            let b = Array2::from_shape_fn((family.dim(), 1), |(i, _)| (i as f64).sin());
            let mut x = b.column(0).to_vec();
            let mut sum = 0.0;
            let known = family.in_eigenbasis(2, &mut x, &mut |x, s| {
                for (x, s) in x.iter_mut().zip(s) {
                    sum += s * *x * *x;
                    *x /= s + damping;
                }
            });
            assert_eq!(known, *has_basis, "{name}");
            let matrix = dense(&**family, 2);
            let expected = b.t().dot(&matrix.dot(&b))[(0, 0)];
            // ε times at most some thousand terms.
            let close = |found: f64| (found - expected).abs() <= 1e-11 * expected.abs();
            assert!(close(family.quadratic(2, b.column(0))), "{name}");
            let eigenvalues = family.eigenvalues(2);
            assert_eq!(eigenvalues.is_some(), *has_basis, "{name}");
            if let Some(values) = eigenvalues {
                // The sums of eigenvalues and of their squares, those of the diagonal and of all entries.
                let of_matrix = [matrix.diag().sum(), matrix.iter().map(|x| x * x).sum()];
                let found = [values.sum(), values.iter().map(|s| s * s).sum()];
                for (found, expected) in found.into_iter().zip(of_matrix) {
                    assert!((found - expected).abs() <= 1e-11 * expected, "{name}");
                }
            }
            if known {
                assert!(close(sum), "{name}: {sum} {expected}");
                let x = Array2::from_shape_vec(b.raw_dim(), x).unwrap();
                let damped = matrix + Array2::<f64>::eye(family.dim()) * damping;
                // As above.
                let residual = frobenius_error(&damped.dot(&x), &b);
                assert!(residual < 1e-9, "{name}: {residual:e}");
            }
        }
    });
}
