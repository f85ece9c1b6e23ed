//! Curvature families of the posterior against double loops over rows written out.

use approx::assert_relative_eq;
use ndarray::{Array1, Array2, Array3, ArrayView1, Axis, s};
use rand::SeedableRng;
use rand::rngs::ChaCha12Rng;
use rand_distr::{Distribution, StandardNormal};
use svn_models::curvature::{Activation, Sequential, convert};
use svn_models::likelihood::{Gaussian, HeteroscedasticGaussian, Likelihood};
use svn_models::network::{MlpSettings, initial_particles, last_layer};
use svn_models::posterior::{
    Batches, CurvatureFamily, CurvaturePart, CurvatureRoot, CurvatureSettings, Posterior,
    PosteriorSettings, Precision,
};
use svn_models::stein::{Curved, Score};
use svn_models::{ModelError, Rows};

const PARTICLES: usize = 2;
const ROWS: usize = 11;
const HIDDEN: usize = 4;
const INPUTS: usize = 3;
const PRIOR: f64 = 0.7;
const SEED: u64 = 3;

/// Sums of at most a few hundred terms in another order.
const ROUNDING: f64 = 1e-11;

fn normal(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((rows, columns), || StandardNormal.sample(&mut rng))
}

fn likelihoods() -> [Likelihood; 2] {
    [
        Likelihood::Gaussian(Gaussian::new(0.3).unwrap()),
        Likelihood::Heteroscedastic(HeteroscedasticGaussian::default()),
    ]
}

fn network(likelihood: Likelihood) -> Sequential {
    MlpSettings {
        inputs: INPUTS,
        hidden: vec![HIDDEN],
        outputs: likelihood.outputs(),
        activation: Activation::Tanh,
    }
    .build()
    .unwrap()
}

fn data() -> Rows {
    Rows::new(
        normal(ROWS, INPUTS, 1),
        normal(ROWS, 1, 2).column(0).to_owned(),
    )
    .unwrap()
}

fn posterior(likelihood: Likelihood, batch_size: usize, curvature: CurvatureSettings) -> Posterior {
    let settings = PosteriorSettings {
        batch_size,
        prior_precision: PRIOR,
        curvature,
        learn_noise: false,
        precision: Precision::Double,
        seed: SEED,
        device: tch::Device::Cpu,
    };
    Posterior::new(network(likelihood), likelihood, &data(), settings).unwrap()
}

fn settings(family: CurvatureFamily, accumulated_batches: usize) -> CurvatureSettings {
    CurvatureSettings {
        family,
        accumulated_batches,
        refresh: 1,
        ..CurvatureSettings::default()
    }
}

/// `H_p` of all particles, written out.
fn dense(target: &mut Posterior, particles: &Array2<f64>) -> Vec<Array2<f64>> {
    let mut density = Array1::zeros(particles.nrows());
    let mut score = Array2::zeros(particles.raw_dim());
    let curvature = target
        .curvature_into(particles.view(), density.view_mut(), score.view_mut())
        .unwrap();
    let one = |p: usize| curvature.operator(p).to_dense();
    (0..particles.nrows()).map(one).collect()
}

/// What one batch says: rows `R_iᵀ J_i` (`N × bk × d`) and hidden values (`N × b × HIDDEN`), with the inputs.
struct BatchRows {
    rows: Array3<f64>,
    hidden: Vec<Array2<f64>>,
    inputs: Array2<f64>,
}

