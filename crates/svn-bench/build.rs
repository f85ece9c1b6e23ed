//! Gives the `svn` command an rpath, so that it finds libtorch when it is started by hand; under cargo the search path
//! that svn-curvature's build script names does the same for every target. Lists the tuned settings of
//! `experiments/uci`, so that a file put there is built in. Tells the profile, which figures are published with.

use std::{env, fs, io, path::Path, path::PathBuf};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=DEP_TCH_LIBTORCH_LIB");
    list_tuned_settings()?;
    let profile = env::var("PROFILE").unwrap_or_default();
    println!("cargo:rustc-env=SVN_PROFILE={profile}");
    // torch-sys declares `links = "tch"`, hence the name.
    let Some(lib) = env::var_os("DEP_TCH_LIBTORCH_LIB") else {
        return Ok(());
    };
    let lib = fs::canonicalize(&lib).unwrap_or_else(|_| PathBuf::from(lib));
    if cfg!(unix) {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{}", lib.display());
    }
    Ok(())
}

/// `OUT_DIR/tuned_uci.rs`: a slice of (data set, text of its file), ascending.
fn list_tuned_settings() -> io::Result<()> {
    let variable = |name| env::var_os(name).map(PathBuf::from).unwrap_or_default();
    let folder = variable("CARGO_MANIFEST_DIR").join("experiments/uci");
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<_>>()?;
    files.retain(|file| {
        file.extension()
            .is_some_and(|extension| extension == "toml")
    });
    files.sort();
    let entry = |file: &PathBuf| {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        format!("({name:?}, include_str!({:?})),", Path::new(file))
    };
    let entries: String = files.iter().map(entry).collect();
    fs::write(
        variable("OUT_DIR").join("tuned_uci.rs"),
        format!("&[{entries}]"),
    )
}
