//! How a step grows with the number of parameters `d` and of particles `N`, for every kind of curvature.
//!
//! ```text
//! 6-w-w-1, batch 16, one thread      d: N = 5 and w varied      N: w = 50 and N varied
//! exponent: least squares of log ms on log size, over the larger half of the sizes
//! ```
//!
//! A line ends where a step takes longer than a limit, so that the whole takes no longer than a minute.

use serde::{Deserialize, Serialize};
use svn_models::posterior::CurvatureFamily;
use svn_models::stein::Coupling;

use super::case::{Case, Cases, RING, curved};
use super::error::PerfError;
use super::machine::machine;
use super::measure::{Effort, measure};
use super::result::CaseResult;
use super::shape::{PARTICLES, Problem};

/// Features of the network.
const FEATURES: usize = 6;

/// Its width where particles are varied.
const WIDTH: usize = 50;

/// A step that takes longer, in milliseconds, is the last of its line.
pub const LONGEST_MS: f64 = 60.0;

/// A method, by what its lines are called.
const METHODS: [(&str, Option<(CurvatureFamily, Coupling)>); 7] = [
    ("ensemble", None),
    ("svgd", None),
    ("svn, full", Some((CurvatureFamily::Full, Coupling::Gram))),
    (
        "svn, full, block-diagonal",
        Some((CurvatureFamily::Full, Coupling::BlockDiagonal)),
    ),
    ("svn, diag", Some((CurvatureFamily::Diag, Coupling::Gram))),
    ("svn, kfac", Some((CurvatureFamily::Kfac, Coupling::Gram))),
    ("svn, ekfac", Some((CurvatureFamily::Ekfac, Coupling::Gram))),
];

/// Of rayon and libtorch.
const THREADS: usize = 1;

/// The sizes that are measured.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    widths: &'static [usize],
    particles: &'static [usize],
}

/// Steps of all methods at all sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// Processor, cores and profile, on a line.
    pub machine: String,
    /// Threads that were used.
    pub threads: usize,
    /// Particles, the same for all, where the number of parameters is varied.
    pub particles: usize,
    /// Parameters, the same for all, where the number of particles is varied.
    pub parameters: usize,
    /// By the number of parameters.
    pub by_parameters: Vec<Line>,
    /// By the number of particles.
    pub by_particles: Vec<Line>,
}

/// One method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Its name.
    pub method: String,
    /// By ascending size.
    pub points: Vec<Point>,
}

/// A step of one size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Parameters or particles.
    pub size: usize,
    /// What a step costs in milliseconds: the mean where steps differ by design, else the median.
    pub ms: f64,
}

impl Line {
    /// `b` of `ms ∝ size^b` over the larger half of the sizes; none of fewer than two.
    pub fn exponent(&self) -> Option<f64> {
        let points = &self.points[(self.points.len().saturating_sub(1)) / 2..];
        let logs = points
            .iter()
            .map(|point| ((point.size as f64).ln(), point.ms.ln()));
        let logs: Vec<(f64, f64)> = logs.collect();
        let count = logs.len() as f64;
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / count;
        let (x, y) = (mean(&|at| at.0), mean(&|at| at.1));
        let (along, spread) = (
            mean(&|at| (at.0 - x) * (at.1 - y)),
            mean(&|at| (at.0 - x).powi(2)),
        );
        (logs.len() > 1 && spread > 0.0).then(|| along / spread)
    }

    /// The step of a size.
    pub fn at(&self, size: usize) -> Option<f64> {
        let point = self.points.iter().find(|point| point.size == size);
        point.map(|point| point.ms)
    }
}

/// Measure, at fewer sizes where it is to be quick.
///
/// # Errors
/// [`PerfError`] naming the case that could not be set up or stepped.
pub fn growth(quick: bool) -> Result<Growth, PerfError> {
    let sizes = match quick {
        false => Sizes {
            widths: &[8, 16, 32, 64, 128],
            particles: &[2, 4, 8, 16, 32],
        },
        true => Sizes {
            widths: &[8, 32, 64],
            particles: &[2, 4, 8],
        },
    };
    let parameters = Problem::perceptron(FEATURES, WIDTH, PARTICLES).network();
    let parameters = parameters.map_err(PerfError::case("growth", "network"))?;
    Ok(Growth {
        machine: machine(),
        threads: THREADS,
        particles: PARTICLES,
        parameters: parameters.layout().dim(),
        by_parameters: by(of_widths(sizes), |found| found.dim)?,
        by_particles: by(of_particles(sizes), |found| found.particles)?,
    })
}

