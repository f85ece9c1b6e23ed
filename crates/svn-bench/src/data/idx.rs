//! IDX files, the format of MNIST and its relatives: magic `00 00 TYPE DIMS`, big-endian sizes, then the values.

use std::path::{Path, PathBuf};

use ndarray::{ArrayD, IxDyn};
use sha2::{Digest, Sha256};

use super::{DataError, bytes};

/// Type byte of unsigned bytes, the only type the image sets use.
const UNSIGNED_BYTE: u8 = 0x08;

/// Find an IDX file in a folder by its stem, such as `train-images`, and number of dimensions: both spellings
/// `-idx3-ubyte` and `.idx3-ubyte`, plain or `.gz`.
///
/// # Errors
/// [`DataError::NoIdx`] lists the names that were tried.
pub fn find_idx(folder: &Path, stem: &str, dims: usize) -> Result<PathBuf, DataError> {
    let names: Vec<String> = ["-", "."]
        .iter()
        .flat_map(|joint| ["", ".gz"].map(|end| format!("{stem}{joint}idx{dims}-ubyte{end}")))
        .collect();
    let found = names
        .iter()
        .map(|name| folder.join(name))
        .find(|path| path.is_file());
    found.ok_or_else(|| DataError::NoIdx {
        folder: folder.to_owned(),
        names: names.join(", "),
    })
}

/// Read an IDX file of unsigned bytes, plain or gzip.
///
/// # Shapes
/// As the file says: `n` for labels, `n × height × width` for images.
///
/// # Errors
/// As for [`open`](super::open); [`DataError::Idx`] for a wrong magic number, type or
/// number of dimensions and for a file that is too short or too long.
pub fn read_idx(path: &Path, dims: usize) -> Result<ArrayD<u8>, DataError> {
    parse(path, &bytes::read(path)?, dims)
}

/// A file that was read.
#[derive(Debug, Clone)]
pub(super) struct IdxFile {
    pub path: PathBuf,
    pub values: ArrayD<u8>,
    /// SHA-256 of the uncompressed file, in hex.
    pub sha256: String,
}

/// As [`read_idx`], with the checksum.
pub(super) fn read_idx_file(path: &Path, dims: usize) -> Result<IdxFile, DataError> {
    let bytes = bytes::read(path)?;
    Ok(IdxFile {
        values: parse(path, &bytes, dims)?,
        path: path.to_owned(),
        sha256: format!("{:x}", Sha256::digest(&bytes)),
    })
}

fn parse(path: &Path, bytes: &[u8], dims: usize) -> Result<ArrayD<u8>, DataError> {
    let wrong = |message: String| DataError::Idx {
        path: path.to_owned(),
        message,
    };
    let [0, 0, kind, found, rest @ ..] = bytes else {
        let start: Vec<String> = bytes
            .iter()
            .take(4)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        return Err(wrong(format!(
            "not an IDX file: it starts with `{}`, expected `00 00 08 {dims:02x}`",
            start.join(" ")
        )));
    };
    if *kind != UNSIGNED_BYTE {
        return Err(wrong(format!(
            "values of type {kind:#04x}, expected unsigned bytes (0x08)"
        )));
    }
    if usize::from(*found) != dims {
        return Err(wrong(format!(
            "{found} dimensions, expected {dims}; are images and labels swapped?"
        )));
    }
    let Some((header, values)) = rest.split_at_checked(4 * dims) else {
        return Err(wrong("truncated in the header".to_owned()));
    };
    let sizes: Vec<usize> = header.chunks_exact(4).map(big_endian).collect();
    let expected = sizes
        .iter()
        .try_fold(1usize, |product, &size| product.checked_mul(size));
    if expected != Some(values.len()) {
        let expected = expected.map_or_else(|| "too many".to_owned(), |count| count.to_string());
        let found = values.len();
        return Err(wrong(format!(
            "truncated or damaged: {expected} values announced ({sizes:?}), {found} found"
        )));
    }
    ArrayD::from_shape_vec(IxDyn(&sizes), values.to_vec()).map_err(|error| wrong(error.to_string()))
}

fn big_endian(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .fold(0, |value, &byte| value << 8 | usize::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two images of 2 × 3.
    fn images() -> Vec<u8> {
        let mut bytes = vec![0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3];
        bytes.extend(0..12);
        bytes
    }

    fn message(bytes: &[u8], dims: usize) -> String {
        parse(Path::new("t.idx"), bytes, dims)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn values_are_row_major() {
        let array = parse(Path::new("t.idx"), &images(), 3).unwrap();
        assert_eq!(array.shape(), [2, 2, 3]);
        assert_eq!(
            (array[[0, 0, 2]], array[[0, 1, 0]], array[[1, 1, 2]]),
            (2, 3, 11)
        );
    }

    #[test]
    fn faults() {
        let good = images();
        assert_eq!(
            message(b"\x89PNG", 3),
            "t.idx: not an IDX file: it starts with `89 50 4e 47`, expected `00 00 08 03`"
        );
        assert_eq!(
            message(&[], 1),
            "t.idx: not an IDX file: it starts with ``, expected `00 00 08 01`"
        );
        assert_eq!(
            message(&good, 1),
            "t.idx: 3 dimensions, expected 1; are images and labels swapped?"
        );
        assert_eq!(
            message(&[&[0, 0, 0x0d], &good[3..]].concat(), 3),
            "t.idx: values of type 0x0d, expected unsigned bytes (0x08)"
        );
        assert_eq!(message(&good[..10], 3), "t.idx: truncated in the header");
        assert_eq!(
            message(&good[..20], 3),
            "t.idx: truncated or damaged: 12 values announced ([2, 2, 3]), 4 found"
        );
        assert!(
            message(&[good, vec![0]].concat(), 3)
                .ends_with("12 values announced ([2, 2, 3]), 13 found")
        );
        let huge = [&[0u8, 0, 8, 3][..], &[0xff; 12]].concat();
        assert!(message(&huge, 3).contains("too many values announced"));
    }

    #[test]
    fn both_spellings_plain_or_gzip_are_found() {
        for name in [
            "train-images-idx3-ubyte",
            "train-images.idx3-ubyte",
            "train-images-idx3-ubyte.gz",
            "train-images.idx3-ubyte.gz",
        ] {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join(name), images()).unwrap();
            let path = find_idx(folder.path(), "train-images", 3).unwrap();
            // A plain file that is named .gz reads as well.
            assert_eq!(read_idx(&path, 3).unwrap().len(), 12);
        }
        let folder = tempfile::tempdir().unwrap();
        let text = find_idx(folder.path(), "t10k-labels", 1)
            .unwrap_err()
            .to_string();
        let expected = "no t10k-labels-idx1-ubyte, t10k-labels-idx1-ubyte.gz, t10k-labels.idx1-ubyte, \
                        t10k-labels.idx1-ubyte.gz";
        assert_eq!(text, format!("{}: {expected}", folder.path().display()));
    }

    #[test]
    fn a_page_saved_as_idx_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t10k-labels-idx1-ubyte.gz");
        std::fs::write(&path, "<!DOCTYPE html><title>403</title>").unwrap();
        assert!(
            read_idx(&path, 1)
                .unwrap_err()
                .to_string()
                .contains("this is an HTML page, not data")
        );
    }
}
