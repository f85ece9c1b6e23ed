//! What a predictor has chosen, as a model file keeps it.

use serde::{Deserialize, Serialize};

use super::Predictor;
use crate::Tails;
use crate::members::{Laplace, MemberCurvature};
use crate::recipe::Predictive;

/// What was chosen, but for the curvature: enough to write a model down.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Choices {
    kind: Predictive,
    laplace_precision: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    laplace_share: Option<f64>,
    common_noise: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tails: Option<Tails>,
    temperature: Option<f64>,
    validation_nll: Option<f64>,
}

impl Choices {
    /// With the curvature of the members, if there is one; else what is missing.
    pub(crate) fn predictor(
        self,
        curvature: Option<Vec<MemberCurvature>>,
    ) -> Result<Predictor, String> {
        let laplace = match (self.laplace_precision, curvature) {
            (Some(precision), Some(curvature)) => Some((Laplace::of(curvature), precision)),
            (None, None) => None,
            _ => return Err("Laplace approximations without precision or curvature".to_owned()),
        };
        Ok(Predictor {
            kind: self.kind,
            laplace,
            share: self.laplace_share.unwrap_or(1.0),
            common_noise: self.common_noise,
            tails: self.tails,
            temperature: self.temperature,
            validation_nll: self.validation_nll,
        })
    }
}

impl Predictor {
    /// What was chosen.
    pub(crate) fn choices(&self) -> Choices {
        Choices {
            kind: self.kind,
            laplace_precision: self.laplace_precision(),
            laplace_share: (self.kind == Predictive::Fill).then_some(self.share),
            common_noise: self.common_noise,
            tails: self.tails,
            temperature: self.temperature,
            validation_nll: self.validation_nll,
        }
    }
}
