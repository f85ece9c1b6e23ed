//! Text to a rectangle of named columns: separator and header are found out, blank edges cut, raggedness refused.

use std::path::{Path, PathBuf};

use super::DataError;

/// Whether the first row holds names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HeaderMode {
    /// It does if none of its cells is a number.
    #[default]
    Auto,
    /// It does.
    Present,
    /// It does not; columns are named `column1`, `column2`, …
    Absent,
}

/// A rectangle of trimmed cells.
#[derive(Debug, Clone)]
pub struct Table {
    /// Where it came from, for messages.
    pub path: PathBuf,
    /// Column names, distinct.
    pub columns: Vec<String>,
    /// Cells, row by row; every row has as many as there are columns.
    pub rows: Vec<Vec<String>>,
    /// 1-based line of each row in the file.
    pub lines: Vec<u64>,
}

impl Table {
    /// Cut text into cells.
    ///
    /// The separator is the most frequent of comma, semicolon and tab in the first line, white space if there is none.
    /// Blank lines, and blank rows and columns after the data, are no data.
    ///
    /// # Errors
    /// [`DataError::Ragged`], [`DataError::Empty`], [`DataError::DuplicateColumn`], [`DataError::Csv`].
    pub fn parse(path: &Path, text: &str, header: HeaderMode) -> Result<Self, DataError> {
        let (mut rows, mut lines) = split_cells(path, text)?;
        while rows.last().is_some_and(|row| is_blank(row)) {
            rows.pop();
            lines.pop();
        }
        let Some(first) = rows.first() else {
            return Err(DataError::Empty {
                path: path.to_owned(),
            });
        };
        let named = match header {
            HeaderMode::Auto => {
                first.iter().all(|cell| cell.parse::<f64>().is_err()) && !is_blank(first)
            }
            HeaderMode::Present => true,
            HeaderMode::Absent => false,
        };
        let width = used_width(&rows);
        for (row, &line) in rows.iter_mut().zip(&lines) {
            if row.len() < width {
                return Err(DataError::Ragged {
                    path: path.to_owned(),
                    line,
                    expected: width,
                    found: row.len(),
                });
            }
            if row[width..].iter().any(|cell| !cell.is_empty()) {
                let found = row.len();
                return Err(DataError::Ragged {
                    path: path.to_owned(),
                    line,
                    expected: width,
                    found,
                });
            }
            row.truncate(width);
        }
        let names = if named {
            lines.remove(0);
            rows.remove(0)
        } else {
            vec![String::new(); width]
        };
        if rows.is_empty() {
            return Err(DataError::Empty {
                path: path.to_owned(),
            });
        }
        let columns = name_columns(path, names)?;
        Ok(Self {
            path: path.to_owned(),
            columns,
            rows,
            lines,
        })
    }

    /// Index of a column.
    ///
    /// # Errors
    /// [`DataError::NoColumn`], which lists the columns there are.
    pub fn column(&self, name: &str) -> Result<usize, DataError> {
        self.columns
            .iter()
            .position(|column| column == name)
            .ok_or_else(|| DataError::NoColumn {
                path: self.path.clone(),
                column: name.to_owned(),
                known: self.columns.join(", "),
            })
    }
}

fn is_blank(row: &[String]) -> bool {
    row.iter().all(String::is_empty)
}

/// Columns up to the last one that the first row (a header or data) fills, or that all rows fill.
fn used_width(rows: &[Vec<String>]) -> usize {
    let filled = |row: &Vec<String>| {
        row.iter()
            .rposition(|cell| !cell.is_empty())
            .map_or(0, |last| last + 1)
    };
    let first = rows.first().map_or(0, filled);
    // A header that leaves the last names out still has its data kept: they get generic names.
    let all = rows.iter().skip(1).map(filled).min().unwrap_or(0);
    first.max(all.min(rows.first().map_or(0, Vec::len)))
}

fn name_columns(path: &Path, names: Vec<String>) -> Result<Vec<String>, DataError> {
    let mut columns: Vec<String> = Vec::with_capacity(names.len());
    for (index, name) in names.into_iter().enumerate() {
        let name = if name.is_empty() {
            format!("column{}", index + 1)
        } else {
            name
        };
        if columns.contains(&name) {
            return Err(DataError::DuplicateColumn {
                path: path.to_owned(),
                column: name,
            });
        }
        columns.push(name);
    }
    Ok(columns)
}

type Cells = (Vec<Vec<String>>, Vec<u64>);

fn split_cells(path: &Path, text: &str) -> Result<Cells, DataError> {
    let Some(separator) = separator(text) else {
        return Ok(text
            .lines()
            .zip(1..)
            .filter(|(line, _)| !line.trim().is_empty())
            .map(|(line, number)| (line.split_whitespace().map(unquote).collect(), number))
            .unzip());
    };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let (mut rows, mut lines) = (Vec::new(), Vec::new());
    let mut counter = LineCounter::new(text);
    for record in reader.records() {
        let record = record.map_err(|e| DataError::Csv {
            path: path.to_owned(),
            message: e.to_string(),
        })?;
        let row: Vec<String> = record.iter().map(str::to_owned).collect();
        // A line of nothing but white space is no row; `,,` is one, with missing cells.
        if row.len() == 1 && row[0].is_empty() {
            continue;
        }
        lines.push(counter.line_at(record.position().map_or(0, csv::Position::byte)));
        rows.push(row);
    }
    Ok((rows, lines))
}

