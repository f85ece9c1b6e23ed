//! What a UCI result depends on.
use crate::data::Task;
use crate::engine::Design;
use crate::split::Protocol;
use serde::{Deserialize, Serialize};

/// x
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UciDesign {
    /// x
    pub dataset: String,
    /// x
    pub task: Task,
    /// x
    pub data_sha256: String,
    /// x
    pub protocol: Protocol,
}
impl Design for UciDesign {
    fn dataset(&self) -> &str {
        &self.dataset
    }
    fn data_sha256(&self) -> &str {
        &self.data_sha256
    }
    fn task(&self) -> Task {
        self.task
    }
    fn protocol(&self) -> &'static str {
        self.protocol.name()
    }
    fn folds(&self) -> usize {
        self.protocol.folds()
    }
}
