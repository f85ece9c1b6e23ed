//! Rows of the small tables: named cells of each, with its line.

use std::path::Path;

use super::super::{DataError, bytes};
use super::{MimicError, columns};

/// Call `each` with the line and the cells of every row, those of `columns` in this order.
///
/// # Errors
/// [`DataError`] for a file that cannot be read, a missing column, a row of another length; what `each` says.
pub(super) fn read<const N: usize>(
    path: &Path,
    columns: [&'static str; N],
    mut each: impl FnMut(u64, [&str; N]) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(bytes::open(path)?);
    let mut record = csv::ByteRecord::new();
    let mut places = None;
    loop {
        let more = reader.read_byte_record(&mut record);
        if !more.map_err(|error| broken(path, &reader.position().clone(), error))? {
            break;
        }
        let Some(places) = &places else {
            let header: Vec<Vec<u8>> = record.iter().map(<[u8]>::to_vec).collect();
            places = Some(columns::places(path, &header, columns)?);
            continue;
        };
        let line = record.position().map_or(0, csv::Position::line);
        let cells: [_; N] = std::array::from_fn(|column| {
            let place = places.get(column).copied().unwrap_or(usize::MAX);
            String::from_utf8_lossy(record.get(place).unwrap_or_default())
        });
        each(line, std::array::from_fn(|column| cells[column].trim()))?;
    }
    match places {
        Some(_) => Ok(()),
        None => Err(DataError::Empty {
            path: path.to_owned(),
        }),
    }
}

fn broken(path: &Path, position: &csv::Position, error: csv::Error) -> DataError {
    if let csv::ErrorKind::UnequalLengths {
        pos,
        expected_len,
        len,
    } = error.kind()
    {
        return DataError::Ragged {
            path: path.to_owned(),
            line: pos.as_ref().map_or(0, csv::Position::line),
            expected: *expected_len as usize,
            found: *len as usize,
        };
    }
    match error.into_kind() {
        csv::ErrorKind::Io(error) => MimicError::Broken {
            line: position.line(),
            byte: position.byte(),
            source: Box::new(DataError::from_read(path, error)),
        }
        .into(),
        // Bytes are read, and rows of another length are told above: nothing else can be wrong.
        _ => DataError::Empty {
            path: path.to_owned(),
        },
    }
}

/// A key of a row.
///
/// # Errors
/// [`MimicError::Cell`].
pub(super) fn key(
    path: &Path,
    line: u64,
    column: &'static str,
    cell: &str,
) -> Result<u64, DataError> {
    cell.parse().map_err(|_| {
        let path = path.to_owned();
        let expected = "a whole number";
        MimicError::Cell {
            path,
            line,
            column,
            expected,
        }
        .into()
    })
}
