//! The benchmarks and reports: libraries where they are needed, data, then the `svn` command with the same arguments.
//!
//! What is wrong with the arguments and can be seen from here is told before anything is fetched or built.

mod asked;
mod planned;

use crate::build::Build;
use crate::fetch::{self, Images, Manifest, Sources, Wanted};
use crate::paths::Place;
use crate::{help, process, say};
use anyhow::{Context, Result};
use asked::Asked;
use std::path::PathBuf;
use std::process::ExitCode;

/// Which benchmark of `svn`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Benchmark {
    Uci,
    Vision,
}

impl Benchmark {
    fn command(self) -> &'static str {
        match self {
            Self::Uci => "bench-uci",
            Self::Vision => "bench-vision",
        }
    }
}

/// `cargo xtask bench-uci ARGS` and `cargo xtask bench-vision ARGS`.
pub(crate) fn run(
    place: &Place,
    benchmark: Benchmark,
    args: &[String],
    offline: bool,
) -> Result<ExitCode> {
    if help::asked(args) {
        let command = benchmark.command();
        return Ok(help::show(place, command, "svn", &[command, "--help"]));
    }
    let mut asked = Asked::parse(args)?;
    asked.offline |= offline;
    // Names first: a typing error should not cost a long compile.
    let manifest = Manifest::read(&place.manifest())?;
    let images = Images::beside(&place.manifest())?;
    let (sets, extra) = match benchmark {
        Benchmark::Uci => (asked.tables(&manifest, &images)?, None),
        Benchmark::Vision => asked.images(&manifest, &images)?,
    };
    let build = match benchmark == Benchmark::Vision || asked.libtorch {
        true => Build::native(place, asked.offline)?,
        false => Build::Plain,
    };
    if !asked.own_folder {
        obtain(place, &sets, extra.as_slice(), asked.offline)?;
    }
    let command = benchmark.command();
    start(place, &build, asked.offline, command, &asked.rest)
}

/// `cargo xtask sweep PLAN.toml ARGS`: the data that the plan names, then `svn sweep`.
pub(crate) fn sweep(place: &Place, args: &[String], offline: bool) -> Result<ExitCode> {
    if help::asked(args) {
        return Ok(help::show(place, "sweep", "svn", &["sweep", "--help"]));
    }
    let manifest = Manifest::read(&place.manifest())?;
    let images = Images::beside(&place.manifest())?;
    let (mut sets, mut extras, mut libtorch) = (Vec::new(), Vec::new(), false);
    let here = std::env::current_dir().context("the current folder is gone")?;
    for (study, asked) in planned::asked(args, &here)? {
        libtorch |= study == "vision" || asked.libtorch;
        match study.as_str() {
            _ if asked.own_folder => {}
            "uci" => sets.extend(asked.tables(&manifest, &images)?),
            "vision" => {
                let (named, extra) = asked.images(&manifest, &images)?;
                sets.extend(named);
                extras.extend(extra);
            }
            // It draws its data, or finds them, or says what it does not know.
            _ => {}
        }
    }
    let build = match libtorch {
        true => Build::native(place, offline)?,
        false => Build::Plain,
    };
    obtain(place, &sets, &extras, offline)?;
    start(place, &build, offline, "sweep", args)
}

/// Fetch data sets where they are not here; those that a benchmark can go without are only tried.
fn obtain(place: &Place, sets: &[Wanted<'_>], extras: &[Wanted<'_>], offline: bool) -> Result<()> {
    let mirror = std::env::var_os("SVN_DATA_MIRROR")
        .filter(|value| !value.is_empty())
        .map(PathBuf::from);
    let bundled = place.bundled();
    let sources = Sources {
        data: &place.data,
        bundled: &bundled,
        mirror: mirror.as_deref(),
        offline,
    };
    fetch::require_for(sets.iter().chain(extras), &sources)?;
    for set in sets {
        let origin = set.obtain(&sources);
        let origin = origin.with_context(|| format!("data set {}", set.name()))?;
        if origin != fetch::Origin::Cache {
            say::error(format_args!("{}: {origin}", set.name()));
        }
    }
    for set in extras {
        // The benchmark says what it leaves out.
        if let Err(error) = set.obtain(&sources) {
            say::error(format_args!("warning: {}: {error:#}", set.name()));
        }
    }
    Ok(())
}

/// Tables that the page of every study fits networks to.
const SHOWN: [&str; 3] = ["yacht", "energy", "wine"];

