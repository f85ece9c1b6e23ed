//! Arrows between crates, from `cargo metadata`.

use super::rules::{NATIVE, RULES};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Deserialize)]
pub(super) struct Metadata {
    packages: Vec<Package>,
    pub workspace_members: Vec<String>,
    resolve: Resolve,
}

#[derive(Deserialize)]
pub(super) struct Package {
    id: String,
    pub name: String,
    pub manifest_path: String,
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

/// The crates of the workspace.
pub(super) fn members(metadata: &Metadata) -> impl Iterator<Item = &Package> {
    metadata
        .packages
        .iter()
        .filter(|package| metadata.workspace_members.contains(&package.id))
}

/// Arrows between the crates of the workspace, and what can be reached from each.
pub(super) fn graph_faults(metadata: &Metadata) -> Vec<String> {
    let own: BTreeSet<&str> = members(metadata)
        .map(|package| package.name.as_str())
        .collect();
    let mut faults = Vec::new();
    for package in members(metadata) {
        let Some(rule) = RULES.iter().find(|rule| rule.name == package.name) else {
            faults.push(format!(
                "{} has no rule in xtask/src/graph/rules.rs",
                package.name
            ));
            continue;
        };
        for dependency in package
            .dependencies
            .iter()
            .filter(|dependency| own.contains(dependency.name.as_str()))
        {
            let name = dependency.name.as_str();
            let for_tests = dependency.kind.as_deref() == Some("dev");
            let allowed = name == package.name
                || rule.may_use.contains(&name)
                || for_tests && rule.tests_may_use.contains(&name);
            if !allowed {
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
pub(super) fn native_faults(plain: &Metadata) -> Vec<String> {
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
                (
                    "svn-stein",
                    &[("svn-linalg", None), ("svn-datasets", Some("dev"))],
                ),
                ("svn-datasets", &[]),
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
            6,
        );
        assert_eq!(graph_faults(&metadata), Vec::<String>::new());
    }

    #[test]
    fn arrows_back_are_named_with_their_kind() {
        let metadata = fixture(
            &[
                ("svn-linalg", &[("svn-stein", Some("dev"))]),
                (
                    "svn-stein",
                    &[
                        ("svn-linalg", None),
                        ("svn-models", None),
                        ("svn-datasets", None),
                    ],
                ),
                ("svn-models", &[]),
                ("svn-datasets", &[]),
            ],
            4,
        );
        assert_eq!(
            graph_faults(&metadata),
            [
                "svn-linalg must not depend on svn-stein (dev-dependency)",
                "svn-stein must not depend on svn-models",
                "svn-stein must not depend on svn-datasets"
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
            ["svn-new has no rule in xtask/src/graph/rules.rs"]
        );
    }
}