fn batch_rows(likelihood: Likelihood, particles: &Array2<f64>, index: &[i64]) -> BatchRows {
    let network = network(likelihood);
    let data = data();
    let index: Vec<usize> = index.iter().map(|i| *i as usize).collect();
    let inputs = data.features().select(Axis(0), &index);
    let linear = network
        .linearize(
            &convert::tensor(particles.view()).unwrap(),
            &convert::tensor(inputs.view()).unwrap(),
        )
        .unwrap();
    let root = likelihood.curvature_root(linear.outputs()).unwrap();
    let layer = |particle: ArrayView1<'_, f64>| {
        let weight = particle.slice(s![..HIDDEN * INPUTS]).to_owned();
        let weight = weight.into_shape_with_order((HIDDEN, INPUTS)).unwrap();
        let bias = particle.slice(s![HIDDEN * INPUTS..HIDDEN * INPUTS + HIDDEN]);
        (inputs.dot(&weight.t()) + bias).mapv(f64::tanh)
    };
    BatchRows {
        rows: convert::array(&linear.rows(&root).unwrap()).unwrap(),
        hidden: particles.rows().into_iter().map(layer).collect(),
        inputs,
    }
}

/// `H_p` from batches with weights (1, β, β², …), one loop over rows for each entry.
fn by_hand(
    family: CurvatureFamily,
    likelihood: Likelihood,
    particle: usize,
    batches: &[(f64, BatchRows)],
) -> Array2<f64> {
    let d = batches[0].1.rows.dim().2;
    let samples: f64 = batches
        .iter()
        .map(|(weight, batch)| weight * batch.inputs.nrows() as f64)
        .sum();
    let scale = ROWS as f64 / samples;
    let mut h = Array2::<f64>::zeros((d, d));
    let outputs = likelihood.outputs();
    let layers = [
        (0, HIDDEN, INPUTS),
        (HIDDEN * INPUTS + HIDDEN, outputs, HIDDEN),
    ];
    match family {
        CurvatureFamily::Kfac => {
            for (index, (start, o, k)) in layers.into_iter().enumerate() {
                let mut a = Array2::<f64>::zeros((k + 1, k + 1));
                let mut g = Array2::<f64>::zeros((o, o));
                for (weight, batch) in batches {
                    let inputs = if index == 0 {
                        &batch.inputs
                    } else {
                        &batch.hidden[particle]
                    };
                    for x in inputs.rows() {
                        let at = |i: usize| if i < k { x[i] } else { 1.0 };
                        for i in 0..=k {
                            for j in 0..=k {
                                a[[i, j]] += weight * at(i) * at(j) / samples;
                            }
                        }
                    }
                    // A row's entries at the bias are the cotangents themselves.
                    for row in batch.rows.index_axis(Axis(0), particle).rows() {
                        let delta = row.slice(s![start + o * k..start + o * k + o]);
                        for i in 0..o {
                            for j in 0..o {
                                g[[i, j]] += weight * delta[i] * delta[j] * scale;
                            }
                        }
                    }
                }
                let flat = |unit: usize, input: usize| {
                    start
                        + if input < k {
                            unit * k + input
                        } else {
                            o * k + unit
                        }
                };
                for (u, v) in (0..o).flat_map(|u| (0..o).map(move |v| (u, v))) {
                    for (i, j) in (0..=k).flat_map(|i| (0..=k).map(move |j| (i, j))) {
                        h[[flat(u, i), flat(v, j)]] = g[[u, v]] * a[[i, j]];
                    }
                }
            }
        }
        _ => {
            for (weight, batch) in batches {
                for row in batch.rows.index_axis(Axis(0), particle).rows() {
                    for i in 0..d {
                        for j in 0..d {
                            if i == j || family == CurvatureFamily::Full {
                                h[[i, j]] += weight * scale * row[i] * row[j];
                            }
                        }
                    }
                }
            }
        }
    }
    h * likelihood.curvature_weight() + Array2::<f64>::eye(d) * PRIOR
}

fn assert_close(found: &Array2<f64>, expected: &Array2<f64>, tolerance: f64, what: &str) {
    let scale = expected.iter().fold(1.0f64, |m, v| m.max(v.abs()));
    for ((index, a), b) in found.indexed_iter().zip(expected) {
        assert!(
            (a - b).abs() <= tolerance * scale,
            "{what}: {a} instead of {b} at {index:?}"
        );
    }
}

