//! The default settings on small densities: every coupling ends near the truth or says why not.
//!
//! `cargo test -p svn-stein --test safety -- --nocapture` prints the table of docs/posteriors.md.

mod common;
#[path = "safety/densities.rs"]
mod densities;

use common::normals;
use densities::*;
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
    /// Root mean squared change of a coordinate in the last step.
    last: f64,
    error: Option<SteinError>,
    residual: f64,
}

fn moments(particles: ArrayView2<'_, f64>, direction: ArrayView1<'_, f64>) -> (f64, f64) {
    let along = particles.dot(&direction);
    (along.mean().unwrap(), along.std(0.0))
}

fn run_default(density: &Density, coupling: Coupling, n: usize, steps: u64) -> Ended {
    let newton = Newton {
        coupling,
        ..Newton::default()
    };
    let mut sampler = Sampler::new(Method::Svn(newton)).unwrap();
    let start = normals(5 + n as u64, (n, density.dim)) * density.start;
    let mut state = sampler.init(start, 0).unwrap();
    let mut target = Target::new(density);
    let (mut last, mut residual, mut error) = (f64::NAN, 0.0_f64, None);
    for _ in 0..steps {
        match sampler.step(&mut state, &mut target) {
            Ok(info) => {
                last = info.step_size;
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
        last,
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

#[test]
fn defaults_end_near_the_truth_or_say_why_not() {
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
    let sizes: Vec<usize> = match std::env::var("SVN_SIZES") {
        Ok(text) => text.split(',').map(|n| n.parse().unwrap()).collect(),
        Err(_) => vec![2, 30, 500],
    };
    println!("| density | d | N | coupling | mean | sd ratio | last step | residual | s |");
    for density in &densities {
        for &n in &sizes {
            for coupling in COUPLINGS {
                if std::env::var("SVN_GRAM").is_ok() && coupling != Coupling::Gram {
                    continue;
                }
                let steps = if n > 100 { 15 } else { 100 };
                let start = std::time::Instant::now();
                let ended = run_default(density, coupling, n, steps);
                println!(
                    "| {} | {} | {n} | {} | {:.3} | {:.3}-{:.3} | {:.1e} | {:.0e} | {:.2} | {}",
                    density.name,
                    density.dim,
                    coupling.name(),
                    ended.mean,
                    ended.narrow,
                    ended.wide,
                    ended.last,
                    ended.residual,
                    start.elapsed().as_secs_f64(),
                    ended.error.map_or(String::new(), |e| e.to_string())
                );
            }
        }
    }
}
