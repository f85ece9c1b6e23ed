//! Images and their pull-back against loops and finite differences.

use ndarray::{Array1, Array2, Array3, Axis, s};
use svn_curvature::Activation;

use super::*;
use crate::likelihood::{Gaussian, HeteroscedasticGaussian};
use crate::network::{MlpSettings, initial_particles};

const SEED: u64 = 3;

fn network(outputs: usize) -> Sequential {
    let network = MlpSettings {
        inputs: 2,
        hidden: vec![5],
        outputs,
        activation: Activation::Tanh,
    };
    network.build().unwrap()
}

fn pool() -> Array2<f64> {
    Array2::from_shape_fn((9, 2), |(i, j)| ((3 * i + 2 * j) as f64).sin())
}

fn likelihoods() -> [Likelihood; 4] {
    [
        Likelihood::Gaussian(Gaussian::new(0.09).unwrap()),
        Likelihood::Heteroscedastic(HeteroscedasticGaussian::default()),
        Likelihood::Bernoulli,
        Likelihood::Softmax { classes: 3 },
    ]
}

/// `S` at the mean outputs, with the noise, by another route: column by column of a batch of one row.
fn roots(likelihood: Likelihood, outputs: &Array3<f64>) -> Vec<Array2<f64>> {
    let mean = outputs.mean_axis(Axis(0)).unwrap();
    let root = |row: ndarray::ArrayView1<'_, f64>| {
        let one = row.insert_axis(Axis(0)).insert_axis(Axis(0));
        let root = likelihood.curvature_root(one).unwrap();
        root.slice(s![0, 0, .., ..]).to_owned() * likelihood.curvature_weight().sqrt()
    };
    mean.rows().into_iter().map(root).collect()
}

#[test]
fn images_are_outputs_in_units_of_the_noise_and_go_back_to_the_weights() {
    let pool = pool();
    for likelihood in likelihoods() {
        let network = network(likelihood.outputs());
        let particles = initial_particles(&network, 3, SEED);
        let settings = ContextSettings {
            rows: 100,
            ..ContextSettings::default()
        };
        let backend = Backend::default();
        let mut context = FunctionContext::new(pool.view(), None, settings, SEED);
        let networks = (&network, backend);
        let z = context
            .images(networks, likelihood, 0, particles.view())
            .unwrap();
        let samples = backend.samples(&network, pool.view()).unwrap();
        let outputs = samples.forward(&network, particles.view()).unwrap();
        let roots = roots(likelihood, &outputs);
        let by_hand = |outputs: &Array3<f64>, p: usize| -> Array1<f64> {
            let images = roots.iter().enumerate();
            let images = images.map(|(i, s)| s.t().dot(&outputs.slice(s![p, i, ..])));
            images.flat_map(|image| image.to_vec()).collect()
        };
        for p in 0..3 {
            let error = (&z.row(p) - &by_hand(&outputs, p)).mapv(f64::abs).sum();
            assert!(error < 1e-12, "{likelihood:?}: {error}");
        }
        if let Likelihood::Gaussian(_) = likelihood {
            assert!((z[(1, 4)] - outputs[(1, 4, 0)] / 0.3).abs() < 1e-12);
        }

        let r = Array2::from_shape_fn(z.dim(), |(p, i)| ((p + 5 * i) as f64).cos());
        let mut back = Array2::zeros(particles.dim());
        context.pull_back_into(r.view(), back.view_mut()).unwrap();
        let step = 1e-6;
        for (p, k) in [(0, 0), (1, 3), (2, 7), (2, particles.ncols() - 1)] {
            let along = |sign: f64| {
                let mut moved = particles.clone();
                moved[(p, k)] += sign * step;
                let outputs = samples.forward(&network, moved.view()).unwrap();
                by_hand(&outputs, p).dot(&r.row(p))
            };
            let slope = (along(1.0) - along(-1.0)) / (2.0 * step);
            let error = (back[(p, k)] - slope).abs();
            assert!(
                error < 1e-6 * (1.0 + slope.abs()),
                "{likelihood:?}: {error}"
            );
        }
    }
}

#[test]
fn a_batch_has_rows_of_its_own_and_always_the_same() {
    let pool = Array2::from_shape_fn((400, 2), |(i, _)| i as f64);
    let of = |kind, rows| {
        let settings = ContextSettings { rows, kind };
        FunctionContext::new(pool.view(), None, settings, SEED)
    };
    let context = of(Context::Training, 50);
    let (first, second) = (context.draw(0), context.draw(1));
    assert_eq!(first, of(Context::Training, 50).draw(0));
    assert_ne!(first, second);
    let mut drawn = first.column(0).to_vec();
    drawn.sort_by(f64::total_cmp);
    drawn.dedup();
    assert_eq!(drawn.len(), 50, "each row once");
    assert_eq!(of(Context::Training, 400).draw(7), pool);

    let moved = of(Context::Perturbed(0.5), 400).draw(3) - &pool;
    let count = moved.len() as f64;
    let sd = (moved.mapv(|x| x * x).sum() / count).sqrt();
    assert!(
        (sd - 0.5).abs() < 0.05 && moved.mean().unwrap().abs() < 0.06,
        "{sd}"
    );
}

#[test]
fn rows_of_the_last_batches_are_compared_where_only_these_have_curvature() {
    let pool = Array2::from_shape_fn((20, 1), |(i, _)| i as f64);
    let settings = ContextSettings::default();
    let mut context = FunctionContext::new(pool.view(), Some(2), settings, SEED);
    assert_eq!(context.memory(), 2);
    for batch in [[1, 2, 3], [9, 4, 7], [7, 0, 5]] {
        context.advance(&batch);
    }
    assert_eq!(
        context.draw(2).column(0).to_vec(),
        [0.0, 4.0, 5.0, 7.0, 9.0]
    );
}

#[test]
fn a_context_is_written_and_read() {
    for (text, context) in [
        ("training", Context::Training),
        ("perturbed", Context::Perturbed(1.0)),
        ("perturbed 0.5", Context::Perturbed(0.5)),
    ] {
        assert_eq!(Context::try_from(text.to_owned()), Ok(context));
        assert_eq!(String::from(context), text);
    }
    for text in ["", "perturbed -1", "perturbed x", "test"] {
        let error = Context::try_from(text.to_owned()).unwrap_err();
        assert!(error.starts_with("expected training, perturbed"), "{text}");
    }
}
