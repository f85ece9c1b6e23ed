//! Validation NLL by epoch and by seconds of training, mean over runs, a line a result.

use std::collections::BTreeMap;

use plotters::chart::SeriesLabelPosition;

use super::{Axis, Family, Figure, Line, Page, Panel, RecordOf, ReportError, Sheet};
use super::{axis, colours, draw_lines};
use crate::metrics::Estimate;

const SHEET: Sheet = Sheet {
    columns: 1,
    size: (640, 400),
    legend: SeriesLabelPosition::UpperRight,
};

/// `curve-NAME.svg` and `time-NAME.svg`, those that have points.
pub(super) fn draw<P: Page>(
    family: &Family<'_, P>,
    records: &[RecordOf<P>],
) -> Result<Vec<Figure>, ReportError> {
    let epochs = lines(family, records, |_, epoch| Some(epoch as f64));
    let times = lines(family, records, |record, epoch| {
        // A microsecond at least: the axis has logarithms.
        Some(record.timing.until(epoch)?.max(1e-6))
    });
    let times = times.into_iter().map(|mut line| {
        for (place, _) in &mut line.points {
            *place = place.log10();
        }
        line
    });
    let of = |what: &str| format!("{}: validation NLL by {what}", family.name);
    let all = [
        ("curve", of("epoch"), Axis::Whole("epoch"), epochs),
        (
            "time",
            of("time"),
            Axis::Decades("seconds of training"),
            times.collect(),
        ),
    ];
    all.into_iter()
        .filter(|(.., lines)| !lines.is_empty())
        .map(|(kind, title, x, lines)| {
            let values = lines.iter().flat_map(|line| &line.points);
            let panel = Panel {
                title,
                x,
                y: Some(axis::visible(values.map(|(_, nll)| nll.mean).collect())),
                lines,
            };
            draw_lines(format!("{kind}-{}.svg", family.name), &[panel], &SHEET)
        })
        .collect()
}

/// A line a result that has points.
fn lines<P: Page>(
    family: &Family<'_, P>,
    records: &[RecordOf<P>],
    place: impl Fn(&RecordOf<P>, usize) -> Option<f64>,
) -> Vec<Line> {
    let methods: Vec<_> = family.rows.iter().map(|row| row.method).collect();
    let rows = family.rows.iter().zip(colours(&methods));
    let lines = rows.map(|(row, colour)| {
        let own = records.iter().filter(|record| record.config == row.config);
        Line {
            label: row.label.clone(),
            colour,
            points: mean_curve::<P>(own, &place),
        }
    });
    lines.filter(|line| !line.points.is_empty()).collect()
}

/// Epoch by epoch, means of place and NLL over the runs that still run and have both.
fn mean_curve<'a, P: Page>(
    records: impl Iterator<Item = &'a RecordOf<P>>,
    place: &impl Fn(&RecordOf<P>, usize) -> Option<f64>,
) -> Vec<(f64, Estimate)>
where
    P::Design: 'a,
    P::Extra: 'a,
{
    let mut sums: BTreeMap<usize, (f64, f64, usize)> = BTreeMap::new();
    for record in records {
        for point in &record.curve {
            if let (Some(nll), Some(place)) = (point.validation_nll, place(record, point.epoch)) {
                let (places, nlls, count) = sums.entry(point.epoch).or_default();
                *places += place;
                *nlls += nll;
                *count += 1;
            }
        }
    }
    let means = sums.into_values().map(|(places, nlls, n)| {
        let mean = nlls / n as f64;
        (places / n as f64, Estimate { mean, se: None, n })
    });
    means.collect()
}
