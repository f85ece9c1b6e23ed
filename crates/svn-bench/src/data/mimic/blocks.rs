//! A file as blocks of whole rows, unpacked on the way: at most a few of them are in memory.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::{DataError, bytes};
use super::MimicError;
use super::scan::{cells, count_lines, whole_rows};

/// The longest row.
const LONGEST: usize = 16 << 20;

/// Whole rows, the header not among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub bytes: Vec<u8>,
    /// Where it begins in the unpacked file.
    pub offset: u64,
}

/// Reads blocks.
pub(super) struct Blocks {
    path: PathBuf,
    stream: Box<dyn Read + Send>,
    taken: Arc<AtomicU64>,
    size: usize,
    /// Read, but not handed out.
    rest: Vec<u8>,
    /// Unpacked bytes and line ends that were handed out.
    offset: u64,
    lines: u64,
    ended: bool,
}

/// Counts the bytes of the file that are taken, packed.
struct Watched {
    raw: File,
    taken: Arc<AtomicU64>,
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.raw.read(buffer)?;
        self.taken.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl Blocks {
    /// Begin a file, in blocks of about `size` bytes.
    ///
    /// # Errors
    /// As for [`bytes::open`].
    pub(super) fn open(path: &Path, size: usize) -> Result<Self, DataError> {
        let raw = File::open(path).map_err(|error| DataError::from_read(path, error))?;
        let taken = Arc::<AtomicU64>::default();
        let watched = Watched {
            raw,
            taken: Arc::clone(&taken),
        };
        Ok(Self {
            path: path.to_owned(),
            stream: bytes::content(path, watched)?,
            taken,
            size: size.max(1),
            rest: Vec::new(),
            offset: 0,
            lines: 0,
            ended: false,
        })
    }

    /// Bytes of the file that are read, packed.
    pub(super) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Unpacked bytes of the blocks so far, header included.
    pub(super) fn unpacked(&self) -> u64 {
        self.offset
    }

    /// The names of the columns; to be asked for first.
    ///
    /// # Errors
    /// [`DataError::Empty`]; as for [`next`](Self::next).
    pub(super) fn header(&mut self) -> Result<Vec<Vec<u8>>, DataError> {
        loop {
            if let Some(end) = memchr::memchr(b'\n', &self.rest) {
                let header = cells(&self.rest[..end]);
                self.rest.drain(..=end);
                self.offset = end as u64 + 1;
                self.lines = 1;
                return Ok(header);
            }
            if self.ended {
                let header = cells(&self.rest);
                let empty = std::mem::take(&mut self.rest).is_empty();
                return match empty {
                    true => Err(DataError::Empty {
                        path: self.path.clone(),
                    }),
                    false => Ok(header),
                };
            }
            self.fill()?;
        }
    }

    /// The next block; `None` at the end.
    ///
    /// # Errors
    /// [`MimicError::Broken`] with the line and byte up to which the file could be read, [`MimicError::LongRow`].
    pub(super) fn next(&mut self) -> Result<Option<Block>, DataError> {
        loop {
            let whole = match self.rest.len() >= self.size {
                true => whole_rows(&self.rest),
                false => None,
            };
            let (end, lines) = match whole {
                Some(whole) => whole,
                None if self.ended && self.rest.is_empty() => return Ok(None),
                None if self.ended => (self.rest.len(), count_lines(&self.rest)),
                None if self.rest.len() > LONGEST => {
                    let (path, line) = (self.path.clone(), self.lines + 1);
                    return Err(MimicError::LongRow {
                        path,
                        line,
                        limit: LONGEST,
                    }
                    .into());
                }
                None => {
                    self.fill()?;
                    continue;
                }
            };
            let rest = self.rest.split_off(end);
            let bytes = std::mem::replace(&mut self.rest, rest);
            let offset = self.offset;
            self.offset += end as u64;
            self.lines += lines;
            return Ok(Some(Block { bytes, offset }));
        }
    }

    /// Read about a block more.
    fn fill(&mut self) -> Result<(), DataError> {
        let before = self.rest.len();
        self.rest.resize(before + self.size, 0);
        let mut filled = before;
        while filled < self.rest.len() {
            match self.stream.read(&mut self.rest[filled..]) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(read) => filled += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    let read = &self.rest[..filled];
                    return Err(MimicError::Broken {
                        line: self.lines + count_lines(read),
                        byte: self.offset + filled as u64,
                        source: Box::new(DataError::from_read(&self.path, error)),
                    }
                    .into());
                }
            }
        }
        self.rest.truncate(filled);
        Ok(())
    }
}
