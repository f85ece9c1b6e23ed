//! `svn fit`: from one's own table to a model in a folder.

use std::path::{Path, PathBuf};

use clap::Args;
use svn_models::Task;
use svn_models::recipe::{Method, Recipe, Selection};

use super::epochs::Epochs;
use super::training::{Hides, Training, set};
use super::value::whole;
use super::{Failure, Outcome};
use crate::data::{Ask, Missing};
use crate::report::number;
use crate::tabular::{self, Fitted, Request, TabularError};
use crate::terminal::{DONE, Grid, print, render};

/// Everything has an option.
#[derive(Debug)]
pub(super) struct All;

impl Hides for All {
    const HIDDEN: &'static [&'static str] = &[];
}

#[derive(Debug, Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Exit codes: 0 done, 2 bad arguments or input, 1 anything else."
)]
pub(super) struct Fit {
    /// The table: CSV with a header line, any delimiter, plain or gzip
    #[arg(value_name = "FILE", required_unless_present = "resume")]
    pub data: Option<PathBuf>,

    /// Column that is to be predicted
    #[arg(long, value_name = "COLUMN")]
    pub target: Option<String>,

    /// What the target is: auto, regression or classification [default: auto]
    #[arg(long, value_name = "TASK", value_parser = ["auto", "regression", "classification"])]
    pub task: Option<String>,

    /// Method: ensemble, wgd, svgd, newton-ensemble, svn, ll-svn, ssvn or linear [default: svn]
    #[arg(long, value_name = "NAME")]
    pub method: Option<Method>,

    /// Options of this command and settings as lines `name = value` of a TOML file; the command line goes before it
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Share of the rows that is set aside to choose the epoch and to judge the model, instead of five folds of all rows up to
    /// 10,000 [default: 0.2 above]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub validation: Option<f64>,

    /// Column of groups, such as patients: rows of one group stay on one side of the validation cut
    #[arg(long, value_name = "COLUMN")]
    pub group: Option<String>,

    /// Column to leave out, repeated or comma separated
    #[arg(long = "drop", value_name = "COLUMN", value_delimiter = ',')]
    pub dropped: Vec<String>,

    /// Column to use although it would be left out, repeated or comma separated
    #[arg(long = "keep", value_name = "COLUMN", value_delimiter = ',')]
    pub kept: Vec<String>,

    /// Rows with a missing number: error, drop or impute (the mean, and a feature that says so) [default: error]
    #[arg(long, value_name = "WHAT")]
    pub missing: Option<Missing>,

    /// Seed of split, starting weights and order of the rows [default: 0]
    #[arg(long, value_parser = whole)]
    pub seed: Option<u64>,

    /// Folder of the model
    #[arg(long, value_name = "DIR", required_unless_present = "resume")]
    pub out: Option<PathBuf>,

    /// Go on with the fit of a folder that was interrupted
    #[arg(long, value_name = "DIR", exclusive = true)]
    pub resume: Option<PathBuf>,

    /// Write over what an earlier fit left in the folder
    #[arg(long)]
    pub overwrite: bool,

    /// No progress, only warnings and the result
    #[arg(short, long)]
    pub quiet: bool,

    #[command(flatten)]
    pub training: Training<All>,
}

fn parsed<T: std::str::FromStr<Err: ToString>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

/// Above 0 and below 1.
fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("expected a number above 0 and below 1".to_owned()),
    }
}

