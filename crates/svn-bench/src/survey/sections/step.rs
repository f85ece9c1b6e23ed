//! What a step costs, and how it grows.

use svn_models::recipe::Method;

use super::super::exhibit::{Exhibit, shown};
use super::super::{Panel, Section, Source, Sources, SurveyError};
use crate::metrics::Estimate;
use crate::perf::{self, Growth};
use crate::report::figure::{self, Axis, Line, Sheet, colours, draw_lines_up};
use crate::report::{Grid, dash};

const ID: &str = "step";

const SHEET: Sheet = Sheet {
    columns: 2,
    size: (560, 460),
};

pub(super) fn section(sources: &Sources) -> Result<Section, SurveyError> {
    Ok(Section {
        id: ID,
        title: "Cost of a step and its growth",
        intro: "What does a step cost, and how does it grow with the size of the network and with the number of particles? Whole steps on synthetic \
                rows, a network 6-w-w-1 with batches of 16 and curvature of the last 8 batches, f64.",
        panels: shown::<Step>(sources)?,
    })
}

/// Time of a step by size.
struct Step;

impl Exhibit for Step {
    const NAME: &'static str = ID;
    const TITLE: &'static str = "Cost of a step";
    const SEED: u64 = perf::SEED;
    type Data = Growth;

    fn made(sources: &Sources) -> Result<Growth, SurveyError> {
        Ok(perf::growth(sources.quick)?)
    }

    fn panels(data: &Growth, source: &Source) -> Result<Vec<Panel>, SurveyError> {
        let says = format!(
            "Milliseconds, median of the steps (mean where curvature is decomposed now and then), both axes logarithmic; {} thread(s) of {}. `full`, `diag`, \
             `kfac` and `ekfac` are the curvature of a joint system of all particles, `block-diagonal` leaves the blocks between particles out. A line ends where a step takes more than {} ms. {}",
            data.threads,
            data.machine,
            perf::LONGEST_MS,
            relative(data),
        );
        let exponents = "The exponent b of a power law, milliseconds ∝ size^b, over the larger half of the sizes: small steps cost what a step costs \
                         whatever its size.";
        Ok(vec![
            Panel::figure(ID, lines(data)?, ("Time of a step by size", says), source),
            Panel::table(table(data), exponents, source),
        ])
    }
}

fn lines(data: &Growth) -> Result<figure::Figure, SurveyError> {
    let (particles, parameters) = (data.particles, data.parameters);
    let panels = [
        panel(
            &format!("{particles} particles"),
            "number of parameters d",
            &data.by_parameters,
        ),
        panel(
            &format!("{parameters} parameters"),
            "number of particles N",
            &data.by_particles,
        ),
    ];
    Ok(draw_lines_up("growth.svg".to_owned(), &panels, &SHEET)?)
}

fn panel(title: &str, x: &'static str, lines: &[perf::Line]) -> (figure::Panel, Axis) {
    let methods: Vec<Method> = lines.iter().map(|line| method(&line.method)).collect();
    let drawn = lines.iter().zip(colours(&methods)).map(|(line, colour)| {
        let points = line.points.iter().filter_map(|point| {
            let height = Estimate::of(&[point.ms.log10()])?;
            Some(((point.size as f64).log10(), height))
        });
        Line {
            label: line.method.clone(),
            colour,
            points: points.collect(),
        }
    });
    let heights = lines.iter().flat_map(|line| &line.points);
    let heights = heights.map(|point| point.ms.log10());
    let (low, high) = heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), height| {
        (low.min(height), high.max(height))
    });
    let panel = figure::Panel {
        title: title.to_owned(),
        x: Axis::Decades(x),
        y: (low <= high).then_some(low - 0.15..high + 0.15),
        lines: drawn.collect(),
    };
    (panel, Axis::Decades("milliseconds a step"))
}

/// Whose colour a line has first.
fn method(name: &str) -> Method {
    match name {
        "ensemble" => Method::Ensemble,
        "svgd" => Method::Svgd,
        _ => Method::Svn,
    }
}

