//! Results of other implementations, as `cargo xtask perf --peers` collects them: one JSON object a line.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::PerfError;

/// One measurement of another implementation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Peer {
    /// `torch_func`, `jax_svgd`, `laplace_ggn`.
    pub name: String,
    /// Shape, as in the cases.
    pub shape: String,
    /// `f32` or `f64`.
    pub dtype: String,
    /// Median wall time of a step in milliseconds.
    pub median_ms: f64,
    /// Shortest step.
    pub min_ms: Option<f64>,
    /// Longest step.
    pub max_ms: Option<f64>,
    /// Versions of what ran.
    pub versions: BTreeMap<String, String>,
}

/// Read a file of peers.
///
/// # Errors
/// [`PerfError::File`] with the line that is wrong.
pub(super) fn read(path: &Path) -> Result<Vec<Peer>, PerfError> {
    let text = std::fs::read_to_string(path).map_err(|error| PerfError::file(path, error))?;
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| {
            serde_json::from_str(line)
                .map_err(|error| PerfError::file(path, format!("line {}: {error}", number + 1)))
        })
        .collect()
}