impl Fit {
    /// What the options, and behind them the file, ask for.
    fn request(&self, data: &Path) -> Result<Request, TabularError> {
        let mut file = match &self.config {
            Some(path) => Configured::read(path)?,
            None => Configured::default(),
        };
        let wrong = |text: String| TabularError::Option(text);
        let task = self.task.clone().or(file.task.take());
        let task = match task.as_deref() {
            None | Some("auto") => None,
            Some("regression") => Some(Task::Regression),
            Some("classification") => Some(Task::Classification),
            Some(other) => {
                let expected = "expected auto, regression or classification";
                return Err(wrong(format!("task `{other}`: {expected}")));
            }
        };
        let target = self.target.clone().or(file.target.take());
        let target = target.ok_or_else(|| {
            wrong("--target COLUMN is missing: which column is to be predicted?".to_owned())
        })?;
        let listed = |ours: &[String], theirs: Vec<String>| match ours {
            [] => theirs,
            ours => ours.to_vec(),
        };
        let ask = Ask {
            target,
            task,
            drop: listed(&self.dropped, file.drop),
            keep: listed(&self.kept, file.keep),
            group: self.group.clone().or(file.group),
            missing: self.missing.or(file.missing).unwrap_or_default(),
        };
        let validation = self.validation.or(file.validation);
        let recipe = self.training.recipe.or(&file.recipe);
        let method = self.method.or(file.method).unwrap_or(Method::Svn);
        let aside = match recipe.select {
            None | Some(Selection::Validation) => true,
            Some(by) => by.is_evidence() && method == Method::Linear,
        };
        if validation.is_some() && !aside {
            let text =
                "--validation is beside a --select that sets no rows aside; leave one of them out";
            return Err(wrong(text.to_owned()));
        }
        Ok(Request {
            data: data.to_owned(),
            ask,
            method,
            recipe,
            validation,
            seed: self.seed.or(file.seed).unwrap_or(0),
        })
    }
}

/// A file of options and settings.
#[derive(Debug, Default)]
struct Configured {
    target: Option<String>,
    task: Option<String>,
    method: Option<Method>,
    validation: Option<f64>,
    group: Option<String>,
    drop: Vec<String>,
    keep: Vec<String>,
    missing: Option<Missing>,
    seed: Option<u64>,
    recipe: Recipe,
}

impl Configured {
    fn read(path: &Path) -> Result<Self, TabularError> {
        let text = std::fs::read_to_string(path).map_err(|source| TabularError::Io {
            path: path.to_owned(),
            source,
        })?;
        let wrong = |what: String| TabularError::Option(format!("{}: {what}", path.display()));
        let table: toml::Table = toml::from_str(&text).map_err(|error| {
            let before = error.span().map_or(0, |span| span.start).min(text.len());
            let line = 1 + text.as_bytes()[..before]
                .iter()
                .filter(|&&byte| byte == b'\n')
                .count();
            wrong(format!(
                "line {line}: {}",
                error.message().replace('\n', " ")
            ))
        })?;
        let mut found = Self::default();
        for (name, value) in &table {
            found
                .set(name, value)
                .map_err(|expected| wrong(format!("{name} = {value}: {expected}")))?;
        }
        Ok(found)
    }

    fn set(&mut self, name: &str, value: &toml::Value) -> Result<(), String> {
        let shown = match value {
            toml::Value::String(text) => text.clone(),
            toml::Value::Array(values) => {
                let texts = values.iter().map(|value| match value {
                    toml::Value::String(text) => text.clone(),
                    other => other.to_string(),
                });
                texts.collect::<Vec<_>>().join(",")
            }
            other => other.to_string(),
        };
        let list = || match value {
            toml::Value::Array(values) => {
                let text = |value: &toml::Value| value.as_str().map(str::to_owned);
                let texts: Option<Vec<String>> = values.iter().map(text).collect();
                texts.ok_or_else(|| "expected a list of names".to_owned())
            }
            _ => Ok(vec![shown.clone()]),
        };
        match name {
            "target" => self.target = Some(shown),
            "task" => self.task = Some(shown),
            "method" => self.method = Some(parsed(&shown)?),
            "validation" => self.validation = Some(share(&shown)?),
            "group" => self.group = Some(shown),
            "drop" => self.drop = list()?,
            "keep" => self.keep = list()?,
            "missing" => self.missing = Some(parsed(&shown)?),
            "seed" => self.seed = Some(whole(&shown)?),
            _ => set(&mut self.recipe, &name.replace('-', "_"), &shown)?,
        }
        Ok(())
    }
}

