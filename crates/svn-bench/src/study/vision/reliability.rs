//! A reliability diagram for each method: accuracy by confidence, beside the diagonal of perfect calibration.

use plotters::style::RGBColor;

use super::VisionPage;
use super::figures::looks;
use crate::report::figure::{Area, Family, reliability, sheet};
use crate::report::{Figure, ReportError, Row};

/// A panel a row, at most three beside each other.
pub(super) fn draw(size: &Family<'_, VisionPage>) -> Result<Figure, ReportError> {
    let panels: Vec<_> = looks(&size.rows).collect();
    let name = format!("reliability-{}.svg", size.name);
    let draw = |_, (row, colour): &(&Row<VisionPage>, RGBColor), area: &Area<'_>| {
        let ece = row.metric("ece");
        let ece = ece.map_or_else(String::new, |ece| format!(", ECE {:.3}", ece.mean));
        let title = format!("{}: {}{ece}", row.dataset, row.label);
        reliability(area, &title, &row.extra.reliability, *colour)
    };
    sheet(name, &panels, (3, (300, 320)), draw)
}
