//! The one-way crate graph, checked against `cargo metadata` and the sources.
//!
//! ```text
//! svn-linalg ← svn-curvature, svn-stein ← svn-models ← svn-bench      xtask stands alone
//! ```

use crate::paths::Place;
use crate::{process, say};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// What one crate may and may not know.
struct Rule {
    name: &'static str,
    /// Crates of the workspace that it may depend on.
    may_use: &'static [&'static str],
    /// Crates that must not be reachable from it, however far.
    must_not_reach: &'static [&'static str],
    /// Paths that must not appear in its sources.
    must_not_say: &'static [&'static str],
}

const FILES_CLOCK_RNG: &[&str] = &[
    "std::fs",
    "std::time",
    "File::open",
    "Instant::now",
    "SystemTime",
    "rand::rng(",
    "thread_rng",
    "from_os_rng",
];

const RULES: &[Rule] = &[
    Rule {
        name: "svn-linalg",
        may_use: &[],
        must_not_reach: &["torch-sys", "csv", "clap"],
        must_not_say: FILES_CLOCK_RNG,
    },
    Rule {
        name: "svn-curvature",
        may_use: &["svn-linalg"],
        must_not_reach: &["csv", "clap"],
        must_not_say: FILES_CLOCK_RNG,
    },
    Rule {
        name: "svn-stein",
        may_use: &["svn-linalg"],
        must_not_reach: &["torch-sys", "csv", "clap"],
        must_not_say: FILES_CLOCK_RNG,
    },
    Rule {
        name: "svn-models",
        may_use: &["svn-linalg", "svn-curvature", "svn-stein"],
        must_not_reach: &["csv", "clap"],
        must_not_say: &[],
    },
    Rule {
        name: "svn-bench",
        may_use: &["svn-linalg", "svn-curvature", "svn-stein", "svn-models"],
        must_not_reach: &[],
        must_not_say: &[],
    },
    Rule {
        name: "xtask",
        may_use: &[],
        must_not_reach: &["torch-sys", "openblas-src", "ndarray"],
        must_not_say: &[],
    },
];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_members: Vec<String>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    manifest_path: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<EdgeKind>,
}

#[derive(Deserialize)]
struct EdgeKind {
    kind: Option<String>,
}

/// What the build without default features must not reach: native libraries, and what compiles them.
const NATIVE: &[&str] = &[
    "torch-sys",
    "openblas-src",
    "blas-src",
    "cblas-sys",
    "lapack-sys",
    "ndarray-linalg",
];

/// `cargo xtask graph`.
pub(crate) fn run(place: &Place) -> Result<ExitCode> {
    let metadata: Metadata = process::cargo_metadata(&place.root, &["--all-features"])?;
    let plain: Metadata = process::cargo_metadata(&place.root, &["--no-default-features"])?;
    let mut faults = graph_faults(&metadata);
    faults.extend(native_faults(&plain));
    for rule in RULES {
        if let Some(package) = members(&metadata).find(|package| package.name == rule.name) {
            let sources = Path::new(&package.manifest_path).with_file_name("src");
            faults.extend(source_faults(rule, &sources)?);
        }
    }
    if !faults.is_empty() {
        bail!("the crate graph is broken:\n  {}", faults.join("\n  "));
    }
    say::out(format_args!(
        "graph: {} crates, every arrow points one way",
        metadata.workspace_members.len()
    ));
    Ok(ExitCode::SUCCESS)
}

fn members(metadata: &Metadata) -> impl Iterator<Item = &Package> {
    metadata
        .packages
        .iter()
        .filter(|package| metadata.workspace_members.contains(&package.id))
}

