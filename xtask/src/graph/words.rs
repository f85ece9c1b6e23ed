//! Words that must not appear in the sources of a crate: clocks, files, unseeded randomness.

use super::rules::Rule;
use super::sources::Source;

/// Lines of code, comments aside, that name what the crate must not know.
pub(super) fn faults(rule: &Rule, sources: &[Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources {
        for (i, line) in source.code().enumerate() {
            for word in rule
                .must_not_say
                .iter()
                .filter(|word| line.contains(**word))
            {
                faults.push(format!(
                    "{}:{}: {} must not use {word}",
                    source.shown,
                    i + 1,
                    rule.name
                ));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::super::rules::RULES;
    use super::*;

    #[test]
    fn clocks_are_seen_in_code_but_not_in_comments() {
        let text = "// no std::time here\nlet t = Instant::now(); // not std::fs\n";
        assert_eq!(
            faults(
                RULES.iter().find(|rule| rule.name == "svn-linalg").unwrap(),
                &[Source::new("src/deep/a.rs", "deep/a.rs", text)]
            ),
            ["src/deep/a.rs:2: svn-linalg must not use Instant::now"]
        );
    }
}
