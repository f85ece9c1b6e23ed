//! SVG figures: test NLL by data set and method, validation NLL by epoch.

mod axis;
mod curves;
mod nll;
pub mod vision;

use std::path::{Path, PathBuf};

use plotters::style::RGBColor;

use crate::experiment::Method;
use crate::record::{Record, write_atomically};
use crate::report::{ReportError, Summary};

/// Draw all figures of a report into a folder and give their file names back: `nll.svg` and one
/// `curve-DATASET.svg` for each data set.
///
/// # Errors
/// [`ReportError::Figure`], [`ReportError::Write`].
pub fn figures(
    folder: &Path,
    summary: &Summary,
    records: &[Record],
) -> Result<Vec<String>, ReportError> {
    let mut figures = Vec::new();
    let mut keep = |name: String, svg: Result<String, String>| -> Result<(), ReportError> {
        let path: PathBuf = folder.join(&name);
        let svg = svg.map_err(|message| ReportError::Figure {
            path: path.clone(),
            message,
        })?;
        write_atomically(&path, svg.as_bytes())?;
        figures.push(name);
        Ok(())
    };
    let panels = nll::panels(summary);
    if !panels.is_empty() {
        keep("nll.svg".to_owned(), nll::draw(&panels))?;
    }
    for (dataset, curves) in curves::by_dataset(summary, records) {
        keep(
            format!("curve-{dataset}.svg"),
            curves::draw(&dataset, &curves),
        )?;
    }
    Ok(figures)
}

/// Colours that stay apart for colour-blind readers (Okabe and Ito), in the order of methods.
pub(crate) const PALETTE: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

/// How a result of a data set appears in all its figures.
struct Look {
    config: String,
    label: String,
    colour: RGBColor,
}

/// Each result of a data set: its label is the method, with the configuration where one method has several; a method
/// has one colour in all panels, further configurations of it take the colours that are left.
fn looks(summary: &Summary, dataset: &str) -> Vec<Look> {
    let rows: Vec<_> = summary
        .results
        .iter()
        .filter(|row| row.dataset == dataset)
        .collect();
    let mut left = Method::ALL.len()..;
    let mut seen = Vec::new();
    rows.iter()
        .map(|row| {
            let alone = rows
                .iter()
                .filter(|other| other.method == row.method)
                .count()
                == 1;
            let short: String = row.config.chars().take(6).collect();
            let own = Method::ALL
                .iter()
                .position(|&method| method == row.method && !seen.contains(&method));
            seen.push(row.method);
            let index = own.or_else(|| left.next()).unwrap_or(0);
            Look {
                config: row.config.clone(),
                label: if alone {
                    row.method.to_string()
                } else {
                    format!("{} {short}", row.method)
                },
                colour: PALETTE[index % PALETTE.len()],
            }
        })
        .collect()
}

#[cfg(test)]
#[path = "plot_tests.rs"]
mod tests;
