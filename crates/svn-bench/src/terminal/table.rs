//! Tables of text, for the terminal and for Markdown alike.

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, ContentArrangement, Table};

/// A table of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    /// What it shows, such as `Regression`.
    pub title: &'static str,
    /// One a column.
    pub header: Vec<String>,
    /// As many cells as the header.
    pub rows: Vec<Vec<String>>,
}

/// A grid with borders. Numbers to the right; never wrapped, so that lines can be searched.
pub fn render(grid: &Grid) -> String {
    let mut table = Table::new();
    table
        .load_style(UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(&grid.header);
    for row in &grid.rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.to_string()
}