/// Line numbers of ascending byte positions. The parser's own count stops short of the blank lines before a record.
struct LineCounter<'a> {
    bytes: &'a [u8],
    position: usize,
    line: u64,
}

impl<'a> LineCounter<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            bytes: text.as_bytes(),
            position: 0,
            line: 1,
        }
    }

    /// Line of the first byte from `byte` on that ends no line.
    fn line_at(&mut self, byte: u64) -> u64 {
        while let Some(&next) = self.bytes.get(self.position) {
            if self.position as u64 >= byte && next != b'\n' && next != b'\r' {
                break;
            }
            self.line += u64::from(next == b'\n');
            self.position += 1;
        }
        self.line
    }
}

fn unquote(cell: &str) -> String {
    cell.strip_prefix('"')
        .and_then(|inner| inner.strip_suffix('"'))
        .unwrap_or(cell)
        .to_owned()
}

/// The most frequent candidate outside quotes in the first line that is not blank.
fn separator(text: &str) -> Option<u8> {
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    let mut counts = [(b',', 0usize), (b';', 0), (b'\t', 0)];
    let mut quoted = false;
    for byte in line.bytes() {
        quoted ^= byte == b'"';
        if let Some(entry) = counts.iter_mut().find(|entry| entry.0 == byte && !quoted) {
            entry.1 += 1;
        }
    }
    let (separator, count) = counts.into_iter().rev().max_by_key(|entry| entry.1)?;
    let one_column = line.split_whitespace().count() == 1;
    (count > 0 || one_column).then_some(if count > 0 { separator } else { b',' })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Table, DataError> {
        Table::parse(Path::new("t.csv"), text, HeaderMode::Auto)
    }

    #[test]
    fn dialects_of_one_table_agree() {
        for text in [
            "a,b\n1,2\n3,4\n",
            "a,b\n1,2\n3,4",
            "a,b\r\n1,2\r\n3,4\r\n",
            "a;b\n1;2\n3;4\n",
            "a\tb\n1\t2\n3\t4\n",
            "\"a\",\"b\"\n\"1\",2\n3,4\n",
            " a , b \n 1 , 2 \n 3 , 4 \n",
            "a b\n 1   2\n 3   4\n",
            "a,b\n\n1,2\n\n3,4\n\n\n",
            "a,b,,\n1,2,,\n3,4,,\n,,,\n,,,\n",
            "a,b,\n1,2,\n3,4,\n",
        ] {
            let table = parse(text).unwrap();
            assert_eq!(table.columns, ["a", "b"], "{text:?}");
            assert_eq!(table.rows, [["1", "2"], ["3", "4"]], "{text:?}");
        }
    }

    #[test]
    fn header_is_found_out() {
        assert_eq!(parse("1,2\n3,4\n").unwrap().columns, ["column1", "column2"]);
        assert_eq!(parse("1,2\n3,4\n").unwrap().rows.len(), 2);
        // Strings as labels do not make a header.
        assert_eq!(parse("0.5,g\n0.1,b\n").unwrap().rows.len(), 2);
        let forced =
            Table::parse(Path::new("t.csv"), "1990,1991\n3,4\n", HeaderMode::Present).unwrap();
        assert_eq!(forced.columns, ["1990", "1991"]);
    }

    #[test]
    fn names_may_hold_the_separator() {
        let table = parse("\"force, kN\",y\n1,2\n").unwrap();
        assert_eq!(table.columns, ["force, kN", "y"]);
    }

    #[test]
    fn lines_are_those_of_the_file() {
        assert_eq!(parse("a,b\n\n1,2\n\n3,4\n").unwrap().lines, [3, 5]);
        assert_eq!(parse("a b\n\n1 2\n\n3 4\n").unwrap().lines, [3, 5]);
    }

    #[test]
    fn one_column_is_a_table() {
        assert_eq!(parse("a\n1\n2\n").unwrap().rows, [["1"], ["2"]]);
    }

    #[test]
    fn messages() {
        let message = |text: &str| parse(text).unwrap_err().to_string();
        assert_eq!(
            message("a,b\n1,2\n3\n"),
            "t.csv, line 3: expected 2 cells, found 1"
        );
        assert_eq!(
            message("a,b\n1,2,3\n4,5\n"),
            "t.csv, line 2: expected 2 cells, found 3"
        );
        assert_eq!(message("a,a\n1,2\n"), "t.csv: two columns are named `a`");
        assert_eq!(message(""), "t.csv: no data rows");
        assert_eq!(message("\n \n"), "t.csv: no data rows");
        assert_eq!(message("a,b\n"), "t.csv: no data rows");
        assert_eq!(message(",,\n,,\n"), "t.csv: no data rows");
        assert_eq!(
            parse("a,b\n1,2\n")
                .unwrap()
                .column("c")
                .unwrap_err()
                .to_string(),
            "t.csv: no column `c`; the file has a, b"
        );
    }
}
