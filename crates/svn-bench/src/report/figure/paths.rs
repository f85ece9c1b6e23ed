//! Paths of particles over a density of the plane.

use std::ops::Range;

use plotters::prelude::*;

use super::bitmap::{Bitmap, shade};
use super::marks::mark;
use super::{Area, Drawn, Entry, Figure, PALETTE, ReportError, Sheet, sheet_under};

/// Where all paths are, and the density there, from 0 to 1.
#[expect(missing_debug_implementations, reason = "it holds a closure")]
pub struct Plane<'a> {
    /// Across.
    pub x: Range<f64>,
    /// Upwards.
    pub y: Range<f64>,
    /// The density over its maximum.
    pub density: &'a dyn Fn(f64, f64) -> f64,
    /// Steps at which places are marked, and how they are called.
    pub marked: &'a [(usize, String)],
}

/// One diagram.
#[derive(Debug, Clone)]
pub struct Paths {
    /// Above it.
    pub title: String,
    /// The places of each particle, step by step.
    pub particles: Vec<Vec<(f64, f64)>>,
}

/// A figure of diagrams on one plane.
///
/// # Errors
/// [`ReportError::Figure`].
pub fn draw_paths(
    name: String,
    plane: &Plane<'_>,
    panels: &[Paths],
    form: &Sheet,
) -> Result<Figure, ReportError> {
    let marked = plane.marked.iter().enumerate();
    let entries: Vec<Entry<'_>> = marked
        .map(|(index, (_, name))| Entry {
            label: name,
            colour: PALETTE[index % PALETTE.len()],
            line: false,
        })
        .collect();
    let size = (form.columns, form.size);
    sheet_under(name, &entries, panels, size, |_, panel, area| {
        draw(area, plane, panel)
    })
}

fn draw(area: &Area<'_>, plane: &Plane<'_>, panel: &Paths) -> Drawn {
    let (x, y) = (plane.x.clone(), plane.y.clone());
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, ("sans-serif", 15))
        .margin(8)
        .x_label_area_size(34)
        .y_label_area_size(44)
        .build_cartesian_2d(x.clone(), y.clone())?;
    let inside = chart.plotting_area().strip_coord_spec();
    let (width, height) = inside.dim_in_pixel();
    let along = |range: &Range<f64>, pixel: u32, of: u32| {
        range.start + (range.end - range.start) * (f64::from(pixel) + 0.5) / f64::from(of)
    };
    let colour = |column: u32, row: u32| {
        let place = (
            along(&x, column, width),
            along(&y, height - 1 - row, height),
        );
        shade((plane.density)(place.0, place.1))
    };
    inside.draw(&Bitmap::new((0, 0), (width, height), colour))?;
    chart
        .configure_mesh()
        .disable_mesh()
        .x_labels(6)
        .y_labels(6)
        .x_desc("x")
        .y_desc("y")
        .draw()?;
    for particle in &panel.particles {
        let path = particle.iter().copied();
        chart.draw_series(LineSeries::new(path, BLACK.mix(0.55).stroke_width(1)))?;
    }
    for (index, (step, _)) in plane.marked.iter().enumerate() {
        let colour = PALETTE[index % PALETTE.len()];
        let places = panel.particles.iter().filter_map(|path| path.get(*step));
        let inside = places.filter(|(px, py)| x.contains(px) && y.contains(py));
        chart.draw_series(inside.map(|&place| mark(index, place, colour)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lie_over_their_density_with_a_mark_at_each_step_that_is_named() {
        let plane = Plane {
            x: -1.0..1.0,
            y: -1.0..1.0,
            density: &|x, y| (-x * x - y * y).exp(),
            marked: &[(0, "start".to_owned()), (2, "step 2".to_owned())],
        };
        let panel = |title: &str| Paths {
            title: title.to_owned(),
            particles: vec![vec![(0.0, 0.0), (0.5, 0.5), (0.9, 0.2)]; 3],
        };
        let form = Sheet {
            columns: 2,
            size: (300, 300),
        };
        let panels = [panel("one"), panel("other")];
        let svg = draw_paths("paths.svg".to_owned(), &plane, &panels, &form)
            .unwrap()
            .svg;
        assert_eq!(svg.matches("data:image/png;base64,").count(), 2);
        // Three particles at two steps in two panels, and two marks in the legend.
        assert_eq!(svg.matches("<polygon").count(), 14);
        assert!(svg.contains("step 2") && svg.contains("other"));
    }
}
