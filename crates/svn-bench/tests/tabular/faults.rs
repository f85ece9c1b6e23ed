//! Tables that are broken, strange or hostile: a right fit or one short line, never a panic.

use std::time::Instant;

use super::table::Numbers;
use super::*;

/// One epoch of one small network, or a line of at most 300 bytes without control characters.
fn survives(folder: &Path, name: &str, target: &str) -> bool {
    let start = Instant::now();
    let arguments = [
        "fit",
        name,
        "--target",
        target,
        "--out",
        "m",
        "--overwrite",
        "--epochs",
        "1",
        "--hidden",
        "2",
        "--particles",
        "2",
        "--method",
        "ensemble",
    ];
    let (code, _, stderr) = svn(folder, &arguments);
    assert!(start.elapsed().as_secs() < 20, "{name}");
    assert!(code == 0 || code == 2, "{name}: {code} {stderr}");
    for line in stderr.lines() {
        assert!(line.len() <= 300, "{name}: {} bytes: {line}", line.len());
        assert!(!line.chars().any(char::is_control), "{name}: {line:?}");
    }
    assert!(!stderr.contains("panicked"), "{stderr}");
    if code == 2 {
        assert!(
            stderr.lines().last().unwrap().starts_with("error: "),
            "{stderr}"
        );
    }
    code == 0
}

/// Bytes changed, left out, put in twice, cut off.
fn mutated(text: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    const BYTES: &[u8] = b"\0\n\r\t\",;|' #=-+.%$()\x1b\x7f\x80\xc3\xe2\xff0179eEINFan<>";
    let mut text = text.to_vec();
    for _ in 0..1 + numbers.below(3) {
        if text.is_empty() {
            break;
        }
        let at = numbers.below(text.len());
        let end = (at + 1 + numbers.below(40)).min(text.len());
        match numbers.below(6) {
            0 => text[at] = BYTES[numbers.below(BYTES.len())],
            1 => text.insert(at, BYTES[numbers.below(BYTES.len())]),
            2 => drop(text.drain(at..end)),
            3 => {
                let copy = text[at..end].to_vec();
                text.splice(at..at, copy);
            }
            4 => text.truncate(at),
            _ => {
                let byte = BYTES[numbers.below(BYTES.len())];
                let from = text[at];
                text.iter_mut()
                    .filter(|b| **b == from)
                    .for_each(|b| *b = byte);
            }
        }
    }
    text
}

#[test]
fn three_hundred_mutated_tables() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let seeds = [houses(25, 1).into_bytes(), flowers(25, 2).into_bytes()];
    let mut numbers = Numbers::new(42);
    let mut fitted = 0;
    for case in 0..300 {
        let (seed, target) = (case % 2, ["price", "kind"][case % 2]);
        write(folder, "t.csv", mutated(&seeds[seed], &mut numbers));
        fitted += usize::from(survives(folder, "t.csv", target));
    }
    // Most single faults make a table no table, some leave one.
    assert!((20..280).contains(&fitted), "{fitted}");
}

#[test]
fn text_of_strangers_is_escaped_everywhere() {
    let place = place();
    let folder = place.path();
    let evil = "<script>alert(1)</script>\u{1b}[31m";
    let text = read(folder, "houses.csv")
        .replacen("area", evil, 1)
        .replace("Ulm", "\u{1b}[8m<b>&\"\"Ulm");
    let quoted: String = text
        .lines()
        .map(|line| {
            let cells: Vec<String> = line.split(',').map(|cell| format!("\"{cell}\"")).collect();
            format!("{}\n", cells.join(","))
        })
        .collect();
    write(folder, "evil.csv", quoted);
    let (stdout, stderr) = fit(folder, "evil.csv", "price", "model", &[]);
    let (inspected, _) = done(folder, &["inspect", "model"]);
    done(folder, &["report", "model"]);
    let page = read(folder, "model/report.html");
    for text in [&stdout, &stderr, &inspected, &page] {
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
    assert!(
        page.contains("&lt;script&gt;") && !page.contains("<script"),
        "{page}"
    );
    assert!(
        inspected.contains("<script>alert(1)</script>\\u{1b}[31m"),
        "{inspected}"
    );
    let (_, stderr) = done(folder, &["evaluate", "model", "evil.csv", "--plots", "p"]);
    assert!(!stderr.contains('\u{1b}'));
}

#[test]
fn wrong_options_are_one_line_and_name_what_fits() {
    let place = place();
    let folder = place.path();
    let cases: [(&[&str], &str); 8] = [
        (&["fit"], "--help"),
        (
            &["fit", "houses.csv", "--out", "m"],
            "--target COLUMN is missing",
        ),
        (
            &["fit", "nothing.csv", "--target", "price", "--out", "m"],
            "nothing.csv",
        ),
        (
            &["fit", "houses.csv", "--target", "pric", "--out", "m"],
            "price",
        ),
        (
            &[
                "fit",
                "houses.csv",
                "--target",
                "price",
                "--out",
                "m",
                "--validation",
                "1",
            ],
            "above 0 and below 1",
        ),
        (
            &[
                "fit",
                "houses.csv",
                "--target",
                "price",
                "--out",
                "m",
                "--time-limit",
                "soon",
            ],
            "such as 90",
        ),
        (
            &[
                "fit",
                "houses.csv",
                "--target",
                "town",
                "--task",
                "regression",
                "--out",
                "m",
            ],
            "town",
        ),
        (&["predict", "nowhere", "new.csv"], "no model"),
    ];
    for (arguments, part) in cases {
        let (code, stdout, stderr) = svn(folder, arguments);
        assert_eq!((code, stdout.as_str()), (2, ""), "{arguments:?}: {stderr}");
        let last = stderr.lines().last().unwrap();
        assert!(
            last.contains(part) || stderr.contains(part),
            "{arguments:?}: {stderr}"
        );
        assert!(last.len() <= 300, "{stderr}");
        assert!(!folder.join("m").exists());
    }
}

#[test]
fn completions_and_manual_know_the_commands() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (stdout, _) = done(folder.path(), &["completions", shell]);
        assert!(stdout.contains("predict"), "{shell}");
    }
    let (stdout, _) = done(folder.path(), &["man"]);
    assert!(stdout.contains(".TH") && stdout.contains("conformal"));
}
