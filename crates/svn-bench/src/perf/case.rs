//! The cases of each shape: a method with its settings, those of `bench-uci` with constant rates.

use svn_models::ModelError;
use svn_models::network::last_layer;
use svn_models::posterior::{CurvatureFamily, CurvaturePart, CurvatureRoot, CurvatureSettings};
use svn_models::stein::{
    Bandwidth, Coupling, Damping, FirstOrder, KernelSettings, Method, Metric, Newton, Solver,
};

use super::shape::{Problem, Shape};

/// Batches in the accumulated curvature of the ring cases.
pub(super) const RING: usize = 8;

/// What is measured.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Case {
    /// `shape/method/family/coupling/ring-R/kernel…`, unique among the cases of a run.
    pub id: String,
    pub problem: Problem,
    pub method: Method,
    pub curvature: CurvatureSettings,
}

impl Case {
    /// Whether steps differ by design, so that their mean says what a step costs.
    pub(super) fn is_lazy(&self) -> bool {
        self.curvature.every > 1
            || matches!(
                self.curvature.family,
                CurvatureFamily::Kfac | CurvatureFamily::Ekfac
            )
    }

    /// The same with `change`, named by `suffix`.
    fn but(&self, suffix: &str, change: impl FnOnce(&mut CurvatureSettings)) -> Self {
        let mut case = self.clone();
        case.id += suffix;
        change(&mut case.curvature);
        case
    }

    /// The same with the paper's conjugate gradients.
    fn by_cg(&self) -> Self {
        let mut case = self.but("/cg", |_| {});
        if let Method::Svn(newton) = &mut case.method {
            newton.solver = Solver::Cg {
                tolerance: 1e-6,
                max_iterations: 50,
            };
        }
        case
    }
}

/// A kernel, and its name.
pub(super) type Named = (&'static str, KernelSettings);

/// In the metric of the mean curvature, by the median.
pub(super) fn curved() -> Named {
    ("curvature", kernel(Metric::Curvature, Bandwidth::Median))
}

fn kernel(metric: Metric, bandwidth: Bandwidth) -> KernelSettings {
    KernelSettings {
        metric,
        bandwidth,
        ..KernelSettings::default()
    }
}

/// The cases of one problem: its name, and what it is.
pub(super) struct Cases<'a> {
    pub(super) name: &'a str,
    pub(super) problem: &'a Problem,
}

impl Cases<'_> {
    /// Adam, whatever moves by it.
    fn adam() -> FirstOrder {
        FirstOrder::adam(3e-3)
    }

    fn case(&self, name: &str, ring: usize, method: Method) -> Case {
        Case {
            id: format!("{}/{name}", self.name),
            problem: self.problem.clone(),
            method,
            curvature: CurvatureSettings {
                ring,
                ..CurvatureSettings::default()
            },
        }
    }

    fn newton(&self, coupling: Coupling, kernel: &KernelSettings) -> Newton {
        Newton {
            kernel: kernel.clone(),
            coupling,
            solver: Solver::Auto,
            damping: Damping::Constant(20.0),
            trust_region: Some(0.1 * self.problem.rows() as f64),
            ..Newton::plain()
        }
    }

    /// Ensemble and SVGD.
    pub(super) fn first_order(&self) -> [Case; 2] {
        let (step, kernel) = (Self::adam(), kernel(Metric::Identity, Bandwidth::Median));
        [
            self.case("ensemble", 1, Method::Ensemble { step }),
            self.case("svgd", 1, Method::Svgd { kernel, step }),
        ]
    }

    /// SVN.
    pub(super) fn svn(
        &self,
        family: CurvatureFamily,
        coupling: Coupling,
        ring: usize,
        (metric, kernel): &Named,
    ) -> Case {
        let name = format!("svn/{family}/{}/ring-{ring}/{metric}", coupling.name());
        let svn = self.case(&name, ring, Method::Svn(self.newton(coupling, kernel)));
        svn.but("", |curvature| curvature.family = family)
    }
}

/// The cases of a shape, in the order of the table.
///
/// # Errors
/// [`ModelError`] if the shape has no network.
pub(super) fn cases(shape: Shape) -> Result<Vec<Case>, ModelError> {
    use Coupling::{BlockDiagonal, Gram};
    let identity = kernel(Metric::Identity, Bandwidth::Median);
    let curved = curved();
    // So small a bandwidth that K = I to rounding: what the constant one of the published code does.
    let inactive = ("inactive", kernel(Metric::Identity, Bandwidth::Fixed(1e-6)));
    let problem = shape.problem();
    let of = Cases {
        name: shape.name(),
        problem: &problem,
    };
    let full = |coupling, ring, kernel| of.svn(CurvatureFamily::Full, coupling, ring, kernel);
    let mut cases = of.first_order().to_vec();
    if shape == Shape::Lenet {
        let diag = of.svn(CurvatureFamily::Diag, BlockDiagonal, RING, &curved);
        let sampled = diag.but("/sampled-1", |c| c.root = CurvatureRoot::Sampled(1));
        let lazy = diag.but("/every-8", |c| c.every = RING);
        let name = "ll-svn/kfac/block-diagonal/ring-8/identity";
        let method = Method::LlSvn {
            newton: of.newton(BlockDiagonal, &identity),
            coordinates: last_layer(&problem.network()?),
            rest: Cases::adam(),
        };
        let last = of.case(name, RING, method).but("", |curvature| {
            curvature.family = CurvatureFamily::Kfac;
            curvature.part = CurvaturePart::LastLayer;
        });
        cases.extend([diag, sampled, lazy, last]);
        return Ok(cases);
    }
    if shape == Shape::Power {
        cases.extend([1, RING].map(|ring| full(Gram, ring, &curved)));
        return Ok(cases);
    }
    for ring in [1, RING] {
        cases.push(full(BlockDiagonal, ring, &inactive));
        cases.push(full(BlockDiagonal, ring, &curved));
        cases.push(full(Gram, ring, &curved));
    }
    if matches!(shape, Shape::Yacht | Shape::Classification) {
        cases.push(of.svn(CurvatureFamily::Diag, Gram, RING, &curved));
        cases.push(of.svn(CurvatureFamily::Kfac, Gram, RING, &curved));
    }
    if shape == Shape::Yacht {
        cases.push(full(BlockDiagonal, RING, &curved).by_cg());
        cases.push(full(Gram, RING, &curved).by_cg());
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;
    use std::collections::BTreeSet;

    #[test]
    fn cases_have_names_of_their_own_and_valid_settings() {
        for &shape in Shape::value_variants() {
            let cases = cases(shape).unwrap();
            let names: BTreeSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
            assert_eq!(names.len(), cases.len());
            for case in &cases {
                case.method.validate().unwrap();
                case.curvature.validate().unwrap();
            }
        }
    }
}
