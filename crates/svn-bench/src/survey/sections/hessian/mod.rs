//! How the curvature of each particle changes while a small network is trained.

mod kept;
mod measured;

use ndarray::{Array2, s};
use plotters::prelude::{BLACK, RGBColor};

use super::super::exhibit::{Exhibit, shown};
use super::super::{Panel, Section, Source, Sources, SurveyError};
use crate::data::{Dataset, Manifest, SearchPath, load_named};
use crate::metrics::Estimate;
use crate::report::figure::{
    self, Axis, Heat, Line, Sheet, SymmetricLog, draw_heat, draw_lines_up,
};
use measured::{Matrices, Measured, Plan, Size, mean, measured};

const ID: &str = "hessian";

/// Up to here the colours are about linear.
const LINEAR: f64 = 1.0;

/// Of the single particles.
const GREY: RGBColor = RGBColor(150, 150, 150);

const SHEET: Sheet = Sheet {
    columns: 3,
    size: (400, 300),
};

pub(super) fn section(sources: &Sources) -> Result<Section, SurveyError> {
    Ok(Section {
        id: ID,
        title: "Evolution of the Hessian",
        intro: "How does the curvature of each particle change while it is trained, and how alike are the particles? A network 6-10-1 (tanh, 81 \
                parameters) on all rows of yacht, five particles, SVN with a step size of 1e-2 and batches of 16. Shown is the Gauss-Newton matrix of each \
                particle over all rows, the prior's precision included, and the mean of the five.",
        panels: shown::<Hessian>(sources)?,
    })
}

/// Curvature of a small network over its training.
struct Hessian;

impl Exhibit for Hessian {
    const NAME: &'static str = ID;
    const TITLE: &'static str = "Evolution of the Hessian";
    const SEED: u64 = 0;
    type Data = Measured;

    fn made(sources: &Sources) -> Result<Measured, SurveyError> {
        let plan = match sources.quick {
            false => Plan {
                epochs: 100,
                shown: &[1, 20, 40, 60, 80, 100],
            },
            true => Plan {
                epochs: 20,
                shown: &[1, 10, 20],
            },
        };
        let data = yacht(&SearchPath::standard(None))?;
        measured(&data, plan, Self::SEED)
    }

    fn panels(data: &Measured, source: &Source) -> Result<Vec<Panel>, SurveyError> {
        let maps = (
            "Gauss-Newton matrices by epoch",
            format!(
                "Rows and columns are the parameters in their order, thin lines part weights and biases of both layers. One symmetric logarithmic scale \
                 for all: about linear up to {LINEAR}, logarithmic beyond. {}",
                alike(data)
            ),
        );
        let sizes = (
            "Size of the curvature by epoch",
            format!(
                "Grey: single particles; black: the mean of their matrices. The effective number of parameters is tr C (C + δI)⁻¹ with C = H − δI and the \
                 prior's precision δ = {}. {}",
                data.prior_precision,
                grown(data)
            ),
        );
        Ok(vec![
            Panel::figure(ID, heat(data)?, (maps.0, maps.1), source),
            Panel::figure(ID, lines(data)?, (sizes.0, sizes.1), source),
        ])
    }
}

/// The rows that the network is trained on.
fn yacht(path: &SearchPath) -> Result<Dataset, SurveyError> {
    Ok(load_named("yacht", &Manifest::embedded()?, path)?)
}

/// The matrices of the particles, and their mean behind them.
fn with_mean(of: &Matrices) -> Vec<Array2<f64>> {
    let mut matrices: Vec<_> = of.particles.iter().map(|kept| kept.matrix()).collect();
    matrices.push(mean(&matrices));
    matrices
}

fn heat(data: &Measured) -> Result<figure::Figure, SurveyError> {
    let matrices: Vec<_> = data.matrices.iter().map(with_mean).collect();
    let entries = matrices.iter().flatten().flatten();
    let most = entries.fold(LINEAR, |most, entry| most.max(entry.abs()));
    let particles = data.matrices.first().map_or(0, |of| of.particles.len());
    let columns = (1..=particles).map(|p| format!("particle {p}"));
    let rows = data.matrices.iter().zip(&matrices).map(|(of, matrices)| {
        let views = matrices.iter().map(|matrix| matrix.view()).collect();
        (format!("epoch {}", of.epoch), views)
    });
    let heat = Heat {
        columns: columns.chain(["mean".to_owned()]).collect(),
        rows: rows.collect(),
        parts: parts(data),
        axis: "parameter",
        unit: "entry of H, nats per squared unit of a weight",
        scale: SymmetricLog {
            linear: LINEAR,
            most,
        },
        pixels: 2,
    };
    Ok(draw_heat("maps.svg".to_owned(), &heat)?)
}

