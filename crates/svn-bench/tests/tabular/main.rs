//! `svn fit`, `predict`, `evaluate`, `inspect` and `report` from outside, on tables made here.

mod faults;
mod fitting;
mod folders;
mod guide;
mod interruptions;
mod predicting;
mod table;

use std::path::Path;
use std::process::{Command, Output};

use table::{flowers, houses};

/// A folder with a table of houses and one of flowers.
fn place() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "houses.csv", houses(120, 1));
    write(folder.path(), "new.csv", houses(40, 2));
    write(folder.path(), "flowers.csv", flowers(150, 3));
    folder
}

fn write(folder: &Path, name: &str, text: impl AsRef<[u8]>) {
    std::fs::write(folder.join(name), text).unwrap();
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_svn"));
    command.current_dir(folder).args(arguments);
    command
}

/// Exit code, standard output, standard error.
fn svn(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    finished(command(folder, arguments).output().unwrap())
}

fn finished(output: Output) -> (i32, String, String) {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap_or(-1);
    (code, text(output.stdout), text(output.stderr))
}

/// What was done, where it has to work.
fn done(folder: &Path, arguments: &[&str]) -> (String, String) {
    let (code, stdout, stderr) = svn(folder, arguments);
    assert_eq!(code, 0, "{arguments:?}: {stderr}");
    (stdout, stderr)
}

/// Settings of a short fit.
const SHORT: [&str; 6] = ["--epochs", "15", "--hidden", "8", "--particles", "3"];

/// Fit, shortly.
fn fit(folder: &Path, data: &str, target: &str, out: &str, more: &[&str]) -> (String, String) {
    let mut arguments = vec!["fit", data, "--target", target, "--out", out];
    arguments.extend(SHORT.iter().filter(|_| !more.contains(&"--epochs")));
    arguments.extend(more);
    done(folder, &arguments)
}

/// Rows of a CSV without quotes, the header first.
fn cells(text: &str) -> Vec<Vec<String>> {
    let rows = text.lines();
    rows.map(|row| row.split(',').map(str::to_owned).collect())
        .collect()
}

/// A column by its name.
fn column(text: &str, name: &str) -> Vec<f64> {
    let rows = cells(text);
    let at = rows[0].iter().position(|cell| cell == name).unwrap();
    rows[1..]
        .iter()
        .map(|row| row[at].parse().unwrap())
        .collect()
}
