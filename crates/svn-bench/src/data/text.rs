//! Bytes of a file to text: gzip by content (not by name), byte-order mark, web pages and workbooks recognised.

use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::DataError;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZIP: [u8; 4] = *b"PK\x03\x04";
const OLE: [u8; 4] = [0xd0, 0xcf, 0x11, 0xe0];
const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];
const PAGE_STARTS: [&str; 5] = ["<!doctype", "<html", "<head", "<?xml", "<body"];

/// Read a text file, plain or gzip, whatever its name says.
///
/// # Errors
/// [`DataError::Io`], [`DataError::Gzip`] (truncated), [`DataError::Html`] (an error page saved as data),
/// [`DataError::Format`] (a workbook, UTF-16), [`DataError::Encoding`] with the line of the first bad byte.
pub fn read_text(path: &Path) -> Result<String, DataError> {
    decode(path, read_bytes(path)?)
}

/// Bytes of a file, unpacked if they are gzip, refused if they are a web page.
pub(super) fn read_bytes(path: &Path) -> Result<Vec<u8>, DataError> {
    let bytes = std::fs::read(path).map_err(|source| DataError::Io {
        path: path.to_owned(),
        source,
    })?;
    unpack(path, bytes)
}

fn unpack(path: &Path, mut bytes: Vec<u8>) -> Result<Vec<u8>, DataError> {
    if bytes.starts_with(&GZIP) {
        let mut plain = Vec::new();
        MultiGzDecoder::new(bytes.as_slice())
            .read_to_end(&mut plain)
            .map_err(|source| DataError::Gzip {
                path: path.to_owned(),
                source,
            })?;
        bytes = plain;
    }
    let text = bytes
        .strip_prefix(&BYTE_ORDER_MARK)
        .unwrap_or(&bytes)
        .trim_ascii_start();
    let start = String::from_utf8_lossy(&text[..text.len().min(15)]).into_owned();
    let lower = start.to_ascii_lowercase();
    if PAGE_STARTS.iter().any(|tag| lower.starts_with(tag)) {
        return Err(DataError::Html {
            path: path.to_owned(),
            start,
        });
    }
    Ok(bytes)
}

/// Text of unpacked bytes; `path` is for messages only.
fn decode(path: &Path, bytes: Vec<u8>) -> Result<String, DataError> {
    let format = |what, advice| DataError::Format {
        path: path.to_owned(),
        what,
        advice,
    };
    if bytes.starts_with(&ZIP) || bytes.starts_with(&OLE) {
        return Err(format(
            "a workbook or zip archive",
            "export the sheet as CSV",
        ));
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(format("UTF-16 text", "save it as UTF-8"));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..good]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count();
        DataError::Encoding {
            path: path.to_owned(),
            line,
        }
    })?;
    Ok(text
        .strip_prefix('\u{feff}')
        .map(str::to_owned)
        .unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn read(name: &str, bytes: Vec<u8>) -> Result<String, DataError> {
        decode(Path::new(name), unpack(Path::new(name), bytes)?)
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn gzip_is_known_by_its_bytes_not_its_name() {
        for name in ["a.csv", "a.csv.gz"] {
            assert_eq!(read(name, gzip(b"a,b\n1,2\n")).unwrap(), "a,b\n1,2\n");
            assert_eq!(read(name, b"a,b\n1,2\n".to_vec()).unwrap(), "a,b\n1,2\n");
        }
        let two = [gzip(b"a\n"), gzip(b"1\n")].concat();
        assert_eq!(read("members.gz", two).unwrap(), "a\n1\n");
    }

    #[test]
    fn byte_order_mark_is_dropped() {
        assert_eq!(
            read("a.csv", b"\xef\xbb\xbfa\n1\n".to_vec()).unwrap(),
            "a\n1\n"
        );
    }

    #[test]
    fn messages() {
        let message =
            |name: &str, bytes: &[u8]| read(name, bytes.to_vec()).unwrap_err().to_string();
        assert_eq!(
            message("a.csv.gz", b"\n<!DOCTYPE html><title>404</title>"),
            "a.csv.gz: this is an HTML page, not data (it starts with `<!DOCTYPE html>`); the download failed, fetch it again"
        );
        assert_eq!(
            message("a.csv.gz", &gzip(b"<html>404")),
            "a.csv.gz: this is an HTML page, not data (it starts with `<html>404`); the download failed, fetch it again"
        );
        assert_eq!(
            message("a.csv", b"PK\x03\x04rest"),
            "a.csv: this is a workbook or zip archive, not a text table; export the sheet as CSV"
        );
        assert_eq!(
            message("a.csv", b"\xff\xfea\0"),
            "a.csv: this is UTF-16 text, not a text table; save it as UTF-8"
        );
        assert_eq!(
            message("a.csv", b"a,b\n1,\xe9\n"),
            "a.csv, line 2: not UTF-8 text; save the file as UTF-8"
        );
        let whole = gzip(&b"1,2,3\n".repeat(1000));
        let text = message("a.csv.gz", &whole[..whole.len() / 2]);
        assert!(
            text.starts_with("a.csv.gz: damaged or truncated gzip file ("),
            "{text}"
        );
    }
}
