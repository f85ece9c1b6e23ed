//! A fit on all rows whose prior precision is the one of the largest [evidence](crate::members::Laplace::log_evidence).
//!
//! ```text
//! δ of a grid → all rows, all epochs, weights of the last → −(1/n) ln p(D | δ), nats a row          the least wins, and is trained anew
//! ```
//!
//! No row is set aside and none chooses an epoch: what keeps the weights from fitting noise is the prior. A precision that is given is the only one. The
//! evidence is that of Laplace's method, and no better than it: see `docs/experiments/evidence.md` for where it chooses wrong.

use ndarray::{ArrayView1, ArrayView2};

use super::race::Candidate;
use super::{Builder, Ensemble, Tried};
use crate::members::check_evidence;
use crate::recipe::{Method, Resolved, Selection, beside};
use crate::{LabelEncoding, ModelError};

/// Prior precisions that are tried, about half a decade apart.
const PRECISIONS: [f64; 7] = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0];

impl Builder<'_> {
    /// Whether the evidence chooses. A linear model's intercept has no prior.
    pub(super) fn by_evidence(&self) -> bool {
        self.recipe.select == Some(Selection::Evidence) && self.method != Method::Linear
    }

    /// A trained ensemble has its prior and its rows.
    pub(super) fn check_start(&self, by: Selection) -> Result<(), ModelError> {
        match self.goes_on {
            Some(_) => Err(beside(by, "going on from a trained ensemble")),
            None => Ok(()),
        }
    }

    /// Targets are numbers, or indices of `labels`.
    pub(super) fn fit_evidence(
        self,
        x: ArrayView2<'_, f64>,
        y: ArrayView1<'_, f64>,
        labels: Option<LabelEncoding>,
    ) -> Result<Ensemble, ModelError> {
        self.check_names(x.ncols())?;
        self.check_start(Selection::Evidence)?;
        // Before it is trained in vain.
        let resolved = self.resolved(&self.problem(x.dim(), labels.as_ref()))?;
        check(&resolved)?;
        let fit = |builder: Builder<'_>| builder.fit_rows((x, y), None, labels.clone());
        let Some(given) = self.recipe.prior_precision else {
            let candidates = PRECISIONS.map(Candidate::PriorPrecision);
            return self.race(candidates.to_vec(), None, PRECISIONS.len() + 1, fit);
        };
        let mut ensemble = fit(self)?;
        ensemble.training.tried = vec![Tried {
            candidate: Candidate::PriorPrecision(given),
            nll: Some(ensemble.training.validation_nll),
        }];
        Ok(ensemble)
    }
}

fn check(resolved: &Resolved) -> Result<(), ModelError> {
    let settings = resolved.fit_settings(crate::Device::Cpu, 0)?;
    let network = settings.build_network(resolved.problem.features)?;
    check_evidence(
        &network,
        settings.build_likelihood()?,
        resolved.problem.rows,
    )
}
