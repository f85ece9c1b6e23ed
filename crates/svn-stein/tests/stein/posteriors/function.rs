//! Repulsion between functions on the network `1-10-1`: the width of the posterior, which no repulsion between weights has.

use ndarray::Array2;
use svn_stein::{
    Damping, FirstOrder, FunctionRepulsion, KernelSettings, Method, NewtonEnsemble, Rate,
};

use super::bnn::{DIM, Network, Reference, around_one_draw, laplace_fill, run_from};
use super::reference::{Distance, print, read};
use crate::common::normals;

/// Both kinds of starts of three seeds: around one draw of the prior, and draws of it.
fn starts(n: usize) -> Vec<(Array2<f64>, u64)> {
    let of = |seed| [around_one_draw(seed, n), normals(seed, (n, DIM))].map(|start| (start, seed));
    (1..=3).flat_map(of).collect()
}

fn newton(steps: u64) -> NewtonEnsemble {
    NewtonEnsemble {
        rate: Rate::cosine(1.0, steps),
        damping: Damping::Adaptive {
            initial: 30.0,
            min: 0.1,
            max: 1e12,
        },
        trust_region: Some(10.0),
        ..NewtonEnsemble::plain()
    }
}

fn f_svn(steps: u64) -> Method {
    Method::FunctionSvn {
        repulsion: FunctionRepulsion::default(),
        newton: newton(steps),
    }
}

fn distances(reference: &Reference, method: &Method, n: usize, steps: u64) -> Vec<Distance> {
    let run = |start| {
        let mut network = Network::with_context(reference, reference.x.clone());
        let keep = (steps, (0, 0));
        run_from(reference, &mut network, method.clone(), start, keep)
    };
    starts(n).into_iter().map(run).collect()
}

#[test]
fn particles_that_repel_as_functions_have_the_width_of_the_posterior() {
    let reference: Reference = read("bnn.json");
    reference.moments.check(0.02);
    let adam = FirstOrder::adam(0.02);
    let f_wgd = Method::FunctionWgd {
        repulsion: FunctionRepulsion::default(),
        step: adam,
    };
    let svgd = Method::Svgd {
        kernel: KernelSettings::default(),
        step: adam,
    };
    let apart = Method::NewtonEnsemble(newton(200));
    let rows = [
        ("f-svn, 200", f_svn(200), 200),
        ("f-wgd, 2000", f_wgd, 2000),
        ("newton-ensemble, 200", apart, 200),
        ("svgd median, 2000", svgd, 2000),
    ]
    .map(|(name, method, steps)| (name, distances(&reference, &method, 20, steps)));
    for (name, found) in &rows {
        print(
            "functions of the network 1-10-1, seeds 1 to 3, around one draw and draws of the prior",
            &found.iter().map(|d| (*name, *d)).collect::<Vec<_>>(),
        );
    }
    let [f_svn, f_wgd, apart, svgd] = rows.map(|(_, found)| found);
    // For scale: twenty independent draws of the posterior have 0.215 and 0.165 (root mean squares of mean and deviation).
    for found in &f_svn {
        assert!(
            found.rms_sd < 0.2 && found.rms_mean < 0.2 && found.worst_sd < 0.5,
            "{found:?}"
        );
    }
    // As many first-order steps as SVGD has; the largest found was 0.20 and 0.19.
    for found in &f_wgd {
        assert!(found.rms_sd < 0.3 && found.rms_mean < 0.3, "{found:?}");
    }
    // What members do that are driven apart, and what a repulsion between weights does.
    for (found, bound) in [(&apart, 0.9), (&svgd, 0.5)] {
        let mean = found.iter().map(|d| d.rms_sd).sum::<f64>() / found.len() as f64;
        assert!(mean > bound, "{mean}: {found:?}");
    }
}

/// Five particles have four directions, the posterior about six: the Laplace variance fills the share that is left.
#[test]
fn five_particles_and_a_share_of_their_laplace_variance_are_as_wide() {
    let reference: Reference = read("bnn.json");
    let mut rows = Vec::new();
    for start in starts(5) {
        let mut network = Network::with_context(&reference, reference.x.clone());
        let filled = laplace_fill(&reference, &mut network, f_svn(200), start, 200);
        rows.push(("f-svn of 5, filled", filled));
    }
    print("functions of the network 1-10-1", &rows);
    let mean = rows.iter().map(|(_, found)| found.rms_sd).sum::<f64>() / rows.len() as f64;
    // Without the share it is 0.49.
    assert!(mean < 0.3, "{mean}");
}
