//! Bytes of a file as a stream: gzip is known by content, web pages and workbooks are refused.
//!
//! A gzip file is a sequence of members, any of which may be empty; zeros after the last one are padding.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::GzDecoder;

use super::DataError;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZIP: [u8; 4] = *b"PK\x03\x04";
const OLE: [u8; 4] = [0xd0, 0xcf, 0x11, 0xe0];
const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];
const PAGE_STARTS: [&str; 5] = ["<!doctype", "<html", "<head", "<?xml", "<body"];
/// Bytes of the content that are looked at before any is handed out.
const HEAD: u64 = 512;
const BUFFER: usize = 1 << 16;

/// The content of a file, unpacked if it is gzip, whatever its name says; `-` is standard input.
///
/// At most a buffer of it is in memory. What is found out while reading is a [`std::io::Error`] that
/// [`DataError::from_read`] turns back.
///
/// # Errors
/// [`DataError::Io`], [`DataError::Html`] (an error page saved as data), [`DataError::Format`] (a workbook);
/// [`DataError::Gzip`] and [`DataError::AfterGzip`] for the first bytes, and from the stream for later ones.
pub fn open(path: &Path) -> Result<Box<dyn Read + Send>, DataError> {
    if path == Path::new("-") {
        return content(path, io::stdin());
    }
    let file = std::fs::File::open(path).map_err(|error| DataError::from_read(path, error))?;
    content(path, file)
}

/// As [`open`], for bytes that are in the file; `path` is for messages.
pub(super) fn content(
    path: &Path,
    raw: impl Read + Send + 'static,
) -> Result<Box<dyn Read + Send>, DataError> {
    let failed = |error| DataError::from_read(path, error);
    let (magic, raw) = peek(raw, GZIP.len() as u64).map_err(failed)?;
    let plain: Box<dyn Read + Send> = if magic == GZIP {
        Box::new(Members::new(path, Box::new(raw)))
    } else {
        Box::new(raw)
    };
    let (head, plain) = peek(plain, HEAD).map_err(failed)?;
    refuse_other_formats(path, &head)?;
    Ok(Box::new(plain))
}

/// All of the content of a file.
///
/// # Errors
/// As for [`open`].
pub fn read(path: &Path) -> Result<Vec<u8>, DataError> {
    let mut bytes = Vec::new();
    open(path)?
        .read_to_end(&mut bytes)
        .map_err(|error| DataError::from_read(path, error))?;
    Ok(bytes)
}

type Again<R> = io::Chain<Cursor<Vec<u8>>, R>;

/// The first bytes, and the whole stream again.
fn peek<R: Read>(mut raw: R, bytes: u64) -> io::Result<(Vec<u8>, Again<R>)> {
    let mut head = Vec::new();
    raw.by_ref().take(bytes).read_to_end(&mut head)?;
    Ok((head.clone(), Cursor::new(head).chain(raw)))
}

fn refuse_other_formats(path: &Path, head: &[u8]) -> Result<(), DataError> {
    if head.starts_with(&ZIP) || head.starts_with(&OLE) {
        return Err(DataError::Format {
            path: path.to_owned(),
            what: "a workbook or zip archive",
            advice: "export the sheet as CSV",
        });
    }
    let text = head.strip_prefix(&BYTE_ORDER_MARK).unwrap_or(head);
    let start = text.trim_ascii_start();
    let start = String::from_utf8_lossy(start.get(..15).unwrap_or(start)).into_owned();
    let lower = start.to_ascii_lowercase();
    if PAGE_STARTS.iter().any(|tag| lower.starts_with(tag)) {
        return Err(DataError::Html {
            path: path.to_owned(),
            start,
        });
    }
    Ok(())
}

/// Counts what the decoder has taken.
struct Counted {
    raw: BufReader<Box<dyn Read + Send>>,
    taken: u64,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.raw.read(buffer)?;
        self.taken += read as u64;
        Ok(read)
    }
}

impl BufRead for Counted {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.raw.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.taken += bytes as u64;
        self.raw.consume(bytes);
    }
}

enum State {
    Member(Box<GzDecoder<Counted>>),
    Between(Counted),
    /// The end was reached, or an error told.
    Done,
}

/// The content of all members one after another.
struct Members {
    path: PathBuf,
    state: State,
    /// Members that were read to their end.
    whole: usize,
}

impl Members {
    fn new(path: &Path, raw: Box<dyn Read + Send>) -> Self {
        let raw = BufReader::with_capacity(BUFFER, raw);
        Self {
            path: path.to_owned(),
            state: State::Between(Counted { raw, taken: 0 }),
            whole: 0,
        }
    }

    /// The next member, or the end of the file behind padding.
    fn begin(&self, mut raw: Counted) -> io::Result<State> {
        let start = raw.taken;
        loop {
            let buffer = raw.fill_buf()?;
            let zeros = buffer.iter().take_while(|&&byte| byte == 0).count();
            let next = buffer.get(zeros).copied();
            let at_end = buffer.is_empty();
            raw.consume(zeros);
            return match next {
                None if at_end => Ok(State::Done),
                None => continue,
                Some(first) if first == GZIP[0] && raw.taken == start => {
                    Ok(State::Member(Box::new(GzDecoder::new(raw))))
                }
                Some(_) => Err(self.after(raw.taken)),
            };
        }
    }

    fn after(&self, offset: u64) -> io::Error {
        io::Error::other(DataError::AfterGzip {
            path: self.path.clone(),
            offset,
        })
    }

    fn damaged(&self, member: &GzDecoder<Counted>, source: io::Error) -> io::Error {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        let offset = member.get_ref().taken;
        match source.kind() {
            InvalidInput if self.whole > 0 && member.header().is_none() => self.after(offset),
            InvalidInput | InvalidData | UnexpectedEof => io::Error::other(DataError::Gzip {
                path: self.path.clone(),
                offset,
                source,
            }),
            _ => source,
        }
    }
}

impl Read for Members {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            match std::mem::replace(&mut self.state, State::Done) {
                State::Done => return Ok(0),
                State::Between(raw) => self.state = self.begin(raw)?,
                State::Member(mut member) => match member.read(buffer) {
                    Ok(0) => {
                        self.whole += 1;
                        self.state = State::Between(member.into_inner());
                    }
                    Ok(read) => {
                        self.state = State::Member(member);
                        return Ok(read);
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                        self.state = State::Member(member);
                        return Err(error);
                    }
                    Err(error) => return Err(self.damaged(&member, error)),
                },
            }
        }
    }
}

#[cfg(test)]
#[path = "bytes_tests.rs"]
pub(super) mod tests;
