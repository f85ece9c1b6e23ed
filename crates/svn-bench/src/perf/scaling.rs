//! Growth of time and memory with the number of particles, the dimension and the rows, and where the exact
//! solve stops paying.
//!
//! Every point is a process of its own, one thread: its median step and its peak memory.

use serde::{Deserialize, Serialize};
use svn_models::fit::{NoiseModel, Task};
use svn_models::stein::{Coupling, SolveRoute, Solver};

use super::case::{CG_TO_TOLERANCE, Case, Interaction, RING, Shape};
use super::child::{self, Order};
use super::error::PerfError;
use super::statistics::{Fit, power_law};

/// All series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// One line of a figure each.
    pub series: Vec<Series>,
    /// With `gram` coupling: the first number of rows `R` of a particle from which on CG to a relative residual of 1e-6,
    /// or 200 iterations, was faster than the factors; `None` if it never was.
    pub crossover: Option<f64>,
}

/// Times and peaks along one axis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// `particles`, `dimension`, `rows` or `crossover`.
    pub axis: String,
    /// Method, coupling, ring.
    pub label: String,
    /// Points in the order of the axis.
    pub points: Vec<Point>,
    /// Fitted growth of the time of a step.
    pub time: Option<Fit>,
    /// Fitted growth of the peak memory above that of a process without a case.
    pub memory: Option<Fit>,
}

/// One process.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Position on the axis.
    pub x: f64,
    /// Median step in milliseconds.
    pub step_ms: f64,
    /// Peak resident memory in MB above that of a process without a case.
    pub peak_mb: Option<f64>,
    /// Way to the solution of the Newton system; `null` for SVGD.
    pub route: Option<SolveRoute>,
}

/// A line ends at the first step above this: the exponent is clear by then.
const LAST_MS: f64 = 2000.0;

/// A case at a position of an axis.
type Place = (f64, Case);

