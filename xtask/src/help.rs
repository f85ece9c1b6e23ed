//! Help for what other programs of the workspace understand, without building one.

use crate::paths::Place;
use crate::{cli, process, say};
use std::process::{Command, ExitCode};

/// Whether arguments that are passed on ask for help.
pub(crate) fn asked(args: &[String]) -> bool {
    args.iter().any(|arg| arg == "--help" || arg == "-h")
}

/// The complete list of options where the program is built, else what `cargo xtask COMMAND --help` says.
pub(crate) fn show(place: &Place, command: &str, program: &str, args: &[&str]) -> ExitCode {
    let complete = process::answer_of(Command::new(place.program(program)).args(args));
    say::out(complete.unwrap_or_else(|| cli::help_of(command)));
    ExitCode::SUCCESS
}

pub(crate) const UCI: &str = "\
Most used:
  --dataset NAME  Data set, repeatable; `cargo xtask fetch-data --list` shows them
  --all           All of them but those with a leak
  --method NAME   ensemble, wgd, svgd, newton-ensemble, svn, ll-svn or ssvn; repeatable
  --folds K       Fewer folds, for a first look
  --jobs N        Folds trained at the same time
  --data DIR      A folder of your own with NAME.csv; nothing is fetched
  --out DIR       Where records, report and figures go; a rerun resumes

Example: cargo xtask bench-uci --dataset yacht --method svn --folds 2
All options, after a build:
  cargo run --no-default-features --package svn-bench -- bench-uci --help";

pub(crate) const SWEEP: &str = "\
Most used:
  --dry-run          How many runs, and about how long they take
  --engine NAME      local (processes here), slurm (an array of tasks) or parallel (commands)
  --no-submit        Write the script for Slurm and look at it
  --resubmit-failed  Try runs that failed once more
  --out DIR          Folder of the records, which plans share
  collect PLAN.toml  Instead: merge the records, and say what is missing or failed

Example: cargo xtask sweep docs/plans/yacht-ablation.toml --dry-run
All options, after a build:
  cargo run --no-default-features --package svn-bench -- sweep --help";

pub(crate) const VISION: &str = "\
Most used:
  --dataset NAME   mnist, fashion-mnist, synthetic-digits or synthetic-letters; repeatable
  --method NAME    ensemble, wgd, svgd, newton-ensemble, svn, ll-svn or ssvn; repeatable
  --subset N       Training and validation images together
  --low-data       The study with few images
  --test-subset N  Test images
  --data DIR       A folder of your own with the images; nothing is fetched
  --out DIR        Where records, report and figures go; a rerun resumes

Example: cargo xtask bench-vision --dataset synthetic-digits --method svn --subset 500
All options, after a build:
  cargo run --no-default-features --package svn-bench -- bench-vision --help";

pub(crate) const MIMIC: &str = "\
Most used:
  --data DIR       The folder with hosp/ and icu/ of MIMIC-IV; docs/mimic.md says how to get access
  --demo           Made-up patients
  --task NAME      los-total or los-remaining
  --log-target     Networks see ln (1 + hours)
  --method NAME    ensemble, wgd, svgd, newton-ensemble, svn, ll-svn or ssvn; repeatable
  --jobs N         Folds trained at the same time
  --out DIR        Where features, records, report and figures go; a rerun resumes

Example: cargo xtask bench-mimic --demo --method ensemble --method svn
All options, after a build:
  cargo run --no-default-features --package svn-bench -- bench-mimic --help";

pub(crate) const PERF: &str = "\
All options, after a build:
  cargo run --no-default-features --package svn-bench --bin svn-perf -- --help";

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_benchmarks_know_the_options() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/svn-bench/src/cli");
        for (text, file) in [(UCI, "uci.rs"), (VISION, "vision.rs"), (MIMIC, "mimic.rs")] {
            let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
            let source = read("bench.rs") + &read(file);
            let lines = text.lines().map(str::trim_start);
            let options =
                lines.filter_map(|line| line.split_whitespace().next()?.strip_prefix("--"));
            let mut seen = 0;
            for option in options {
                let (named, field) = (format!("long = \"{option}\""), option.replace('-', "_"));
                let field = format!("pub {field}:");
                assert!(
                    source.contains(&named) || source.contains(&field),
                    "{file}: --{option}"
                );
                seen += 1;
            }
            assert_eq!(seen, 7, "{file}");
        }
    }
}
