//! The cases of each shape: a method with its settings on a problem.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use svn_models::curvature::Sequential;
use svn_models::network::last_layer;
use svn_models::posterior::{CurvatureFamily, CurvaturePart, CurvatureRoot, CurvatureSettings};
use svn_models::stein::{
    Bandwidth, Coupling, Damping, FirstOrder, KernelSettings, Method, Metric, Newton, Solver,
};

use svn_models::fit::Task;

use super::problem::Problem;

/// A size of network and batch that results are published for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shape {
    /// 6-50-50-1, batch 16.
    Yacht,
    /// 9-50-50-1, batch 16.
    Protein,
    /// 50-200-200-1, batch 16.
    Wide,
    /// 14-50-50-2, softmax, batch 16.
    Classification,
    /// LeNet on 28 × 28 pixels, 10 classes, batch 128, f32.
    Lenet,
}

impl Shape {
    /// Its name in tables and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Yacht => "yacht",
            Self::Protein => "protein",
            Self::Wide => "wide",
            Self::Classification => "classification",
            Self::Lenet => "lenet",
        }
    }

    /// Network, batch and particles.
    pub fn problem(self) -> Problem {
        match self {
            Self::Yacht => Problem::mlp(6, &[50, 50]),
            Self::Protein => Problem::mlp(9, &[50, 50]),
            Self::Wide => Problem::mlp(50, &[200, 200]),
            Self::Classification => Problem {
                task: Task::Classes(2),
                ..Problem::mlp(14, &[50, 50])
            },
            Self::Lenet => Problem::lenet(),
        }
    }
}

/// How the particles of a case interact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interaction {
    /// Not at all, as in an ensemble.
    None,
    /// RBF, identity metric, median bandwidth.
    Identity,
    /// RBF, curvature metric, median bandwidth.
    Curvature,
    /// RBF, identity metric, a bandwidth so small that `K = I` to rounding: what the published code's constant one does.
    Inactive,
}

impl Interaction {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Identity => "identity",
            Self::Curvature => "curvature",
            Self::Inactive => "inactive",
        }
    }

    fn settings(self) -> KernelSettings {
        KernelSettings {
            metric: match self {
                Self::None | Self::Identity | Self::Inactive => Metric::Identity,
                Self::Curvature => Metric::Curvature,
            },
            bandwidth: match self {
                Self::Inactive => Bandwidth::Fixed(1e-6),
                _ => Bandwidth::Median,
            },
            ..KernelSettings::default()
        }
    }
}

/// The second-order part of a case.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecondOrder {
    /// Curvature that is kept.
    pub curvature: CurvatureSettings,
    /// Blocks of the Newton system.
    pub coupling: Coupling,
    /// How it is solved.
    pub solver: Solver,
}

/// What is measured: a method with its settings on a problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Name of the shape.
    pub shape: String,
    /// Network, batch and particles.
    pub problem: Problem,
    /// Interaction between particles.
    pub kernel: Interaction,
    /// The Newton part; without one the method is an ensemble or SVGD.
    pub newton: Option<SecondOrder>,
}

/// The paper's conjugate gradients.
pub(super) const CG: Solver = Solver::Cg {
    tolerance: 1e-6,
    max_iterations: 50,
};

/// CG as [`Solver::Auto`] would run it where the factors are too large.
pub(super) const CG_TO_TOLERANCE: Solver = Solver::Cg {
    tolerance: 1e-6,
    max_iterations: 200,
};

impl Case {
    fn first_order(shape: &str, problem: Problem, kernel: Interaction) -> Self {
        Self {
            shape: shape.to_owned(),
            problem,
            kernel,
            newton: None,
        }
    }

    /// A deep ensemble.
    pub fn ensemble(shape: &str, problem: Problem) -> Self {
        Self::first_order(shape, problem, Interaction::None)
    }

    /// SVGD.
    pub fn svgd(shape: &str, problem: Problem) -> Self {
        Self::first_order(shape, problem, Interaction::Identity)
    }

    /// SVN with Full curvature of the last `ring` batches.
    pub fn svn(
        shape: &str,
        problem: Problem,
        coupling: Coupling,
        ring: usize,
        kernel: Interaction,
    ) -> Self {
        Self {
            newton: Some(SecondOrder {
                curvature: CurvatureSettings {
                    accumulated_batches: ring,
                    ..CurvatureSettings::default()
                },
                coupling,
                solver: Solver::Auto,
            }),
            ..Self::first_order(shape, problem, kernel)
        }
    }

    fn with(mut self, change: impl FnOnce(&mut SecondOrder)) -> Self {
        if let Some(newton) = &mut self.newton {
            change(newton);
        }
        self
    }

    /// The same with another solver.
    pub fn with_solver(self, solver: Solver) -> Self {
        self.with(|newton| newton.solver = solver)
    }

    /// The same with other curvature.
    pub fn with_curvature(self, change: impl FnOnce(&mut CurvatureSettings)) -> Self {
        self.with(|newton| change(&mut newton.curvature))
    }

    /// Batches in the curvature; one for methods without.
    pub fn ring(&self) -> usize {
        self.newton
            .map_or(1, |newton| newton.curvature.accumulated_batches)
    }

