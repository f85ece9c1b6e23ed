//! Bytes of a file to text: UTF-8, without a byte-order mark.

use std::path::Path;

use super::{DataError, bytes};

/// Read a text file, plain or gzip, whatever its name says.
///
/// # Errors
/// As for [`open`](super::open); [`DataError::Format`] (UTF-16), [`DataError::Encoding`] with the line of the first bad byte.
pub fn read_text(path: &Path) -> Result<String, DataError> {
    decode(path, bytes::read(path)?)
}

/// Text of unpacked bytes; `path` is for messages only.
fn decode(path: &Path, bytes: Vec<u8>) -> Result<String, DataError> {
    let format = |what, advice| DataError::Format {
        path: path.to_owned(),
        what,
        advice,
    };
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
    use super::*;

    fn read(bytes: &[u8]) -> Result<String, DataError> {
        decode(Path::new("a.csv"), bytes.to_vec())
    }

    #[test]
    fn byte_order_mark_is_dropped() {
        assert_eq!(read(b"\xef\xbb\xbfa\n1\n").unwrap(), "a\n1\n");
    }

    #[test]
    fn messages() {
        let message = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
        assert_eq!(
            message(b"\xff\xfea\0"),
            "a.csv: this is UTF-16 text, not a text table; save it as UTF-8"
        );
        assert_eq!(
            message(b"a,b\n1,\xe9\n"),
            "a.csv, line 2: not UTF-8 text; save the file as UTF-8"
        );
    }
}
