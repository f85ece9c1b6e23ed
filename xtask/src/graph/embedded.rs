//! Files that the sources of a crate embed: all inside the crate, so that its package builds elsewhere.

use super::sources::Source;

const MACROS: &[&str] = &["include_str!(\"", "include_bytes!(\"", "include!(\""];

/// What only `cargo test --doc` in the checkout embeds, and no build of a package.
const DOCTESTS: &str = "docs/guide/src/";

/// Lines that embed a file outside the crate.
pub(super) fn faults(name: &str, sources: &[Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources {
        for (i, line) in source.code().enumerate() {
            let paths = MACROS.iter().filter_map(|start| line.split_once(start));
            let paths = paths.filter_map(|(_, rest)| rest.split('"').next());
            for path in paths.filter(|path| leaves(source, path) && !path.contains(DOCTESTS)) {
                faults.push(format!(
                    "{}:{}: {name} must not embed {path}, which is not in its package",
                    source.shown,
                    i + 1
                ));
            }
        }
    }
    faults
}

/// Whether `path`, relative to the source, is outside the folder above `src`.
fn leaves(source: &Source, path: &str) -> bool {
    // The source's folders, `src` among them: as many as its path below `src` has parts.
    let depth = source.path.split('/').count();
    path.starts_with('/') || path.split('/').filter(|part| *part == "..").count() > depth
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_crate_may_be_embedded_and_others_not() {
        let text = "const A: &str = include_str!(\"../../README.md\");\n\
                    const B: &str = include_str!(\"../../../datasets/manifest.toml\");\n\
                    // include_str!(\"../../../LICENSE\")\n\
                    const C: &[u8] = include_bytes!(\"/etc/hosts\");\n\
                    const D: &str = include_str!(\"paper.json\");\n\
                    #[doc = include_str!(\"../../../docs/guide/src/own-network.md\")]\n";
        let source = Source::new("crates/a/src/deep/b.rs", "deep/b.rs", text);
        assert_eq!(
            faults("a", &[source]),
            [
                "crates/a/src/deep/b.rs:2: a must not embed ../../../datasets/manifest.toml, which is not in its package",
                "crates/a/src/deep/b.rs:4: a must not embed /etc/hosts, which is not in its package"
            ]
        );
    }
}
