//! Quotients of step costs, one thread: what a second-order step costs in first-order steps, and ours beside others.

use serde::Serialize;

use super::peers::Peer;
use super::result::CaseResult;

/// What a case is compared with, on the same shape.
enum Beside {
    /// Our SVGD.
    Svgd,
    /// Another implementation in f64.
    Peer(&'static str),
}

use Beside::{Peer as Other, Svgd};

const MLPS: &[&str] = &["yacht", "protein", "wide", "classification"];
const LENET: &[&str] = &["lenet"];

/// Name, identifier of the numerator after the shape, denominator, the largest that is wanted on the first of the shapes,
/// shapes.
type Quotient = (
    &'static str,
    &'static str,
    Beside,
    f64,
    &'static [&'static str],
);

#[rustfmt::skip]
const QUOTIENTS: &[Quotient] = &[
    ("svn_full_joint/svgd", "svn/full/gram/ring-8/curvature", Svgd, 10.0, MLPS),
    ("svn_full_joint_batch/svgd", "svn/full/gram/ring-1/curvature", Svgd, 4.0, MLPS),
    ("svn_block/svgd", "svn/full/block-diagonal/ring-8/curvature", Svgd, 4.0, MLPS),
    ("svn_block_inactive/svgd", "svn/full/block-diagonal/ring-8/inactive", Svgd, 4.0, MLPS),
    ("svn_diag_block/svgd", "svn/diag/block-diagonal/ring-8/curvature", Svgd, 3.0, LENET),
    ("svn_diag_block_sampled/svgd", "svn/diag/block-diagonal/ring-8/curvature/sampled-1", Svgd, 3.0, LENET),
    ("svn_diag_block_lazy/svgd", "svn/diag/block-diagonal/ring-8/curvature/every-8", Svgd, 3.0, LENET),
    ("ll_svn_kfac/svgd", "ll-svn/kfac/block-diagonal/ring-8/identity", Svgd, 1.5, LENET),
    ("svgd/jax_svgd", "svgd", Other("jax_svgd"), 1.0, &["yacht"]),
    ("svgd/jax_svgd", "svgd", Other("jax_svgd"), 1.0, &["wide"]),
    ("ensemble/torch_func", "ensemble", Other("torch_func"), 0.33, &["yacht"]),
    ("ensemble/torch_func", "ensemble", Other("torch_func"), 0.33, &["wide"]),
];

/// One quotient on one shape.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Ratio {
    /// `numerator/denominator@shape`.
    pub name: String,
    /// `null` where a part was not measured.
    pub found: Option<f64>,
    /// At most this is wanted; `null` where nothing is said.
    pub wanted: Option<f64>,
}

/// All ratios.
pub(super) fn all(cases: &[CaseResult], peers: &[Peer]) -> Vec<Ratio> {
    let case = |shape: &str, rest: &str| {
        let id = format!("{shape}/{rest}");
        let mut alone = cases.iter().filter(|case| case.threads == 1);
        alone.find(|case| case.id == id).map(|case| case.cost_ms)
    };
    let peer = |shape: &str, name: &str| {
        let mut peers = peers.iter().filter(|peer| peer.dtype == "f64");
        let found = peers.find(|peer| peer.name == name && peer.shape == shape);
        found.map(|peer| peer.median_ms)
    };
    let mut ratios = Vec::new();
    for (name, numerator, beside, wanted, shapes) in QUOTIENTS {
        for (place, shape) in shapes.iter().enumerate() {
            let below = match beside {
                Svgd => case(shape, "svgd"),
                Other(name) => peer(shape, name),
            };
            let above = case(shape, numerator);
            ratios.push(Ratio {
                name: format!("{name}@{shape}"),
                found: above.zip(below).map(|(above, below)| above / below),
                wanted: (place == 0).then_some(*wanted),
            });
        }
    }
    ratios
}

#[cfg(test)]
mod tests {
    use super::super::{case::cases, shape::Shape};
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn every_numerator_is_a_case_of_its_shape() {
        let shapes = Shape::value_variants().iter();
        let all = shapes.flat_map(|&shape| cases(shape).unwrap());
        let ids: Vec<String> = all.map(|case| case.id).collect();
        for (_, numerator, _, _, shapes) in QUOTIENTS {
            for shape in *shapes {
                let id = format!("{shape}/{numerator}");
                assert!(ids.contains(&id), "{id}");
            }
        }
    }
}