/// A line for each method, its cases by ascending size.
fn by(
    lines: Vec<(&str, Vec<Case>)>,
    size: fn(&CaseResult) -> usize,
) -> Result<Vec<Line>, PerfError> {
    let line = |(method, cases): (&str, Vec<Case>)| {
        let mut points: Vec<Point> = Vec::new();
        for case in cases {
            if points.last().is_some_and(|last| last.ms > LONGEST_MS) {
                break;
            }
            let found = measure(&[case], THREADS, Effort::GROWTH, || None)?;
            points.extend(found.iter().map(|found| Point {
                size: size(found),
                ms: found.cost_ms,
            }));
        }
        Ok(Line {
            method: method.to_owned(),
            points,
        })
    };
    lines.into_iter().map(line).collect()
}

fn of_widths(sizes: Sizes) -> Vec<(&'static str, Vec<Case>)> {
    let widths = sizes.widths.iter();
    lines(&widths.map(|&width| (width, PARTICLES)).collect::<Vec<_>>())
}

fn of_particles(sizes: Sizes) -> Vec<(&'static str, Vec<Case>)> {
    let particles = sizes.particles.iter();
    lines(
        &particles
            .map(|&particles| (WIDTH, particles))
            .collect::<Vec<_>>(),
    )
}

/// Every method at every width and number of particles.
fn lines(sizes: &[(usize, usize)]) -> Vec<(&'static str, Vec<Case>)> {
    let case = |method: &str, kind, &(width, particles): &(usize, usize)| {
        let name = format!("width-{width}/particles-{particles}");
        let problem = Problem::perceptron(FEATURES, width, particles);
        let of = Cases {
            name: &name,
            problem: &problem,
        };
        let [ensemble, svgd] = of.first_order();
        match kind {
            Some((family, coupling)) => of.svn(family, coupling, RING, &curved()),
            None if method == "svgd" => svgd,
            None => ensemble,
        }
    };
    let line = |&(method, kind): &(&'static str, _)| {
        (
            method,
            sizes.iter().map(|size| case(method, kind, size)).collect(),
        )
    };
    METHODS.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const SMALL: Sizes = Sizes {
        widths: &[4, 8],
        particles: &[2, 3],
    };

    #[test]
    fn every_method_is_a_case_of_its_own_at_every_size() {
        for lines in [of_widths(SMALL), of_particles(SMALL)] {
            let cases: Vec<&Case> = lines.iter().flat_map(|(_, cases)| cases).collect();
            let ids: BTreeSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
            assert_eq!((lines.len(), ids.len()), (METHODS.len(), 2 * METHODS.len()));
        }
    }

    /// Of full curvature the joint system is solved by a factor of each particle's rows; without the blocks between particles, by
    /// one of the rows of all and the differences of the particles.
    #[test]
    fn factors_are_as_large_as_the_methods_say() {
        let lines = of_particles(SMALL);
        let of = |name: &str| {
            let (_, cases) = lines.iter().find(|(method, _)| *method == name).unwrap();
            let found = measure(cases, THREADS, Effort::QUICK, || None).unwrap();
            let size = |case: &CaseResult| case.operations.unwrap().solve.size;
            found.iter().map(size).collect::<Vec<_>>()
        };
        let rows = 16 * RING;
        assert_eq!(of("svn, full"), [rows, rows]);
        assert_eq!(
            of("svn, full, block-diagonal"),
            [2 * rows + 1, 3 * rows + 2]
        );
    }

    #[test]
    fn exponents_are_those_of_powers_over_the_larger_half() {
        let line = |points: &[(usize, f64)]| Line {
            method: String::new(),
            points: points
                .iter()
                .map(|&(size, ms)| Point { size, ms })
                .collect(),
        };
        let cubic = line(&[(1, 50.0), (2, 50.0), (4, 64.0), (8, 512.0), (16, 4096.0)]);
        assert!((cubic.exponent().unwrap() - 3.0).abs() < 1e-12);
        assert_eq!(cubic.at(4), Some(64.0));
        assert_eq!(line(&[(4, 1.0)]).exponent(), None);
        assert_eq!(line(&[]).exponent(), None);
    }
}
