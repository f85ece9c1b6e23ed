//! What the plan of a sweep asks for, as far as this program must know: data sets and libraries. All else is for `svn sweep` to
//! read, and to refuse.

use super::asked::Asked;
use crate::failure::bad_input;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::path::Path;
use toml::{Table, Value};

#[derive(Deserialize)]
struct Plan {
    #[serde(default)]
    runs: Vec<Runs>,
}

#[derive(Deserialize)]
struct Runs {
    #[serde(default)]
    study: String,
    #[serde(default)]
    arguments: Table,
    #[serde(default)]
    settings: Table,
    #[serde(default)]
    grid: Table,
}

/// The studies of the plan among the arguments, and what each asks for; nothing where no plan is named.
pub(super) fn asked(args: &[String], here: &Path) -> Result<Vec<(String, Asked)>> {
    let Some(name) = args.iter().find(|arg| arg.ends_with(".toml")) else {
        return Ok(Vec::new());
    };
    // A task of a plan has what it needs.
    if args.first().is_some_and(|part| part == "task") {
        return Ok(Vec::new());
    }
    let path = here.join(name);
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(bad_input(format!("{name}: no such plan")));
        }
        read => read.with_context(|| format!("cannot read {name}"))?,
    };
    // What is no plan, `svn sweep` says with line and column.
    let plan: Plan = toml::from_str(&text).unwrap_or(Plan { runs: Vec::new() });
    Ok(plan.runs.into_iter().map(Runs::asked).collect())
}

impl Runs {
    fn asked(self) -> (String, Asked) {
        let tables = [&self.arguments, &self.settings, &self.grid];
        let all = |name: &str| -> Vec<String> {
            let values = tables.iter().filter_map(|table| table.get(name));
            values.flat_map(texts).collect()
        };
        let is_on = |name: &str| all(name).iter().any(|value| value == "true");
        let asked = Asked {
            names: all("dataset"),
            all: is_on("all"),
            own_folder: !all("data").is_empty(),
            libtorch: all("backend").iter().any(|name| name == "torch"),
            // The option that leaves the images out that are foreign to a set.
            rest: match is_on("no-ood") || is_on("no_ood") {
                true => vec!["--no-ood".to_owned()],
                false => Vec::new(),
            },
            ..Asked::default()
        };
        (self.study, asked)
    }
}

/// The texts of a value, of those inside it, and of names separated by commas.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::String(text) => text.split(',').map(str::to_owned).collect(),
        other => vec![other.to_string()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<(String, Asked)> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("plan.toml"), text).unwrap();
        let args = ["plan.toml", "--dry-run"].map(str::to_owned);
        asked(&args, folder.path()).unwrap()
    }

    #[test]
    fn data_sets_stand_among_the_arguments_or_in_the_grid() {
        let text = "[[runs]]\nstudy = \"uci\"\narguments = { dataset = \"yacht,wine\" }\n\
                    [[runs]]\nstudy = \"vision\"\narguments = { no-ood = true }\ngrid = { dataset = [\"mnist\", [\"fashion-mnist\"]] }\n\
                    [[runs]]\nstudy = \"uci\"\narguments = { all = true, data = \"here\" }\nsettings = { backend = \"torch\" }\n";
        let found = of(text);
        let studies: Vec<_> = found.iter().map(|(study, _)| study.as_str()).collect();
        assert_eq!(studies, ["uci", "vision", "uci"]);
        let [tables, images, all] = [0, 1, 2].map(|index| &found[index].1);
        assert_eq!(tables.names, ["yacht", "wine"]);
        assert_eq!(images.names, ["mnist", "fashion-mnist"]);
        assert_eq!(images.rest, ["--no-ood"]);
        assert!(all.all && all.own_folder && all.libtorch);
        assert!(!tables.all && !tables.own_folder && !tables.libtorch && tables.rest.is_empty());
    }

    #[test]
    fn what_is_no_plan_is_left_to_the_command() {
        assert!(of("[[runs]\n").is_empty());
        assert!(of("runs = 3\n").is_empty());
        let here = tempfile::tempdir().unwrap();
        let words = |line: &str| -> Vec<String> { line.split(' ').map(str::to_owned).collect() };
        assert!(asked(&words("--dry-run"), here.path()).unwrap().is_empty());
        let missing = asked(&words("collect no.toml"), here.path()).unwrap_err();
        assert_eq!(missing.to_string(), "no.toml: no such plan");
    }
}
