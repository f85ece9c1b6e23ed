//! Arrows between the modules inside a crate, from its sources.
//!
//! An arrow is a path that starts at `crate::`, in a `use` or elsewhere, or at enough `super::` to get there. Paths in
//! comments are none.

use super::sources::Source;
use std::collections::BTreeSet;

/// Where to put a module that is new.
const TABLE: &str = "xtask/src/graph/layers.rs";

/// Layers from bottom to top, and arrows allowed besides.
pub(super) struct Table<'a> {
    pub layers: &'a [&'a [&'a str]],
    pub exceptions: &'a [(&'a str, &'a [&'a str])],
}

/// Modules that are not in the table or no longer in the sources, arrows that point to a layer not below, and exceptions
/// that no arrow needs.
pub(super) fn faults(table: &Table<'_>, name: &str, sources: &[Source]) -> Vec<String> {
    let there: BTreeSet<&str> = sources.iter().filter_map(module_of).collect();
    let mut faults = table.faults(name, &there);
    let mut drawn = BTreeSet::new();
    for source in sources {
        let Some(from) = module_of(source) else {
            continue;
        };
        for (line, to) in arrows(source, &there) {
            drawn.insert((from, to.clone()));
            // A module in no layer has been told.
            if there.contains(to.as_str()) && table.layer(&to).is_none() {
                continue;
            }
            if let Some(fault) = table.fault(from, &to) {
                faults.push(format!("{}:{line}: {from} → {to}: {fault}", source.shown));
            }
        }
    }
    for (from, targets) in table.exceptions {
        for to in targets
            .iter()
            .filter(|to| !drawn.contains(&(*from, to.to_string())))
        {
            faults.push(format!(
                "{name}: no arrow {from} → {to} any more: take the exception out of {TABLE}"
            ));
        }
    }
    faults
}

impl Table<'_> {
    fn layer(&self, module: &str) -> Option<usize> {
        let mut layers = self.layers.iter();
        layers.position(|layer| layer.contains(&module))
    }

    /// The table beside the modules that are there.
    fn faults(&self, name: &str, there: &BTreeSet<&str>) -> Vec<String> {
        let mut faults = Vec::new();
        for module in there.iter().filter(|module| self.layer(module).is_none()) {
            faults.push(format!(
                "{name}: module {module} is in no layer: add it to LAYERS in {TABLE}"
            ));
        }
        let mut seen = BTreeSet::new();
        for module in self.layers.iter().copied().flatten() {
            if !seen.insert(module) {
                faults.push(format!("{name}: module {module} is twice in {TABLE}"));
            } else if !there.contains(module) {
                faults.push(format!(
                    "{name}: there is no module {module}: take it out of {TABLE}"
                ));
            }
        }
        faults
    }

    /// What is wrong with an arrow.
    fn fault(&self, from: &str, to: &str) -> Option<&'static str> {
        let allowed = |(user, used): &(&str, &[&str])| *user == from && used.contains(&to);
        if from == to || self.exceptions.iter().any(allowed) {
            return None;
        }
        match (self.layer(from), self.layer(to)) {
            (Some(from), Some(to)) if to < from => None,
            (Some(from), Some(to)) if to == from => Some("both are in one layer"),
            (Some(_), Some(_)) => Some("an arrow points down, never up"),
            (_, None) => Some("that is no module; name the module that has it"),
            // Told already.
            (None, _) => None,
        }
    }
}

/// The module of the top level that a file belongs to; none for `lib.rs` and the programs.
fn module_of(source: &Source) -> Option<&str> {
    let top = source.path.split('/').next()?;
    let module = top.strip_suffix(".rs").unwrap_or(top);
    (!["lib", "main", "bin"].contains(&module)).then_some(module)
}

/// Line and target of each arrow in a file, once a line.
fn arrows(source: &Source, modules: &BTreeSet<&str>) -> BTreeSet<(usize, String)> {
    let code: String = source.code().flat_map(|line| [line, "\n"]).collect();
    let line = |at: usize| code[..at].matches('\n').count() + 1;
    let root = "super::".repeat(depth(&source.path));
    let mut arrows = BTreeSet::new();
    for (start, certain) in [("crate::", true), (root.as_str(), false)] {
        for (at, _) in code.match_indices(start) {
            // Part of a longer word, or of a longer row of `super`.
            if code[..at].ends_with(|c: char| c.is_alphanumeric() || "_:".contains(c)) {
                continue;
            }
            for (at, name) in first_names(&code, at + start.len()) {
                // `super` leads somewhere else within a module of a file.
                if certain || modules.contains(name) {
                    arrows.insert((line(at), name.to_string()));
                }
            }
        }
    }
    arrows
}

/// How many `super` lead from a file to the root of the crate.
fn depth(path: &str) -> usize {
    let parts = path.split('/').count();
    match path.ends_with("/mod.rs") {
        true => parts - 1,
        false => parts,
    }
}

/// The names that a path goes on with at this place: one, or the first of each branch of `{a::b, c::{d, e}}`.
fn first_names(code: &str, start: usize) -> Vec<(usize, &str)> {
    let rest = &code[start..];
    let Some(group) = rest.strip_prefix('{') else {
        return name_at(code, start).into_iter().collect();
    };
    let (mut names, mut depth, mut fresh) = (Vec::new(), 0, true);
    for (i, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => fresh = true,
            c if fresh && !c.is_whitespace() => {
                names.extend(name_at(code, start + 1 + i));
                fresh = false;
            }
            _ => {}
        }
    }
    names
}

