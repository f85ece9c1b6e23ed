//! `bench-uci` and `bench-vision`: libraries where they are needed, data, then the `svn` command with the same arguments.

use crate::build::Build;
use crate::failure::bad_input;
use crate::fetch::{self, Images, Manifest, Sources, Wanted};
use crate::paths::Place;
use crate::{process, say};
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::ExitCode;

/// What the arguments ask for, as far as this program must know.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    names: Vec<String>,
    all: bool,
    offline: bool,
    /// `--data DIR`: the user has the files.
    own_folder: bool,
    /// `--backend torch`.
    libtorch: bool,
    /// The arguments without `--offline`, which the benchmark does not know.
    rest: Vec<String>,
}

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
    let mut asked = Asked::parse(args)?;
    asked.offline |= offline;
    // Names first: a typing error should not cost a long compile.
    let manifest = Manifest::read(&place.manifest())?;
    let images = Images::beside(&place.manifest())?;
    let (sets, extra) = match benchmark {
        Benchmark::Uci => (asked.tables(&manifest)?, None),
        Benchmark::Vision => asked.images(&images)?,
    };
    let build = match benchmark == Benchmark::Vision || asked.libtorch {
        true => Build::native(place, asked.offline)?,
        false => Build::Plain,
    };
    let mirror = std::env::var_os("SVN_DATA_MIRROR")
        .filter(|value| !value.is_empty())
        .map(PathBuf::from);
    let bundled = place.bundled();
    let sources = Sources {
        data: &place.data,
        bundled: &bundled,
        mirror: mirror.as_deref(),
        offline: asked.offline,
    };
    if !asked.own_folder {
        fetch::require_for(sets.iter().chain(&extra), &sources)?;
    }
    for set in sets.into_iter().filter(|_| !asked.own_folder) {
        let origin = set.obtain(&sources);
        let origin = origin.with_context(|| format!("data set {}", set.name()))?;
        if origin != fetch::Origin::Cache {
            say::error(format_args!("{}: {origin}", set.name()));
        }
    }
    for set in extra.into_iter().filter(|_| !asked.own_folder) {
        // The benchmark goes without, and says what it leaves out.
        if let Err(error) = set.obtain(&sources) {
            say::error(format_args!("warning: {}: {error:#}", set.name()));
        }
    }
    if !is_built(place) {
        let what = match build {
            Build::Plain => "",
            Build::Native(_) => ", most of them for libtorch's C++ shim",
        };
        say::error(format_args!(
            "building the benchmark: the first time takes minutes{what}"
        ));
    }
    let mut cargo = process::cargo(&place.root, asked.offline);
    // Paths among the arguments, such as --out, are relative to where the user stands.
    cargo.current_dir(std::env::current_dir().context("the current folder is gone")?);
    cargo
        .args(["run", "--quiet", "--manifest-path"])
        .arg(place.root.join("Cargo.toml"))
        .args(["--package", "svn-bench", "--bin", "svn"]);
    build.apply(&mut cargo);
    cargo.args(["--", benchmark.command()]).args(&asked.rest);
    cargo.env("SVN_DATA_DIR", &place.data);
    Ok(process::pass_on(process::status(&mut cargo)?))
}

