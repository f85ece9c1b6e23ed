//! What the arguments of a benchmark ask for, as far as this program must know.

use crate::failure::bad_input;
use crate::fetch::{Images, Manifest, Wanted};
use crate::{nearest, say};
use anyhow::Result;

/// Image sets that the benchmark draws itself.
const DRAWN: [&str; 2] = ["synthetic-digits", "synthetic-letters"];

/// The arguments, read once.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    pub names: Vec<String>,
    pub all: bool,
    pub offline: bool,
    /// `--data DIR`: the user has the files.
    pub own_folder: bool,
    /// `--backend torch`.
    pub libtorch: bool,
    /// The arguments without `--offline`, which the benchmark does not know.
    pub rest: Vec<String>,
}

impl Asked {
    /// The tables that are named, or all.
    pub(super) fn tables<'a>(
        &self,
        manifest: &'a Manifest,
        images: &Images,
    ) -> Result<Vec<Wanted<'a>>> {
        let known = || manifest.names();
        match (self.all, self.names.as_slice()) {
            (true, [_, ..]) => return Err(bad_input("--all and --dataset exclude each other")),
            (false, []) => {
                let flags = "--dataset NAME (repeated), or --all";
                return Err(self.nothing_named("data sets", flags, &known()));
            }
            _ => {}
        }
        let all = manifest.datasets().filter(|set| self.all && !set.leaky);
        let mut sets: Vec<_> = all.map(Wanted::Table).collect();
        for name in &self.names {
            if images.find(name).is_some() {
                return Err(elsewhere(name, "a set of images", "bench-vision"));
            }
            sets.push(Wanted::Table(manifest.find(name)?));
        }
        Ok(sets)
    }

    /// The sets that are named, and one more for the out-of-distribution score of a single one. Sets that the benchmark
    /// draws itself need no file.
    pub(super) fn images<'a>(
        &self,
        manifest: &Manifest,
        images: &'a Images,
    ) -> Result<(Vec<Wanted<'a>>, Option<Wanted<'a>>)> {
        let named = images.sets().map(|set| set.name.as_str());
        let known: Vec<&str> = named.chain(DRAWN).collect();
        if self.all || self.names.is_empty() {
            let flags = "--dataset NAME (repeated)";
            return Err(self.nothing_named("image sets", flags, &known.join(", ")));
        }
        let mut sets = Vec::new();
        for name in &self.names {
            match images.find(name) {
                Some(set) => sets.push(Wanted::Images(set)),
                None if DRAWN.contains(&name.as_str()) => {}
                None if manifest.datasets().any(|set| set.name == *name) => {
                    return Err(elsewhere(name, "a table", "bench-uci"));
                }
                None => return Err(nearest::unknown("image set", name, &known)),
            }
        }
        let unscored = self.rest.iter().any(|arg| arg == "--no-ood");
        let other = images.sets().find(|set| !self.names.contains(&set.name));
        let extra = other.filter(|_| !sets.is_empty() && !unscored);
        Ok((sets, extra.map(Wanted::Images)))
    }

    /// The error where no set is named; an option that is almost right may be why.
    fn nothing_named(&self, what: &str, flags: &str, known: &str) -> anyhow::Error {
        let misspelt = self.rest.iter().find_map(|arg| {
            let near = nearest::nearest(arg, &["--dataset", "--all", "--data"])?;
            (near != arg).then(|| format!("`{}`: did you mean {near}? ", say::word(arg)))
        });
        let misspelt = misspelt.unwrap_or_default();
        bad_input(format!("{misspelt}name {what}: {flags}; known: {known}"))
    }

    /// Reads `--dataset NAME` (repeated), `--backend`, `--all`, `--data` and `--offline`.
    pub(super) fn parse(args: &[String]) -> Result<Self> {
        let mut asked = Self::default();
        let mut args = args.iter().peekable();
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
                // An option there is the next one: the name was left out.
                value = args.next_if(|next| !next.starts_with("--")).cloned();
                asked.rest.extend(value.clone());
            }
            match (name, value) {
                ("--all", _) => asked.all = true,
                ("--data", _) => asked.own_folder = true,
                ("--dataset", Some(value)) => {
                    asked.names.extend(value.split(',').map(str::to_owned));
                }
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

/// The error for a name that belongs to the other benchmark.
fn elsewhere(name: &str, what: &str, command: &str) -> anyhow::Error {
    bad_input(format!(
        "`{name}` is {what}: use `cargo xtask {command} --dataset {name}`"
    ))
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
        let manifest = Manifest::read(&manifest).unwrap();
        let names = |line: &str| {
            let (sets, extra) = parse(line).images(&manifest, &images).unwrap();
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
    }

    #[test]
    fn names_that_do_not_fit_the_benchmark_are_refused() {
        let path =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/manifest.toml");
        let manifest = Manifest::read(&path).unwrap();
        let images = Images::beside(&path).unwrap();
        let tables = |line: &str| {
            let fault = parse(line).tables(&manifest, &images).err();
            fault.unwrap().to_string()
        };
        let sets = |line: &str| {
            let fault = parse(line).images(&manifest, &images).err();
            fault.unwrap().to_string()
        };
        assert!(tables("--epochs 3").starts_with(
            "name data sets: --dataset NAME (repeated), or --all; known: yacht, energy, "
        ));
        assert!(
            tables("--datset yacht").starts_with("`--datset`: did you mean --dataset? name data ")
        );
        assert!(tables("--data folder").starts_with("name data sets: "));
        assert_eq!(
            tables("--all --dataset yacht"),
            "--all and --dataset exclude each other"
        );
        assert_eq!(
            tables("--dataset mnist"),
            "`mnist` is a set of images: use `cargo xtask bench-vision --dataset mnist`"
        );
        assert_eq!(
            sets("--dataset yacht"),
            "`yacht` is a table: use `cargo xtask bench-uci --dataset yacht`"
        );
        for line in ["--seeds 2", "--all"] {
            assert_eq!(
                sets(line),
                "name image sets: --dataset NAME (repeated); known: mnist, fashion-mnist, synthetic-digits, \
                 synthetic-letters"
            );
        }
        assert_eq!(
            sets("--dataset minst"),
            "unknown image set `minst`: did you mean `mnist`? known: mnist, fashion-mnist, synthetic-digits, \
             synthetic-letters"
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
        for line in [&["--dataset"][..], &["--dataset", "--all"]] {
            let words: Vec<String> = line.iter().map(ToString::to_string).collect();
            assert_eq!(
                Asked::parse(&words).unwrap_err().to_string(),
                "--dataset: expected the name of a data set"
            );
        }
    }
}
