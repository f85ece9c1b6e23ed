//! A data set and how its rows are cut, and records of older programs as what they would be now.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::data::Task;
use crate::engine::Design;
use crate::split::Protocol;

/// Everything but method, settings, seed and fold that a result depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UciDesign {
    /// Name of the data set.
    pub dataset: String,
    /// What is predicted.
    pub task: Task,
    /// SHA-256 of the data.
    pub data_sha256: String,
    /// How rows are cut.
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

    /// Before schema 3 the fields of the design were beside the others; trials left the task out.
    fn upgrade(line: &mut Value) {
        let Some(line) = line.as_object_mut() else {
            return;
        };
        if line.contains_key("design") {
            return;
        }
        if line.get("schema") == Some(&json!(1)) {
            upgrade_settings(line);
        }
        let mut design = Map::new();
        for name in ["dataset", "task", "data_sha256", "protocol"] {
            if let Some(value) = line.remove(name) {
                design.insert(name.to_owned(), value);
            }
        }
        // Settings of a perceptron say which.
        let task = match line
            .get("settings")
            .and_then(|settings| settings.get("noise"))
        {
            None | Some(Value::Null) => Task::Classification,
            Some(_) => Task::Regression,
        };
        design.entry("task").or_insert_with(|| json!(task));
        line.insert("study".to_owned(), super::NAME.into());
        line.insert("design".to_owned(), design.into());
    }
}

/// Schema 1 had settings that were not used as null, and one step size for all steps of a perceptron, whose activation and
/// root it did not name.
fn upgrade_settings(line: &mut Map<String, Value>) {
    let method = line.get("method").and_then(Value::as_str);
    let last_layer = method == Some("ll-svn");
    let newton = last_layer || matches!(method, Some("svn" | "ssvn"));
    let Some(settings) = line.get_mut("settings").and_then(Value::as_object_mut) else {
        return;
    };
    settings.retain(|_, value| !value.is_null());
    settings.insert("activation".to_owned(), "relu".into());
    if settings.contains_key("hessian") {
        settings.insert("root".to_owned(), "exact".into());
    }
    if newton && let Some(lr) = settings.remove("lr") {
        settings.insert("newton_lr".to_owned(), lr);
    }
    if last_layer {
        settings.insert("lr".to_owned(), json!(0.03));
        settings.insert("ll_mode".to_owned(), "joint".into());
    }
}

#[cfg(test)]
#[path = "design_tests.rs"]
mod tests;