fn table(data: &Growth) -> Grid {
    let header = ["method".to_owned()].into_iter();
    let header = header.chain([
        format!("ms, d {}, N {}", data.parameters, data.particles),
        "exponent of d".to_owned(),
        "exponent of N".to_owned(),
    ]);
    let cell = |value: Option<f64>, digits: usize| {
        value.map_or_else(dash, |value| format!("{value:.digits$}"))
    };
    let rows = data.by_parameters.iter().map(|line| {
        let of_particles = data.by_particles.iter();
        let particles = of_particles
            .clone()
            .find(|other| other.method == line.method);
        vec![
            line.method.clone(),
            cell(particles.and_then(|line| between(line, data.particles)), 3),
            cell(line.exponent(), 2),
            cell(particles.and_then(perf::Line::exponent), 2),
        ]
    });
    Grid::new("Growth of a step", header.collect(), rows.collect())
}

/// The step of a size that may lie between two that were measured, along the straight line of the logarithms.
fn between(line: &perf::Line, size: usize) -> Option<f64> {
    let above = line.points.iter().position(|point| point.size >= size)?;
    let high = line.points[above];
    if high.size == size {
        return Some(high.ms);
    }
    let low = line.points[above.checked_sub(1)?];
    let share = (size as f64 / low.size as f64).ln() / (high.size as f64 / low.size as f64).ln();
    Some(low.ms * (high.ms / low.ms).powf(share))
}

/// What a step of SVN costs in steps of SVGD, at the sizes that the other axis holds fixed.
fn relative(data: &Growth) -> String {
    let of = |name: &str| {
        let line = data.by_particles.iter().find(|line| line.method == name)?;
        between(line, data.particles)
    };
    match (of("svgd"), of("svn, full"), of("svn, diag")) {
        (Some(svgd), Some(full), Some(diag)) => format!(
            "With {} particles and {} parameters a step of SVN costs {:.0} steps of SVGD with full curvature and {:.0} with its diagonal.",
            data.particles,
            data.parameters,
            full / svgd,
            diag / svgd,
        ),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf::Point;
    use crate::survey::Body;

    /// `svgd` linear in both, `svn, full` 40 times as much and quadratic in `N`.
    fn growth() -> Growth {
        let line = |method: &str, sizes: &[usize], ms: &dyn Fn(f64) -> f64| perf::Line {
            method: method.to_owned(),
            points: sizes
                .iter()
                .map(|&size| Point {
                    size,
                    ms: ms(size as f64),
                })
                .collect(),
        };
        let (d, n) = ([100, 1000, 10_000], [2, 4, 8, 16]);
        Growth {
            machine: "a processor, 2 logical core(s), release build".to_owned(),
            threads: 1,
            particles: 5,
            parameters: 2951,
            by_parameters: vec![
                line("svgd", &d, &|d| 1e-3 * d),
                line("svn, full", &d, &|d| 4e-2 * d),
                line("svn, diag", &d, &|d| 2e-2 * d),
            ],
            by_particles: vec![
                line("svgd", &n, &|n| 0.1 * n),
                line("svn, full", &n, &|n| 0.8 * n * n),
                line("svn, diag", &n, &|n| 0.2 * n),
            ],
        }
    }

    #[test]
    fn exponents_and_costs_are_those_of_the_lines() {
        let table = table(&growth());
        assert_eq!(table.rows[0], ["svgd", "0.500", "1.00", "1.00"]);
        assert_eq!(table.rows[1], ["svn, full", "20.000", "1.00", "2.00"]);
        assert!(relative(&growth()).contains("40 steps of SVGD with full curvature and 2"));
    }

    #[test]
    fn a_file_becomes_a_figure_that_names_methods_sizes_and_machine() {
        let text = serde_json::to_string(&growth()).unwrap();
        let back: Growth = serde_json::from_str(&text).unwrap();
        assert_eq!(back, growth());
        let panels = Step::panels(&back, &Source::default()).unwrap();
        let Body::Figure { svg, .. } = &panels[0].body else {
            panic!("no figure");
        };
        for words in [
            "svn, full",
            "milliseconds a step",
            "number of particles N",
            "2951 parameters",
        ] {
            assert!(svg.contains(words), "{words}");
        }
        assert!(panels[0].says.contains("a processor, 2 logical core(s)"));
    }
}
