//! Lines to records of cells: quotes that span lines, comment lines, blank lines; a limit to what one quote may hold.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use super::super::{DataError, notation};
use super::dialect::Delimiter;
use super::lines::Lines;

/// Bytes of a record that spans lines, above which its quote counts as not closed.
const LONGEST: usize = 1 << 20;
/// Lines inside a quoted cell that have as many cells as the table, above which they count as rows.
const ROWS_OF_TEXT: usize = 2;

/// The records one after another; blank lines and comment lines are none.
pub(super) struct Records {
    lines: Lines,
    parser: Parser,
    /// Cells of most lines.
    width: usize,
    line: Vec<u8>,
    /// Comment lines so far.
    pub(super) comments: u64,
}

impl Records {
    pub(super) fn new(lines: Lines, delimiter: Delimiter, width: usize) -> Self {
        Self {
            lines,
            parser: Parser::new(delimiter),
            width,
            line: Vec::new(),
            comments: 0,
        }
    }

    /// Read on; the line on which the record begins, or `None` behind the last one.
    ///
    /// # Errors
    /// [`DataError::OpenQuote`], [`DataError::SwallowedRows`], and those of [`Lines::next`].
    pub(super) fn next(&mut self) -> Result<Option<u64>, DataError> {
        let first = loop {
            let Some(number) = self.lines.next(&mut self.line)? else {
                return Ok(None);
            };
            if is_blank(&self.line, self.parser.delimiter) {
                continue;
            }
            if is_comment(&self.line, self.parser.delimiter, self.width) {
                self.comments += 1;
                continue;
            }
            break number;
        };
        self.parser.clear();
        let (mut opened, mut last, mut bytes) = (first, first, 0);
        loop {
            let before = self.parser.ends.len();
            bytes += self.line.len();
            self.line.push(b'\n');
            if self.parser.feed(&self.line) {
                break;
            }
            if self.parser.ends.len() > before {
                opened = last;
            }
            let open = |path: &std::path::Path| DataError::OpenQuote {
                path: path.to_owned(),
                line: opened,
            };
            if bytes > LONGEST {
                return Err(open(self.lines.path()));
            }
            match self.lines.next(&mut self.line)? {
                Some(number) => last = number,
                None => return Err(open(self.lines.path())),
            }
        }
        if last > first {
            self.refuse_rows_in_quotes(opened, last)?;
        }
        Ok(Some(first))
    }

    /// The cells of the record, one after another, and where each ends.
    pub(super) fn cells(&self) -> (&str, &[usize]) {
        // Each line is UTF-8, and records are cut at ASCII characters.
        let text = std::str::from_utf8(&self.parser.cells).unwrap_or_default();
        (text, &self.parser.ends)
    }

    fn refuse_rows_in_quotes(&self, opened: u64, closed: u64) -> Result<(), DataError> {
        let (text, ends) = self.cells();
        let starts = std::iter::once(0).chain(ends.iter().copied());
        for (start, &end) in starts.zip(ends) {
            let cell = text.get(start..end).unwrap_or_default();
            let (mut lines, mut wide, mut numbers) = (0, 0, 0);
            for line in cell.lines().skip(1) {
                let (cells, found) = count(line.as_bytes(), self.parser.delimiter);
                lines += 1;
                wide += usize::from(cells == self.width);
                numbers += usize::from(cells == self.width && 2 * found >= cells);
            }
            let rows = numbers > 0 || (self.width > 2 && wide > ROWS_OF_TEXT);
            if self.width > 1 && rows && 2 * wide > lines {
                return Err(DataError::SwallowedRows {
                    path: self.lines.path().to_owned(),
                    line: opened,
                    closed,
                });
            }
        }
        Ok(())
    }
}

/// Whether a line holds nothing; a line of separators alone is a row of empty cells.
pub(super) fn is_blank(line: &[u8], delimiter: Delimiter) -> bool {
    let separates = |byte| delimiter == Delimiter::Byte(byte);
    line.trim_ascii().is_empty() && !line.iter().any(|&byte| separates(byte))
}