/// `cargo xtask report ARGS`: for the page of every study its data first, where they can be had.
pub(crate) fn report(place: &Place, args: &[String], offline: bool) -> Result<ExitCode> {
    let mut asked = Asked::parse(args)?;
    asked.offline |= offline;
    if is_page(&asked.rest) && !help::asked(args) {
        let manifest = Manifest::read(&place.manifest())?;
        let sets = SHOWN.map(|name| manifest.find(name).map(Wanted::Table));
        let sets = sets.into_iter().collect::<Result<Vec<_>>>()?;
        obtain(place, &[], &sets, asked.offline)?;
    }
    plain(place, "report", &asked.rest, asked.offline)
}

/// Whether arguments of `report` name no folder of records or of a model: then it is the page of every study.
fn is_page(args: &[String]) -> bool {
    let mut before = "";
    args.iter().all(|arg| {
        let value = ["--out", "--results"].contains(&before);
        before = arg;
        value || (arg.starts_with('-') && arg != "--from" && !arg.starts_with("--from="))
    })
}

/// A command of `svn` that needs no data and no libtorch.
pub(crate) fn plain(
    place: &Place,
    command: &str,
    args: &[String],
    offline: bool,
) -> Result<ExitCode> {
    if help::asked(args) {
        return Ok(help::show(place, command, "svn", &[command, "--help"]));
    }
    start(place, &Build::Plain, offline, command, args)
}

/// `cargo xtask svn ARGS`: any command that needs no libtorch; help is that of the command itself.
pub(crate) fn svn(place: &Place, args: &[String], offline: bool) -> Result<ExitCode> {
    let (command, args) = args.split_first().context("no command")?;
    start(place, &Build::Plain, offline, command, args)
}

/// Whether tables of hundreds of millions of rows may have to be read, for which the dev profile is no match.
fn is_large(command: &str, args: &[String]) -> bool {
    let of_data = |arg: &String| arg == "--data" || arg.starts_with("--data=");
    command == "bench-mimic" && args.iter().any(of_data)
}

/// Build `svn` where needed, and run a command of it.
fn start(
    place: &Place,
    build: &Build,
    offline: bool,
    command: &str,
    args: &[String],
) -> Result<ExitCode> {
    let release = is_large(command, args);
    if release || !place.program("svn").exists() {
        let what = match build {
            Build::Plain => "",
            Build::Native(_) => ", most of them for libtorch's C++ shim",
        };
        say::error(format_args!(
            "building the benchmark: the first time takes minutes{what}"
        ));
    }
    let mut cargo = process::cargo(&place.root, offline);
    // Paths among the arguments, such as --out, are relative to where the user stands.
    cargo.current_dir(std::env::current_dir().context("the current folder is gone")?);
    cargo
        .args(["run", "--quiet", "--manifest-path"])
        .arg(place.root.join("Cargo.toml"))
        .args(["--package", "svn-bench", "--bin", "svn"])
        .args(release.then_some("--release"));
    build.apply(&mut cargo);
    cargo.args(["--", command]).args(args);
    cargo.env("SVN_DATA_DIR", &place.data);
    if let Some(commit) = commit(place) {
        cargo.env("SVN_COMMIT", commit);
    }
    Ok(process::pass_on(process::status(&mut cargo)?))
}

/// The commit of the checkout, with `-dirty` behind it where files of it were changed; none outside of a repository.
fn commit(place: &Place) -> Option<String> {
    let mut git = std::process::Command::new("git");
    git.args([
        "describe",
        "--always",
        "--dirty",
        "--abbrev=7",
        "--exclude=*",
    ]);
    let answer = process::answer_of(git.current_dir(&place.root))?;
    Some(answer.trim().to_owned()).filter(|commit| !commit.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tables_of_full_size_ask_for_the_release_profile() {
        let is_large = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            is_large(&words[0], &words[1..])
        };
        assert!(
            is_large("bench-mimic --method svn --data dir") && is_large("bench-mimic --data=dir")
        );
        for line in [
            "bench-mimic --demo",
            "bench-mimic --out --datax",
            "bench-toy --data dir",
        ] {
            assert!(!is_large(line), "{line}");
        }
    }

    #[test]
    fn a_report_without_a_folder_is_the_page_of_every_study() {
        let words =
            |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
        for page in [
            "",
            "--quick",
            "--quick --out here",
            "--out=here",
            "--results there --out here",
        ] {
            assert!(is_page(&words(page)), "{page}");
        }
        for folder in [
            "here",
            "--from here",
            "--from=here",
            "--out there here",
            "here --out there",
        ] {
            assert!(!is_page(&words(folder)), "{folder}");
        }
    }
}
