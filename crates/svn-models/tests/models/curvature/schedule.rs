//! From which batches, rows and draws the curvature is taken, and how old it may be.

use super::by_hand::*;
use approx::assert_relative_eq;
use ndarray::{Array1, Array2};
use svn_models::ModelError;
use svn_models::likelihood::{Gaussian, HeteroscedasticGaussian, Likelihood};
use svn_models::network::initial_particles;
use svn_models::posterior::{
    CurvatureFamily, CurvatureRoot, CurvatureSettings, Posterior, PosteriorSettings,
};
use svn_models::stein::linalg::{Cholesky, CholeskyParams, Factor as _};
use svn_models::stein::{Curved, Damping, Method, NewtonEnsemble, Rate, Sampler, Score};

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
/// times the largest, leave 3000^(−1/2) = 2 % of that as the standard error; four of them are let pass.
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

/// A noise that is learned re-weights what older batches left in an average: with the prior taken out, two
/// noise levels give curvatures in the ratio of their weights. Rows that serve several steps keep the weight of the first of these, for their
/// factor is that of both.
#[test]
fn older_batches_follow_the_noise() {
    for family in FAMILIES {
        // The second batch adds nothing, and decompositions stay as they are.
        let curvature = CurvatureSettings {
            every: 100,
            refresh: 100,
            ..settings(family, 3)
        };
        let learned = PosteriorSettings {
            learn_noise: true,
            ..posterior_settings(4, curvature)
        };
        let mut target = posterior_with(likelihoods()[0], learned);
        let particles = initial_particles(target.network(), PARTICLES, 5);
        let mut seen: Vec<(f64, Vec<Array2<f64>>)> = Vec::new();
        // Steps 0 and 3: Kronecker factors are decomposed at 1 and 2 as well, from the same batch.
        for _ in 0..4 {
            target.next_batch().unwrap();
            let weight = target.likelihood().curvature_weight();
            let of = match family {
                CurvatureFamily::Full => seen.first().map_or(weight, |(first, _)| *first),
                _ => weight,
            };
            let data_part = |h: Array2<f64>| {
                let dim = h.nrows();
                (h - Array2::<f64>::eye(dim) * PRIOR) / of
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

/// Against the dense inverse of the curvature of the last batch that was added, on the score of the batch of the step. The factor is made anew at
/// steps 0, 3 and 6 and kept between; sizes of `H + λ` are below 1e4, so that solutions have ten digits and more.
#[test]
fn a_lazy_step_is_that_of_the_curvature_kept_and_the_score_of_its_batch() {
    let (rate, damping) = (0.4, 2.0);
    let method = || {
        Method::NewtonEnsemble(NewtonEnsemble {
            rate: Rate::constant(rate),
            damping: Damping::Constant(damping),
            trust_region: None,
            ..NewtonEnsemble::plain()
        })
    };
    for likelihood in likelihoods() {
        let curvature = CurvatureSettings {
            every: 3,
            ..settings(CurvatureFamily::Full, 2)
        };
        let mut target = posterior(likelihood, 4, curvature);
        let mut reference = posterior(likelihood, 4, curvature);
        let mut sampler = Sampler::new(method()).unwrap();
        let start = initial_particles(target.network(), PARTICLES, 5);
        let mut state = sampler.init(start, 1).unwrap();
        let mut kept = Vec::new();
        for step in 0..8 {
            let before = state.particles().to_owned();
            reference.next_batch().unwrap();
            let now = dense(&mut reference, &before);
            if step % 3 == 0 {
                kept = now;
            }
            let mut density = Array1::zeros(PARTICLES);
            let mut score = Array2::zeros(before.raw_dim());
            reference
                .score_into(before.view(), density.view_mut(), score.view_mut())
                .unwrap();
            sampler.step(&mut state, &mut target).unwrap();
            for (p, h) in kept.iter().enumerate() {
                let change = (&state.particles().row(p) - &before.row(p)) / rate;
                let damped = h + Array2::<f64>::eye(h.nrows()) * damping;
                for (a, b) in damped.dot(&change).iter().zip(score.row(p)) {
                    assert_relative_eq!(a, b, epsilon = 1e-7, max_relative = 1e-8);
                }
            }
        }
    }
}

/// A factor that is kept is no state of its own: one made anew from the same rows has the same bits.
#[test]
fn a_kept_factor_has_the_bits_of_one_made_anew() {
    let curvature = CurvatureSettings {
        every: 100,
        ..settings(CurvatureFamily::Full, 2)
    };
    let mut target = posterior(likelihoods()[1], 4, curvature);
    let particles = initial_particles(target.network(), PARTICLES, 5);
    let right = normal(particles.ncols(), 1, 8);
    let mut density = Array1::zeros(PARTICLES);
    let mut score = Array2::zeros(particles.raw_dim());
    let mut solve = |damping| {
        let curvature = target
            .curvature_into(particles.view(), density.view_mut(), score.view_mut())
            .unwrap();
        curvature
            .factor(1, damping)
            .unwrap()
            .solve(right.view())
            .unwrap()
    };
    let [first, other, kept, again] = [2.0, 3.0, 3.0, 2.0].map(&mut solve);
    assert_eq!(kept, other);
    assert_eq!(first, again);
    assert_ne!(first, other);
}

/// The trace of the definition, from matrices written out: with as many particles as here the estimate varies by
/// `2γ/(k N)`, and the mean of 400 by a four-hundredth of that; four standard errors are let pass.
#[test]
fn effective_parameters_are_the_trace_of_their_definition() {
    let damping = 1.5;
    for family in FAMILIES {
        let mut target = posterior(likelihoods()[1], 4, settings(family, 3));
        assert_eq!(target.effective_parameters(damping).unwrap(), None);
        let particles = initial_particles(target.network(), PARTICLES, 5);
        let draws = 400;
        let (mut mean, mut expected) = (0.0, 0.0);
        for _ in 0..draws {
            target.next_batch().unwrap();
            for h in dense(&mut target, &particles) {
                let dim = h.nrows();
                let damped = &h + &(Array2::<f64>::eye(dim) * damping);
                let factor =
                    Cholesky::factorize(damped.view(), &CholeskyParams::default()).unwrap();
                let inverse = factor.solve(Array2::eye(dim).view()).unwrap();
                let trace = dim as f64 - (PRIOR + damping) * inverse.diag().sum();
                expected += trace / (draws * PARTICLES) as f64;
            }
            mean += target.effective_parameters(damping).unwrap().unwrap() / draws as f64;
        }
        let error = (2.0 * expected / (2 * PARTICLES * draws) as f64).sqrt();
        assert!(
            (mean - expected).abs() < 4.0 * error,
            "{family:?} {mean} {expected}"
        );
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
    for family in FAMILIES {
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
