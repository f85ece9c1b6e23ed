//! What the system provides: a C++ compiler, OpenBLAS, and pip where wheels are to be downloaded.

use super::source;
use crate::process::{self, answer};
use crate::say;
use anyhow::{Context, Result, bail};
use std::fmt;
use std::fs;
use std::process::Command;

/// Something that must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Compiler,
    OpenBlas,
    Pip,
}

/// A package manager, and what it calls each part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manager {
    Apt,
    Dnf,
    Pacman,
    Zypper,
    Apk,
    Brew,
}

/// OpenBLAS as it says itself.
pub(crate) struct OpenBlas {
    /// `openblas_get_config()`: version and build options.
    pub config: String,
    /// `openblas_get_corename()`: the detected processor.
    pub core: String,
    /// `openblas_get_num_threads()`.
    pub threads: String,
}

impl fmt::Display for OpenBlas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}; core {}, threads {}",
            self.config, self.core, self.threads
        )
    }
}

/// Finds every part or installs it; an error says what to type.
pub(super) fn ensure(pip_needed: bool, offline: bool) -> Result<()> {
    let missing = missing(pip_needed);
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ");
    let Some(manager) = Manager::detect() else {
        bail!("missing: {names}; no known package manager here, so install them by hand")
    };
    let commands = manager.commands(&missing);
    let typed = commands
        .iter()
        .map(|command| manager.typed(command))
        .collect::<Vec<_>>()
        .join(" && ");
    if offline {
        bail!("missing: {names}, and --offline forbids installing; type: {typed}");
    }
    let Some(prefix) = manager.privilege() else {
        bail!("missing: {names}; type: {typed}")
    };
    say::error(format_args!(
        "installing {names} with the system's package manager"
    ));
    for command in &commands {
        let words: Vec<&str> = prefix
            .iter()
            .copied()
            .chain(command.iter().map(String::as_str))
            .collect();
        let mut run = Command::new(words[0]);
        run.args(&words[1..])
            .env("DEBIAN_FRONTEND", "noninteractive");
        process::check(&mut run).with_context(|| format!("type yourself: {typed}"))?;
    }
    match self::missing(pip_needed).first() {
        Some(part) => bail!("{part} is still not usable after: {typed}"),
        None => Ok(()),
    }
}

fn missing(pip_needed: bool) -> Vec<Part> {
    let mut parts = Vec::new();
    if compiler_version().is_none() {
        parts.push(Part::Compiler);
    }
    if !links_openblas() {
        parts.push(Part::OpenBlas);
    }
    if pip_needed && answer(source::python(), &["-m", "pip", "--version"]).is_none() {
        parts.push(Part::Pip);
    }
    parts
}

/// First line of the C++ compiler's version, `CXX` or `c++`.
pub(crate) fn compiler_version() -> Option<String> {
    let program = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
    let mut words = program.split_whitespace();
    let text = answer(
        words.next()?,
        &words.chain(["--version"]).collect::<Vec<_>>(),
    )?;
    text.lines().next().map(str::to_string)
}

const PROBE: &str = r#"#include <stdio.h>
char *openblas_get_config(void);
char *openblas_get_corename(void);
int openblas_get_num_threads(void);
void dsyev_(void);
int main(int argc, char **argv) {
    if (argc > 5) dsyev_();
    printf("%s\n%s\n%d\n", openblas_get_config(), openblas_get_corename(), openblas_get_num_threads());
    return 0;
}
"#;

fn links_openblas() -> bool {
    built_probe().is_some()
}

/// Links a small program against OpenBLAS and lets it say what it is, when asked for `kernels` if any.
pub(crate) fn probe_openblas(kernels: Option<&str>) -> Option<OpenBlas> {
    let folder = built_probe()?;
    let mut probe = Command::new(folder.path().join("probe"));
    probe.envs(kernels.map(|name| ("OPENBLAS_CORETYPE", name)));
    let text = process::answer_of(&mut probe)?;
    let mut lines = text.lines().map(|line| line.trim().to_string());
    Some(OpenBlas {
        config: lines.next()?,
        core: lines.next()?,
        threads: lines.next()?,
    })
}

/// The folder with the program, if it links: the test that cargo's link step will pass too.
fn built_probe() -> Option<tempfile::TempDir> {
    let folder = tempfile::tempdir().ok()?;
    let source = folder.path().join("probe.c");
    fs::write(&source, PROBE).ok()?;
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut words = compiler.split_whitespace();
    let mut command = Command::new(words.next()?);
    command
        .args(words)
        .arg(&source)
        .arg("-o")
        .arg(folder.path().join("probe"));
    if let Some(flags) = answer("pkg-config", &["--libs", "openblas"]) {
        command.args(flags.split_whitespace());
    } else if let Some(prefix) = cfg!(target_os = "macos")
        .then(|| answer("brew", &["--prefix", "openblas"]))
        .flatten()
    {
        command.arg(format!("-L{prefix}/lib"));
    }
    let output = command.arg("-lopenblas").output().ok()?;
    output.status.success().then_some(folder)
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Compiler => "a C++ compiler",
            Part::OpenBlas => "OpenBLAS",
            Part::Pip => "Python 3 with pip",
        })
    }
}

