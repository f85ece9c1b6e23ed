//! Where particles go on a density of the plane, and how soon their moments are right.

mod measured;

use plotters::prelude::RGBColor;
use svn_models::recipe::Method;
use svn_models::stein::plane::{DoubleBanana, Planar};

use super::super::exhibit::{Exhibit, shown};
use super::super::{Panel, Section, Source, Sources, SurveyError};
use crate::metrics::Estimate;
use crate::report::figure::{self, Axis, Line, Paths, Plane, Sheet, colours};
use crate::report::figure::{draw_lines_up, draw_paths};
use measured::{At, Errors, Measured, Moved, Plan, measured};

const ID: &str = "plane";

/// Of independent draws.
const LEVEL: RGBColor = RGBColor(140, 140, 140);

/// Steps whose places are marked.
const MARKED: [usize; 4] = [0, 5, 20, 100];

const PATHS: Sheet = Sheet {
    columns: 3,
    size: (420, 420),
};

const ERRORS: Sheet = Sheet {
    columns: 2,
    size: (520, 360),
};

pub(super) fn section(sources: &Sources) -> Result<Section, SurveyError> {
    Ok(Section {
        id: ID,
        title: "Trajectories on a density of the plane",
        intro: "Where do the particles go, and how soon are they spread as the density is? The double banana of Detommaso et al. (2018): prior N(0, I), one \
                observation of a Rosenbrock function. All methods start from the same draws of the prior.",
        panels: shown::<Trajectories>(sources)?,
    })
}

/// Particles of the plane.
struct Trajectories;

impl Exhibit for Trajectories {
    const NAME: &'static str = ID;
    const TITLE: &'static str = "Trajectories on a density of the plane";
    const SEED: u64 = 0;
    type Data = Measured;

    fn made(sources: &Sources) -> Result<Measured, SurveyError> {
        let whole = Plan {
            paths: (16, 100),
            particles: 50,
            starts: 10,
            steps: &[1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300],
        };
        let plan = match sources.quick {
            false => whole,
            true => Plan {
                starts: 3,
                steps: &whole.steps[..11],
                ..whole
            },
        };
        Ok(measured(&plan, Self::SEED)?)
    }

    fn panels(data: &Measured, source: &Source) -> Result<Vec<Panel>, SurveyError> {
        let paths = format!(
            "The density (blue), the paths of {} particles over {} steps, and where they are after some of them. SVGD by Adam with a rate of 0.05; both \
             Newton methods with their default settings.",
            data.methods.first().map_or(0, |moved| moved.paths.len()),
            MARKED[MARKED.len() - 1],
        );
        let errors = format!(
            "Error of the mean in standard deviations of the density, and of the covariance as |L⁻¹SL⁻ᵀ − I| (Frobenius, Σ = LLᵀ), by quadrature; {} \
             particles, geometric means over {} starts with the standard error; the grey level is that of as many independent draws. Time is that of the \
             steps alone on {}. {}",
            data.particles,
            data.methods.first().map_or(0, |moved| moved.runs.len()),
            data.machine,
            soonest(data),
        );
        Ok(vec![
            Panel::figure(
                ID,
                trajectories(data)?,
                ("Paths of the particles", paths),
                source,
            ),
            Panel::figure(ID, moments(data)?, ("Error of the moments", errors), source),
        ])
    }
}

fn trajectories(data: &Measured) -> Result<figure::Figure, SurveyError> {
    let plane = Plane {
        x: -2.2..2.2,
        y: -1.6..2.8,
        density: &density(),
        marked: &MARKED.map(|step| match step {
            0 => (0, "start".to_owned()),
            _ => (step, format!("step {step}")),
        }),
    };
    let panels: Vec<Paths> = data.methods.iter().map(of_paths).collect();
    Ok(draw_paths("paths.svg".to_owned(), &plane, &panels, &PATHS)?)
}

fn of_paths(moved: &Moved) -> Paths {
    let place = |[x, y]: &[i32; 2]| (f64::from(*x) / 1e3, f64::from(*y) / 1e3);
    let paths = moved.paths.iter();
    Paths {
        title: moved.method.clone(),
        particles: paths.map(|path| path.iter().map(place).collect()).collect(),
    }
}

/// The density over the largest of it on a grid.
fn density() -> impl Fn(f64, f64) -> f64 {
    let value = |x: f64, y: f64| DoubleBanana.evaluate(x, y).0;
    let ((left, right), (low, high)) = measured::WIDE;
    let at = |(low, high): (f64, f64), k: i32| low + (high - low) * f64::from(k) / 200.0;
    let grid = (0..=200).flat_map(|i| (0..=200).map(move |j| (i, j)));
    let top = grid.fold(f64::NEG_INFINITY, |top, (i, j)| {
        top.max(value(at((left, right), i), at((low, high), j)))
    });
    move |x, y| (value(x, y) - top).exp()
}

