//! Every figure and study of the paper on one page, each with the command, seeds, commit and file that it is from.
//!
//! ```text
//! Sources    records of studies, measurements that were kept          sources.rs
//! Exhibit    what no study measures: made, kept, drawn                exhibit.rs
//! Section    panels on one subject                                    panel.rs, sections/
//! write      report.html, report.md and the figures                   page.rs, markdown.rs
//! ```

mod error;
mod exhibit;
mod markdown;
mod page;
mod panel;
mod sections;
mod sources;

pub use error::SurveyError;
pub use panel::{Body, Panel, Section, Source};
pub use sections::{RUNS, sections};
pub use sources::{Run, Sources};

use std::path::PathBuf;

use crate::engine::write_atomically;

/// Write `report.html`, `report.md` and `figures/` into the folder of the page, and say where the page is.
///
/// # Errors
/// [`SurveyError`].
pub fn write(sources: &Sources, sections: &[Section]) -> Result<PathBuf, SurveyError> {
    let figures = sources.out.join("figures");
    std::fs::create_dir_all(&figures).map_err(|source| SurveyError::Io {
        path: figures.clone(),
        source,
    })?;
    for panel in sections.iter().flat_map(|section| &section.panels) {
        if let Body::Figure { name, svg } = &panel.body {
            write_atomically(&figures.join(name), svg.as_bytes())?;
        }
    }
    let text = markdown::markdown(sources, sections);
    write_atomically(&sources.out.join("report.md"), text.as_bytes())?;
    let page = sources.out.join("report.html");
    write_atomically(&page, page::page(sources, sections).as_bytes())?;
    Ok(page)
}
