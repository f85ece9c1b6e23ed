//! Full, Diag, KFAC and EKFAC against dense curvature by autograd: every architecture with every likelihood.

mod common;

use common::{
    Case, PARTICLES, SAMPLES, cases, frobenius_error, layer_blocks, likelihoods, matrix,
    reference_curvature, reference_forward, reference_loss, relative_error,
};
use ndarray::{Array2, Array3, Axis, s};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use svn_curvature::{
    Accumulate, BatchSlots, Diag, DiagAccumulator, EkfacAccumulator, KfacAccumulator,
    KroneckerCurvature, Linearization, Loss, WrittenRows,
};
use svn_linalg::{LinearOperator, LowRank, ParticleOperators};
use tch::Tensor;

/// The promise of the crate; rounding stays far below.
const EXACT: f64 = 1e-10;

fn linearize(case: &Case) -> Linearization {
    case.network.linearize(&case.params, &case.x).unwrap()
}

fn full(lin: &Linearization, root: &Tensor) -> LowRank<Array3<f64>> {
    let columns = root.size()[3] as usize;
    let mut rows = WrittenRows::new(lin, 1, lin.batch() * columns);
    rows.write(lin, root, 0).unwrap();
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

fn kfac(lin: &Linearization, root: &Tensor) -> KroneckerCurvature {
    let mut accumulator = KfacAccumulator::new(lin).unwrap();
    accumulator.accumulate(lin, root).unwrap();
    accumulator.finish().unwrap()
}

fn diag(lin: &Linearization, root: &Tensor) -> Diag {
    let mut accumulator = DiagAccumulator::new(lin).unwrap();
    accumulator.accumulate(lin, root).unwrap();
    accumulator.finish().unwrap()
}

fn ekfac(lin: &Linearization, root: &Tensor) -> KroneckerCurvature {
    let mut accumulator = EkfacAccumulator::new(&kfac(lin, root)).unwrap();
    accumulator.accumulate(lin, root).unwrap();
    accumulator.finish().unwrap()
}

/// Calls `check` with each case and likelihood, its root and the dense reference, over the first `samples` samples.
fn for_all(samples: i64, mut check: impl FnMut(&str, &Case, &Linearization, &Tensor, &Tensor)) {
    for (likelihood, loss, outputs, y) in likelihoods() {
        for mut case in cases(outputs) {
            case.x = case.x.narrow(0, 0, samples);
            let y = y.narrow(0, 0, samples);
            let lin = linearize(&case);
            let root = loss.root(lin.outputs()).unwrap();
            let reference = reference_curvature(loss, &case, &y);
            check(
                &format!("{}, {likelihood}", case.name),
                &case,
                &lin,
                &root,
                &reference,
            );
        }
    }
}

#[test]
fn full_equals_dense_curvature() {
    for_all(SAMPLES, |name, _, lin, root, reference| {
        let full = full(lin, root);
        for p in 0..PARTICLES as usize {
            let reference = matrix(reference, p);
            for dense in [rows(&full, p), dense(&full, p)] {
                let error = frobenius_error(&dense, &reference);
                assert!(error < EXACT, "{name}, particle {p}: {error:e}");
            }
        }
    });
}

#[test]
fn full_equals_the_hessian_by_double_backward_where_the_network_is_linear_in_its_parameters() {
    for (likelihood, loss, outputs, y) in likelihoods() {
        if loss == Loss::HeteroscedasticGaussian {
            continue; // Its Fisher matrix is the Hessian in expectation only.
        }
        let case = cases(outputs).swap_remove(0);
        let lin = linearize(&case);
        let full = full(&lin, &loss.root(lin.outputs()).unwrap());
        for p in 0..PARTICLES {
            let flat = case.params.get(p).copy().set_requires_grad(true);
            let value = reference_loss(loss, &reference_forward(&case.network, &flat, &case.x), &y);
            let gradient = Tensor::run_backward(&[value], &[&flat], true, true).remove(0);
            let rows: Vec<Tensor> = (0..flat.size()[0])
                .map(|i| Tensor::run_backward(&[gradient.get(i)], &[&flat], true, false).remove(0))
                .collect();
            let hessian: Array2<f64> =
                svn_curvature::convert::array(&Tensor::stack(&rows, 0)).unwrap();
            let error = frobenius_error(&dense(&full, p as usize), &hessian);
            assert!(error < EXACT, "{likelihood}: {error:e}");
        }
    }
}

#[test]
fn diag_equals_the_diagonal_of_dense_curvature() {
    for_all(SAMPLES, |name, _, lin, root, reference| {
        let diag = diag(lin, root);
        let error = relative_error(
            &svn_curvature::convert::tensor(diagonals(&diag).view()).unwrap(),
            &reference.diagonal(0, 1, 2).contiguous(),
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
        for p in 0..PARTICLES as usize {
            let blocks = layer_blocks(&case.network, &matrix(reference, p));
            let error = frobenius_error(&dense(&kfac, p), &blocks);
            assert!(error < EXACT, "{name}: {error:e}");
        }
    });
}

#[test]
fn kfac_equals_the_layer_blocks_for_a_single_sample_without_convolution() {
    let mut checked = 0;
    for_all(1, |name, case, lin, root, reference| {
        if case.network.input_shape().len() > 1 && !name.contains("flatten of an image") {
            return;
        }
        checked += 1;
        let kfac = kfac(lin, root);
        for p in 0..PARTICLES as usize {
            let blocks = layer_blocks(&case.network, &matrix(reference, p));
            let error = frobenius_error(&dense(&kfac, p), &blocks);
            assert!(error < EXACT, "{name}: {error:e}");
        }
    });
    assert_eq!(checked, 4 * 7);
}

#[test]
fn kfac_equals_the_explicit_kronecker_product_of_factors_by_unfolding_and_autograd() {
    // For every layer, convolutions included: inputs by forward with libtorch's layers and im2col, cotangents by
    // autograd with respect to the layer's output, factors and their product by loops.
    for (likelihood, loss, outputs, _) in likelihoods() {
        for case in cases(outputs) {
            let lin = linearize(&case);
            let root = loss.root(lin.outputs()).unwrap();
            let kfac = kfac(&lin, &root);
            for p in 0..PARTICLES {
                let explicit = explicit::kfac(&case, p, &root.get(p));
                let error = frobenius_error(&dense(&kfac, p as usize), &explicit);
                assert!(error < EXACT, "{}, {likelihood}: {error:e}", case.name);
            }
        }
    }
}

#[test]
fn ekfac_is_never_further_from_the_layer_blocks_than_kfac() {
    let mut gained = 0;
    for_all(SAMPLES, |name, case, lin, root, reference| {
        let (kfac, ekfac) = (kfac(lin, root), ekfac(lin, root));
        for p in 0..PARTICLES as usize {
            let blocks = layer_blocks(&case.network, &matrix(reference, p));
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
        for p in 0..PARTICLES as usize {
            let (trace, exact) = (
                dense(&ekfac, p).diag().sum(),
                matrix(reference, p).diag().sum(),
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
        let last = linearize(case).last_layer();
        let tail = |dense: Array2<f64>| {
            let start = lin.dim() - last.dim();
            dense.slice(s![start.., start..]).to_owned()
        };
        let pairs: [(Box<dyn ParticleOperators>, Box<dyn ParticleOperators>); 4] = [
            (Box::new(diag(&last, root)), Box::new(diag(lin, root))),
            (Box::new(full(&last, root)), Box::new(full(lin, root))),
            (Box::new(kfac(&last, root)), Box::new(kfac(lin, root))),
            (Box::new(ekfac(&last, root)), Box::new(ekfac(lin, root))),
        ];
        for (restricted, whole) in &pairs {
            let error = frobenius_error(&dense(&**restricted, 1), &tail(dense(&**whole, 1)));
            assert!(error < EXACT, "{name}: {error:e}");
        }
    });
}

#[test]
fn rows_of_gradients_are_the_sum_of_their_squares_by_autograd() {
    for (likelihood, loss, outputs, y) in likelihoods() {
        for case in cases(outputs) {
            let lin = linearize(&case);
            let full = full(
                &lin,
                &loss.gradient(lin.outputs(), &y).unwrap().unsqueeze(3),
            );
            let flat = case.params.get(1).copy().set_requires_grad(true);
            let mut reference: Array2<f64> = Array2::zeros((lin.dim(), lin.dim()));
            for i in 0..SAMPLES {
                let f = reference_forward(&case.network, &flat, &case.x.narrow(0, i, 1));
                let value = reference_loss(loss, &f, &y.narrow(0, i, 1));
                let g = Tensor::run_backward(&[value], &[&flat], false, false).remove(0);
                reference += &svn_curvature::convert::array::<ndarray::Ix2>(&g.outer(&g)).unwrap();
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
        let case = cases(outputs).swap_remove(2);
        let lin = linearize(&case);
        let exact = full(&lin, &loss.root(lin.outputs()).unwrap());
        let mean_error = |samples: usize| {
            let mut total = 0.0;
            for seed in 0..8 {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                let drawn = full(
                    &lin,
                    &loss
                        .monte_carlo_root(lin.outputs(), samples, &mut rng)
                        .unwrap(),
                );
                for p in 0..PARTICLES as usize {
                    total += frobenius_error(&dense(&drawn, p), &dense(&exact, p)) / 24.0;
                }
            }
            total
        };
        let ratio = mean_error(16) / mean_error(1024);
        assert!(
            (8.0 / 1.5..8.0 * 1.5).contains(&ratio),
            "{likelihood}: {ratio}"
        );
    }
}

#[test]
fn roots_of_drawn_and_observed_gradients_serve_every_family() {
    let (_, loss, outputs, y) = likelihoods().swap_remove(2);
    for case in cases(outputs) {
        let lin = linearize(&case);
        let drawn = loss
            .monte_carlo_root(lin.outputs(), 2, &mut ChaCha8Rng::seed_from_u64(5))
            .unwrap();
        for root in [
            drawn,
            loss.gradient(lin.outputs(), &y).unwrap().unsqueeze(3),
        ] {
            let full = full(&lin, &root);
            let diag = diag(&lin, &root);
            let ekfac = ekfac(&lin, &root);
            for p in 0..PARTICLES as usize {
                let exact = dense(&full, p);
                let error = frobenius_error(&dense(&diag, p), &Array2::from_diag(&exact.diag()));
                assert!(error < EXACT, "{}: {error:e}", case.name);
                let trace = dense(&ekfac, p).diag().sum();
                assert!(
                    (trace / exact.diag().sum() - 1.0).abs() < EXACT,
                    "{}",
                    case.name
                );
            }
        }
    }
}

#[test]
fn single_precision_curvature_agrees_with_double() {
    let (_, loss, outputs, _) = likelihoods().swap_remove(2);
    for case in cases(outputs) {
        let lin = linearize(&case);
        let single = case
            .network
            .linearize(
                &case.params.to_kind(tch::Kind::Float),
                &case.x.to_kind(tch::Kind::Float),
            )
            .unwrap();
        let (root, single_root) = (
            loss.root(lin.outputs()).unwrap(),
            loss.root(single.outputs()).unwrap(),
        );
        let exact = dense(&kfac(&lin, &root), 0);
        let error = frobenius_error(&dense(&kfac(&single, &single_root), 0), &exact);
        assert!(error < 1e-5, "{}: {error:e}", case.name);
        let error = frobenius_error(
            &dense(&ekfac(&single, &single_root), 0),
            &dense(&ekfac(&lin, &root), 0),
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

/// KFAC by another route, slowly.
mod explicit {
    use super::common::{Case, reference_layer_io};
    use ndarray::{Array2, linalg::kron};
    use svn_curvature::{Layer, convert};
    use tch::Tensor;

    /// `(A, G)` of every affine layer of one particle, for one `b × c × k` root.
    fn factors(case: &Case, particle: i64, root: &Tensor) -> Vec<(Array2<f64>, Array2<f64>)> {
        let k = root.size()[2];
        let io = reference_layer_io(&case.network, &case.params.get(particle), &case.x, root);
        io.into_iter()
            .map(|(inputs, cotangents)| {
                // inputs: (b L) × K', cotangents: (k b L) × O
                let (rows, _) = inputs.size2().unwrap();
                let a = inputs.transpose(0, 1).matmul(&inputs) / rows as f64;
                assert_eq!(cotangents.size()[0], k * rows);
                let g = cotangents.transpose(0, 1).matmul(&cotangents);
                (convert::array(&a).unwrap(), convert::array(&g).unwrap())
            })
            .collect()
    }

    /// The layers' products along the diagonal, in the order of the flat vector.
    fn assemble(case: &Case, products: Vec<Array2<f64>>) -> Array2<f64> {
        let d = case.network.layout().dim();
        let mut dense = Array2::zeros((d, d));
        let affine: Vec<&Layer> = case
            .network
            .layers()
            .iter()
            .filter(|layer| matches!(layer, Layer::Linear { .. } | Layer::Conv2d(_)))
            .collect();
        let mut start = 0;
        for (layer, product) in affine.into_iter().zip(products) {
            let (o, k, bias) = match layer {
                Layer::Linear {
                    inputs,
                    outputs,
                    bias,
                } => (*outputs, *inputs, *bias),
                Layer::Conv2d(c) => (c.outputs, c.inputs * c.kernel[0] * c.kernel[1], c.bias),
                other => unreachable!("{other}"),
            };
            let place = |row: usize| {
                let width = k + usize::from(bias);
                let (o_index, k_index) = (row / width, row % width);
                start
                    + if k_index < k {
                        o_index * k + k_index
                    } else {
                        o * k + o_index
                    }
            };
            for ((i, j), value) in product.indexed_iter() {
                dense[[place(i), place(j)]] = *value;
            }
            start += product.nrows();
        }
        assert_eq!(start, d);
        dense
    }

    pub(crate) fn kfac(case: &Case, particle: i64, root: &Tensor) -> Array2<f64> {
        assemble(
            case,
            factors(case, particle, root)
                .iter()
                .map(|(a, g)| kron(g, a))
                .collect(),
        )
    }
}