/// The identifier that starts at a place, if any does; `self` is none.
fn name_at(code: &str, start: usize) -> Option<(usize, &str)> {
    let rest = &code[start..];
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
    let name = &rest[..end.unwrap_or(rest.len())];
    (!name.is_empty() && name != "self").then_some((start, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: Table<'_> = Table {
        layers: &[&["data", "split"], &["engine"], &["cli"]],
        exceptions: &[("data", &["split"])],
    };

    /// The arrow of the exception.
    const EXCEPTED: (&str, &str) = ("data/images/b.rs", "use crate::split::stream;\n");

    /// Faults of these files beside empty ones for the rest of the table.
    fn check(files: &[(&str, &str)]) -> Vec<String> {
        let rest = ["data", "split", "engine", "cli"].map(|name| (format!("{name}/x.rs"), ""));
        let rest = rest.iter().map(|(path, text)| (path.as_str(), *text));
        let files = files.iter().copied().chain(rest).chain([EXCEPTED]);
        let sources = files.map(|(path, text)| Source::new(&format!("src/{path}"), path, text));
        faults(&TABLE, "svn-x", &sources.collect::<Vec<_>>())
    }

    #[test]
    fn arrows_down_to_itself_and_from_above_pass() {
        let faults = check(&[
            (
                "cli/mod.rs",
                "use crate::engine::run;\nuse crate::{data::{Table, split}, split};\n",
            ),
            (
                "engine.rs",
                "pub(crate) fn f() -> crate::data::Table { crate::engine::g() }\n",
            ),
            ("data/images/a.rs", "//! See [`crate::cli::run`].\n"),
            ("lib.rs", "pub mod cli;\nuse crate::cli::run;\n"),
            ("bin/svn.rs", "use svn_x::cli;\nuse crate::anything;\n"),
        ]);
        assert_eq!(faults, Vec::<String>::new());
    }

    #[test]
    fn arrows_up_and_aside_are_named_with_file_and_line() {
        let faults = check(&[
            ("data/a.rs", "\nuse crate::engine::{run, cli};\n"),
            (
                "engine/b.rs",
                "fn f() {\n    crate::cli::print(crate::cli::LINE, crate::split::x());\n}\n",
            ),
            (
                "split/mod.rs",
                "use crate::{\n    data::Table,\n    split::{self, engine},\n    cli,\n};\n",
            ),
        ]);
        assert_eq!(
            faults,
            [
                "src/data/a.rs:2: data → engine: an arrow points down, never up",
                "src/engine/b.rs:2: engine → cli: an arrow points down, never up",
                "src/split/mod.rs:2: split → data: both are in one layer",
                "src/split/mod.rs:4: split → cli: an arrow points down, never up",
            ]
        );
    }

    #[test]
    fn super_is_followed_to_the_root() {
        let faults = check(&[
            (
                "engine/mod.rs",
                "use super::cli::run;\nuse self::super_::cli;\n",
            ),
            (
                "engine/deep/a.rs",
                "use super::super::super::{cli, data};\nuse super::super::cli;\n",
            ),
            ("split.rs", "use super::inner;\nuse super::data;\n"),
        ]);
        assert_eq!(
            faults,
            [
                "src/engine/mod.rs:1: engine → cli: an arrow points down, never up",
                "src/engine/deep/a.rs:1: engine → cli: an arrow points down, never up",
                "src/split.rs:2: split → data: both are in one layer",
            ]
        );
    }

    #[test]
    fn what_lib_rs_passes_on_is_no_way_around() {
        assert_eq!(
            check(&[("data/a.rs", "use crate::Engine;\n")]),
            ["src/data/a.rs:1: data → Engine: that is no module; name the module that has it"]
        );
    }

    #[test]
    fn an_exception_lasts_as_long_as_its_arrow() {
        let table = Table {
            layers: &[&["data", "split"]],
            exceptions: &[("data", &["split"])],
        };
        let sources = ["data.rs", "split.rs"].map(|path| Source::new(path, path, ""));
        assert_eq!(
            faults(&table, "svn-x", &sources),
            [
                "svn-x: no arrow data → split any more: take the exception out of xtask/src/graph/layers.rs"
            ]
        );
    }

    #[test]
    fn the_table_has_every_module_once_and_no_other() {
        assert_eq!(
            check(&[
                ("plots/mod.rs", "use crate::cli;\n"),
                ("cli/mod.rs", "use crate::plots;\n")
            ]),
            ["svn-x: module plots is in no layer: add it to LAYERS in xtask/src/graph/layers.rs"]
        );
        let table = Table {
            layers: &[&["data"], &["data", "gone"]],
            exceptions: &[],
        };
        assert_eq!(
            faults(
                &table,
                "svn-x",
                &[Source::new("src/data.rs", "data.rs", "")]
            ),
            [
                "svn-x: module data is twice in xtask/src/graph/layers.rs",
                "svn-x: there is no module gone: take it out of xtask/src/graph/layers.rs",
            ]
        );
    }
}
