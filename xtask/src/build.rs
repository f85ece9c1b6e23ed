//! The two builds of the workspace: with libtorch and OpenBLAS, and without a native library.

use crate::paths::Place;
use crate::setup::{self, Native};
use anyhow::Result;
use std::process::Command;

/// Which features cargo is asked for, and what these need.
pub(crate) enum Build {
    /// The default features.
    Native(Native),
    /// `--no-default-features`: perceptrons alone, in plain Rust.
    Plain,
}

impl Build {
    /// The default features, after the set-up that they need.
    pub(crate) fn native(place: &Place, offline: bool) -> Result<Self> {
        Ok(Self::Native(setup::ensure(place, offline)?))
    }

    /// Adds the arguments and variables of a command on the whole workspace: with xtask complete beside native libraries.
    pub(crate) fn apply_to_workspace(&self, cargo: &mut Command) {
        cargo.arg("--workspace");
        if matches!(self, Self::Native(_)) {
            cargo.args(["--features", "xtask/fetch"]);
        }
        self.apply(cargo);
    }

    /// Adds the arguments and variables; before any `--`.
    pub(crate) fn apply(&self, cargo: &mut Command) {
        match self {
            Self::Native(native) => native.apply(cargo),
            Self::Plain => {
                cargo.arg("--no-default-features");
            }
        }
    }
}