impl Manager {
    fn detect() -> Option<Self> {
        let all = [
            Self::Apt,
            Self::Dnf,
            Self::Pacman,
            Self::Zypper,
            Self::Apk,
            Self::Brew,
        ];
        all.into_iter()
            .find(|manager| answer(manager.program(), &["--version"]).is_some())
    }

    fn program(self) -> &'static str {
        match self {
            Self::Apt => "apt-get",
            Self::Dnf => "dnf",
            Self::Pacman => "pacman",
            Self::Zypper => "zypper",
            Self::Apk => "apk",
            Self::Brew => "brew",
        }
    }

    fn packages(self, part: Part) -> &'static [&'static str] {
        match (self, part) {
            (Self::Apt, Part::Compiler) => &["g++"],
            (Self::Apt, Part::OpenBlas) => &["libopenblas-dev", "pkg-config"],
            (Self::Dnf | Self::Zypper, Part::Compiler) => &["gcc-c++"],
            (Self::Dnf, Part::OpenBlas) => &["openblas-devel", "pkgconf-pkg-config"],
            (Self::Zypper, Part::OpenBlas) => &["openblas-devel", "pkg-config"],
            (Self::Pacman, Part::Compiler) => &["gcc"],
            (Self::Pacman, Part::OpenBlas) => &["openblas", "pkgconf"],
            (Self::Apk, Part::Compiler) => &["g++"],
            (Self::Apk, Part::OpenBlas) => &["openblas-dev", "pkgconf"],
            (Self::Brew, Part::Compiler) => &["gcc"],
            (Self::Brew, Part::OpenBlas) => &["openblas", "libomp", "pkgconf"],
            (Self::Apt | Self::Dnf | Self::Zypper, Part::Pip) => &["python3-pip"],
            (Self::Pacman, Part::Pip) => &["python-pip"],
            (Self::Apk, Part::Pip) => &["py3-pip"],
            (Self::Brew, Part::Pip) => &["python"],
        }
    }

    fn commands(self, parts: &[Part]) -> Vec<Vec<String>> {
        let install: &[&str] = match self {
            Self::Apt | Self::Dnf => &["install", "-y"],
            Self::Pacman => &["-S", "--needed", "--noconfirm"],
            Self::Zypper => &["--non-interactive", "install"],
            Self::Apk => &["add"],
            Self::Brew => &["install"],
        };
        let packages = parts.iter().flat_map(|&part| self.packages(part));
        let words = std::iter::once(&self.program())
            .chain(install)
            .chain(packages)
            .map(ToString::to_string)
            .collect();
        let refresh =
            (self == Self::Apt).then(|| vec!["apt-get".to_string(), "update".to_string()]);
        refresh.into_iter().chain([words]).collect()
    }

    fn typed(self, command: &[String]) -> String {
        let sudo = if self == Self::Brew { "" } else { "sudo " };
        format!("{sudo}{}", command.join(" "))
    }

    /// Words to put before a command, `None` where installing needs a password.
    fn privilege(self) -> Option<Vec<&'static str>> {
        if self == Self::Brew || answer("id", &["-u"]).as_deref() == Some("0") {
            return Some(vec![]);
        }
        answer("sudo", &["-n", "true"]).map(|_| vec!["sudo", "-n"])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apt_refreshes_its_lists_first() {
        let commands = Manager::Apt.commands(&[Part::OpenBlas, Part::Compiler]);
        let typed: Vec<_> = commands
            .iter()
            .map(|command| Manager::Apt.typed(command))
            .collect();
        assert_eq!(
            typed,
            [
                "sudo apt-get update",
                "sudo apt-get install -y libopenblas-dev pkg-config g++"
            ]
        );
    }

    #[test]
    fn every_manager_has_one_line() {
        for (manager, expected) in [
            (
                Manager::Dnf,
                "sudo dnf install -y openblas-devel pkgconf-pkg-config",
            ),
            (
                Manager::Pacman,
                "sudo pacman -S --needed --noconfirm openblas pkgconf",
            ),
            (
                Manager::Zypper,
                "sudo zypper --non-interactive install openblas-devel pkg-config",
            ),
            (Manager::Apk, "sudo apk add openblas-dev pkgconf"),
            (Manager::Brew, "brew install openblas libomp pkgconf"),
        ] {
            let commands = manager.commands(&[Part::OpenBlas]);
            assert_eq!(
                commands
                    .iter()
                    .map(|command| manager.typed(command))
                    .collect::<Vec<_>>(),
                [expected]
            );
        }
    }
}
