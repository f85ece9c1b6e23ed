//! Every family, from one batch and averaged over several, against the double loops.

use super::by_hand::*;
use ndarray::{Array2, s};
use svn_models::network::{initial_particles, last_layer};
use svn_models::posterior::{
    Batches, CurvatureFamily, CurvaturePart, CurvatureSettings, PosteriorSettings,
};
use svn_models::stein::Score;
use svn_models::{Backend, Precision};

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
        let mut ekfac = posterior(likelihood, 5, settings(CurvatureFamily::Ekfac, 1));
        let mut kfac = posterior(likelihood, 5, settings(CurvatureFamily::Kfac, 1));
        let older_bases = CurvatureSettings {
            refresh: 100,
            ..settings(CurvatureFamily::Ekfac, 1)
        };
        let mut stale = posterior(likelihood, 5, older_bases);
        let particles = initial_particles(ekfac.network(), PARTICLES, 5);
        let mut batches = Batches::new(ROWS, 5, SEED);
        for step in 0..6 {
            let rows = batch_rows(likelihood, &particles, batches.draw());
            let batch = [(1.0, rows)];
            let [ekfac, kfac, stale] = [&mut ekfac, &mut kfac, &mut stale].map(|target| {
                target.next_batch().unwrap();
                dense(target, &particles)
            });
            // Decomposed at the first, second, third and fifth batch.
            assert_eq!(ekfac == stale, ![3, 5].contains(&step), "step {step}");
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
fn single_precision_is_the_same_to_seven_digits() {
    for family in FAMILIES {
        let likelihood = likelihoods()[0];
        let build = |precision| {
            let settings = PosteriorSettings {
                backend: Backend {
                    precision,
                    ..Backend::default()
                },
                ..posterior_settings(5, settings(family, 2))
            };
            posterior_with(likelihood, settings)
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
