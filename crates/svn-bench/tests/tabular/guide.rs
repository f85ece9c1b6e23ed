//! The guide: each of its commands runs, in the order of the pages, on its own tables.

use super::*;

/// Lines of the blocks of a language.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}");
    let mut lines = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("```") {
            inside = !inside && line == fence;
        } else if inside {
            lines.push(line);
        }
    }
    lines
}

/// That a fit runs is seen after ten epochs.
fn shorten(arguments: &mut Vec<&str>) {
    let has = |word| arguments.contains(&word);
    if arguments[0] != "fit" || has("--resume") || has("--help") {
        return;
    }
    match arguments.iter().position(|word| *word == "--epochs") {
        Some(place) => arguments[place + 1] = "10",
        None => arguments.extend(["--epochs", "10"]),
    }
}

#[test]
fn each_command_of_the_guide_runs() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/src");
    let place = place();
    let folder = place.path();
    // The table of the guide is made by the code of these tests.
    assert_eq!(read(&guide, "houses.csv"), houses(300, 1));
    std::fs::copy(guide.join("houses.csv"), folder.join("houses.csv")).unwrap();
    let summary = read(&guide, "SUMMARY.md");
    let pages = summary
        .lines()
        .filter_map(|line| Some(line.split_once("](")?.1.trim_end_matches(')')));
    let mut ran = 0;
    for page in pages {
        let text = read(&guide, page);
        let options = blocks(&text, "toml").join("\n");
        if !options.is_empty() {
            write(folder, "fit.toml", options);
        }
        for line in blocks(&text, "sh") {
            // What README's own commands build is not built again.
            let Some(arguments) = line.strip_prefix("svn ") else {
                assert_eq!(
                    line,
                    "cargo install --path crates/svn-bench --no-default-features"
                );
                continue;
            };
            let (arguments, input) = match arguments.split_once(" < ") {
                Some((arguments, input)) => (arguments, Some(input)),
                None => (arguments, None),
            };
            let mut arguments: Vec<&str> = arguments.split(' ').collect();
            shorten(&mut arguments);
            let mut command = command(folder, &arguments);
            if let Some(input) = input {
                command.stdin(std::fs::File::open(folder.join(input)).unwrap());
            }
            let (code, _, stderr) = finished(command.output().unwrap());
            assert_eq!(code, 0, "{page}: {line}: {stderr}");
            ran += 1;
        }
    }
    assert!(ran > 15, "{ran}");
}
