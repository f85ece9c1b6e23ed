//! Fits that are killed, a disk that is full, two fits into one folder.

use std::process::Stdio;
use std::time::{Duration, Instant};

use super::table::Numbers;
use super::*;

const FILES: [&str; 3] = ["model.json", "model.safetensors", "table.json"];

/// A fit of some seconds.
const LONG: [&str; 12] = [
    "fit",
    "houses.csv",
    "--target",
    "price",
    "--epochs",
    "150",
    "--patience",
    "0",
    "--hidden",
    "24,24",
    "--out",
    "model",
];

fn same(folder: &Path, one: &str, other: &str) {
    for file in FILES {
        let bytes = |model: &str| std::fs::read(folder.join(model).join(file)).unwrap();
        assert_eq!(bytes(one), bytes(other), "{file}");
    }
}

#[test]
fn a_killed_fit_goes_on_and_ends_with_the_same_bytes() {
    let place = place();
    let folder = place.path();
    let mut whole = LONG;
    whole[11] = "whole";
    let start = Instant::now();
    done(folder, &whole);
    let taken = start.elapsed();
    let mut numbers = Numbers::new(11);
    let mut begun = false;
    // Each killed anywhere between its first moment and its end.
    for _ in 0..6 {
        let arguments: &[&str] = if begun {
            &["fit", "--resume", "model"]
        } else {
            &LONG
        };
        let mut child = command(folder, arguments)
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(taken.mul_f64(0.6 * numbers.next()));
        child.kill().unwrap();
        child.wait().unwrap();
        begun = folder.join("model/.fit/request.json").exists()
            || folder.join("model/table.json").exists();
    }
    if begun {
        done(folder, &["fit", "--resume", "model"]);
    } else {
        done(folder, &LONG);
    }
    same(folder, "whole", "model");
    assert!(!folder.join("model/.fit").exists());
    let (_, stderr) = done(folder, &["fit", "--resume", "model"]);
    assert!(stderr.contains("done already"), "{stderr}");
}

#[test]
fn a_fit_killed_at_its_last_moment_is_done() {
    let place = place();
    let folder = place.path();
    let mut arguments = vec!["fit", "houses.csv", "--target", "price", "--out", "model"];
    arguments.extend(SHORT);
    done(folder, &arguments);
    std::fs::create_dir_all(folder.join("model/.fit/model")).unwrap();
    write(folder, "model/.fit/checkpoint", "what is left of it");
    done(folder, &["predict", "model", "new.csv"]);
    let (_, stderr) = done(folder, &["fit", "--resume", "model"]);
    assert!(stderr.contains("done already"), "{stderr}");
    assert!(!folder.join("model/.fit").exists());
}

/// With the first files of the model moved, and its last one not.
#[test]
fn a_fit_killed_while_its_files_are_moved_goes_on() {
    let place = place();
    let folder = place.path();
    let mut arguments = vec!["fit", "houses.csv", "--target", "price", "--out", "whole"];
    arguments.extend(SHORT);
    done(folder, &arguments);
    arguments[5] = "model";
    arguments.push("--overwrite");
    let request = folder.join("model/.fit/request.json");
    // A fit may be over before anyone looks.
    let begun = (0..10).find_map(|_| {
        let mut child = command(folder, &arguments)
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut begun = None;
        while begun.is_none() && child.try_wait().unwrap().is_none() {
            begun = std::fs::read(&request).ok();
        }
        assert!(child.wait().unwrap().success());
        begun
    });
    std::fs::create_dir_all(folder.join("model/.fit/model")).unwrap();
    std::fs::write(request, begun.unwrap()).unwrap();
    let left = folder.join("model/.fit/model/table.json");
    std::fs::rename(folder.join("model/table.json"), left).unwrap();
    done(folder, &["fit", "--resume", "model"]);
    same(folder, "whole", "model");
    assert!(!folder.join("model/.fit").exists());
}

#[test]
fn two_fits_into_one_folder_and_a_table_that_changed() {
    let place = place();
    let folder = place.path();
    let mut child = command(folder, &LONG)
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while !folder.join("model/.fit/request.json").exists() {
        assert!(start.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(5));
    }
    for arguments in [
        [&LONG[..], &["--overwrite"]].concat(),
        vec!["fit", "--resume", "model"],
    ] {
        let (code, _, stderr) = svn(folder, &arguments);
        assert!(code == 2 && stderr.contains("another process"), "{stderr}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let (code, _, stderr) = svn(folder, &LONG);
    assert!(code == 2 && stderr.contains("--resume"), "{stderr}");
    let (code, _, stderr) = svn(folder, &["predict", "model", "new.csv"]);
    assert!(code == 2 && stderr.contains("--resume"), "{stderr}");
    let more = read(folder, "houses.csv") + "121,50,2,Ulm,no,60000\n";
    write(folder, "houses.csv", more);
    let (code, _, stderr) = svn(folder, &["fit", "--resume", "model"]);
    assert!(code == 2 && stderr.contains("has changed"), "{stderr}");
    done(
        folder,
        &[&LONG[..], &["--overwrite", "--time-limit", "1s"]].concat(),
    );
    let (code, _, stderr) = svn(folder, &["fit", "--resume", "nowhere"]);
    assert!(
        code == 2 && stderr.contains("no fit to go on with"),
        "{stderr}"
    );
}

/// A full disk: the fit ends with one line, and can be gone on with where there is room again.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error_and_the_fit_can_go_on() {
    let place = place();
    let folder = place.path();
    let mut arguments = vec!["fit", "houses.csv", "--target", "price", "--out", "model"];
    arguments.extend(SHORT);
    // Files end at 1 KiB; a write beyond fails instead of killing.
    let limited = |arguments: &[&str]| {
        let output = Command::new("bash")
            .args([
                "-c",
                "trap '' XFSZ; ulimit -f 1; exec \"$@\"",
                "bash",
                env!("CARGO_BIN_EXE_svn"),
            ])
            .args(arguments)
            .current_dir(folder)
            .output()
            .unwrap();
        finished(output)
    };
    let (code, _, stderr) = limited(&arguments);
    assert_eq!(code, 1, "{stderr}");
    assert!(
        stderr.lines().last().unwrap().contains("File too large"),
        "{stderr}"
    );
    done(folder, &["fit", "--resume", "model"]);
    arguments[5] = "whole";
    done(folder, &arguments);
    same(folder, "whole", "model");
    let many = houses(2000, 4);
    write(folder, "many.csv", many);
    let (code, _, stderr) = limited(&["predict", "model", "many.csv", "-o", "out.csv"]);
    assert!(code == 1 && stderr.contains("File too large"), "{stderr}");
    assert!(!folder.join("out.csv").exists());
}
