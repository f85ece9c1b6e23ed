//! Gives the `svn` command an rpath, so that it finds libtorch when it is started by hand; under cargo the search path
//! that svn-curvature's build script names does the same for every target.

use std::{env, fs, path::PathBuf};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=DEP_TCH_LIBTORCH_LIB");
    // torch-sys declares `links = "tch"`, hence the name.
    let Some(lib) = env::var_os("DEP_TCH_LIBTORCH_LIB") else {
        return;
    };
    let lib = fs::canonicalize(&lib).unwrap_or_else(|_| PathBuf::from(lib));
    if cfg!(unix) {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{}", lib.display());
    }
}
