//! The default settings on small densities: every coupling ends near the truth or says why not.
//!
//! `cargo test -p svn-stein --test stein safety -- --nocapture` prints the table of docs/posteriors.md.

mod densities;

use self::densities::*;
use crate::common::normals;
use ndarray::{ArrayView1, ArrayView2};
use svn_stein::*;

const COUPLINGS: [Coupling; 4] = [
    Coupling::Exact,
    Coupling::Gram,
    Coupling::BlockRepulsion,
    Coupling::BlockDiagonal,
];

/// What a run ended with.
struct Ended {
    /// Largest error of a mean in standard deviations of the density, smallest and largest ratio of standard deviations.
    mean: f64,
    narrow: f64,
    wide: f64,
    error: Option<SteinError>,
    residual: f64,
}

fn moments(particles: ArrayView2<'_, f64>, direction: ArrayView1<'_, f64>) -> (f64, f64) {
    let along = particles.dot(&direction);
    (along.mean().unwrap(), along.std(0.0))
}

fn run_default(density: &Density, coupling: Coupling, n: usize, steps: u64, start: u64) -> Ended {
    let newton = Newton {
        coupling,
        ..Newton::default()
    };
    let mut sampler = Sampler::new(Method::Svn(newton)).unwrap();
    let start = normals(start, (n, density.dim)) * density.start;
    let mut state = sampler.init(start, 0).unwrap();
    let mut target = Target::new(density);
    let (mut residual, mut error) = (0.0_f64, None);
    for _ in 0..steps {
        match sampler.step(&mut state, &mut target) {
            Ok(info) => {
                residual = residual.max(info.solve.map_or(0.0, |solve| solve.relative_residual));
            }
            Err(e) => {
                error = Some(e);
                break;
            }
        }
    }
    let mut ended = Ended {
        mean: 0.0,
        narrow: f64::INFINITY,
        wide: 0.0,
        error,
        residual,
    };
    for (direction, mean, sd) in &density.truths {
        let found = moments(state.particles(), direction.view());
        ended.mean = ended.mean.max((found.0 - mean).abs() / sd);
        ended.narrow = ended.narrow.min(found.1 / sd);
        ended.wide = ended.wide.max(found.1 / sd);
    }
    ended
}

/// What must hold after a run of `n` particles: errors of means and ratios of standard deviations of the density.
///
/// With 30 particles in one or two dimensions the moments are those of the density to a tenth or two. In eleven, SVGD's
/// own fixed points have about half of the standard deviation (its known bias for N of the order of d), for any step.
/// Two particles have what two can have. The funnel in eleven dimensions has its mode fifteen standard deviations down
/// its neck, where few particles go: there the bound is the mode.
fn bounds(density: &Density, n: usize) -> (f64, f64, f64) {
    match (density.name, density.dim, n) {
        ("funnel", 11, _) => (15.5, 0.0, 3.0),
        ("two modes", _, 2) => (1.0, 0.0, 1.1),
        (_, _, 2) => (1.0, 0.0, 1.1),
        ("funnel", ..) => (0.5, 0.6, 1.3),
        ("two modes", 11, _) => (0.4, 0.8, 1.2),
        (_, 11, _) => (0.2, 0.4, 1.1),
        // Underway, after few steps.
        (_, _, 500) => (0.6, 0.5, 1.3),
        _ => (0.35, 0.75, 1.25),
    }
}

/// Starts whose medians are compared, where they are cheap. A single run hangs on the last bits of each step, which differ between
/// processors, and with the exact coupling one in ten is on an excursion whenever it is looked at.
const STARTS: u64 = 5;

/// The median of each figure over the starts; the largest residual, and any error.
fn run_starts(density: &Density, coupling: Coupling, n: usize, steps: u64) -> Ended {
    let starts = if density.dim <= 2 && n <= 30 {
        STARTS
    } else {
        1
    };
    let first = 5 + n as u64;
    let runs: Vec<Ended> = (first..first + starts)
        .map(|start| run_default(density, coupling, n, steps, start))
        .collect();
    let median = |of: fn(&Ended) -> f64| {
        let mut values: Vec<f64> = runs.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    Ended {
        mean: median(|run| run.mean),
        narrow: median(|run| run.narrow),
        wide: median(|run| run.wide),
        residual: runs.iter().fold(0.0, |most, run| most.max(run.residual)),
        error: runs.into_iter().find_map(|run| run.error),
    }
}

fn check(densities: &[Density], couplings: &[Coupling], n: usize, steps: u64) {
    for density in densities {
        for &coupling in couplings {
            let ended = run_starts(density, coupling, n, steps);
            let (name, coupling) = (density.name, coupling.name());
            println!(
                "| {name} | {} | {n} | {coupling} | {:.3} | {:.3} to {:.3} | {:.0e} |",
                density.dim, ended.mean, ended.narrow, ended.wide, ended.residual,
            );
            let what = format!("{name}, d = {}, N = {n}, {coupling}", density.dim);
            if let Some(error) = ended.error {
                panic!("{what}: {error}");
            }
            let (mean, narrow, wide) = bounds(density, n);
            assert!(ended.mean <= mean, "{what}: mean off by {}", ended.mean);
            let found = narrow <= ended.narrow && ended.wide <= wide;
            assert!(found, "{what}: {} to {}", ended.narrow, ended.wide);
            // An inexact step is one of a residual of at most 0.1; none was needed here.
            assert!(ended.residual <= 1e-5, "{what}: {}", ended.residual);
        }
    }
}

#[test]
fn thirty_particles_end_near_the_truth() {
    let densities = [
        gaussian(1),
        gaussian(2),
        gaussian(11),
        two_modes(1),
        two_modes(2),
        two_modes(11),
        funnel(2),
        funnel(11),
        identical_columns(2),
        identical_columns(11),
        banana(),
    ];
    check(&densities, &COUPLINGS, 2, 100);
    check(&densities, &COUPLINGS, 30, 100);
}

/// Fewer steps, since a step takes a tenth of a second: enough to be off if it goes wrong. Every coupling on two shapes, the default on all.
const FEW: u64 = 12;

#[test]
fn five_hundred_particles_on_a_gaussian_are_no_trouble() {
    check(&[gaussian(2)], &COUPLINGS, 500, FEW);
    let rest = [gaussian(1), gaussian(11)];
    check(&rest, &[Coupling::BlockRepulsion], 500, FEW);
}

#[test]
fn five_hundred_particles_on_other_shapes_are_no_trouble() {
    check(&[banana()], &COUPLINGS, 500, FEW);
    let rest = [two_modes(2), two_modes(11)];
    check(&rest, &[Coupling::BlockRepulsion], 500, FEW);
}