/// Arrows between the crates of the workspace, and what can be reached from each.
fn graph_faults(metadata: &Metadata) -> Vec<String> {
    let own: BTreeSet<&str> = members(metadata)
        .map(|package| package.name.as_str())
        .collect();
    let mut faults = Vec::new();
    for package in members(metadata) {
        let Some(rule) = RULES.iter().find(|rule| rule.name == package.name) else {
            faults.push(format!(
                "{} has no rule in xtask/src/graph.rs",
                package.name
            ));
            continue;
        };
        for dependency in package
            .dependencies
            .iter()
            .filter(|dependency| own.contains(dependency.name.as_str()))
        {
            if dependency.name != package.name && !rule.may_use.contains(&dependency.name.as_str())
            {
                let kind = dependency
                    .kind
                    .as_ref()
                    .map_or(String::new(), |kind| format!(" ({kind}-dependency)"));
                faults.push(format!(
                    "{} must not depend on {}{kind}",
                    package.name, dependency.name
                ));
            }
        }
        let reached = reachable(metadata, &package.id, &[None]);
        for banned in rule
            .must_not_reach
            .iter()
            .filter(|banned| reached.contains(**banned))
        {
            faults.push(format!("{} must not reach {banned}", package.name));
        }
    }
    faults
}

/// Native libraries in the build that goes without, and in its tests.
fn native_faults(plain: &Metadata) -> Vec<String> {
    let reached = |package: &Package| {
        let reached = reachable(plain, &package.id, &[None, Some("dev")]);
        let native = NATIVE.iter().filter(move |name| reached.contains(**name));
        let fault = |name| {
            format!(
                "{} without default features must not reach {name}",
                package.name
            )
        };
        native.map(fault).collect::<Vec<_>>()
    };
    members(plain).flat_map(reached).collect()
}

/// Names of all packages behind dependencies of these kinds, `None` being the normal one.
fn reachable<'a>(
    metadata: &'a Metadata,
    start: &'a str,
    kinds: &[Option<&str>],
) -> BTreeSet<&'a str> {
    let nodes: BTreeMap<&str, &Node> = metadata
        .resolve
        .nodes
        .iter()
        .map(|node| (node.id.as_str(), node))
        .collect();
    let names: BTreeMap<&str, &str> = metadata
        .packages
        .iter()
        .map(|p| (p.id.as_str(), p.name.as_str()))
        .collect();
    let (mut seen, mut open) = (BTreeSet::from([start]), vec![start]);
    while let Some(node) = open.pop().and_then(|id| nodes.get(id)) {
        let wanted = |edge: &&Edge| {
            let mut found = edge.dep_kinds.iter();
            found.any(|kind| kinds.contains(&kind.kind.as_deref()))
        };
        open.extend(
            node.deps
                .iter()
                .filter(wanted)
                .map(|edge| edge.pkg.as_str())
                .filter(|id| seen.insert(id)),
        );
    }
    seen.iter()
        .filter_map(|id| names.get(id).copied())
        .collect()
}

