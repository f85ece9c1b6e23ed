//! From network outputs to what the members predict, by the likelihood that they were trained under.

use ndarray::{Array2, Array3, ArrayView3, Axis};

use super::Prediction;
use crate::likelihood::{MixtureDensity, Ordinal, StudentT, check_outputs};
use crate::{Likelihood, ModelError};

/// What the outputs say, `N × n × c`.
///
/// # Errors
/// [`ModelError::OtherTask`] for a likelihood of classes; [`ModelError::Shape`] for another number of outputs.
pub(crate) fn prediction(
    likelihood: &Likelihood,
    outputs: ArrayView3<'_, f64>,
) -> Result<Prediction, ModelError> {
    check_outputs(outputs, likelihood.outputs())?;
    let (members, rows, _) = outputs.dim();
    let location = || outputs.index_axis(Axis(2), 0).to_owned();
    match likelihood {
        Likelihood::Gaussian(gaussian) => {
            let noise = Array2::from_elem((members, rows), gaussian.noise_variance());
            Ok(Prediction::unchecked(location(), noise))
        }
        Likelihood::Heteroscedastic(head) => {
            let noise = head.noise_variance(outputs)?;
            Ok(Prediction::unchecked(location(), noise))
        }
        Likelihood::StudentT(head) => Ok(student_t(head, location(), outputs)),
        Likelihood::Mixture(head) => Ok(mixture(head, outputs)),
        Likelihood::Ordinal(head) => Ok(ordinal(head, outputs)),
        Likelihood::Bernoulli | Likelihood::Softmax { .. } => Err(ModelError::OtherTask {
            likelihood: "classes",
            instead: "predict_classes",
        }),
    }
}

fn student_t(head: &StudentT, location: Array2<f64>, outputs: ArrayView3<'_, f64>) -> Prediction {
    let squared_scale = outputs.index_axis(Axis(2), 1);
    let squared_scale = squared_scale.mapv(|s| head.squared_scale(s));
    Prediction::student_t_unchecked(location, squared_scale, head.degrees())
}

fn ordinal(head: &Ordinal, outputs: ArrayView3<'_, f64>) -> Prediction {
    let of = |f| head.location_and_squared_scale(f);
    let locations = outputs.map_axis(Axis(2), |f| of(f).0);
    let squared_scales = outputs.map_axis(Axis(2), |f| of(f).1);
    Prediction::ordinal_unchecked(head.levels(), locations, squared_scales)
}

fn mixture(head: &MixtureDensity, outputs: ArrayView3<'_, f64>) -> Prediction {
    let (members, rows, _) = outputs.dim();
    let shape = (members, rows, head.components());
    let mut log_weights = Array3::zeros(shape);
    let mut locations = Array3::zeros(shape);
    let mut variances = Array3::zeros(shape);
    let mut gaussians = Vec::with_capacity(head.components());
    for member in 0..members {
        for row in 0..rows {
            let f = outputs.index_axis(Axis(0), member);
            head.gaussians_into(f.index_axis(Axis(0), row), &mut gaussians);
            for (k, gaussian) in gaussians.iter().enumerate() {
                let at = [member, row, k];
                log_weights[at] = gaussian.log_weight;
                locations[at] = gaussian.mean;
                variances[at] = gaussian.variance();
            }
        }
    }
    Prediction::mixture_unchecked(log_weights, locations, variances)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::members::Family;
    use ndarray::array;

    #[test]
    fn outputs_of_another_number_are_refused() {
        for likelihood in [
            Likelihood::StudentT(StudentT::new(4.0).unwrap()),
            Likelihood::Mixture(MixtureDensity::new(3).unwrap()),
            Likelihood::Ordinal(Ordinal::default()),
        ] {
            let outputs = Array3::zeros((2, 4, 3));
            let message = prediction(&likelihood, outputs.view())
                .unwrap_err()
                .to_string();
            assert!(
                message.starts_with("outputs has shape [2, 4, 3]"),
                "{message}"
            );
        }
    }

    #[test]
    fn a_student_t_has_the_scale_of_its_output() {
        let head = Likelihood::StudentT(StudentT::new(3.0).unwrap());
        let found = prediction(&head, array![[[1.5, 0.7]]].view()).unwrap();
        assert_eq!(found.family(), Family::StudentT { degrees: 3.0 });
        let component = found.components(0).next().unwrap();
        // A floor of e⁻¹⁴ in the square.
        let squared_scale = 0.7f64.exp() + (-14f64).exp();
        assert_eq!(component.location, 1.5);
        assert!((component.squared_scale / squared_scale - 1.0).abs() < 1e-14);
    }
}