    /// Name of the method.
    pub fn method_name(&self) -> &'static str {
        match (self.newton, self.kernel) {
            (Some(newton), _) if newton.curvature.part == CurvaturePart::LastLayer => "ll-svn",
            (Some(_), _) => "svn",
            (None, Interaction::None) => "ensemble",
            (None, _) => "svgd",
        }
    }

    /// `shape/method/…`, unique among the cases of a run.
    pub fn id(&self) -> String {
        let mut id = format!("{}/{}", self.shape, self.method_name());
        if let Some(newton) = self.newton {
            let (hessian, coupling) = (newton.hessian_name(), newton.coupling.name());
            let (kernel, ring) = (self.kernel.name(), self.ring());
            id += &format!("/{hessian}/{coupling}/ring-{ring}/{kernel}");
            if newton.solver_name() != "auto" {
                id += &format!("/{}", newton.solver_name());
            }
            if let CurvatureRoot::Sampled(samples) = newton.curvature.root {
                id += &format!("/sampled-{samples}");
            }
            if newton.curvature.every > 1 {
                id += &format!("/every-{}", newton.curvature.every);
            }
        }
        id
    }

    /// The settings of `svn-stein`: those of `bench-uci`, with constant rates.
    pub(super) fn method(&self, network: &Sequential) -> Method {
        let step = FirstOrder::adam(3e-3);
        let kernel = self.kernel.settings();
        let Some(second) = self.newton else {
            return match self.kernel {
                Interaction::None => Method::Ensemble { step },
                _ => Method::Svgd { kernel, step },
            };
        };
        let newton = Newton {
            kernel,
            coupling: second.coupling,
            solver: second.solver,
            damping: Damping::Constant(20.0),
            trust_region: Some(0.1 * self.problem.rows as f64),
            ..Newton::plain()
        };
        match second.curvature.part {
            CurvaturePart::LastLayer => Method::LlSvn {
                newton,
                coordinates: last_layer(network),
                rest: step,
            },
            _ => Method::Svn(newton),
        }
    }
}

impl SecondOrder {
    /// Name of the curvature family.
    pub fn hessian_name(&self) -> &'static str {
        match self.curvature.family {
            CurvatureFamily::Diag => "diag",
            CurvatureFamily::Kfac => "kfac",
            CurvatureFamily::Ekfac => "ekfac",
            _ => "full",
        }
    }

    /// Name of the solver.
    pub fn solver_name(&self) -> &'static str {
        match self.solver {
            Solver::Cg { .. } => "cg",
            Solver::Preconditioned { .. } => "preconditioned",
            Solver::Direct => "direct",
            _ => "auto",
        }
    }

    /// Whether steps differ by design, so that their mean says what a step costs.
    pub fn is_lazy(&self) -> bool {
        self.curvature.every > 1 || self.curvature.family == CurvatureFamily::Kfac
    }
}

/// Batches in the accumulated curvature of the ring cases.
pub const RING: usize = 8;

/// The cases of a shape, in the order of the table.
pub fn cases(shape: Shape) -> Vec<Case> {
    let (name, problem) = (shape.name(), shape.problem());
    let svn = |coupling, ring, kernel| Case::svn(name, problem.clone(), coupling, ring, kernel);
    let family = |coupling, family| {
        svn(coupling, RING, Interaction::Curvature).with_curvature(|c| c.family = family)
    };
    let mut cases = vec![
        Case::ensemble(name, problem.clone()),
        Case::svgd(name, problem.clone()),
    ];
    if shape == Shape::Lenet {
        let diag = family(Coupling::BlockDiagonal, CurvatureFamily::Diag);
        cases.push(diag.clone());
        cases.push(
            diag.clone()
                .with_curvature(|c| c.root = CurvatureRoot::Sampled(1)),
        );
        cases.push(diag.with_curvature(|c| c.every = RING));
        let last = svn(Coupling::BlockDiagonal, RING, Interaction::Identity);
        cases.push(last.with_curvature(|c| {
            c.family = CurvatureFamily::Kfac;
            c.part = CurvaturePart::LastLayer;
        }));
        return cases;
    }
    for ring in [1, RING] {
        cases.push(svn(Coupling::BlockDiagonal, ring, Interaction::Inactive));
        cases.push(svn(Coupling::BlockDiagonal, ring, Interaction::Curvature));
        cases.push(svn(Coupling::Gram, ring, Interaction::Curvature));
    }
    if matches!(shape, Shape::Yacht | Shape::Classification) {
        cases.push(family(Coupling::Gram, CurvatureFamily::Diag));
        cases.push(family(Coupling::Gram, CurvatureFamily::Kfac));
    }
    if shape == Shape::Yacht {
        for coupling in [Coupling::BlockDiagonal, Coupling::Gram] {
            cases.push(svn(coupling, RING, Interaction::Curvature).with_solver(CG));
        }
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn cases_have_names_of_their_own_and_valid_settings() {
        for &shape in Shape::value_variants() {
            let cases = cases(shape);
            let names: BTreeSet<String> = cases.iter().map(Case::id).collect();
            assert_eq!(names.len(), cases.len());
            for case in &cases {
                let network = case.problem.network().unwrap();
                case.method(&network).validate().unwrap();
                assert_eq!(case.problem.dim(), network.layout().dim());
            }
        }
    }

    #[test]
    fn dimensions_are_those_of_the_networks() {
        assert_eq!(Shape::Yacht.problem().dim(), 2951);
        assert_eq!(
            Shape::Wide.problem().dim(),
            50 * 200 + 200 + 200 * 200 + 200 + 201
        );
    }

    #[test]
    fn a_case_survives_its_journey_to_another_process() {
        for case in cases(Shape::Yacht).into_iter().chain(cases(Shape::Lenet)) {
            let text = serde_json::to_string(&case).unwrap();
            assert_eq!(serde_json::from_str::<Case>(&text).unwrap(), case);
        }
    }
}
