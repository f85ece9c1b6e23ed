//! SHA-256, and MD5 where nothing else is published, as lower-case hexadecimal text.

use md5::Md5;
use sha2::{Digest, Sha256};
use std::io::{self, Read};
use std::path::Path;

/// Of bytes in memory.
pub(crate) fn of_bytes(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

/// MD5 of bytes in memory: against accidents, not against malice.
pub(crate) fn md5_of_bytes(bytes: &[u8]) -> String {
    format!("{:x}", Md5::digest(bytes))
}

/// Of a file, read in pieces.
pub(crate) fn of_file(path: &Path) -> io::Result<String> {
    let mut file = std::fs::File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(format!("{:x}", hasher.finalize())),
            n => hasher.update(&buffer[..n]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-2, appendix B.1.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn published_example() {
        assert_eq!(of_bytes(b"abc"), ABC);
        // RFC 1321, appendix A.5.
        assert_eq!(md5_of_bytes(b"abc"), "900150983cd24fb0d6963f7d28e17f72");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "abc").unwrap();
        assert_eq!(of_file(file.path()).unwrap(), ABC);
    }
}
