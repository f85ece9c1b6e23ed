//! `svn predict`, `svn evaluate` and `svn inspect`: what a model of `svn fit` is used for.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use super::fit::scores;
use super::{Failure, Outcome};
use crate::files::write_whole;
use crate::report::{number, of_settings};
use crate::tabular::{self, Columns, Level, TabularError};
use crate::terminal::{DONE, Grid, print, render};

#[derive(Debug, Args)]
pub(super) struct Predict {
    /// Folder of a model
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// The table; - is standard input
    #[arg(value_name = "FILE")]
    pub data: PathBuf,

    /// File of the predictions, CSV [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Probability of the interval from lower to upper
    #[arg(long, value_name = "LEVEL", default_value = "0.9")]
    pub interval: Level,

    /// A conformal interval: mean ± a factor of sd that held so many of the validation rows
    #[arg(long)]
    pub conformal: bool,

    /// The columns of the table before those of the prediction
    #[arg(long)]
    pub keep: bool,
}

pub(super) fn predict(arguments: &Predict) -> Outcome {
    let (ensemble, kept) = tabular::load(&arguments.model)?;
    let columns = Columns {
        interval: arguments.interval,
        conformal: arguments.conformal,
        keep: arguments.keep,
    };
    let predicted = |output: &mut dyn Write| {
        tabular::predict((&ensemble, &kept), &arguments.data, output, columns)
    };
    let stdout = Path::new("-");
    let found = match arguments.output.as_deref().filter(|path| *path != stdout) {
        None => {
            let mut output = BufWriter::new(print::Piped::stdout());
            let found = predicted(&mut output)?;
            output.flush()?;
            found
        }
        Some(path) => whole(path, &arguments.data, predicted)?,
    };
    for note in &found.notes {
        print::error(note);
    }
    Ok(DONE)
}

/// A file that is there when it is whole, and not before.
fn whole<T>(
    path: &Path,
    input: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<T, TabularError>,
) -> Result<T, Failure> {
    let same = |path: &Path| path.canonicalize().ok();
    if same(path).is_some_and(|path| Some(path) == same(input)) {
        let text = format!("--output {} is the table itself", path.display());
        return Err(TabularError::Option(text).into());
    }
    let io = |source| TabularError::Io {
        path: path.to_owned(),
        source,
    };
    Ok(write_whole(path, write, io)?)
}

#[derive(Debug, Args)]
pub(super) struct Evaluate {
    /// Folder of a model
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// A table with the target that the model has not seen
    #[arg(value_name = "FILE")]
    pub data: PathBuf,

    /// Folder for figures: calibration, residuals
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
}

pub(super) fn evaluate(arguments: &Evaluate) -> Outcome {
    let (ensemble, kept) = tabular::load(&arguments.model)?;
    let found = tabular::evaluate((&ensemble, &kept), &arguments.data)?;
    for note in &found.notes {
        print::error(note);
    }
    let header = ["metric", "value", "5 %", "95 %"]
        .map(str::to_owned)
        .to_vec();
    let rows = found.metrics.iter().map(|(key, measured)| {
        let end = |end: Option<f64>| end.map_or_else(|| "–".to_owned(), number);
        vec![
            key.clone(),
            number(measured.value),
            end(measured.interval.map(|ends| ends.0)),
            end(measured.interval.map(|ends| ends.1)),
        ]
    });
    print::out(render(&Grid::new("", header, rows.collect())))?;
    let left_out = match found.left_out {
        0 => String::new(),
        rows => format!(", {rows} left out"),
    };
    print::out(format_args!("{} rows{left_out}", found.rows))?;
    if let Some(folder) = &arguments.plots {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| TabularError::Io { path, source }
        };
        std::fs::create_dir_all(folder).map_err(io(folder))?;
        for figure in tabular::of_evaluation(&found).map_err(TabularError::from)? {
            let path = folder.join(&figure.name);
            std::fs::write(&path, figure.svg).map_err(io(&path))?;
            print::out(path.display())?;
        }
    }
    Ok(DONE)
}

#[derive(Debug, Args)]
pub(super) struct Inspect {
    /// Folder of a model
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
}

pub(super) fn inspect(arguments: &Inspect) -> Outcome {
    let (ensemble, kept) = tabular::load(&arguments.model)?;
    let (training, read) = (ensemble.training(), &kept.read);
    let members = ensemble.members().particles();
    let shown = |text: &str| print::escaped(text);
    let mut lines = vec![
        format!("{} of {}", shown(kept.schema.target()), shown(&read.file)),
        format!(
            "{} rows fitted, {} for validation, data {}",
            read.training_rows, read.validation_rows, read.sha256
        ),
        format!(
            "{}, {} members of {} weights, epoch {} of {}",
            ensemble.settings().method,
            members.nrows(),
            members.ncols(),
            training.best_epoch,
            training.epochs
        ),
    ];
    if !ensemble.labels().is_empty() {
        let labels: Vec<String> = ensemble.labels().iter().map(|label| shown(label)).collect();
        lines.push(format!("classes: {}", labels.join(", ")));
    }
    lines.extend(tabular::tried(&ensemble));
    lines.extend(tabular::afterwards(&ensemble));
    for line in lines {
        print::out(line)?;
    }
    if !kept.scores.is_empty() {
        print::out(render(&scores(&kept)))?;
    }
    let worth = |name: &str| {
        let found = kept.importance.iter().find(|of| of.column == name);
        found.map_or_else(|| "–".to_owned(), |of| number(of.nll))
    };
    let columns = kept.schema.columns().into_iter();
    let rows = columns.map(|column| {
        let worth = worth(&column.name);
        vec![shown(&column.name), shown(&column.kind), worth]
    });
    let header = ["column", "read as", "worth"].map(str::to_owned).to_vec();
    print::out(render(&Grid::new("", header, rows.collect())))?;
    let settings = of_settings(&ensemble.settings().recipe).into_iter();
    let settings: Vec<String> = settings
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    print::out(settings.join(", "))?;
    for warning in &kept.warnings {
        print::out(format_args!("warning: {}", shown(warning)))?;
    }
    Ok(DONE)
}
