//! The page of every study.

use std::path::Path;
use std::process::Command;

use super::{finish, short, with_ridge};

/// Results that come with the project.
const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results");

/// `svn report` on the shipped results: exit code, page and Markdown.
fn report(out: &Path) -> (u8, String, String) {
    let out = out.to_str().unwrap();
    let (code, told, stderr) = finish(with_ridge(
        &["report", "--results", SHIPPED, "--out", out],
        0,
    ));
    assert_eq!(stderr, "");
    assert!(told.ends_with(&format!("{out}/report.html\n")), "{told}");
    let read = |name: &str| std::fs::read_to_string(Path::new(out).join(name)).unwrap();
    (code as u8, read("report.html"), read("report.md"))
}

#[test]
fn every_study_is_on_the_page_or_the_command_that_makes_it() {
    let folder = tempfile::tempdir().unwrap();
    let (code, page, text) = report(folder.path());
    assert_eq!(code, 0);
    for id in [
        "toy", "uci", "ablation", "hessian", "images", "mimic", "plane", "step",
    ] {
        assert!(page.contains(&format!("<section id=\"{id}\">")), "{id}");
        assert!(page.contains(&format!("href=\"#{id}\"")), "{id}");
    }
    // Shipped, with where it is from.
    assert!(page.contains("Distance from the posterior"));
    assert!(text.contains("seeds `0 1 2`"), "{text}");
    assert!(text.contains("toy/records.jsonl.gz"), "{text}");
    // Never shipped whole: what is missing says how to get it.
    let missing = page.matches("Not measured here.").count();
    assert_eq!(missing, text.matches("Not measured here:").count());
    for figure in std::fs::read_dir(folder.path().join("figures")).unwrap() {
        let name = figure.unwrap().file_name().into_string().unwrap();
        assert!(text.contains(&format!("(figures/{name})")), "{name}");
    }
}

/// One file: no script, nothing that a browser would fetch.
#[test]
fn the_page_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (_, page, _) = report(folder.path());
    assert!(!page.contains("<script"));
    for attribute in ["src=\"", "href=\"", "url("] {
        for (place, _) in page.match_indices(attribute) {
            let value: String = page[place + attribute.len()..].chars().take(10).collect();
            let inside = value.starts_with('#') || value.starts_with("data:");
            assert!(inside, "{attribute}{value}");
        }
    }
}

#[test]
fn own_records_go_before_shipped_ones_and_say_which_command_made_them() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("uci");
    let arguments = short(&["-q", "--seed", "7", "--out", own.to_str().unwrap()]);
    assert_eq!(finish(with_ridge(&arguments, 0)).0, 0);
    let (_, page, text) = report(folder.path());
    assert!(page.contains("Validation NLL by epoch") || page.contains("Test NLL, regression"));
    assert!(text.contains("| autompg "), "{text}");
    assert!(text.contains("seeds `7`"), "{text}");
    let command = "command `cargo xtask bench-uci --dataset autompg";
    let told = text.lines().find(|line| line.contains(command));
    assert!(told.is_some_and(|line| !line.contains("--out")), "{text}");
}

/// In a browser where there is one: it says nothing on its console.
#[test]
fn a_browser_has_nothing_to_complain_of() {
    let browsers = ["chromium", "chromium-browser", "google-chrome"];
    let there = |name: &&&str| Command::new(name).arg("--version").output().is_ok();
    let Some(browser) = browsers.iter().find(there) else {
        eprintln!("skipped: no Chromium here");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    report(folder.path());
    let profile = folder.path().join("profile");
    let shot = folder.path().join("page.png");
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--enable-logging=stderr",
            "--window-size=390,2000",
        ])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("--screenshot={}", shot.display()))
        .arg(format!("file://{}/report.html", folder.path().display()))
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    let console: Vec<&str> = told
        .lines()
        .filter(|line| line.contains("CONSOLE"))
        .collect();
    assert!(console.is_empty(), "{console:?}");
    assert!(
        shot.metadata().is_ok_and(|shot| shot.len() > 10_000),
        "{told}"
    );
}
