//! Quotients of medians, one thread: what a second-order step costs in first-order steps, and ours beside others.
//!
//! | name | numerator | denominator |
//! |---|---|---|
//! | `svn_full_joint/svgd@S` | SVN, Full, `gram`, ring, curvature kernel | SVGD on the same shape |
//! | `svn_full_joint_batch/svgd@S` | the same on the current batch | SVGD |
//! | `svn_block/svgd@S` | SVN, Full, block-diagonal, ring, curvature kernel | SVGD |
//! | `svn_block_inactive/svgd@S` | the same where the kernel does not couple | SVGD |
//! | `svn_diag_block/svgd@lenet` | SVN, Diag, block-diagonal, exact root; `_sampled`: one draw; `_lazy`: every 8th batch, mean | SVGD |
//! | `ll_svn_kfac/svgd@lenet` | SVN on the last layer, KFAC; mean | SVGD |
//! | `svgd/jax_svgd@S` | SVGD | jitted JAX SVGD, f64 |
//! | `ensemble/torch_func@S` | ensemble | `torch.func` ensemble, f64 |
//! | `two_folds_parallel/sequential` | two folds at once | one after the other |

use std::collections::BTreeMap;

use super::case::RING;
use super::outcome::CaseResult;
use super::peers::Peer;

/// All ratios; those whose parts are missing are `None`.
pub(super) fn all(
    cases: &[CaseResult],
    peers: &[Peer],
    folds: Option<f64>,
) -> BTreeMap<String, Option<f64>> {
    let median = |shape: &str, rest: &str| {
        let id = format!("{shape}/{rest}");
        let found = cases.iter().find(|case| case.threads == 1 && case.id == id);
        // Curvature that is refreshed now and then makes steps differ by design.
        found.map(|case| match case.hessian.as_deref() {
            Some("kfac") => case.mean_ms,
            _ if case.id.contains("/every-") => case.mean_ms,
            _ => case.median_ms,
        })
    };
    let peer = |name: &str, shape: &str| {
        let found = peers
            .iter()
            .find(|peer| peer.name == name && peer.shape == shape && peer.dtype == "f64");
        found.map(|peer| peer.median_ms)
    };
    let quotient = |above: Option<f64>, below: Option<f64>| Some(above? / below?);
    let svn = |coupling: &str, ring: usize, kernel: &str| {
        format!("svn/full/{coupling}/ring-{ring}/{kernel}")
    };
    let mut ratios = BTreeMap::new();
    for shape in ["yacht", "protein", "wide", "classification"] {
        let svgd = median(shape, "svgd");
        for (name, rest) in [
            ("svn_full_joint", svn("gram", RING, "curvature")),
            ("svn_full_joint_batch", svn("gram", 1, "curvature")),
            ("svn_block", svn("block-diagonal", RING, "curvature")),
            (
                "svn_block_inactive",
                svn("block-diagonal", RING, "inactive"),
            ),
        ] {
            let ratio = quotient(median(shape, &rest), svgd);
            ratios.insert(format!("{name}/svgd@{shape}"), ratio);
        }
    }
    let diag = &format!("svn/diag/block-diagonal/ring-{RING}/curvature");
    let last = format!("ll-svn/kfac/block-diagonal/ring-{RING}/identity");
    for (name, method) in [
        ("svn_diag_block", diag.to_owned()),
        ("svn_diag_block_sampled", format!("{diag}/sampled-1")),
        ("svn_diag_block_lazy", format!("{diag}/every-{RING}")),
        ("ll_svn_kfac", last),
    ] {
        let ratio = quotient(median("lenet", &method), median("lenet", "svgd"));
        ratios.insert(format!("{name}/svgd@lenet"), ratio);
    }
    for shape in ["yacht", "wide"] {
        for (ours, other) in [("svgd", "jax_svgd"), ("ensemble", "torch_func")] {
            let ratio = quotient(median(shape, ours), peer(other, shape));
            ratios.insert(format!("{ours}/{other}@{shape}"), ratio);
        }
    }
    ratios.insert("two_folds_parallel/sequential".to_owned(), folds);
    ratios
}