pub(super) fn run(arguments: &Fit) -> Outcome {
    let progress = Epochs::new(arguments.quiet);
    let fitted = match (&arguments.resume, &arguments.data, &arguments.out) {
        (Some(folder), ..) => match tabular::resume(folder, &progress)? {
            Some(fitted) => (folder, fitted),
            None => {
                progress.line(&format!("{} is done already", folder.display()));
                return Ok(DONE);
            }
        },
        (None, Some(data), Some(out)) => {
            let request = arguments.request(data)?;
            (
                out,
                tabular::fit(out, request, arguments.overwrite, &progress)?,
            )
        }
        _ => {
            let text = "a table and --out DIR are needed, or --resume DIR".to_owned();
            return Err(TabularError::Option(text).into());
        }
    };
    progress.clear();
    let (folder, fitted) = fitted;
    summary(folder, &fitted)?;
    Ok(DONE)
}

/// Metrics of the summary, for numbers and for classes.
const SHOWN: [&str; 7] = [
    "nll",
    "rmse",
    "crps",
    "coverage90",
    "accuracy",
    "auroc",
    "ece",
];

/// Scores of a model beside others, on validation rows.
pub(super) fn scores(kept: &tabular::Kept) -> Grid {
    let shown: Vec<&str> = SHOWN
        .into_iter()
        .filter(|key| kept.scores.iter().any(|score| score.metric(key).is_some()))
        .collect();
    let header = ["validation rows"].into_iter().chain(shown.iter().copied());
    let rows = kept.scores.iter().map(|score| {
        let cells = shown.iter().map(|key| {
            let value = score.metric(key);
            value.map_or_else(|| "–".to_owned(), number)
        });
        std::iter::once(score.model.clone()).chain(cells).collect()
    });
    Grid::new("", header.map(str::to_owned).collect(), rows.collect())
}

fn summary(folder: &Path, fitted: &Fitted) -> Result<(), Failure> {
    let kept = &fitted.kept;
    if !kept.scores.is_empty() {
        print::out(render(&scores(kept)))?;
    }
    let at = kept.coverage.iter().find(|at| at.level == 0.9);
    if let Some(at) = at {
        print::out(format_args!(
            "90 % intervals hold {:.0} % of the validation rows",
            100.0 * at.share
        ))?;
    }
    for warning in &kept.warnings {
        print::error(format_args!("warning: {warning}"));
    }
    let ensemble = &fitted.ensemble;
    let told = [tabular::tried(ensemble), tabular::afterwards(ensemble)];
    for text in told.into_iter().flatten() {
        print::out(text)?;
    }
    let (training, read) = (fitted.ensemble.training(), &kept.read);
    print::out(format_args!(
        "{} rows fitted, {} for validation; best epoch {} of {}, {:.1} s",
        read.training_rows,
        read.validation_rows,
        training.best_epoch,
        training.epochs,
        fitted.cost.whole_s
    ))?;
    print::out(format_args!("{}", folder.display()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_sets_options_and_settings_and_names_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fit.toml");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Configured::read(&path)
        };
        let text = "target = 'y'\ndrop = ['a', 'b']\ntime-limit = '10m'\nhidden = [20, 10]\nseed = 7\nmethod = 'svgd'";
        let found = read(text).unwrap();
        assert_eq!(found.drop, ["a", "b"]);
        assert_eq!(found.recipe.time_limit, Some(600.0));
        assert_eq!(found.recipe.hidden, Some(vec![20, 10]));
        assert_eq!((found.seed, found.method), (Some(7), Some(Method::Svgd)));
        for (text, part) in [
            ("epochs = 0", "epochs = 0: expected"),
            ("epoch = 5", "epoch = 5: expected"),
            ("validation = 2", "above 0 and below 1"),
            ("a = 1\nb = = 2", "line 2: "),
            ("drop = [1]", "a list of names"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(
                error.contains(part) && error.lines().count() == 1,
                "{error}"
            );
        }
    }
}
