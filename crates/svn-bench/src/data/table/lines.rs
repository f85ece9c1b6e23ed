//! Lines of a text file: UTF-8 or UTF-16, ended by LF, CR LF or CR, also in turn.

use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use encoding_rs_io::DecodeReaderBytesBuilder;

use super::super::DataError;

/// Bytes of a line, above which the file is no table.
const LONGEST: usize = 16 << 20;
const BUFFER: usize = 1 << 16;
const REPLACEMENT: &str = "\u{fffd}";

pub(super) type Bytes = Box<dyn Read + Send>;

/// Content of a file as UTF-8 without a byte-order mark, and whether it was UTF-16.
pub(super) fn decoded(path: &Path, mut raw: Bytes) -> Result<(Bytes, bool), DataError> {
    let mut mark = Vec::new();
    raw.by_ref()
        .take(3)
        .read_to_end(&mut mark)
        .map_err(|error| DataError::from_read(path, error))?;
    let wide = mark.starts_with(&[0xff, 0xfe]) || mark.starts_with(&[0xfe, 0xff]);
    if mark == [0xef, 0xbb, 0xbf] {
        return Ok((raw, false));
    }
    let whole = std::io::Cursor::new(mark).chain(raw);
    if !wide {
        return Ok((Box::new(whole), false));
    }
    let utf8 = DecodeReaderBytesBuilder::new()
        .bom_sniffing(true)
        .strip_bom(true)
        .build(whole);
    Ok((Box::new(utf8), true))
}

/// The lines one after another.
pub(super) struct Lines {
    path: PathBuf,
    raw: BufReader<Bytes>,
    number: u64,
    after_return: bool,
    was_utf16: bool,
}

impl Lines {
    /// Lines of [`decoded`] bytes.
    pub(super) fn new(path: &Path, raw: Bytes, was_utf16: bool) -> Self {
        Self {
            path: path.to_owned(),
            raw: BufReader::with_capacity(BUFFER, raw),
            number: 0,
            after_return: false,
            was_utf16,
        }
    }

    /// The file, for messages.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The next line without its end, and its number from 1; `None` behind the last one.
    ///
    /// # Errors
    /// [`DataError::Nul`], [`DataError::Encoding`], [`DataError::LongLine`], and what the stream says.
    pub(super) fn next(&mut self, line: &mut Vec<u8>) -> Result<Option<u64>, DataError> {
        line.clear();
        loop {
            let buffer = match self.raw.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(DataError::from_read(&self.path, error)),
            };
            let Some(&first) = buffer.first() else {
                return match line.is_empty() {
                    true => Ok(None),
                    false => self.end(line).map(Some),
                };
            };
            if std::mem::take(&mut self.after_return) && first == b'\n' {
                self.raw.consume(1);
                continue;
            }
            let found = memchr::memchr3(b'\n', b'\r', 0, buffer);
            let (text, end) = match found {
                Some(at) => (buffer.get(..at), buffer.get(at).copied()),
                None => (Some(buffer), None),
            };
            line.extend_from_slice(text.unwrap_or_default());
            let used = found.map_or(buffer.len(), |at| at + 1);
            self.raw.consume(used);
            match end {
                Some(0) => {
                    return Err(DataError::Nul {
                        path: self.path.clone(),
                        line: self.number + 1,
                    });
                }
                Some(end) => {
                    self.after_return = end == b'\r';
                    return self.end(line).map(Some);
                }
                None if line.len() > LONGEST => {
                    return Err(DataError::LongLine {
                        path: self.path.clone(),
                        line: self.number + 1,
                        bytes: LONGEST,
                    });
                }
                None => {}
            }
        }
    }

    fn end(&mut self, line: &[u8]) -> Result<u64, DataError> {
        self.number += 1;
        let text = std::str::from_utf8(line);
        // The decoder of UTF-16 writes a replacement for what is none.
        if text.is_ok_and(|text| !self.was_utf16 || !text.contains(REPLACEMENT)) {
            return Ok(self.number);
        }
        Err(DataError::Encoding {
            path: self.path.clone(),
            line: self.number,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Result<Vec<String>, DataError> {
        let path = Path::new("t.csv");
        let (raw, wide) = decoded(path, Box::new(std::io::Cursor::new(bytes.to_vec())))?;
        let mut lines = Lines::new(path, raw, wide);
        let (mut line, mut all) = (Vec::new(), Vec::new());
        while let Some(number) = lines.next(&mut line)? {
            all.push(String::from_utf8(line.clone()).unwrap());
            assert_eq!(number, all.len() as u64);
        }
        Ok(all)
    }

    fn utf16(text: &str, big: bool) -> Vec<u8> {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        let bytes = |unit: u16| {
            if big {
                unit.to_be_bytes()
            } else {
                unit.to_le_bytes()
            }
        };
        units.flat_map(bytes).collect()
    }

    #[test]
    fn any_end_ends_a_line() {
        for text in [
            "a\nb\nc\n",
            "a\r\nb\r\nc\r\n",
            "a\rb\rc\r",
            "a\r\nb\nc\r",
            "a\rb\r\nc",
        ] {
            assert_eq!(lines(text.as_bytes()).unwrap(), ["a", "b", "c"], "{text:?}");
        }
        assert_eq!(lines(b"a\r\r\n\n\rb").unwrap(), ["a", "", "", "", "b"]);
        assert_eq!(lines(b"").unwrap(), Vec::<String>::new());
        assert_eq!(lines(b"\r").unwrap(), [""]);
        // CR and LF on both sides of a buffer's edge.
        let long = format!("{}\r\nb", "x".repeat(BUFFER - 1));
        assert_eq!(lines(long.as_bytes()).unwrap().len(), 2);
    }

    #[test]
    fn encodings() {
        assert_eq!(lines(b"\xef\xbb\xbfa,\xc3\xa4\n").unwrap(), ["a,ä"]);
        for big in [false, true] {
            assert_eq!(
                lines(&utf16("a,ä😀\r\n1,2\n", big)).unwrap(),
                ["a,ä😀", "1,2"]
            );
        }
    }

    #[test]
    fn faults_name_the_line() {
        let message = |bytes: &[u8]| lines(bytes).unwrap_err().to_string();
        assert_eq!(
            message(b"a\r1,\xe9\n"),
            "t.csv, line 2: not UTF-8 text; save the file as UTF-8"
        );
        let mut half = utf16("a\nb", false);
        half.extend([0x00, 0xd8, b'c', 0]);
        assert!(
            message(&half).starts_with("t.csv, line 2: not UTF-8"),
            "{}",
            message(&half)
        );
        assert_eq!(
            message(b"a\n1\n2\x003\n"),
            "t.csv, line 3: NUL byte; the file is damaged or no text (UTF-16 without a byte-order mark?)"
        );
        let endless = vec![b'7'; LONGEST + BUFFER + 1];
        assert!(message(&endless).starts_with("t.csv, line 1: more than 16 MiB without an end"));
    }
}
