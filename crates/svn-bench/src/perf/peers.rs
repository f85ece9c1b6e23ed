//! Results of other implementations, as `cargo xtask perf --peers` collects them: one JSON object a line.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::PerfError;

/// One measurement of another implementation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Peer {
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
    let file = |message: String| PerfError::File {
        path: path.to_owned(),
        message,
    };
    let text = std::fs::read_to_string(path).map_err(|error| file(error.to_string()))?;
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| {
            serde_json::from_str(line)
                .map_err(|error| file(format!("line {}: {error}", number + 1)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_a_bad_one_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("peers.jsonl");
        let good = r#"{"name":"jax_svgd","shape":"yacht","dtype":"f64","median_ms":1.5,"versions":{"jax":"0.9"}}"#;
        std::fs::write(&path, format!("{good}\n\n")).unwrap();
        let peers = read(&path).unwrap();
        assert_eq!((peers.len(), peers[0].median_ms), (1, 1.5));
        std::fs::write(&path, format!("{good}\n{{\"name\":1}}\n")).unwrap();
        let error = read(&path).unwrap_err();
        assert!(
            error.is_input() && error.to_string().contains("line 2"),
            "{error}"
        );
    }
}
