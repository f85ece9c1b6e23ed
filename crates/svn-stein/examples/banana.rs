//! SVGD and SVN on the double banana: particles over contours after 10, 50 and 100 steps, as one SVG if a file is named.
//!
//! ```text
//! cargo run -p svn-stein --example banana [FILE.svg]
//! ```

#[path = "../tests/stein/common/planar.rs"]
mod planar;

use std::fmt::Write as _;

use anyhow::Context as _;
use ndarray::{Array2, ArrayView2};
use planar::{DoubleBanana, Planar, Target};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use svn_stein::{
    Bandwidth, Coupling, Damping, FirstOrder, KernelSettings, Lift, Method, Metric, Newton,
    Sampler, Stop, run,
};

const PANEL: f64 = 260.0;
const MARGIN: f64 = 34.0;
const X: (f64, f64) = (-2.2, 2.2);
const Y: (f64, f64) = (-1.6, 2.8);

fn main() -> anyhow::Result<()> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let start = Array2::from_shape_simple_fn((60, 2), || StandardNormal.sample(&mut rng));
    let svgd = Method::Svgd {
        kernel: KernelSettings::default(),
        step: FirstOrder::adam(0.05),
    };
    let svn = Method::Svn(Newton {
        kernel: KernelSettings {
            metric: Metric::Curvature,
            bandwidth: Bandwidth::Dimension,
            ..KernelSettings::default()
        },
        coupling: Coupling::BlockDiagonal,
        lift: Lift::Particle,
        damping: Damping::Constant(3.0),
        ..Newton::plain()
    });
    let contours = contours(&[0.5, 2.0, 5.0]);
    let mut panels = String::new();
    for (row, (name, method)) in [("SVGD (Adam)", svgd), ("SVN", svn)]
        .into_iter()
        .enumerate()
    {
        let mut sampler = Sampler::new(method)?;
        let mut state = sampler.init(start.clone(), 0)?;
        let mut target = Target::new(DoubleBanana);
        for (column, steps) in [10, 50, 100].into_iter().enumerate() {
            run(
                &mut sampler,
                &mut state,
                &mut target,
                Stop::after(steps),
                &mut [],
            )?;
            let (left, top) = (
                column as f64 * (PANEL + MARGIN) + MARGIN,
                row as f64 * (PANEL + MARGIN) + MARGIN,
            );
            let particles = state.particles();
            let densities = particles.rows().into_iter();
            let densities = densities.map(|row| DoubleBanana.evaluate(row[0], row[1]).0);
            let mean = densities.sum::<f64>() / particles.nrows() as f64;
            println!("{name}, {steps} steps: mean log density {mean:.2}");
            panel(
                &mut panels,
                &format!("{name}, {steps} steps"),
                left,
                top,
                state.particles(),
            )?;
        }
    }
    let (width, height) = (
        3.0 * (PANEL + MARGIN) + MARGIN,
        2.0 * (PANEL + MARGIN) + MARGIN,
    );
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<defs><path id=\"contours\" \
         d=\"{contours}\"/></defs>\n{panels}</svg>\n"
    );
    if let Some(path) = std::env::args().nth(1) {
        std::fs::write(&path, svg).with_context(|| format!("cannot write {path}"))?;
        println!("wrote {path}");
    }
    Ok(())
}

fn place(x: f64, y: f64) -> (f64, f64) {
    (
        PANEL * (x - X.0) / (X.1 - X.0),
        PANEL * (Y.1 - y) / (Y.1 - Y.0),
    )
}

fn panel(
    out: &mut String,
    title: &str,
    left: f64,
    top: f64,
    particles: ArrayView2<'_, f64>,
) -> std::fmt::Result {
    writeln!(out, "<g transform=\"translate({left},{top})\">")?;
    writeln!(
        out,
        "<rect width=\"{PANEL}\" height=\"{PANEL}\" fill=\"none\" stroke=\"#999\"/>"
    )?;
    writeln!(out, "<text x=\"0\" y=\"-8\">{title}</text>")?;
    writeln!(
        out,
        "<use href=\"#contours\" fill=\"none\" stroke=\"#7a9cc6\" stroke-width=\"0.8\"/>"
    )?;
    for row in particles.rows() {
        let (x, y) = place(row[0], row[1]);
        if (0.0..=PANEL).contains(&x) && (0.0..=PANEL).contains(&y) {
            writeln!(
                out,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.6\" fill=\"#c0392b\"/>"
            )?;
        }
    }
    writeln!(out, "</g>")
}

/// Lines of equal log density at these depths below the maximum, by marching squares.
fn contours(depths: &[f64]) -> String {
    const CELLS: usize = 100;
    let x = |i: usize| X.0 + (X.1 - X.0) * i as f64 / CELLS as f64;
    let y = |j: usize| Y.0 + (Y.1 - Y.0) * j as f64 / CELLS as f64;
    let value = Array2::from_shape_fn((CELLS + 1, CELLS + 1), |(i, j)| {
        DoubleBanana.evaluate(x(i), y(j)).0
    });
    let top = value.iter().fold(f64::NEG_INFINITY, |m, &v| m.max(v));
    let mut path = String::new();
    for level in depths.iter().map(|depth| top - depth) {
        for i in 0..CELLS {
            for j in 0..CELLS {
                let corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)];
                let mut crossings = Vec::new();
                for k in 0..4 {
                    let (a, b) = (corners[k], corners[(k + 1) % 4]);
                    let (va, vb) = (value[a] - level, value[b] - level);
                    if (va > 0.0) != (vb > 0.0) {
                        let t = va / (va - vb);
                        let (xa, xb, ya, yb) = (x(a.0), x(b.0), y(a.1), y(b.1));
                        crossings.push(place(xa + t * (xb - xa), ya + t * (yb - ya)));
                    }
                }
                for pair in crossings.chunks_exact(2) {
                    let [(x1, y1), (x2, y2)] = [pair[0], pair[1]];
                    path += &format!("M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}");
                }
            }
        }
    }
    path
}
