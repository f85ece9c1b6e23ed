//! Step control on an ill-conditioned curved valley: distance to the mode against steps, as a table, and as an SVG if a file is named.
//!
//! ```text
//! log π(x, y) = −½ (x − 1)² − ½ 1000 (y − x²)²       curvature at the mode: condition number 2.5e4
//! cargo run -p svn-stein --example convergence [FILE.svg]
//! ```
//!
//! One particle, so that all methods climb to the same mode and only damping, trust region and curvature differ.

#[path = "../tests/stein/common/planar.rs"]
mod planar;

use ndarray::array;
use planar::{Planar, Target};
use plotters::prelude::*;
use svn_stein::{
    Damping, FirstOrder, Flow, Info, Method, Newton, Rate, Sampler, State, SteinError, Stop, run,
};

const STEPS: u64 = 60;
/// Drops below this are rounding.
const FLOOR: f64 = 1e-16;

struct Valley;

impl Planar for Valley {
    fn evaluate(&self, x: f64, y: f64) -> (f64, [f64; 2], [[f64; 2]; 2]) {
        const STEEP: f64 = 1000.0;
        let (a, b) = (x - 1.0, y - x * x);
        let curvature = [
            [1.0 + 4.0 * STEEP * x * x, -2.0 * STEEP * x],
            [-2.0 * STEEP * x, STEEP],
        ];
        (
            -0.5 * (a * a + STEEP * b * b),
            [-a + 2.0 * STEEP * x * b, -STEEP * b],
            curvature,
        )
    }
}

fn methods() -> Vec<(&'static str, Method)> {
    let newton = |damping, trust_region| {
        Method::Svn(Newton {
            rate: Rate::constant(1.0),
            damping,
            trust_region,
            ridge: 0.0,
            ..Newton::plain()
        })
    };
    vec![
        (
            "Adam, rate 0.1",
            Method::Ensemble {
                step: FirstOrder::adam(0.1),
            },
        ),
        ("Newton, undamped", newton(Damping::Constant(0.0), None)),
        ("Newton, damping 10", newton(Damping::Constant(10.0), None)),
        (
            "Newton, adaptive damping",
            newton(
                Damping::Adaptive {
                    initial: 10.0,
                    min: 1e-8,
                    max: 1e8,
                },
                None,
            ),
        ),
        (
            "Newton, trust region of 1 nat",
            newton(Damping::Constant(0.0), Some(1.0)),
        ),
    ]
}

/// `log π(mode) − log π(φ)` before each step; the mode has log density zero.
fn gaps(method: Method) -> Result<Vec<f64>, SteinError> {
    let mut sampler = Sampler::new(method)?;
    let mut state = sampler.init(array![[-1.5, 1.5]], 0)?;
    let mut gaps = Vec::new();
    let mut observe = |_: &mut State, info: &Info| {
        gaps.push(-info.mean_log_density);
        Ok(Flow::Continue)
    };
    run(
        &mut sampler,
        &mut state,
        &mut Target::new(Valley),
        Stop::after(STEPS),
        &mut [&mut observe],
    )?;
    Ok(gaps)
}

fn main() -> anyhow::Result<()> {
    let mut svg = String::new();
    draw(&mut svg)?;
    if let Some(path) = std::env::args().nth(1) {
        std::fs::write(&path, svg)?;
        println!("\nwrote {path}");
    }
    Ok(())
}

/// Runs all methods, prints the table and draws the figure.
fn draw(svg: &mut String) -> anyhow::Result<()> {
    let area = SVGBackend::with_string(svg, (760, 420)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(64)
        .build_cartesian_2d(0u64..STEPS, (FLOOR..1e4).log_scale())?;
    chart
        .configure_mesh()
        .x_desc("step")
        .y_desc("nats below the mode")
        .y_label_formatter(&|v| format!("{v:.0e}"))
        .draw()?;
    println!(
        "| method | nats below the mode after 5 | 10 | 20 | {} steps |\n|---|---|---|---|---|",
        STEPS - 1
    );
    for (index, (name, method)) in methods().into_iter().enumerate() {
        let gaps = gaps(method)?;
        let at = |step: usize| format!("{:.1e}", gaps[step].max(0.0));
        println!(
            "| {name} | {} | {} | {} | {} |",
            at(5),
            at(10),
            at(20),
            at(gaps.len() - 1)
        );
        let color = Palette99::pick(index).to_rgba();
        let points = gaps
            .iter()
            .enumerate()
            .map(|(step, gap)| (step as u64, gap.max(FLOOR)));
        chart
            .draw_series(LineSeries::new(points, color.stroke_width(2)))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK.mix(0.3))
        .draw()?;
    area.present()?;
    Ok(())
}
