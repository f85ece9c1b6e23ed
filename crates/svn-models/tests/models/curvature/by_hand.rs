//! One small network and its data, and the curvature of its rows by double loops.

use ndarray::{Array1, Array2, Array3, ArrayView1, Axis, s};
use rand::SeedableRng;
use rand::rngs::ChaCha12Rng;
use rand_distr::{Distribution, StandardNormal};
use svn_models::curvature::{Activation, Sequential};
use svn_models::likelihood::{Gaussian, HeteroscedasticGaussian, Likelihood, StudentT};
use svn_models::network::MlpSettings;
use svn_models::posterior::{CurvatureFamily, CurvatureSettings, Posterior, PosteriorSettings};
use svn_models::stein::Curved;
use svn_models::{Backend, Rows};

pub(crate) const PARTICLES: usize = 2;
pub(crate) const ROWS: usize = 11;
pub(crate) const HIDDEN: usize = 4;
pub(crate) const INPUTS: usize = 3;
pub(crate) const PRIOR: f64 = 0.7;
pub(crate) const SEED: u64 = 3;

/// Sums of at most a few hundred terms in another order.
pub(crate) const ROUNDING: f64 = 1e-11;

pub(crate) fn normal(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((rows, columns), || StandardNormal.sample(&mut rng))
}

pub(crate) fn likelihoods() -> [Likelihood; 3] {
    [
        Likelihood::Gaussian(Gaussian::new(0.3).unwrap()),
        Likelihood::Heteroscedastic(HeteroscedasticGaussian::default()),
        Likelihood::StudentT(StudentT::new(4.0).unwrap()),
    ]
}

pub(crate) fn network(likelihood: Likelihood) -> Sequential {
    MlpSettings {
        inputs: INPUTS,
        hidden: vec![HIDDEN],
        outputs: likelihood.outputs(),
        activation: Activation::Tanh,
    }
    .build()
    .unwrap()
}

pub(crate) fn data() -> Rows {
    Rows::new(
        normal(ROWS, INPUTS, 1),
        normal(ROWS, 1, 2).column(0).to_owned(),
    )
    .unwrap()
}

pub(crate) fn posterior(
    likelihood: Likelihood,
    batch_size: usize,
    curvature: CurvatureSettings,
) -> Posterior {
    posterior_with(likelihood, posterior_settings(batch_size, curvature))
}

pub(crate) fn posterior_with(likelihood: Likelihood, settings: PosteriorSettings) -> Posterior {
    Posterior::new(network(likelihood), likelihood, &data(), settings).unwrap()
}

pub(crate) fn posterior_settings(
    batch_size: usize,
    curvature: CurvatureSettings,
) -> PosteriorSettings {
    PosteriorSettings {
        batch_size,
        prior_precision: PRIOR,
        curvature,
        learn_noise: false,
        seed: SEED,
        backend: Backend::default(),
    }
}

pub(crate) fn settings(family: CurvatureFamily, ring: usize) -> CurvatureSettings {
    CurvatureSettings {
        family,
        ring,
        refresh: 1,
        ..CurvatureSettings::default()
    }
}

/// `H_p` of all particles, written out.
pub(crate) fn dense(target: &mut Posterior, particles: &Array2<f64>) -> Vec<Array2<f64>> {
    let mut density = Array1::zeros(particles.nrows());
    let mut score = Array2::zeros(particles.raw_dim());
    let curvature = target
        .curvature_into(particles.view(), density.view_mut(), score.view_mut())
        .unwrap();
    let one = |p: usize| curvature.operator(p).to_dense();
    (0..particles.nrows()).map(one).collect()
}

/// What one batch says: rows `R_iᵀ J_i` (`N × bk × d`) and hidden values (`N × b × HIDDEN`), with the inputs.
pub(crate) struct BatchRows {
    pub(crate) rows: Array3<f64>,
    pub(crate) hidden: Vec<Array2<f64>>,
    pub(crate) inputs: Array2<f64>,
}

pub(crate) fn batch_rows(
    likelihood: Likelihood,
    particles: &Array2<f64>,
    index: &[usize],
) -> BatchRows {
    let network = network(likelihood);
    let data = data();
    let inputs = data.features().select(Axis(0), index);
    let samples = Backend::default().samples(&network, inputs.view()).unwrap();
    let linear = samples.linearize(&network, particles.view()).unwrap();
    let root = likelihood.curvature_root(linear.outputs()).unwrap();
    let layer = |particle: ArrayView1<'_, f64>| {
        let weight = particle.slice(s![..HIDDEN * INPUTS]).to_owned();
        let weight = weight.into_shape_with_order((HIDDEN, INPUTS)).unwrap();
        let bias = particle.slice(s![HIDDEN * INPUTS..HIDDEN * INPUTS + HIDDEN]);
        (inputs.dot(&weight.t()) + bias).mapv(f64::tanh)
    };
    BatchRows {
        rows: linear.rows(root.view()).unwrap(),
        hidden: particles.rows().into_iter().map(layer).collect(),
        inputs,
    }
}

/// `H_p` from batches with weights (1, β, β², …), one loop over rows for each entry.
pub(crate) fn by_hand(
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

pub(crate) fn assert_close(
    found: &Array2<f64>,
    expected: &Array2<f64>,
    tolerance: f64,
    what: &str,
) {
    let scale = expected.iter().fold(1.0f64, |m, v| m.max(v.abs()));
    for ((index, a), b) in found.indexed_iter().zip(expected) {
        assert!(
            (a - b).abs() <= tolerance * scale,
            "{what}: {a} instead of {b} at {index:?}"
        );
    }
}

pub(crate) const FAMILIES: [CurvatureFamily; 3] = [
    CurvatureFamily::Full,
    CurvatureFamily::Diag,
    CurvatureFamily::Kfac,
];