const FAMILIES: [CurvatureFamily; 3] = [
    CurvatureFamily::Full,
    CurvatureFamily::Diag,
    CurvatureFamily::Kfac,
];

#[test]
fn the_curvature_of_one_batch_is_that_of_its_rows() {
    for likelihood in likelihoods() {
        for family in FAMILIES {
            let mut target = posterior(likelihood, 5, settings(family, 1));
            let particles = initial_particles(target.network(), PARTICLES, 5);
            let mut batches = Batches::new(ROWS, 5, SEED);
            for step in 0..4 {
                target.next_batch().unwrap();
                let rows = batch_rows(likelihood, &particles, batches.draw());
                let batch = [(1.0, rows)];
                for (p, found) in dense(&mut target, &particles).iter().enumerate() {
                    let expected = by_hand(family, likelihood, p, &batch);
                    assert_close(
                        found,
                        &expected,
                        ROUNDING,
                        &format!("{family:?} step {step}"),
                    );
                }
            }
        }
    }
}

/// Particles move between the batches, the third batch of each epoch is short, and every batch is evaluated twice.
#[test]
fn averages_are_the_double_loop_over_decayed_batches() {
    for likelihood in likelihoods() {
        for family in [CurvatureFamily::Diag, CurvatureFamily::Kfac] {
            let mut target = posterior(likelihood, 4, settings(family, 3));
            let start = initial_particles(target.network(), PARTICLES, 5);
            let drift = normal(PARTICLES, start.ncols(), 8) * 0.1;
            let mut batches = Batches::new(ROWS, 4, SEED);
            let mut seen: Vec<(f64, BatchRows)> = Vec::new();
            for step in 0..7 {
                let particles = &start + &(&drift * step as f64);
                target.next_batch().unwrap();
                for (weight, _) in &mut seen {
                    *weight *= 1.0 - 1.0 / 3.0;
                }
                seen.push((1.0, batch_rows(likelihood, &particles, batches.draw())));
                let _elsewhere = dense(&mut target, &(&particles + 1.0));
                for (p, found) in dense(&mut target, &particles).iter().enumerate() {
                    let expected = by_hand(family, likelihood, p, &seen);
                    assert_close(
                        found,
                        &expected,
                        ROUNDING,
                        &format!("{family:?} step {step}"),
                    );
                }
            }
        }
    }
}

/// Projecting on the diagonal in any orthogonal basis keeps the trace; in the eigenbases of the batch's own factors the
/// result is the nearest matrix with these eigenvectors, and KFAC is one of them.
#[test]
fn ekfac_of_one_batch_has_the_trace_of_its_rows_and_is_nearer_to_them_than_kfac() {
    for likelihood in likelihoods() {
        let fresh = |family| CurvatureSettings {
            refresh: 1,
            ..settings(family, 1)
        };
        let mut ekfac = posterior(likelihood, 5, fresh(CurvatureFamily::Ekfac));
        let mut kfac = posterior(likelihood, 5, fresh(CurvatureFamily::Kfac));
        // Eigenbases of older batches.
        let mut stale = posterior(likelihood, 5, settings(CurvatureFamily::Ekfac, 1));
        let particles = initial_particles(ekfac.network(), PARTICLES, 5);
        let mut batches = Batches::new(ROWS, 5, SEED);
        for _ in 0..6 {
            let rows = batch_rows(likelihood, &particles, batches.draw());
            let batch = [(1.0, rows)];
            let [ekfac, kfac, stale] = [&mut ekfac, &mut kfac, &mut stale].map(|target| {
                target.next_batch().unwrap();
                dense(target, &particles)
            });
            for p in 0..PARTICLES {
                let exact = by_hand(CurvatureFamily::Full, likelihood, p, &batch);
                let distance = |h: &Array2<f64>| (h - &exact).mapv(|x| x * x).sum().sqrt();
                assert!(distance(&ekfac[p]) <= distance(&kfac[p]) * (1.0 + ROUNDING));
                for found in [&ekfac[p], &stale[p]] {
                    let (found, expected) = (found.diag().sum(), exact.diag().sum());
                    assert!(
                        (found / expected - 1.0).abs() < ROUNDING,
                        "{found} {expected}"
                    );
                }
            }
        }
    }
}