/// Lines of code, comments aside, that name what the crate must not know.
fn source_faults(rule: &Rule, folder: &Path) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    if rule.must_not_say.is_empty() {
        return Ok(faults);
    }
    let mut entries = fs::read_dir(folder)?.collect::<std::io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for path in entries.iter().map(fs::DirEntry::path) {
        if path.is_dir() {
            faults.extend(source_faults(rule, &path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            for (i, line) in text
                .lines()
                .enumerate()
                .filter(|(_, line)| !line.trim_start().starts_with("//"))
            {
                for word in rule
                    .must_not_say
                    .iter()
                    .filter(|word| line.contains(**word))
                {
                    faults.push(format!(
                        "{}:{}: {} must not use {word}",
                        path.display(),
                        i + 1,
                        rule.name
                    ));
                }
            }
        }
    }
    Ok(faults)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// A package with what it depends on, and in which kind.
    type Fixture<'a> = (&'a str, &'a [(&'a str, Option<&'a str>)]);

    /// The first `own` packages are members of the workspace.
    fn fixture(packages: &[Fixture<'_>], own: usize) -> Metadata {
        let dependency = |(name, kind): &(&str, Option<&str>)| json!({"name": name, "kind": kind});
        let edge = |(name, kind): &(&str, Option<&str>)| json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        let package = |(name, uses): &Fixture<'_>| {
            json!({"id": name, "name": name, "manifest_path": "/x/Cargo.toml",
                   "dependencies": uses.iter().map(dependency).collect::<Vec<Value>>()})
        };
        let node = |(name, uses): &Fixture<'_>| json!({"id": name, "deps": uses.iter().map(edge).collect::<Vec<Value>>()});
        serde_json::from_value(json!({
            "packages": packages.iter().map(package).collect::<Vec<Value>>(),
            "workspace_members": packages[..own].iter().map(|(name, _)| name).collect::<Vec<_>>(),
            "resolve": {"nodes": packages.iter().map(node).collect::<Vec<Value>>()},
        }))
        .unwrap()
    }

    #[test]
    fn the_intended_graph_passes() {
        let metadata = fixture(
            &[
                ("svn-linalg", &[("ndarray", None)]),
                ("svn-stein", &[("svn-linalg", None)]),
                ("svn-curvature", &[("svn-linalg", None), ("tch", None)]),
                (
                    "svn-models",
                    &[("svn-stein", None), ("svn-curvature", None)],
                ),
                ("xtask", &[("csv", None)]),
                ("tch", &[("torch-sys", None)]),
                ("torch-sys", &[]),
                ("ndarray", &[]),
                ("csv", &[]),
            ],
            5,
        );
        assert_eq!(graph_faults(&metadata), Vec::<String>::new());
    }

    #[test]
    fn arrows_back_are_named_with_their_kind() {
        let metadata = fixture(
            &[
                ("svn-linalg", &[("svn-stein", Some("dev"))]),
                ("svn-stein", &[("svn-linalg", None), ("svn-models", None)]),
                ("svn-models", &[]),
            ],
            3,
        );
        assert_eq!(
            graph_faults(&metadata),
            [
                "svn-linalg must not depend on svn-stein (dev-dependency)",
                "svn-stein must not depend on svn-models"
            ]
        );
    }

    #[test]
    fn a_banned_crate_is_found_behind_others_but_not_behind_tests() {
        let metadata = fixture(
            &[
                ("svn-stein", &[("helper", None)]),
                ("svn-linalg", &[("helper", Some("dev"))]),
                ("helper", &[("tch", None)]),
                ("tch", &[("torch-sys", None)]),
                ("torch-sys", &[]),
            ],
            2,
        );
        assert_eq!(
            graph_faults(&metadata),
            ["svn-stein must not reach torch-sys"]
        );
    }

    #[test]
    fn a_native_library_in_the_plain_build_is_named() {
        let (linked, free) = (
            ("svn-linalg", &[("lapack-sys", None)][..]),
            ("svn-stein", &[][..]),
        );
        let metadata = fixture(&[linked, free, ("lapack-sys", &[])], 2);
        assert_eq!(
            native_faults(&metadata),
            ["svn-linalg without default features must not reach lapack-sys"]
        );
    }

    #[test]
    fn a_crate_without_a_rule_is_refused() {
        assert_eq!(
            graph_faults(&fixture(&[("svn-new", &[])], 1)),
            ["svn-new has no rule in xtask/src/graph.rs"]
        );
    }

    #[test]
    fn clocks_are_seen_in_code_but_not_in_comments() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("deep")).unwrap();
        fs::write(
            folder.path().join("deep/a.rs"),
            "// no std::time here\nlet t = Instant::now();\n",
        )
        .unwrap();
        let faults = source_faults(&RULES[0], folder.path()).unwrap();
        assert_eq!(faults.len(), 1);
        assert!(
            faults[0].ends_with("a.rs:2: svn-linalg must not use Instant::now"),
            "{faults:?}"
        );
    }
}
