//! Lets everything that cargo runs (tests, benches, examples, doctests) find libtorch without `LD_LIBRARY_PATH`.
//!
//! Two ways, for two kinds of program:
//! * an rpath for this package's own binaries; it also holds when they are started by hand;
//! * a link to the library folder inside `OUT_DIR`, named as a native search path. Cargo puts search paths that lie
//!   in the target folder into the library path of whatever it runs, for this package *and all that depend on it*;
//!   doctests, which get no link arguments, need this one.

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
    #[cfg(unix)]
    {
        let link =
            PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("libtorch");
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(&lib, &link).expect("OUT_DIR is writable");
        println!("cargo:rustc-link-search=native={}", link.display());
    }
}