/// With a memory of 10⁹ batches nothing decays by more than 3·10⁻⁹ within an epoch.
#[test]
fn how_an_epoch_is_cut_into_batches_does_not_matter() {
    for family in [CurvatureFamily::Diag, CurvatureFamily::Kfac] {
        let likelihood = likelihoods()[1];
        let curvature = |batch| {
            let mut target = posterior(likelihood, batch, settings(family, 1_000_000_000));
            let particles = initial_particles(target.network(), PARTICLES, 5);
            let mut latest = Vec::new();
            for _ in 0..target.batches_per_epoch() {
                target.next_batch().unwrap();
                latest = dense(&mut target, &particles);
            }
            latest
        };
        let whole = curvature(ROWS);
        for batch in [1, 4, 7] {
            for (a, b) in curvature(batch).iter().zip(&whole) {
                assert_close(a, b, 1e-7, &format!("{family:?}, batches of {batch}"));
            }
        }
    }
}

#[test]
fn the_last_layer_is_a_block_of_the_whole() {
    for likelihood in likelihoods() {
        for family in FAMILIES {
            let whole = settings(family, 2);
            let part = CurvatureSettings {
                part: CurvaturePart::LastLayer,
                ..whole
            };
            let mut whole = posterior(likelihood, 4, whole);
            let mut part = posterior(likelihood, 4, part);
            let particles = initial_particles(whole.network(), PARTICLES, 5);
            let first = last_layer(whole.network()).indices()[0];
            for _ in 0..4 {
                whole.next_batch().unwrap();
                part.next_batch().unwrap();
                let (whole, part) = (dense(&mut whole, &particles), dense(&mut part, &particles));
                for (whole, part) in whole.iter().zip(&part) {
                    let block = whole.slice(s![first.., first..]).to_owned();
                    assert_close(part, &block, ROUNDING, &format!("{family:?}"));
                }
            }
        }
    }
}

#[test]
fn batches_let_pass_leave_the_curvature_and_its_age_tells() {
    for (family, expected) in [
        // Rows of two batches, each third is kept: 0 0+1 0+2 | 3 3+1 3+2 | 3.
        (CurvatureFamily::Full, [0, 1, 2, 3, 4, 5, 3]),
        (CurvatureFamily::Diag, [0, 1, 2, 0, 1, 2, 0]),
        (CurvatureFamily::Kfac, [0, 1, 2, 0, 1, 2, 0]),
    ] {
        let curvature = CurvatureSettings {
            every: 3,
            ..settings(family, 2)
        };
        let mut target = posterior(likelihoods()[0], 4, curvature);
        let particles = initial_particles(target.network(), PARTICLES, 5);
        let mut previous = Vec::new();
        for (step, age) in expected.into_iter().enumerate() {
            target.next_batch().unwrap();
            let now = dense(&mut target, &particles);
            assert_eq!(target.curvature_age(), Some(age), "{family:?} step {step}");
            assert_eq!(now == previous, step % 3 != 0, "{family:?} step {step}");
            previous = now;
        }
    }
}