/// Blocks of parameters; those wide enough for words have their names.
fn parts(data: &Measured) -> Vec<(String, std::ops::Range<usize>)> {
    let (blocks, dim) = (data.layout.blocks(), data.layout.dim());
    let names = ["weights of layer 1", "b₁", "W₂", ""];
    let named = blocks
        .iter()
        .zip(names.iter().map(|name| (*name).to_owned()));
    let named = named.map(|(block, name)| (name, block.range()));
    named.filter(|(_, range)| range.end <= dim).collect()
}

fn lines(data: &Measured) -> Result<figure::Figure, SurveyError> {
    let panel = |title: &str, up: Axis, of: &dyn Fn(&Size) -> f64| {
        let place = |size: &Size| match up {
            Axis::Decades(_) => of(size).log10(),
            _ => of(size),
        };
        let line = |label: &str, colour, sizes: Vec<(usize, &Size)>| {
            let points = sizes
                .into_iter()
                .filter_map(|(epoch, size)| Some((epoch as f64, Estimate::of(&[place(size)])?)));
            Line {
                label: label.to_owned(),
                colour,
                points: points.collect(),
            }
        };
        let particles = data.sizes.first().map_or(0, |sizes| sizes.particles.len());
        let mut lines: Vec<Line> = (0..particles)
            .map(|p| {
                let own = data.sizes.iter();
                line(
                    "",
                    GREY,
                    own.map(|at| (at.epoch, &at.particles[p])).collect(),
                )
            })
            .collect();
        let mean = data.sizes.iter().map(|at| (at.epoch, &at.mean)).collect();
        lines.push(line("mean matrix", BLACK, mean));
        let panel = figure::Panel {
            title: title.to_owned(),
            x: Axis::Whole("epoch"),
            y: None,
            lines,
        };
        (panel, up)
    };
    let nats = "nats per squared unit of a weight";
    let panels = [
        panel("trace", Axis::Decades(nats), &|size| size.trace),
        panel("largest eigenvalue", Axis::Decades(nats), &|size| {
            size.largest
        }),
        panel(
            "effective parameters, of 81",
            Axis::Numbers("parameters"),
            &|size| size.effective,
        ),
    ];
    Ok(draw_lines_up("sizes.svg".to_owned(), &panels, &SHEET)?)
}

/// The share of the trace in the last layer, the prior left out, and how alike the particles are, of the first and last shown.
fn alike(data: &Measured) -> String {
    let (Some(first), Some(last)) = (data.matrices.first(), data.matrices.last()) else {
        return String::new();
    };
    let [early, late] = [first, last].map(|of| {
        let mut matrices = with_mean(of);
        let mean = matrices.pop().unwrap_or_default();
        (last_share(&mean, data), cosine(&matrices))
    });
    format!(
        "The last layer has {:.0} % of the mean matrix' trace (prior left out) after epoch {} and {:.0} % after epoch {}; the cosine between the matrices of \
         two particles is {:.2} and {:.2} on average.",
        100.0 * early.0,
        first.epoch,
        100.0 * late.0,
        last.epoch,
        early.1,
        late.1,
    )
}

/// The share of the last layer's weights and bias in the trace of `H − δI`.
fn last_share(h: &Array2<f64>, data: &Measured) -> f64 {
    let blocks = data.layout.blocks();
    let from = blocks
        .get(blocks.len().saturating_sub(2))
        .map_or(0, |block| block.offset());
    let diagonal = h.diag().mapv(|entry| entry - data.prior_precision);
    diagonal.slice(s![from..]).sum() / diagonal.sum()
}

/// Mean of `⟨A, B⟩ / (|A| |B|)` (Frobenius) over pairs.
fn cosine(matrices: &[Array2<f64>]) -> f64 {
    let inner = |a: &Array2<f64>, b: &Array2<f64>| (a * b).sum();
    let mut cosines = Vec::new();
    for (p, a) in matrices.iter().enumerate() {
        for b in &matrices[..p] {
            cosines.push(inner(a, b) / (inner(a, a) * inner(b, b)).sqrt());
        }
    }
    Estimate::of(&cosines).map_or(f64::NAN, |cosine| cosine.mean)
}