impl Asked {
    fn tables<'a>(&self, manifest: &'a Manifest) -> Result<Vec<Wanted<'a>>> {
        let all = manifest.datasets().filter(|set| self.all && !set.leaky);
        let mut sets: Vec<_> = all.map(Wanted::Table).collect();
        for name in &self.names {
            sets.push(Wanted::Table(manifest.find(name)?));
        }
        Ok(sets)
    }

    /// The sets that are named, and one more for the out-of-distribution score of a single one. Sets that the benchmark
    /// draws itself need no file.
    fn images<'a>(&self, images: &'a Images) -> Result<(Vec<Wanted<'a>>, Option<Wanted<'a>>)> {
        let mut sets = Vec::new();
        let drawn = ["synthetic-digits", "synthetic-letters"];
        for name in self
            .names
            .iter()
            .filter(|name| !drawn.contains(&name.as_str()))
        {
            let set = images.find(name).ok_or_else(|| {
                let known = images.sets().map(|set| set.name.as_str()).chain(drawn);
                let known: Vec<_> = known.collect();
                bad_input(format!(
                    "unknown image set `{name}`; known: {}",
                    known.join(", ")
                ))
            })?;
            sets.push(Wanted::Images(set));
        }
        let unscored = self.rest.iter().any(|arg| arg == "--no-ood");
        let other = images.sets().find(|set| !self.names.contains(&set.name));
        let extra = other.filter(|_| !sets.is_empty() && !unscored);
        Ok((sets, extra.map(Wanted::Images)))
    }

    /// Reads `--dataset NAME` (repeated), `--backend`, `--all`, `--data` and `--offline`.
    fn parse(args: &[String]) -> Result<Self> {
        let mut asked = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            if arg == "--offline" {
                asked.offline = true;
                continue;
            }
            asked.rest.push(arg.clone());
            let (name, mut value) = match arg.split_once('=') {
                Some((name, value)) => (name, Some(value.to_string())),
                None => (arg.as_str(), None),
            };
            if value.is_none() && ["--dataset", "--backend"].contains(&name) {
                value = args.next().cloned();
                asked.rest.extend(value.clone());
            }
            match (name, value) {
                ("--all", _) => asked.all = true,
                ("--data", _) => asked.own_folder = true,
                ("--dataset", Some(value)) => asked.names.push(value),
                ("--dataset", None) => {
                    return Err(bad_input("--dataset: expected the name of a data set"));
                }
                ("--backend", Some(value)) => asked.libtorch |= value == "torch",
                _ => {}
            }
        }
        Ok(asked)
    }
}

fn is_built(place: &Place) -> bool {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| place.root.join("target"), Into::into);
    target
        .join("debug")
        .join(format!("svn{}", std::env::consts::EXE_SUFFIX))
        .exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Asked {
        Asked::parse(
            &line
                .split_whitespace()
                .map(str::to_string)
                .collect::<Vec<_>>(),
        )
        .unwrap()
    }

    #[test]
    fn names_in_every_spelling() {
        let asked = parse("--dataset yacht --method svn --dataset=wine --out x");
        assert_eq!(asked.names, ["yacht", "wine"]);
        assert_eq!(
            asked.rest.join(" "),
            "--dataset yacht --method svn --dataset=wine --out x"
        );
        assert!(!asked.all && !asked.offline && !asked.own_folder);
    }

    #[test]
    fn offline_is_for_this_program_alone() {
        let asked = parse("--all --offline --epochs 3");
        assert!(asked.all && asked.offline);
        assert_eq!(asked.rest, ["--all", "--epochs", "3"]);
    }

    #[test]
    fn image_sets_bring_the_one_that_is_foreign_to_them() {
        let manifest =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/manifest.toml");
        let images = Images::beside(&manifest).unwrap();
        let names = |line: &str| {
            let (sets, extra) = parse(line).images(&images).unwrap();
            let sets: Vec<String> = sets.iter().map(|set| set.name().to_string()).collect();
            (sets.join(" "), extra.map(|set| set.name().to_string()))
        };
        let fashion = || Some("fashion-mnist".to_string());
        assert_eq!(names("--dataset mnist"), ("mnist".into(), fashion()));
        assert_eq!(names("--dataset mnist --no-ood"), ("mnist".into(), None));
        assert_eq!(
            names("--dataset mnist --dataset fashion-mnist"),
            ("mnist fashion-mnist".into(), None)
        );
        assert_eq!(names("--dataset synthetic-digits"), (String::new(), None));
        let error = parse("--dataset minst").images(&images).err().unwrap();
        assert_eq!(
            error.to_string(),
            "unknown image set `minst`; known: mnist, fashion-mnist, synthetic-digits, synthetic-letters"
        );
    }

    #[test]
    fn own_data_folder_is_seen() {
        assert!(parse("--dataset yacht --data d").own_folder && parse("--data=d").own_folder);
        assert!(!parse("--dataset data").own_folder);
    }

    #[test]
    fn libtorch_is_asked_for_by_name() {
        let line = "--dataset yacht --backend torch --out x";
        assert!(parse(line).libtorch && parse("--backend=torch").libtorch);
        assert_eq!(parse(line).rest.join(" "), line);
        assert!(!parse("--dataset yacht --backend native").libtorch);
    }

    #[test]
    fn a_missing_name_is_said() {
        let error = Asked::parse(&["--dataset".to_string()]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "--dataset: expected the name of a data set"
        );
    }
}