/// Refreshed every five steps, and at steps 1, 2 and 4 of the start.
#[test]
fn kronecker_factors_are_decomposed_when_due() {
    let curvature = CurvatureSettings {
        refresh: 5,
        ..settings(CurvatureFamily::Kfac, 3)
    };
    let mut lazy = posterior(likelihoods()[0], 4, curvature);
    let mut eager = posterior(likelihoods()[0], 4, settings(CurvatureFamily::Kfac, 3));
    let particles = initial_particles(lazy.network(), PARTICLES, 5);
    for (step, age) in [0, 0, 0, 1, 0, 0, 1, 2, 3, 4, 0, 1].into_iter().enumerate() {
        lazy.next_batch().unwrap();
        eager.next_batch().unwrap();
        let (lazy_now, eager_now) = (dense(&mut lazy, &particles), dense(&mut eager, &particles));
        assert_eq!(lazy.curvature_age(), Some(age), "step {step}");
        assert_eq!(lazy_now == eager_now, age == 0, "step {step}");
    }
}

/// The mean over batches of drawn curvature approaches the exact one: 3000 draws, whose entries vary by at most a few
/// times the largest, leave 3000^(−1/2) = 2 % of that.
#[test]
fn sampled_curvature_is_unbiased_and_the_same_when_evaluated_again() {
    for likelihood in likelihoods() {
        let exact = settings(CurvatureFamily::Diag, 1);
        let sampled = CurvatureSettings {
            root: CurvatureRoot::Sampled(1),
            ..exact
        };
        let mut target = posterior(likelihood, ROWS, sampled);
        let particles = initial_particles(target.network(), PARTICLES, 5);
        let expected = dense(&mut posterior(likelihood, ROWS, exact), &particles);
        let mut mean = Array1::<f64>::zeros(particles.ncols());
        const DRAWS: usize = 3000;
        let mut previous = Vec::new();
        for draw in 0..DRAWS {
            target.next_batch().unwrap();
            let now = dense(&mut target, &particles);
            assert_ne!(now, previous, "draw {draw}");
            if draw == 0 {
                assert_eq!(now, dense(&mut target, &particles));
            }
            mean.scaled_add(1.0 / DRAWS as f64, &now[1].diag());
            previous = now;
        }
        let largest = expected[1].diag().iter().fold(0.0f64, |m, v| m.max(*v));
        for (a, b) in mean.iter().zip(expected[1].diag()) {
            assert_relative_eq!(a, b, epsilon = 0.08 * largest);
        }
    }
}

#[test]
fn single_precision_is_the_same_to_seven_digits() {
    for family in [
        CurvatureFamily::Full,
        CurvatureFamily::Diag,
        CurvatureFamily::Kfac,
    ] {
        let likelihood = likelihoods()[0];
        let build = |precision| {
            let settings = PosteriorSettings {
                batch_size: 5,
                prior_precision: PRIOR,
                curvature: settings(family, 2),
                learn_noise: false,
                precision,
                seed: SEED,
                device: tch::Device::Cpu,
            };
            Posterior::new(network(likelihood), likelihood, &data(), settings).unwrap()
        };
        let (mut single, mut double) = (build(Precision::Single), build(Precision::Double));
        let particles = initial_particles(single.network(), PARTICLES, 5);
        for _ in 0..3 {
            single.next_batch().unwrap();
            double.next_batch().unwrap();
            let (a, b) = (
                dense(&mut single, &particles),
                dense(&mut double, &particles),
            );
            assert_ne!(a, b);
            for (a, b) in a.iter().zip(&b) {
                assert_close(a, b, 1e-5, &format!("{family:?}"));
            }
        }
    }
}

