//! What is wanted of a step: its time, its cost in steps of another method or implementation, and what a second thread
//! gives.

use serde::Serialize;

use super::peers::Peer;
use super::result::CaseResult;

/// What the cost of a case is divided by.
enum Per {
    /// Milliseconds.
    Ms,
    /// Our SVGD on the same shape.
    Svgd,
    /// Another implementation on the same shape, f64.
    Peer(&'static str),
    /// The same case with one thread; the case itself has all.
    OneThread,
}

use Per::{Ms, OneThread, Peer as Other, Svgd};

/// Name, case after the shape, what it is divided by, and the largest that is wanted on each shape; infinite where
/// nothing is said.
type Wanted = (
    &'static str,
    &'static str,
    Per,
    &'static [(&'static str, f64)],
);

const ANY: f64 = f64::INFINITY;

#[rustfmt::skip]
const WANTED: &[Wanted] = &[
    ("svgd/jax_svgd_plain", "svgd", Other("jax_svgd_plain"), &[("yacht", 0.8), ("wide", 1.0)]),
    ("svgd/jax_svgd", "svgd", Other("jax_svgd"), &[("yacht", 0.4), ("wide", ANY)]),
    ("ensemble/torch_func", "ensemble", Other("torch_func"), &[("yacht", 0.1), ("wide", 0.4)]),
    ("svn_joint_ring ms", "svn/full/gram/ring-8/curvature", Ms, &[("yacht", 1.5), ("protein", ANY), ("wide", ANY), ("classification", ANY), ("power", ANY)]),
    ("svn_joint_batch ms", "svn/full/gram/ring-1/curvature", Ms, &[("yacht", 0.4), ("protein", ANY), ("wide", ANY), ("classification", ANY), ("power", ANY)]),
    ("svn_block_inactive ms", "svn/full/block-diagonal/ring-8/inactive", Ms, &[("yacht", 0.9), ("wide", ANY)]),
    ("svn_block ms", "svn/full/block-diagonal/ring-8/curvature", Ms, &[("yacht", 10.0), ("wide", ANY)]),
    ("all_threads/one_thread", "svn/full/gram/ring-8/curvature", OneThread, &[("power", 0.6)]),
    ("svn_diag_block/svgd", "svn/diag/block-diagonal/ring-8/curvature", Svgd, &[("lenet", 3.0)]),
    ("svn_diag_block_sampled/svgd", "svn/diag/block-diagonal/ring-8/curvature/sampled-1", Svgd, &[("lenet", 3.0)]),
    ("svn_diag_block_lazy/svgd", "svn/diag/block-diagonal/ring-8/curvature/every-8", Svgd, &[("lenet", 3.0)]),
    ("ll_svn_kfac/svgd", "ll-svn/kfac/block-diagonal/ring-8/identity", Svgd, &[("lenet", 1.5)]),
];

/// One figure on one shape.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Figure {
    /// `name@shape`.
    pub name: String,
    /// `null` where a part was not measured.
    pub found: Option<f64>,
    /// At most this is wanted; `null` where nothing is said.
    pub wanted: Option<f64>,
}

/// All figures.
pub(super) fn all(cases: &[CaseResult], peers: &[Peer]) -> Vec<Figure> {
    let most = cases.iter().map(|case| case.threads).max();
    let case = |shape: &str, rest: &str, threads: usize| {
        let id = format!("{shape}/{rest}");
        let mut alike = cases.iter().filter(|case| case.threads == threads);
        alike.find(|case| case.id == id).map(|case| case.cost_ms)
    };
    let peer = |shape: &str, name: &str| {
        let mut peers = peers.iter().filter(|peer| peer.dtype == "f64");
        let found = peers.find(|peer| peer.name == name && peer.shape == shape);
        found.map(|peer| peer.median_ms)
    };
    let found = |id: &str, per: &Per, shape: &str| {
        let one = || case(shape, id, 1);
        match per {
            Ms => one(),
            Svgd => Some(one()? / case(shape, "svgd", 1)?),
            Other(name) => Some(one()? / peer(shape, name)?),
            OneThread => Some(case(shape, id, most.filter(|&most| most > 1)?)? / one()?),
        }
    };
    let mut figures = Vec::new();
    for (name, id, per, shapes) in WANTED {
        figures.extend(shapes.iter().map(|(shape, wanted)| Figure {
            name: format!("{name}@{shape}"),
            found: found(id, per, shape),
            wanted: Some(*wanted).filter(|wanted| wanted.is_finite()),
        }));
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::super::result::Spread;
    use super::super::{case::cases, shape::Shape};
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn every_figure_is_of_a_case_of_its_shape() {
        let shapes = Shape::value_variants().iter();
        let all = shapes.flat_map(|&shape| cases(shape).unwrap());
        let ids: Vec<String> = all.map(|case| case.id).collect();
        for (_, case, _, shapes) in WANTED {
            for (shape, _) in *shapes {
                let id = format!("{shape}/{case}");
                assert!(ids.contains(&id), "{id}");
            }
        }
    }

    #[test]
    fn costs_are_divided_by_those_of_the_same_shape() {
        let result = |id: &str, threads, ms: f64| CaseResult {
            id: id.into(),
            particles: 5,
            dim: 1,
            threads,
            steps: 1,
            step_ms: Spread::of(&[ms]).unwrap(),
            cost_ms: ms,
            allocations: None,
            operations: None,
        };
        let cases = [
            result("power/svn/full/gram/ring-8/curvature", 1, 4.0),
            result("power/svn/full/gram/ring-8/curvature", 2, 3.0),
            result("lenet/svgd", 1, 5.0),
            result("lenet/ll-svn/kfac/block-diagonal/ring-8/identity", 1, 6.0),
        ];
        let of = |cases: &[CaseResult], name: &str| {
            let figures = all(cases, &[]);
            figures.into_iter().find(|f| f.name == name).unwrap().found
        };
        let found = |name: &str| of(&cases, name);
        assert_eq!(found("all_threads/one_thread@power"), Some(0.75));
        assert_eq!(found("ll_svn_kfac/svgd@lenet"), Some(1.2));
        assert_eq!(found("svn_joint_ring ms@power"), Some(4.0));
        assert_eq!(found("svgd/jax_svgd@yacht"), None);
        assert_eq!(of(&cases[..1], "all_threads/one_thread@power"), None);
    }
}
