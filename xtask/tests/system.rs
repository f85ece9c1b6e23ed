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

/// As [`machine`], asked for `doctor --json`; its answer and exit code.
fn diagnosis(cargo: &str, compiler: Option<&str>) -> (Option<i32>, serde_json::Value) {
    let (folder, setup) = machine("exit 1");
    let bin = folder.path().join("bin");
    program(&bin, "cargo", cargo);
    for name in ["cc", "c++"] {
        compiler
            .into_iter()
            .for_each(|script| program(&bin, name, script));
    }
    let mut doctor = Command::new(setup.get_program());
    for (name, value) in setup.get_envs() {
        match value {
            Some(value) => doctor.env(name, value),
            None => doctor.env_remove(name),
        };
    }
    let doctor = doctor
        .args(["doctor", "--json"])
        .env("CARGO", bin.join("cargo"));
    let output = doctor.env_remove("OPENBLAS_CORETYPE").output().unwrap();
    let json = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.code(), json)
}

#[test]
fn a_program_reads_what_is_missing() {
    let (code, json) = diagnosis("exit 1", None);
    assert_eq!((code, &json["ready"]), (Some(1), &false.into()));
    let missing = serde_json::json!({"C++ compiler": "not found", "OpenBLAS": "does not link"});
    assert_eq!(json["missing"], missing);
    assert!(json["numeric_check"].is_null());
    let found = json["found"].as_object().unwrap();
    assert!(found["OPENBLAS_CORETYPE"].is_null());
    assert!(
        found["libtorch"]
            .as_str()
            .unwrap()
            .ends_with("libtorch (your LIBTORCH)")
    );
}

#[test]
fn a_program_reads_whether_the_libraries_compute() {
    // Its program answers as the one linked with OpenBLAS.
    let compiler = r#"while [ $# -gt 0 ]; do
        [ "$1" = -o ] && printf '#!/bin/sh\necho blas 1\necho Fast\necho 4\n' > "$2" && /bin/chmod +x "$2"
        shift
    done
    echo compiler 1.0"#;
    for (exit, passed) in [(0, true), (1, false)] {
        let cargo = format!("echo \"$*\"; echo all well; exit {exit}");
        let (code, json) = diagnosis(&cargo, Some(compiler));
        assert_eq!(code, Some(exit), "{json}");
        assert_eq!(json["ready"], passed);
        assert_eq!(json["found"]["OpenBLAS"], "blas 1; core Fast, threads 4");
        assert_eq!(
            json["numeric_check"],
            serde_json::json!({"passed": passed, "lines": [
                "run --quiet --package svn-bench --bin svn -- doctor",
                "all well",
            ]})
        );
    }
}
