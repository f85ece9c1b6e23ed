//! The one-way graph of crates, checked against `cargo metadata` and the sources, and that of the modules of svn-bench.
//!
//! ```text
//! svn-linalg ← svn-curvature, svn-stein ← svn-models ← svn-bench → svn-datasets      xtask stands alone
//! ```

mod crates;
mod embedded;
mod layers;
mod modules;
mod rules;
mod sources;
mod words;

use crate::paths::Place;
use crate::{process, say};
use anyhow::{Result, bail};
use std::path::Path;
use std::process::ExitCode;

/// `cargo xtask graph`.
pub(crate) fn run(place: &Place) -> Result<ExitCode> {
    let metadata: crates::Metadata = process::cargo_metadata(&place.root, &["--all-features"])?;
    let plain = process::cargo_metadata(&place.root, &["--no-default-features"])?;
    let mut faults = crates::graph_faults(&metadata);
    faults.extend(crates::native_faults(&plain));
    for package in crates::members(&metadata) {
        let src = Path::new(&package.manifest_path).with_file_name("src");
        let sources = sources::read(&src, &place.root)?;
        if let Some(rule) = rules::RULES.iter().find(|rule| rule.name == package.name) {
            faults.extend(words::faults(rule, &sources));
        }
        faults.extend(embedded::faults(&package.name, &sources));
        if package.name == layers::CRATE {
            let table = modules::Table {
                layers: layers::LAYERS,
                exceptions: layers::EXCEPTIONS,
            };
            faults.extend(modules::faults(&table, layers::CRATE, &sources));
        }
    }
    if !faults.is_empty() {
        bail!("the graph is broken:\n  {}", faults.join("\n  "));
    }
    say::out(format_args!(
        "graph: {} crates and {} modules of {}, every arrow points one way",
        metadata.workspace_members.len(),
        layers::LAYERS
            .iter()
            .map(|layer| layer.len())
            .sum::<usize>(),
        layers::CRATE
    ));
    Ok(ExitCode::SUCCESS)
}
