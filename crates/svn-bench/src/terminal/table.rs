//! Tables of text, for the terminal and for Markdown alike.

use comfy_table::presets::{ASCII_MARKDOWN, UTF8_FULL_CONDENSED};
use comfy_table::{CellAlignment, ContentArrangement, Row, Table};

/// A table of text, for the terminal and for Markdown alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    /// What it shows, such as `Regression`.
    pub title: String,
    /// One a column.
    pub header: Vec<String>,
    /// As many cells as the header.
    pub rows: Vec<Vec<String>>,
}

impl Grid {
    /// A table.
    pub fn new(title: impl Into<String>, header: Vec<String>, rows: Vec<Vec<String>>) -> Self {
        Self {
            title: title.into(),
            header,
            rows,
        }
    }

    /// Width on a terminal: each column has a blank on both sides and a line before it, and a line ends the row.
    pub fn width(&self) -> usize {
        let cell = |row: &Vec<String>, column: usize| {
            row.get(column).map_or(0, |cell| cell.chars().count())
        };
        let column = |column| {
            let cells = self.rows.iter().map(|row| cell(row, column));
            cells.max().unwrap_or(0).max(cell(&self.header, column)) + 3
        };
        (0..self.header.len()).map(column).sum::<usize>() + 1
    }

    /// Without the last columns that do not fit, the first `least` apart.
    #[must_use]
    pub fn narrowed(mut self, width: usize, least: usize) -> Self {
        while self.width() > width && self.header.len() > least {
            self.header.pop();
            for row in &mut self.rows {
                row.truncate(self.header.len());
            }
        }
        self
    }
}

/// A grid as Markdown, without its title.
pub(crate) fn markdown_table(grid: &Grid) -> String {
    let escaped = |row: &Vec<String>| -> Vec<String> {
        let cells = row.iter().map(|cell| cell.replace('|', r"\|"));
        cells.collect()
    };
    let mut table = unwrapped(escaped(&grid.header), grid.rows.iter().map(escaped));
    table.load_style(ASCII_MARKDOWN);
    table.to_string() + "\n"
}

fn unwrapped<R: Into<Row>>(header: R, rows: impl Iterator<Item = R>) -> Table {
    let mut table = Table::new();
    table
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header);
    for row in rows {
        table.add_row(row);
    }
    table
}

/// A grid with borders. Numbers to the right; never wrapped, so that lines can be searched.
pub fn render(grid: &Grid) -> String {
    let mut table = unwrapped(&grid.header, grid.rows.iter());
    table.load_style(UTF8_FULL_CONDENSED);
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.to_string()
}

/// A text whose tables may be searched for cells: without the blanks that make columns.
#[cfg(test)]
pub(crate) fn without_padding(text: &str) -> String {
    let words = text.split(' ').filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_in_a_cell_ends_no_cell_of_markdown() {
        let row = |texts: [&str; 2]| texts.map(str::to_owned).to_vec();
        let grid = Grid::new("t", row(["set", "a|b"]), vec![row(["x", "| y"])]);
        assert_eq!(
            markdown_table(&grid),
            "| set | a\\|b |\n|-----|------|\n| x   | \\| y |\n"
        );
    }

    #[test]
    fn width_is_that_of_the_rendered_table_and_the_last_columns_go() {
        let cells = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let rows = vec![
            cells(&["yacht", "–", "-0.360 ± 0.190"]),
            cells(&["a", "1/5", "1.0 ▲"]),
        ];
        let grid = Grid::new("t", cells(&["set", "runs done", "nll"]), rows);
        let rendered = render(&grid);
        assert!(
            rendered
                .lines()
                .all(|line| line.chars().count() == grid.width()),
            "{rendered}"
        );
        assert_eq!(
            grid.width(),
            "│ yacht ┆ runs done ┆ -0.360 ± 0.190 │".chars().count()
        );
        assert_eq!(grid.clone().narrowed(38, 0), grid);
        let narrow = grid.clone().narrowed(37, 0);
        assert_eq!((narrow.header.len(), narrow.rows[0].len()), (2, 2));
        assert_eq!(grid.narrowed(1, 2), narrow);
    }
}