fn moments(data: &Measured) -> Result<figure::Figure, SurveyError> {
    type Of = fn(&Errors) -> f64;
    type By = fn(&At) -> f64;
    let errors: [(&'static str, Of); 2] = [
        ("error of the mean, standard deviations", |errors| {
            errors.mean
        }),
        ("error of the covariance", |errors| errors.covariance),
    ];
    let places: [(&'static str, &'static str, By); 2] = [
        ("step", "by step", |at| at.step as f64),
        ("milliseconds", "by time", |at| at.ms),
    ];
    let mut panels = Vec::new();
    for (up, error) in errors {
        for (across, title, place) in places {
            let what = up.split(',').next().unwrap_or(up);
            let panel = figure::Panel {
                title: format!("{what} {title}"),
                x: Axis::Decades(across),
                y: None,
                lines: lines(data, error, place),
            };
            panels.push((panel, Axis::Decades(up)));
        }
    }
    Ok(draw_lines_up("moments.svg".to_owned(), &panels, &ERRORS)?)
}

fn lines(data: &Measured, error: fn(&Errors) -> f64, place: fn(&At) -> f64) -> Vec<Line> {
    let own = [Method::Svgd, Method::NewtonEnsemble, Method::Svn];
    let mut lines: Vec<Line> = data
        .methods
        .iter()
        .zip(colours(&own))
        .map(|(moved, colour)| Line {
            label: moved.method.clone(),
            colour,
            points: curve(moved, error, place),
        })
        .collect();
    let ends = lines
        .iter()
        .flat_map(|line| &line.points)
        .map(|(place, _)| *place);
    let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), place| {
        (low.min(place), high.max(place))
    });
    let level = Estimate::of(&[error(&data.draws).log10()]);
    lines.push(Line {
        label: format!("{} independent draws", data.particles),
        colour: LEVEL,
        points: [low, high]
            .into_iter()
            .filter_map(|place| Some((place, level?)))
            .collect(),
    });
    lines
}

/// Logarithms to base ten of place and error, means over starts.
fn curve(moved: &Moved, error: fn(&Errors) -> f64, place: fn(&At) -> f64) -> Vec<(f64, Estimate)> {
    let steps = moved.runs.iter().map(Vec::len).min().unwrap_or(0);
    let of = |step: usize| {
        let all = |of: &dyn Fn(&At) -> f64| -> Vec<f64> {
            moved
                .runs
                .iter()
                .map(|run| of(&run[step]).log10())
                .collect()
        };
        let places = Estimate::of(&all(&place))?;
        Some((places.mean, Estimate::of(&all(&|at| error(&at.errors)))?))
    };
    (0..steps).filter_map(of).collect()
}

/// After how many steps and milliseconds the covariance is as good as that of independent draws.
fn soonest(data: &Measured) -> String {
    let level = data.draws.covariance.log10();
    let told = data.methods.iter().map(|moved| {
        let steps = curve(moved, |errors| errors.covariance, |at| at.step as f64);
        let times = curve(moved, |errors| errors.covariance, |at| at.ms);
        let first = steps
            .iter()
            .zip(&times)
            .find(|((_, error), _)| error.mean <= level);
        match first {
            Some(((step, _), (ms, _))) => format!(
                "{} after {:.0} steps ({:.1} ms)",
                moved.method,
                10f64.powf(*step),
                10f64.powf(*ms)
            ),
            None => format!("{} never", moved.method),
        }
    });
    let told: Vec<String> = told.collect();
    format!(
        "As good a covariance as independent draws have: {}.",
        told.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::Body;

    const PLAN: Plan = Plan {
        paths: (4, 20),
        particles: 20,
        starts: 2,
        steps: &[1, 5, 20],
    };

    #[test]
    fn figures_are_drawn_from_the_file_alone() {
        let found = measured(&PLAN, 0).unwrap();
        let text = serde_json::to_string(&found).unwrap();
        let back: Measured = serde_json::from_str(&text).unwrap();
        assert_eq!(back, found);
        let panels = Trajectories::panels(&back, &Source::default()).unwrap();
        let figures: Vec<&str> = panels
            .iter()
            .filter_map(|panel| match &panel.body {
                Body::Figure { svg, .. } => Some(svg.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(figures[0].matches("<image").count(), 3);
        for words in ["SVGD", "Newton ensemble", "SVN", "step 20", "start"] {
            assert!(figures[0].contains(words), "{words}");
        }
        for words in [
            "20 independent draws",
            "milliseconds",
            "error of the covariance by step",
        ] {
            assert!(figures[1].contains(words), "{words}");
        }
    }

    #[test]
    fn all_methods_start_from_one_place() {
        let found = measured(&PLAN, 0).unwrap();
        let starts: Vec<Vec<[i32; 2]>> = found
            .methods
            .iter()
            .map(|moved| moved.paths.iter().map(|path| path[0]).collect())
            .collect();
        assert!(starts.windows(2).all(|pair| pair[0] == pair[1]));
        assert!(found.methods.iter().all(|moved| moved.paths[0].len() == 21));
    }
}
