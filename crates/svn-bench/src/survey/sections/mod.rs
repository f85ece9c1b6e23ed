//! The sections of the page, in the order of the paper.

mod ablation;
mod hessian;
mod images;
mod mimic;
mod pivot;
mod plane;
mod step;
mod toy;
mod uci;

use super::sources::Found;
use super::{Panel, Run, Section, Sources, SurveyError};
use crate::report::Page;

/// The studies whose records the page shows.
pub const RUNS: [&Run; 5] = [
    &toy::RUN,
    &uci::RUN,
    &ablation::RUN,
    &images::RUN,
    &mimic::RUN,
];

/// All sections; what has no records says which command makes them.
///
/// # Errors
/// [`SurveyError`] for records that cannot be read and figures that cannot be drawn.
pub fn sections(sources: &Sources) -> Result<Vec<Section>, SurveyError> {
    Ok(vec![
        plane::section(sources)?,
        toy::section(sources)?,
        uci::section(sources)?,
        hessian::section(sources)?,
        ablation::section(sources)?,
        images::section(sources)?,
        mimic::section(sources)?,
        step::section(sources)?,
    ])
}

/// The panels of a study by its records, or the one that says how to get them.
fn studied<P: Page>(
    sources: &Sources,
    run: &Run,
    panels: impl FnOnce(&Found<P>) -> Result<Vec<Panel>, SurveyError>,
) -> Result<Vec<Panel>, SurveyError> {
    match sources.records::<P>(run)? {
        Some(found) => panels(&found),
        None => {
            let command = format!("cargo xtask {}", run.whole);
            Ok(vec![Panel::missing(P::TITLE, &command)])
        }
    }
}
