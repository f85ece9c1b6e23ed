//! Precisions of layers against differences of the evidence, whose terms have references of their own.

use approx::assert_relative_eq;
use ndarray::{Array1, s};

use super::super::laplace::tests::{ensemble, heads, normal};
use super::super::member_curvature::Part;
use super::*;
use crate::Rows;
use crate::network::with_layer_precisions;

/// The same functions with priors of their own, `r_l δ`, on the layers.
fn with_factors(members: &Members, factors: &[f64]) -> Members {
    let network = with_layer_precisions(&members.network, factors).unwrap();
    let mut particles = members.particles.clone();
    for (layer, factor) in affine_layers(&members.network).into_iter().zip(factors) {
        let mut weights = particles.slice_mut(s![.., layer]);
        weights *= factor.sqrt();
    }
    Members::new(network, members.likelihood, particles, members.backend).unwrap()
}

fn log_evidence(members: &Members, precision: f64, training: &Rows) -> f64 {
    let laplace = members.laplace(training.features()).unwrap();
    laplace.log_evidence(members, precision, training).unwrap()
}

fn rows(count: usize, classes: Option<usize>) -> Rows {
    let classes = classes.unwrap_or(7);
    let y = Array1::from_shape_fn(count, |i| ((i * i) % classes) as f64);
    Rows::new(normal(count, 3, 7), y).unwrap()
}

/// `∂ ln p(D) / ∂ ln δ_l = ½ mean_p |θ_pl|² (δ_l' − δ_l)` at weights that stay, `δ_l'` being what is tested.
#[test]
fn they_are_where_the_evidence_is_stationary() {
    for likelihood in heads() {
        let members = ensemble(likelihood);
        for (count, factors) in [(5, [1.0, 1.0]), (40, [0.4, 2.5])] {
            let training = rows(count, likelihood.classes());
            let scaled = with_factors(&members, &factors);
            let precision = 0.7;
            let laplace = scaled.laplace(training.features()).unwrap();
            let found = laplace.layer_precisions(&scaled, precision).unwrap();
            for (layer, range) in affine_layers(&scaled.network).into_iter().enumerate() {
                let moved = |by: f64| {
                    let mut factors = factors;
                    factors[layer] *= by.exp();
                    log_evidence(&with_factors(&members, &factors), precision, &training)
                };
                // Good to h² = 1e-8 of its size, and to the rounding of about 100 nats over 2h, 1e-10.
                let slope = (moved(1e-4) - moved(-1e-4)) / 2e-4;
                let weights = scaled.particles.slice(s![.., range]);
                let squares = weights.iter().map(|w| w * w).sum::<f64>() / 2.0;
                let expected = 0.5 * squares * (found[layer] - precision);
                assert_relative_eq!(slope, expected, max_relative = 1e-6, epsilon = 1e-7);
            }
        }
    }
}

#[test]
fn the_same_factor_in_all_layers_is_another_prior_precision() {
    for likelihood in heads() {
        let members = ensemble(likelihood);
        let training = rows(20, likelihood.classes());
        let scaled = with_factors(&members, &[3.0, 3.0]);
        let outputs = |members: &Members| {
            let samples = members
                .backend
                .samples(&members.network, training.features());
            samples
                .unwrap()
                .forward(&members.network, members.particles.view())
                .unwrap()
        };
        assert_relative_eq!(outputs(&scaled), outputs(&members), max_relative = 1e-12);
        assert_relative_eq!(
            log_evidence(&scaled, 0.5, &training),
            log_evidence(&members, 1.5, &training),
            max_relative = 1e-10
        );
    }
}

/// A scaling behind the last layer, whose variances come from blocks of its own.
#[test]
fn a_prior_of_the_last_layer_is_that_of_its_variances() {
    for likelihood in heads() {
        let members = ensemble(likelihood);
        let training = rows(40, likelihood.classes());
        let scaled = with_factors(&members, &[1.0, 4.0]);
        let at = normal(6, 3, 9);
        let variances = |members: &Members, precision| {
            // Not of the 21 to 31 parameters of the whole network, but of the last layer's 5 to 15.
            let laplace = members.laplace_within(training.features(), 16).unwrap();
            assert_eq!(laplace.curvature()[0].dim(), Part::LastLayer.dim(members));
            let of = laplace.variances(members, precision, &[at.view()]);
            of.unwrap().remove(0)
        };
        assert_relative_eq!(
            variances(&scaled, 0.5),
            variances(&members, 2.0),
            max_relative = 1e-10
        );
    }
}

/// Of fewer rows than parameters, and of more.
#[test]
fn they_add_up_to_the_effective_number_of_parameters() {
    for likelihood in heads() {
        let members = ensemble(likelihood);
        for count in [5, 40] {
            let training = rows(count, likelihood.classes());
            let laplace = members.laplace(training.features()).unwrap();
            let uses = laplace.layer_uses(&members, 0.3).unwrap();
            let sum: f64 = uses.iter().map(|layer| layer.determined).sum();
            let expected = 2.0 * laplace.effective_dimension(0.3).unwrap();
            assert_relative_eq!(sum, expected, max_relative = 1e-10);
            assert!(uses.iter().all(|layer| layer.determined > 0.0), "{uses:?}");
        }
    }
}