/// How much the mean matrix and what it determines have grown.
fn grown(data: &Measured) -> String {
    match (data.sizes.first(), data.sizes.last()) {
        (Some(first), Some(last)) => {
            let effective: Vec<f64> = last.particles.iter().map(|size| size.effective).collect();
            format!(
                "From the start to epoch {} the variance of the noise falls from {:.2} to {:.2e} (standardised target), and the trace of the mean matrix \
                 grows {:.0}-fold; at the end {:.0} of {} parameters are determined by the mean matrix, {:.0} by that of one particle on average.",
                last.epoch,
                first.noise,
                last.noise,
                last.mean.trace / first.mean.trace,
                last.mean.effective,
                data.layout.dim(),
                Estimate::of(&effective).map_or(f64::NAN, |effective| effective.mean),
            )
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use ndarray::{Array1, Array2};

    use super::*;
    use crate::data::{LoadReport, Task};
    use crate::survey::Body;

    fn data() -> Dataset {
        Dataset {
            name: "made".to_owned(),
            task: Task::Regression,
            x: Array2::from_shape_fn((40, 6), |(i, j)| ((i * 6 + j) as f64 * 0.7).sin()),
            y: Array1::from_shape_fn(40, |i| (i as f64 * 0.3).cos()),
            features: (0..6).map(|j| j.to_string()).collect(),
            target: "y".to_owned(),
            labels: None,
            path: PathBuf::new(),
            sha256: String::new(),
            report: LoadReport::default(),
        }
    }

    const PLAN: Plan = Plan {
        epochs: 3,
        shown: &[1, 3],
    };

    #[test]
    fn figures_are_drawn_from_the_file_alone() {
        let text = serde_json::to_string(&measured(&data(), PLAN, 0).unwrap()).unwrap();
        let back: Measured = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&back).unwrap(), text);
        // Ten matrices of 81 · 82 / 2 entries: at most a dozen bytes each.
        assert!(text.len() < 10 * 3321 * 12, "{}", text.len());
        let panels = Hessian::panels(&back, &Source::default()).unwrap();
        let svg = |panel: &Panel| match &panel.body {
            Body::Figure { svg, .. } => svg.clone(),
            _ => String::new(),
        };
        // Five particles and their mean, twice, and the bar.
        let maps = svg(&panels[0]);
        assert_eq!(maps.matches("<image").count(), 13);
        for words in [
            "particle 5",
            "mean",
            "epoch 1",
            "epoch 3",
            "weights of layer 1",
        ] {
            assert!(maps.contains(words), "{words}");
        }
        assert!(svg(&panels[1]).contains("mean matrix"));
        assert!(
            panels[0].says.contains("after epoch 3"),
            "{}",
            panels[0].says
        );
    }

    #[test]
    fn a_missing_set_is_an_error_that_says_how_to_get_it() {
        let error = yacht(&SearchPath::default()).unwrap_err().to_string();
        assert!(
            error.contains("yacht") && error.contains("cargo xtask fetch"),
            "{error}"
        );
    }

    #[test]
    fn the_first_epochs_do_not_hang_on_how_many_follow() {
        let longer = Plan { epochs: 4, ..PLAN };
        let of = |plan| {
            measured(&data(), plan, 0)
                .unwrap()
                .matrices
                .remove(1)
                .particles
        };
        assert_eq!(of(PLAN), of(longer));
    }

    #[test]
    fn shares_and_cosines_are_those_of_known_matrices() {
        let mut found = measured(
            &data(),
            Plan {
                epochs: 1,
                shown: &[1],
            },
            0,
        )
        .unwrap();
        found.prior_precision = 2.0;
        let mut h = Array2::from_diag_elem(81, 2.0);
        h[(0, 0)] += 3.0;
        h[(80, 80)] += 1.0;
        assert!((last_share(&h, &found) - 0.25).abs() < 1e-12);
        let (a, b) = (Array2::eye(2), Array2::from_elem((2, 2), 1.0));
        // ⟨I, 1⟩ = 2, |I| = √2, |1| = 2.
        assert!((cosine(&[a, b]) - 0.5f64.sqrt()).abs() < 1e-12);
    }
}