/// The methods of the growth figures.
fn methods(case: &dyn Fn(Option<Coupling>, usize) -> Case) -> [(&'static str, Case); 4] {
    [
        ("svgd", case(None, 1)),
        (
            "block-diagonal, ring",
            case(Some(Coupling::BlockDiagonal), RING),
        ),
        ("gram, current batch", case(Some(Coupling::Gram), 1)),
        ("gram, ring", case(Some(Coupling::Gram), RING)),
    ]
}

fn lines(quick: bool) -> Vec<(&'static str, String, Vec<Place>)> {
    let base = Shape::Yacht.problem();
    let mut problems: Vec<(&'static str, f64, super::Problem)> = Vec::new();
    let shorten = |values: &[usize]| values[..if quick { 2 } else { values.len() }].to_vec();
    for particles in shorten(&[2, 5, 10, 20, 40]) {
        let problem = super::Problem {
            particles,
            ..base.clone()
        };
        problems.push(("particles", particles as f64, problem));
    }
    for width in shorten(&[25, 50, 100, 200]) {
        let problem = super::Problem::mlp(base.features, &[width, width]);
        problems.push(("dimension", problem.dim() as f64, problem));
    }
    for rows in shorten(&[8, 16, 32, 64, 128]) {
        // One output up to 32 rows, two from there on.
        let (batch, noise) = if rows > 32 {
            (rows / 2, NoiseModel::Heteroscedastic)
        } else {
            (rows, NoiseModel::Homoscedastic)
        };
        let problem = super::Problem {
            batch,
            task: Task::Regression(noise),
            ..base.clone()
        };
        problems.push(("rows", rows as f64, problem));
    }
    let mut lines: Vec<(&'static str, String, Vec<Place>)> = Vec::new();
    for (axis, x, problem) in problems {
        let case = |coupling: Option<Coupling>, ring| match coupling {
            None => Case::svgd(axis, problem.clone()),
            Some(coupling) => Case::svn(
                axis,
                problem.clone(),
                coupling,
                ring,
                Interaction::Curvature,
            ),
        };
        for (label, case) in methods(&case) {
            add(&mut lines, axis, label, (x, case));
        }
    }
    for ring in shorten(&[1, 4, 16, 32, 64]) {
        let rows = (base.batch * ring) as f64;
        let svn = |coupling| {
            Case::svn(
                "crossover",
                base.clone(),
                coupling,
                ring,
                Interaction::Curvature,
            )
        };
        for (label, solver) in [
            ("direct", Solver::Direct),
            ("CG", CG_TO_TOLERANCE),
            ("auto", Solver::Auto),
        ] {
            let case = svn(Coupling::Gram).with_solver(solver);
            add(&mut lines, "crossover", label, (rows, case));
        }
        let block = svn(Coupling::BlockDiagonal);
        add(&mut lines, "crossover", "block-diagonal", (rows, block));
    }
    lines
}

fn add(
    lines: &mut Vec<(&'static str, String, Vec<Place>)>,
    axis: &'static str,
    label: &str,
    place: Place,
) {
    match lines
        .iter_mut()
        .find(|line| line.0 == axis && line.1 == label)
    {
        Some(line) => line.2.push(place),
        None => lines.push((axis, label.to_owned(), vec![place])),
    }
}

/// Measure all series; `progress` hears of each that is done.
///
/// # Errors
/// [`PerfError::Child`].
pub(super) fn measure(
    quick: bool,
    empty_mb: Option<f64>,
    progress: &dyn Fn(&str),
) -> Result<Scaling, PerfError> {
    let mut series = Vec::new();
    for (axis, label, places) in lines(quick) {
        let mut points = Vec::with_capacity(places.len());
        for (x, case) in places {
            let answer = child::ask(&Order {
                case: Some(case),
                threads: 1,
                budget_ms: if quick { 20.0 } else { 600.0 },
            })?;
            let peak_mb = answer
                .peak_mb
                .zip(empty_mb)
                .map(|(peak, empty)| (peak - empty).max(0.0));
            let step_ms = answer.median_ms.unwrap_or(f64::NAN);
            points.push(Point {
                x,
                step_ms,
                peak_mb,
                route: answer.route,
            });
            if step_ms > LAST_MS {
                break;
            }
        }
        progress(&format!("{axis}: {label}"));
        series.push(Series {
            axis: axis.to_owned(),
            label,
            time: fit(&points, |point| Some(point.step_ms)),
            memory: fit(&points, |point| point.peak_mb),
            points,
        });
    }
    let crossover = crossover(&series);
    Ok(Scaling { series, crossover })
}

fn fit(points: &[Point], value: impl Fn(&Point) -> Option<f64>) -> Option<Fit> {
    let pairs: Vec<(f64, f64)> = points
        .iter()
        .filter_map(|point| Some((point.x, value(point)?)))
        .collect();
    power_law(&pairs)
}

/// First number of rows from which on the factors are slower than the iterations.
fn crossover(series: &[Series]) -> Option<f64> {
    let line = |label: &str| {
        series
            .iter()
            .find(|line| line.axis == "crossover" && line.label == label)
    };
    let (dense, iterative) = (line("direct")?, line("CG")?);
    let pairs: Vec<_> = dense.points.iter().zip(&iterative.points).collect();
    let losing = pairs
        .iter()
        .rev()
        .take_while(|(dense, iterative)| dense.step_ms > iterative.step_ms)
        .count();
    let first = pairs.len() - losing;
    pairs.get(first).map(|(dense, _)| dense.x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(label: &str, times: &[f64]) -> Series {
        let points = times.iter().enumerate().map(|(i, &step_ms)| Point {
            x: 10.0 * (i + 1) as f64,
            step_ms,
            peak_mb: None,
            route: Some(SolveRoute::Decoupled),
        });
        Series {
            axis: "crossover".to_owned(),
            label: label.to_owned(),
            points: points.collect(),
            time: None,
            memory: None,
        }
    }

    #[test]
    fn the_crossover_is_where_the_dense_route_loses_for_good() {
        let iterative = series("CG", &[2.0, 2.0, 2.0, 2.0]);
        let found = |times: &[f64]| crossover(&[series("direct", times), iterative.clone()]);
        assert_eq!(found(&[1.0, 3.0, 1.0, 4.0]), Some(40.0));
        assert_eq!(found(&[1.0, 1.0, 3.0, 4.0]), Some(30.0));
        assert_eq!(found(&[1.0, 1.0, 1.0, 1.0]), None);
        assert_eq!(crossover(&[]), None);
    }

    #[test]
    fn every_line_has_its_axis_in_order() {
        let lines = lines(false);
        assert_eq!(lines.len(), 3 * 4 + 4);
        for (_, label, places) in lines {
            assert!(places.len() >= 4, "{label}");
            assert!(
                places.windows(2).all(|pair| pair[0].0 < pair[1].0),
                "{label}"
            );
            for (_, case) in places {
                case.method(&case.problem.network().unwrap())
                    .validate()
                    .unwrap();
            }
        }
    }
}