/// `# text`, or a line that starts with `#` and has not the table's number of cells.
pub(super) fn is_comment(line: &[u8], delimiter: Delimiter, width: usize) -> bool {
    let Some((b'#', rest)) = line.split_first() else {
        return false;
    };
    let word = rest
        .first()
        .is_none_or(|&byte| byte == b'#' || byte == b' ');
    word || count(line, delimiter).0 != width
}

/// Cells of a line, and how many of them are numbers.
pub(super) fn count(line: &[u8], delimiter: Delimiter) -> (usize, usize) {
    let mut parser = Parser::new(delimiter);
    parser.feed(line);
    // A quote that is open at the end is a cell too.
    let open = usize::from(!parser.feed(b"\n"));
    let text = String::from_utf8_lossy(&parser.cells);
    let starts = std::iter::once(0).chain(parser.ends.iter().copied());
    let cells = starts.zip(&parser.ends);
    let cells = cells.map(|(start, &end)| text.get(start..end).unwrap_or_default());
    let numbers = cells.filter(|cell| notation::is_number(cell)).count();
    (parser.ends.len() + open, numbers)
}

/// One record, fed line by line.
struct Parser {
    delimiter: Delimiter,
    core: Reader,
    cells: Vec<u8>,
    ends: Vec<usize>,
    /// A record is complete; the next line begins another one.
    complete: bool,
}

impl Parser {
    fn new(delimiter: Delimiter) -> Self {
        let mut core = ReaderBuilder::new();
        if let Delimiter::Byte(byte) = delimiter {
            core.delimiter(byte);
        }
        Self {
            delimiter,
            core: core.build(),
            cells: Vec::new(),
            ends: Vec::new(),
            complete: false,
        }
    }

    fn clear(&mut self) {
        self.cells.clear();
        self.ends.clear();
        self.complete = false;
    }

    /// Take a line with its LF; whether the record ends with it.
    fn feed(&mut self, line: &[u8]) -> bool {
        if self.complete {
            return true;
        }
        let delimiter = match self.delimiter {
            Delimiter::Blank => {
                self.blank_separated(line);
                self.complete = true;
                return true;
            }
            Delimiter::Byte(byte) => byte,
        };
        let (filled, ended) = (self.cells.len(), self.ends.len());
        // No output is longer than its input, and each separator and the LF end a cell.
        let separators = memchr::memchr_iter(delimiter, line).count();
        self.cells.resize(filled + line.len() + 1, 0);
        self.ends.resize(ended + separators + 2, 0);
        let (mut filled, mut ended, mut input) = (filled, ended, line);
        while !input.is_empty() && !self.complete {
            let (Some(cells), Some(ends)) =
                (self.cells.get_mut(filled..), self.ends.get_mut(ended..))
            else {
                break;
            };
            let (result, taken, written, finished) = self.core.read_record(input, cells, ends);
            input = input.get(taken..).unwrap_or_default();
            (filled, ended) = (filled + written, ended + finished);
            match result {
                ReadRecordResult::Record | ReadRecordResult::End => self.complete = true,
                ReadRecordResult::InputEmpty => break,
                ReadRecordResult::OutputFull => self.cells.resize(2 * filled + 2, 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * ended + 2, 0),
            }
        }
        self.cells.truncate(filled);
        self.ends.truncate(ended);
        self.complete
    }

    fn blank_separated(&mut self, line: &[u8]) {
        let blank = |byte: &u8| byte.is_ascii_whitespace();
        for word in line.split(blank).filter(|word| !word.is_empty()) {
            let inner = word
                .strip_prefix(b"\"")
                .and_then(|word| word.strip_suffix(b"\""));
            self.cells.extend_from_slice(inner.unwrap_or(word));
            self.ends.push(self.cells.len());
        }
    }
}
