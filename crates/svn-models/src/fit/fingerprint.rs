//! By which a checkpoint knows the rows it was made from.

use crate::Rows;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Sizes and CRC-32 of features, targets and a context: against mix-ups, not against malice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Fingerprint {
    rows: usize,
    width: usize,
    crc: u32,
}

impl Fingerprint {
    pub(super) fn new(rows: &Rows) -> Self {
        let mut crc = crc32fast::Hasher::new();
        let mut bytes = Vec::with_capacity(8 * (rows.width() + 1));
        for (features, target) in rows.features().rows().into_iter().zip(rows.targets()) {
            bytes.clear();
            for value in features.iter().chain([target]) {
                bytes.extend_from_slice(&value.to_le_bytes());
            }
            crc.update(&bytes);
        }
        for value in rows.own_context().into_iter().flatten() {
            crc.update(&value.to_le_bytes());
        }
        Self {
            rows: rows.len(),
            width: rows.width(),
            crc: crc.finalize(),
        }
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, width, crc } = self;
        write!(f, "{rows} × {width}, checksum {crc:08x}")
    }
}