/// A noise that is learned re-weights what older batches left, rows and averages alike: with the prior taken out, two
/// noise levels give curvatures in the ratio of their weights.
#[test]
fn older_batches_follow_the_noise() {
    for family in FAMILIES {
        let settings = PosteriorSettings {
            batch_size: 4,
            prior_precision: PRIOR,
            // The second batch adds nothing, and factors stay as they are.
            curvature: CurvatureSettings {
                every: 100,
                refresh: 100,
                ..settings(family, 3)
            },
            learn_noise: true,
            precision: Precision::Double,
            seed: SEED,
            device: tch::Device::Cpu,
        };
        let likelihood = likelihoods()[0];
        let network = network(likelihood);
        let mut target = Posterior::new(network, likelihood, &data(), settings).unwrap();
        let particles = initial_particles(target.network(), PARTICLES, 5);
        let mut seen = Vec::new();
        // Steps 0 and 3: Kronecker factors are decomposed at 1 and 2 as well, from the same batch.
        for _ in 0..4 {
            target.next_batch().unwrap();
            let weight = target.likelihood().curvature_weight();
            let data_part = |h: Array2<f64>| {
                let dim = h.nrows();
                (h - Array2::<f64>::eye(dim) * PRIOR) / weight
            };
            let unweighted: Vec<_> = dense(&mut target, &particles)
                .into_iter()
                .map(data_part)
                .collect();
            seen.push((weight, unweighted));
        }
        assert_ne!(seen[0].0, seen[3].0, "the noise was learned");
        for (a, b) in seen[3].1.iter().zip(&seen[0].1) {
            assert_close(a, b, ROUNDING, &format!("{family:?}"));
        }
    }
}

#[test]
fn curvature_settings_out_of_range_are_named() {
    for (change, expected) in [
        (
            CurvatureSettings {
                every: 0,
                ..CurvatureSettings::default()
            },
            "curvature every is 0; expected at least 1",
        ),
        (
            CurvatureSettings {
                root: CurvatureRoot::Sampled(0),
                ..CurvatureSettings::default()
            },
            "samples of the curvature root is 0; expected at least 1",
        ),
    ] {
        let error: ModelError = change.validate().unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

/// Batches of the same seed start with the same rows, so the first 4 of a batch of 8 are the first batch of 4.
#[test]
fn curvature_from_part_of_a_batch_is_that_of_the_smaller_batch_and_the_score_that_of_the_whole() {
    for family in [
        CurvatureFamily::Full,
        CurvatureFamily::Diag,
        CurvatureFamily::Kfac,
    ] {
        let likelihood = Likelihood::Heteroscedastic(HeteroscedasticGaussian::default());
        let particles = initial_particles(&network(likelihood), PARTICLES, 5);
        let part = CurvatureSettings {
            rows: Some(4),
            ..settings(family, 1)
        };
        let [mut parted, mut whole, mut smaller] = [
            (8, part),
            (8, settings(family, 1)),
            (4, settings(family, 1)),
        ]
        .map(|(batch, settings)| posterior(likelihood, batch, settings));
        for (a, b) in dense(&mut parted, &particles)
            .iter()
            .zip(&dense(&mut smaller, &particles))
        {
            assert_relative_eq!(a, b, epsilon = 1e-11, max_relative = 1e-11);
        }
        let score_of = |target: &mut Posterior| {
            let (mut density, mut score) =
                (Array1::zeros(PARTICLES), Array2::zeros(particles.raw_dim()));
            target
                .curvature_into(particles.view(), density.view_mut(), score.view_mut())
                .unwrap();
            score
        };
        assert_eq!(score_of(&mut parted), score_of(&mut whole));
        assert_ne!(score_of(&mut parted), score_of(&mut smaller));
    }
}

#[test]
fn curvature_from_more_rows_than_a_batch_has_is_curvature_from_the_batch() {
    let likelihood = Likelihood::Gaussian(Gaussian::new(0.3).unwrap());
    let particles = initial_particles(&network(likelihood), PARTICLES, 5);
    let more = CurvatureSettings {
        rows: Some(1000),
        ..settings(CurvatureFamily::Full, 1)
    };
    let mut more = posterior(likelihood, 4, more);
    let mut all = posterior(likelihood, 4, settings(CurvatureFamily::Full, 1));
    assert_eq!(dense(&mut more, &particles), dense(&mut all, &particles));
    let none = CurvatureSettings {
        rows: Some(0),
        ..settings(CurvatureFamily::Full, 1)
    };
    let error = none.validate().unwrap_err().to_string();
    assert!(
        error.contains("curvature rows") && error.contains("at least 1"),
        "{error}"
    );
}
