//! The cases of each shape: a method with its settings on a problem.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use svn_models::posterior::RowStorage;
use svn_models::stein::{
    Bandwidth, Coupling, Damping, FirstOrder, KernelSettings, Method, Metric, Newton, Solver,
};

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
}

impl Shape {
    /// Its name in tables and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Yacht => "yacht",
            Self::Protein => "protein",
            Self::Wide => "wide",
        }
    }

    /// Network, batch and particles.
    pub fn problem(self) -> Problem {
        match self {
            Self::Yacht => Problem::mlp(6, &[50, 50]),
            Self::Protein => Problem::mlp(9, &[50, 50]),
            Self::Wide => Problem::mlp(50, &[200, 200]),
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
    /// RBF, curvature metric, a bandwidth so small that `K = I` to rounding, as in the published code.
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
                Self::None | Self::Identity => Metric::Identity,
                Self::Curvature | Self::Inactive => Metric::Curvature,
            },
            bandwidth: match self {
                Self::Inactive => Bandwidth::Fixed(1e-6),
                _ => Bandwidth::Median,
            },
            ..KernelSettings::default()
        }
    }
}

/// How curvature rows are kept; see [`RowStorage`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Storage {
    /// As layer inputs and cotangents.
    ByLayer,
    /// Written out.
    WrittenOut,
}

impl Storage {
    /// What `svn_models::fit` chooses.
    fn usual(coupling: Option<Coupling>) -> Self {
        match coupling {
            Some(Coupling::BlockDiagonal) => Self::WrittenOut,
            _ => Self::ByLayer,
        }
    }

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::ByLayer => "by-layer",
            Self::WrittenOut => "written-out",
        }
    }
}

/// What is measured: a method with its settings on a problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Name of the shape.
    pub shape: String,
    /// Network, batch and particles.
    pub problem: Problem,
    /// `ensemble`, `svgd` or, where there is a coupling, `svn`.
    pub coupling: Option<Coupling>,
    /// Interaction between particles.
    pub kernel: Interaction,
    /// Solver of the Newton system.
    pub solver: Solver,
    /// Batches whose curvature rows are kept `L`.
    pub ring: usize,
    /// How these rows are kept.
    pub storage: Storage,
}

/// The paper's conjugate gradients.
pub(super) const CG: Solver = Solver::Cg {
    tolerance: 1e-6,
    max_iterations: 50,
};

/// Preconditioned iterations as [`Solver::Auto`] would run them.
pub(super) const PRECONDITIONED: Solver = Solver::Preconditioned {
    tolerance: 1e-6,
    max_iterations: 200,
};

impl Case {
    fn first_order(shape: &str, problem: Problem, kernel: Interaction) -> Self {
        Self {
            shape: shape.to_owned(),
            problem,
            coupling: None,
            kernel,
            solver: Solver::Auto,
            ring: 1,
            storage: Storage::usual(None),
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
            coupling: Some(coupling),
            ring,
            storage: Storage::usual(Some(coupling)),
            ..Self::first_order(shape, problem, kernel)
        }
    }

    /// The same with another solver.
    pub fn with_solver(self, solver: Solver) -> Self {
        Self { solver, ..self }
    }

    /// The same with rows kept otherwise.
    pub fn with_storage(self, storage: Storage) -> Self {
        Self { storage, ..self }
    }

    /// Name of the method.
    pub fn method_name(&self) -> &'static str {
        match (self.coupling, self.kernel) {
            (Some(_), _) => "svn",
            (None, Interaction::None) => "ensemble",
            (None, _) => "svgd",
        }
    }

    /// Curvature family, if the method has one.
    pub fn hessian(&self) -> Option<&'static str> {
        self.coupling.map(|_| "full")
    }

    /// Name of the solver, if the method has one.
    pub fn solver_name(&self) -> Option<&'static str> {
        self.coupling.map(|_| match self.solver {
            Solver::Cg { .. } => "cg",
            Solver::Preconditioned { .. } => "preconditioned",
            Solver::Direct => "direct",
            _ => "auto",
        })
    }

    /// `shape/method/…`, unique among the cases of a run.
    pub fn id(&self) -> String {
        let mut id = format!("{}/{}", self.shape, self.method_name());
        if let (Some(coupling), Some(hessian)) = (self.coupling, self.hessian()) {
            let (kernel, ring) = (self.kernel.name(), self.ring);
            id += &format!("/{hessian}/{}/ring-{ring}/{kernel}", coupling.name());
            if let Some(solver) = self.solver_name().filter(|&name| name != "auto") {
                id += &format!("/{solver}");
            }
            if self.storage != Storage::usual(self.coupling) {
                id += &format!("/{}", self.storage.name());
            }
        }
        id
    }

    /// The settings of `svn-stein`: those of `bench-uci`, with constant rates.
    pub(super) fn method(&self) -> Method {
        let step = FirstOrder::adam(3e-3);
        match (self.coupling, self.kernel) {
            (None, Interaction::None) => Method::Ensemble { step },
            (None, kernel) => Method::Svgd {
                kernel: kernel.settings(),
                step,
            },
            (Some(coupling), kernel) => Method::Svn(Newton {
                kernel: kernel.settings(),
                coupling,
                solver: self.solver,
                damping: Damping::Constant(20.0),
                trust_region: Some(0.1 * self.problem.rows as f64),
                ..Newton::default()
            }),
        }
    }

    /// The same for `svn-models`.
    pub(super) fn row_storage(&self) -> RowStorage {
        match self.storage {
            Storage::ByLayer => RowStorage::ByLayer,
            Storage::WrittenOut => RowStorage::WrittenOut,
        }
    }
}

/// Batches in the accumulated curvature of the ring cases.
pub const RING: usize = 8;

/// The cases of a shape, in the order of the table.
pub fn cases(shape: Shape) -> Vec<Case> {
    let (name, problem) = (shape.name(), shape.problem());
    let mut cases = vec![
        Case::ensemble(name, problem.clone()),
        Case::svgd(name, problem.clone()),
    ];
    let svn = |coupling, ring, kernel| Case::svn(name, problem.clone(), coupling, ring, kernel);
    for ring in [1, RING] {
        cases.push(svn(Coupling::BlockDiagonal, ring, Interaction::Inactive));
        cases.push(svn(Coupling::BlockDiagonal, ring, Interaction::Curvature));
        cases.push(svn(Coupling::Gram, ring, Interaction::Curvature));
    }
    if shape == Shape::Yacht {
        for coupling in [Coupling::BlockDiagonal, Coupling::Gram] {
            cases.push(svn(coupling, RING, Interaction::Curvature).with_solver(CG));
        }
        for ring in [1, RING] {
            let joint = svn(Coupling::Gram, ring, Interaction::Curvature);
            cases.push(joint.with_storage(Storage::WrittenOut));
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
                case.method().validate().unwrap();
                assert_eq!(case.problem.dim(), shape.problem().dim());
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
        for case in cases(Shape::Yacht) {
            let text = serde_json::to_string(&case).unwrap();
            assert_eq!(serde_json::from_str::<Case>(&text).unwrap(), case);
        }
    }
}
