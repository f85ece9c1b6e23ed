//! What happens where the compiler and OpenBLAS are missing: a machine of shell scripts, nothing real installed.
#![cfg(unix)]

use assert_cmd::Command;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A compiler that makes an empty program: enough for a look whether something links.
const COMPILER: &str =
    "while [ $# -gt 0 ]; do [ \"$1\" = -o ] && : > \"$2\"; shift; done; echo compiler 1.0";

fn program(folder: &Path, name: &str, script: &str) {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A user without rights and with apt, whose `LIBTORCH` is fine; `sudo` is a script.
fn machine(sudo: &str) -> (tempfile::TempDir, Command) {
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("bin");
    for name in ["bin", "libtorch/lib", "libtorch/include"] {
        fs::create_dir_all(folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("libtorch/lib/libtorch.so"), "").unwrap();
    program(&bin, "id", "echo 1000");
    program(&bin, "sudo", sudo);
    program(&bin, "true", "exit 0");
    // Installing puts a compiler beside the other programs.
    let install = format!(
        "for name in cc c++; do printf '#!/bin/sh\\n%s\\n' '{COMPILER}' > \"${{0%/*}}/$name\"; /bin/chmod +x \"${{0%/*}}/$name\"; done"
    );
    program(
        &bin,
        "apt-get",
        &format!("echo apt-get $*\nif [ \"$1\" = install ]; then {install}; fi"),
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    for name in [
        "CC",
        "CXX",
        "LIBTORCH_USE_PYTORCH",
        "LIBTORCH_LIB",
        "LIBTORCH_INCLUDE",
    ] {
        command.env_remove(name);
    }
    command
        .env("PATH", &bin)
        .env("SVN_CACHE_DIR", folder.path().join("cache"));
    command
        .env("LIBTORCH", folder.path().join("libtorch"))
        .arg("setup");
    (folder, command)
}

#[test]
fn without_rights_one_line_says_what_to_type() {
    let (_folder, mut command) = machine("exit 1");
    command.assert().code(1).stdout("").stderr(
        "error: missing: a C++ compiler, OpenBLAS; \
         type: sudo apt-get update && sudo apt-get install -y g++ libopenblas-dev pkg-config\n",
    );
}

#[test]
fn offline_installs_nothing() {
    let (folder, mut command) = machine("shift; exec \"$@\"");
    command.arg("--offline").assert().code(1).stderr(
        "error: missing: a C++ compiler, OpenBLAS, and --offline forbids installing; \
         type: sudo apt-get update && sudo apt-get install -y g++ libopenblas-dev pkg-config\n",
    );
    assert!(!folder.path().join("bin/cc").exists());
}

#[test]
fn with_sudo_the_packages_are_installed_and_looked_at_again() {
    let (folder, mut command) = machine("shift; exec \"$@\"");
    let output = command.output().unwrap();
    let (out, err) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    assert_eq!(output.status.code(), Some(0), "{out}{err}");
    let expected = "installing a C++ compiler, OpenBLAS with the system's package manager\n\
                    + sudo -n apt-get update\n\
                    + sudo -n apt-get install -y g++ libopenblas-dev pkg-config\n";
    assert_eq!(err, expected);
    assert!(
        out.contains(&format!(
            "libtorch: {} (your LIBTORCH)\n",
            folder.path().join("libtorch").display()
        )),
        "{out}"
    );
}

#[test]
fn an_installation_that_does_not_help_is_said() {
    let (_folder, mut command) = machine("exit 0");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(
        err.contains("error: a C++ compiler is still not usable after: sudo apt-get update && "),
        "{err}"
    );
}
