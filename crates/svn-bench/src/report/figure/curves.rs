//! Validation NLL by epoch and by seconds of training, mean over runs, a line a result.

use std::collections::BTreeMap;

use super::{Axis, Family, Figure, Line, Page, Panel, RecordOf, ReportError, Sheet};
use super::{axis, colours, draw_lines};
use crate::metrics::Estimate;

const SHEET: Sheet = Sheet {
    columns: 1,
    size: (640, 400),
};

/// What the NLL is drawn against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Epochs.
    Epochs,
    /// Seconds of training, logarithmic.
    Seconds,
}

impl By {
    /// Beginning of the names of figures.
    pub fn name(self) -> &'static str {
        match self {
            Self::Epochs => "curve",
            Self::Seconds => "time",
        }
    }

    fn axis(self) -> Axis {
        match self {
            Self::Epochs => Axis::Whole("epoch"),
            Self::Seconds => Axis::Decades("seconds of training"),
        }
    }

    /// Where an epoch of a record is, before logarithms.
    fn place<P: Page>(self, record: &RecordOf<P>, epoch: usize) -> Option<f64> {
        match self {
            Self::Epochs => Some(epoch as f64),
            // A microsecond at least: the axis has logarithms.
            Self::Seconds => Some(record.timing.until(epoch)?.max(1e-6)),
        }
    }
}

/// `curve-NAME.svg` and `time-NAME.svg`, those that have points.
pub(super) fn draw<P: Page>(
    family: &Family<'_, P>,
    records: &[RecordOf<P>],
) -> Result<Vec<Figure>, ReportError> {
    let of = |by: By| {
        let mut panel = curve(family, records, by, usize::MAX)?;
        let what = if by == By::Epochs { "epoch" } else { "time" };
        panel.title = format!("{}: validation NLL by {what}", family.name);
        Some(draw_lines(
            format!("{}-{}.svg", by.name(), family.name),
            &[panel],
            &SHEET,
        ))
    };
    [By::Epochs, By::Seconds]
        .into_iter()
        .filter_map(of)
        .collect()
}

/// The first epochs of all results of a design: means over runs ± standard error. None where nothing is known of them.
pub fn curve<P: Page>(
    family: &Family<'_, P>,
    records: &[RecordOf<P>],
    by: By,
    first: usize,
) -> Option<Panel> {
    let methods: Vec<_> = family.rows.iter().map(|row| row.method).collect();
    let rows = family.rows.iter().zip(colours(&methods));
    let lines = rows.map(|(row, colour)| {
        let own = records.iter().filter(|record| record.config == row.config);
        Line {
            label: row.label.clone(),
            colour,
            points: mean_curve::<P>(own, by, first),
        }
    });
    let lines: Vec<Line> = lines.filter(|line| !line.points.is_empty()).collect();
    let values = lines.iter().flat_map(|line| &line.points);
    let y = axis::visible(values.map(|(_, nll)| nll.mean).collect());
    (!lines.is_empty()).then(|| Panel {
        title: family.name.clone(),
        x: by.axis(),
        y: Some(y),
        lines,
    })
}

/// Epoch by epoch, means of place and NLL over the runs that still run and have both.
fn mean_curve<'a, P: Page>(
    records: impl Iterator<Item = &'a RecordOf<P>>,
    by: By,
    first: usize,
) -> Vec<(f64, Estimate)>
where
    P::Design: 'a,
    P::Extra: 'a,
{
    let mut epochs: BTreeMap<usize, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for record in records {
        for point in record.curve.iter().filter(|point| point.epoch <= first) {
            let place = by.place::<P>(record, point.epoch);
            if let (Some(nll), Some(place)) = (point.validation_nll, place) {
                let (places, nlls) = epochs.entry(point.epoch).or_default();
                places.push(place);
                nlls.push(nll);
            }
        }
    }
    let means = epochs.into_values().filter_map(|(places, nlls)| {
        let place = Estimate::of(&places)?.mean;
        let place = if by == By::Seconds {
            place.log10()
        } else {
            place
        };
        Some((place, Estimate::of(&nlls)?))
    });
    means.collect()
}
