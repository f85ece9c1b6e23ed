//! Native libraries: found where the user has them, else installed once into the cache.
//!
//! libtorch, first match wins: `LIBTORCH` of the user → `LIBTORCH_USE_PYTORCH` → the cache → an
//! installation from the PyPI wheels. OpenBLAS and a C++ compiler come from the system.

mod install;
mod link;
mod recipe;
mod source;
mod system;
mod wheel;

pub(crate) use source::Libtorch;
pub(crate) use system::{OpenBlas, compiler_version, probe_openblas};

use crate::complete;
use crate::paths::Place;
use crate::say;
use anyhow::{Result, bail};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// The one libtorch version that the `tch` of this workspace works with.
pub(crate) const LIBTORCH_VERSION: &str = "2.11.0";

/// Libraries that are ready for cargo.
pub(crate) struct Native {
    source: Libtorch,
    link: PathBuf,
}

impl Native {
    /// Makes a child cargo see what was chosen: torch-sys would prefer `LIBTORCH_USE_PYTORCH`.
    pub(crate) fn apply(&self, command: &mut Command) {
        if !matches!(self.source, Libtorch::PyTorch) {
            command.env_remove("LIBTORCH_USE_PYTORCH");
        }
        // cargo's configuration has set it already, unless this program was started without cargo.
        if matches!(self.source, Libtorch::Cached) && std::env::var_os("LIBTORCH").is_none() {
            command.env("LIBTORCH", &self.link);
        }
    }
}

/// `cargo xtask setup`.
pub(crate) fn run(place: &Place, offline: bool) -> Result<ExitCode> {
    let native = ensure(place, offline)?;
    say::out(format_args!(
        "libtorch: {}",
        describe(&native.source, place)
    ));
    say::out(format_args!(
        "OpenBLAS: {}",
        probe_openblas(None).map_or_else(|| "links".to_string(), |blas| blas.to_string())
    ));
    say::out("ready: plain cargo build, test and run work from here on");
    Ok(ExitCode::SUCCESS)
}

/// Makes sure that libtorch, OpenBLAS and a C++ compiler are there; installs what is missing.
pub(crate) fn ensure(place: &Place, offline: bool) -> Result<Native> {
    let source = Libtorch::from_environment(place)?;
    match &source {
        Libtorch::Own(folder) => {
            source::check_own(folder)?;
            system::ensure(false, offline)?;
        }
        Libtorch::PyTorch => {
            source::check_pytorch()?;
            system::ensure(false, offline)?;
        }
        Libtorch::Cached => {
            let folder = cached(place, offline)?;
            link::point(&place.libtorch_link(), &folder)?;
        }
    }
    Ok(Native {
        source,
        link: place.libtorch_link(),
    })
}

/// The folder in the cache, made where it is not whole; the system's parts are made sure of before.
fn cached(place: &Place, offline: bool) -> Result<PathBuf> {
    let recipe = recipe::for_this_platform()?;
    let found = install::find(&place.cache, &recipe);
    system::ensure(found.is_none() && !offline, offline)?;
    match found {
        Some(folder) => Ok(folder),
        None if offline => bail!(
            "libtorch {LIBTORCH_VERSION} is not in {} and --offline forbids installing it: \
             run `cargo xtask setup` with a network, or set LIBTORCH",
            place.cache.display()
        ),
        None => {
            complete::require()?;
            install::install(&place.cache, &recipe, wheel::download)
        }
    }
}

/// Whether libtorch is ready, without changing anything: the folder, or what is missing.
pub(crate) fn look(place: &Place) -> Result<PathBuf> {
    match Libtorch::from_environment(place)? {
        Libtorch::Own(folder) => source::check_own(&folder).map(|()| folder),
        Libtorch::PyTorch => {
            source::check_pytorch().map(|()| PathBuf::from("the PyTorch of your Python"))
        }
        Libtorch::Cached => match std::fs::canonicalize(place.libtorch_link()) {
            Ok(folder) => Ok(folder),
            Err(_) => bail!("not set up"),
        },
    }
}

/// One line about the chosen libtorch.
pub(crate) fn describe(source: &Libtorch, place: &Place) -> String {
    match source {
        Libtorch::Own(folder) => format!("{} (your LIBTORCH)", folder.display()),
        Libtorch::PyTorch => "the PyTorch of your Python (LIBTORCH_USE_PYTORCH)".to_string(),
        Libtorch::Cached => match std::fs::canonicalize(place.libtorch_link()) {
            Ok(folder) => format!("{LIBTORCH_VERSION} in {}", folder.display()),
            Err(_) => "not set up".to_string(),
        },
    }
}

/// What the environment chooses, taken as ready: for a program that has looked already.
pub(crate) fn prepared(place: &Place) -> Result<Native> {
    Ok(Native {
        source: Libtorch::from_environment(place)?,
        link: place.libtorch_link(),
    })
}
