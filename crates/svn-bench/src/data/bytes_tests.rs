//! Gzip files sound and damaged, and what is no data at all.

use std::io::Write;

use flate2::{Compression, write::GzEncoder};

use super::*;

pub(in crate::data) fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn unpacked(name: &str, bytes: Vec<u8>) -> Result<Vec<u8>, DataError> {
    let mut plain = Vec::new();
    content(Path::new(name), Cursor::new(bytes))?
        .read_to_end(&mut plain)
        .map_err(|error| DataError::from_read(Path::new(name), error))?;
    Ok(plain)
}

fn message(name: &str, bytes: &[u8]) -> String {
    unpacked(name, bytes.to_vec()).unwrap_err().to_string()
}

#[test]
fn gzip_is_known_by_its_bytes_not_its_name() {
    for name in ["a.csv", "a.csv.gz"] {
        assert_eq!(unpacked(name, gzip(b"a\n1\n")).unwrap(), b"a\n1\n");
        assert_eq!(unpacked(name, b"a\n1\n".to_vec()).unwrap(), b"a\n1\n");
    }
    for short in [&b""[..], b"\x1f", b"a"] {
        assert_eq!(unpacked("short", short.to_vec()).unwrap(), short);
    }
}

#[test]
fn members_may_be_empty_and_zeros_may_follow() {
    let members = [gzip(b"a\n"), gzip(b""), gzip(b"1\n")].concat();
    assert_eq!(unpacked("a.gz", members.clone()).unwrap(), b"a\n1\n");
    for zeros in [1, 512, BUFFER + 3] {
        let padded = [members.clone(), vec![0; zeros]].concat();
        assert_eq!(unpacked("a.gz", padded).unwrap(), b"a\n1\n");
    }
    assert_eq!(unpacked("a.gz", gzip(b"")).unwrap(), b"");
}

#[test]
fn what_follows_whole_members_is_not_called_truncated() {
    let whole = gzip(b"a\n1\n");
    let n = whole.len();
    for (rest, offset) in [
        (&b"trailing garbage"[..], n),
        (b"\0\0x", n + 2),
        (b"\0\x1f\x8b", n + 1),
    ] {
        assert_eq!(
            message("a.gz", &[&whole, rest].concat()),
            format!(
                "a.gz: the data are complete, but what follows from byte {offset} on is not gzip; cut the file there"
            )
        );
    }
    let like = message("a.gz", &[&whole[..], b"\x1fno member"].concat());
    assert!(like.starts_with("a.gz: the data are complete"), "{like}");
}

#[test]
fn a_cut_or_changed_file_is_told_with_the_byte() {
    let whole = gzip(&(0..9000).map(|i| (i * i % 251) as u8).collect::<Vec<_>>());
    for cut in [3, 11, whole.len() / 2, whole.len() - 1] {
        assert_eq!(
            message("a.gz", &whole[..cut]),
            format!("a.gz: the gzip file ends inside the data, at byte {cut}; fetch it again")
        );
        let second = [gzip(b"a\n"), whole[..cut].to_vec()].concat();
        assert!(message("a.gz", &second).contains("ends inside the data"));
    }
    let mut changed = whole.clone();
    let crc = whole.len() - 8;
    changed[crc] ^= 1;
    assert!(
        message("a.gz", &changed).starts_with("a.gz: the gzip file is damaged at byte "),
        "{}",
        message("a.gz", &changed)
    );
}

#[test]
fn other_formats_are_refused() {
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
}

#[test]
fn a_stream_holds_no_more_than_buffers() {
    // 64 MB of text in a small file; each read gets what is asked for at most.
    let packed = gzip(&vec![b'7'; 64 << 20]);
    assert!(packed.len() < 100_000);
    let mut stream = content(Path::new("a.gz"), Cursor::new(packed)).unwrap();
    let mut buffer = [0; 4096];
    let (mut total, mut reads) = (0, 0);
    loop {
        match stream.read(&mut buffer).unwrap() {
            0 => break,
            read => (total, reads) = (total + read, reads + 1),
        }
    }
    assert_eq!(total, 64 << 20);
    assert!(reads >= total / buffer.len());
}
