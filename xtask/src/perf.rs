//! `perf`: the performance suite of svn-bench, and other implementations beside it.

use crate::build::Build;
use crate::failure::bad_input;
use crate::paths::Place;
use crate::{help, process, say};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Scripts in `xtask/peers` and the modules they import.
const PEERS: [(&str, &[&str]); 3] = [
    ("torch_func_ensemble.py", &["torch"]),
    ("jax_svgd.py", &["jax", "blackjax", "optax"]),
    ("laplace_ggn.py", &["torch", "laplace"]),
];

/// What the arguments ask for, as far as this program must know.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    peers: bool,
    offline: bool,
    /// Interpreters to look for the modules in.
    pythons: Vec<String>,
    /// The arguments for the suite.
    rest: Vec<String>,
}

/// `cargo xtask perf ARGS`.
///
/// A release build, except with `--quick`: that counts operations, and the dev profile is there already.
pub(crate) fn run(place: &Place, args: &[String], offline: bool) -> Result<ExitCode> {
    if help::asked(args) {
        return Ok(help::show(place, "perf", "svn-perf", &["--help"]));
    }
    let asked = Asked::parse(args)?;
    let offline = offline || asked.offline;
    let build = Build::native(place, offline)?;
    let folder = tempfile::tempdir().context("no folder for the results of other programs")?;
    let mut cargo = process::cargo(&place.root, offline);
    // Paths among the arguments are relative to where the user stands.
    cargo.current_dir(std::env::current_dir().context("the current folder is gone")?);
    cargo
        .args(["run", "--quiet", "--manifest-path"])
        .arg(place.root.join("Cargo.toml"));
    if !asked.quick() {
        cargo.arg("--release");
    }
    cargo.args(["--package", "svn-bench", "--bin", "svn-perf"]);
    build.apply(&mut cargo);
    cargo.arg("--").args(&asked.rest);
    if asked.peers {
        let lines = peers(&place.root.join("xtask/peers"), &asked.pythons)?;
        let path = folder.path().join("peers.jsonl");
        std::fs::write(&path, lines).with_context(|| path.display().to_string())?;
        cargo.arg("--peer-results").arg(&path);
    }
    Ok(process::pass_on(process::status(&mut cargo)?))
}

impl Asked {
    /// Takes `--peers`, `--python PATH` (repeated) and `--offline` out.
    fn parse(args: &[String]) -> Result<Self> {
        let mut asked = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let (name, value) = match arg.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (arg.as_str(), None),
            };
            match name {
                "--offline" => asked.offline = true,
                "--peers" => asked.peers = true,
                "--python" => {
                    let path = value.or_else(|| args.next().map(String::as_str));
                    let path =
                        path.ok_or_else(|| bad_input("--python: expected an interpreter"))?;
                    asked.pythons.push(path.to_string());
                }
                _ => asked.rest.push(arg.clone()),
            }
        }
        Ok(asked)
    }

    fn quick(&self) -> bool {
        self.rest.iter().any(|arg| arg == "--quick")
    }
}

/// Lines of JSON of all scripts whose modules an interpreter has; the others are named and left out.
fn peers(folder: &Path, pythons: &[String]) -> Result<String> {
    let pythons = match pythons {
        [] => &["python3".to_string()],
        named => named,
    };
    let mut lines = String::new();
    for (script, modules) in PEERS {
        let import = format!("import {}", modules.join(", "));
        let has = |python: &&String| process::answer(python, &["-c", &import]).is_some();
        let Some(python) = pythons.iter().find(has) else {
            say::error(format_args!(
                "peers: {script} skipped: no {} with {}; \
                 `pip install -r xtask/peers/requirements.txt` and name it by --python",
                pythons.join(", "),
                modules.join(", ")
            ));
            continue;
        };
        lines += &output_of(python, &folder.join(script))?;
    }
    Ok(lines)
}

/// One thread for every library that a script may use.
fn output_of(python: &str, script: &PathBuf) -> Result<String> {
    let mut command = Command::new(python);
    command.arg(script).stderr(Stdio::inherit());
    for name in ["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"] {
        command.env(name, "1");
    }
    say::error(format_args!("+ {}", process::shown(&command)));
    let output = command
        .output()
        .with_context(|| format!("cannot run {python}"))?;
    if !output.status.success() {
        bail!("{} failed: {}", script.display(), output.status);
    }
    String::from_utf8(output.stdout).with_context(|| script.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Asked> {
        let words: Vec<String> = line.split_whitespace().map(str::to_string).collect();
        Asked::parse(&words)
    }

    #[test]
    fn own_arguments_are_taken_out() {
        let asked =
            parse("--quick --python a/python --shape yacht --peers --python=b --json x").unwrap();
        assert!(asked.quick() && asked.peers && !asked.offline);
        assert_eq!(asked.pythons, ["a/python", "b"]);
        assert_eq!(asked.rest, ["--quick", "--shape", "yacht", "--json", "x"]);
        assert!(parse("--python").is_err());
    }

    #[test]
    fn scripts_are_there_and_their_modules_are_pinned() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers");
        let pinned = std::fs::read_to_string(folder.join("requirements.txt")).unwrap();
        for (script, modules) in PEERS {
            let text = std::fs::read_to_string(folder.join(script)).unwrap();
            for module in modules {
                assert!(
                    text.contains(&format!("import {module}"))
                        || text.contains(&format!("from {module}"))
                );
                assert!(
                    pinned
                        .lines()
                        .any(|line| line.starts_with(module) && line.contains("==")),
                    "{module}"
                );
            }
        }
    }

    #[test]
    fn a_missing_interpreter_skips_every_script() {
        let lines = peers(Path::new("nowhere"), &["no-such-python".to_string()]).unwrap();
        assert_eq!(lines, "");
    }
}
