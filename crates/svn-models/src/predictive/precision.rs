//! The prior precision of the members' Laplace approximations that suits the validation rows best.
//!
//! Training's precision is made for finding weights. What it leaves of variance around them may be off by orders of
//! magnitude, so that this one is chosen for the density it goes into (Daxberger et al., *Laplace redux*, 2021).

use ndarray::{Array3, ArrayView2};

use crate::ModelError;
use crate::members::{Laplace, Members};

/// Decades that are tried, before the half decades beside the best.
const DECADES: std::ops::RangeInclusive<i32> = -2..=4;

/// The precision of least loss, as a function of the variances at `features`, among powers of the root of ten.
///
/// One that is so small beside the curvature that the sum cannot be factored is passed over; the error is that of the
/// largest if all are.
pub(super) fn best_precision(
    members: &Members,
    laplace: &Laplace,
    features: ArrayView2<'_, f64>,
    loss: impl Fn(&Array3<f64>) -> Result<f64, ModelError>,
) -> Result<f64, ModelError> {
    let attempt = |precision: f64| -> Result<(f64, f64), ModelError> {
        let variances = laplace.variances(members, precision, &[features])?;
        Ok((loss(&variances[0])?, precision))
    };
    let better = |a: (f64, f64), b: (f64, f64)| if b.0 < a.0 { b } else { a };
    let (mut best, mut error) = (None, None);
    for decade in DECADES {
        match attempt(10f64.powi(decade)) {
            Ok(found) => best = Some(best.map_or(found, |best| better(best, found))),
            Err(new) => error = Some(new),
        }
    }
    let Some(best) = best else {
        return Err(
            error.unwrap_or_else(|| ModelError::setting("prior precision", "none", "one to try"))
        );
    };
    let beside = [best.1 / 10f64.sqrt(), best.1 * 10f64.sqrt()];
    let found = beside
        .into_iter()
        .filter_map(|precision| attempt(precision).ok());
    Ok(found.fold(best, better).1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likelihood::Gaussian;
    use crate::network::{MlpSettings, initial_particles};
    use crate::{Backend, Likelihood};
    use ndarray::Array2;
    use svn_curvature::Activation;

    fn members(noise: f64) -> Members {
        let network = MlpSettings {
            inputs: 2,
            hidden: vec![4],
            outputs: 1,
            activation: Activation::Tanh,
        };
        let network = network.build().unwrap();
        let particles = initial_particles(&network, 2, 1);
        let likelihood = Likelihood::Gaussian(Gaussian::new(noise).unwrap());
        Members::new(network, likelihood, particles, Backend::default()).unwrap()
    }

    /// The mean variance falls with the precision, so its distance from that of a precision is least there.
    #[test]
    fn the_precision_of_least_loss_is_found_to_half_a_decade() {
        let members = members(1.0);
        let (training, at) = (Array2::ones((1, 2)), Array2::from_elem((3, 2), 0.5));
        let laplace = members.laplace(training.view()).unwrap();
        let mean = |precision| {
            let variances = laplace
                .variances(&members, precision, &[at.view()])
                .unwrap();
            variances[0].mean().unwrap()
        };
        for wanted in [
            10f64.powf(-2.5),
            1e-2,
            10f64.powf(1.5),
            1e3,
            10f64.powf(4.5),
        ] {
            let found = best_precision(&members, &laplace, at.view(), |variances| {
                Ok((variances.mean().unwrap() / mean(wanted)).ln().abs())
            });
            assert!((found.unwrap() / wanted).ln().abs() < 1e-9, "{wanted}");
        }
    }

    /// As where a small precision is lost in rounding beside the curvature and the sum cannot be factored.
    #[test]
    fn precisions_without_a_loss_are_passed_over() {
        let members = members(1.0);
        let (training, at) = (Array2::ones((1, 2)), Array2::from_elem((3, 2), 0.5));
        let laplace = members.laplace(training.view()).unwrap();
        let largest = laplace.variances(&members, 1.0, &[at.view()]).unwrap()[0].sum();
        let refused = || ModelError::setting("variance", "wide", "less");
        let widest = best_precision(&members, &laplace, at.view(), |variances| {
            let sum = variances.sum();
            (sum <= largest).then_some(-sum).ok_or_else(refused)
        });
        assert_eq!(widest.unwrap(), 1.0);
        let nothing = best_precision(&members, &laplace, at.view(), |_| Err(refused()));
        assert_eq!(
            nothing.unwrap_err().to_string(),
            "variance is wide; expected less"
        );
    }
}
