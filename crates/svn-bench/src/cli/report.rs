//! `svn report DIR`: the page of a model, or the report of a benchmark made again from its records alone.

use std::path::{Path, PathBuf};

use clap::Args;

use super::Outcome;
use super::bench::StudyArgs;
use crate::engine::{EngineError, RecordOf, StoreError, Study, read_entries};
use crate::report::{self, Detail};
use crate::tabular;
use crate::terminal::{DONE, print, render};

#[derive(Debug, Args)]
pub(super) struct Report {
    /// Folder of a model, or of a benchmark's records.jsonl or records.jsonl.gz; every study and figure where it is left out
    #[arg(value_name = "DIR", id = "DIR")]
    pub folder: Option<PathBuf>,

    /// The same
    #[arg(long, value_name = "DIR", conflicts_with = "DIR")]
    pub from: Option<PathBuf>,

    /// Folder of the page, or of summary, report and figures [default: that folder; results/report for every study]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Of every study: run a small part of each first, minutes in all
    #[arg(long, conflicts_with_all = ["DIR", "from"])]
    pub quick: bool,

    /// Of every study: where the records are that came with the project [default: docs/results where there is one]
    #[arg(long, value_name = "DIR", conflicts_with_all = ["DIR", "from"])]
    pub results: Option<PathBuf>,
}

/// What came of reading the records as those of one study.
pub(super) enum Tried {
    /// The report is written.
    Done,
    /// They are another study's.
    Other(StoreError),
}

impl Report {
    /// Whether it is the page of every study.
    pub(super) fn is_survey(&self) -> bool {
        self.folder.is_none() && self.from.is_none()
    }

    fn folder(&self) -> &Path {
        let given = self.folder.as_deref().or(self.from.as_deref());
        given.unwrap_or(Path::new("."))
    }

    /// The file of the records.
    fn records(&self) -> Result<PathBuf, EngineError> {
        let names = ["records.jsonl", "records.jsonl.gz"];
        let files = names.map(|name| self.folder().join(name));
        files
            .into_iter()
            .find(|file| file.is_file())
            .ok_or_else(|| {
                let folder = self.folder().display();
                EngineError::Arguments(format!(
                    "{folder} has no records.jsonl and no records.jsonl.gz"
                ))
            })
    }

    /// Try one study.
    pub(super) fn of<A: StudyArgs>(&self) -> Result<Tried, super::Failure> {
        let path = self.records()?;
        let read = read_entries::<RecordOf<A::Study>>(&path, A::Study::NAME);
        let (records, warnings) = match read {
            Ok(read) => read,
            Err(error @ (StoreError::OtherStudy { .. } | StoreError::Line { line: 1, .. })) => {
                return Ok(Tried::Other(error));
            }
            Err(error) => return Err(EngineError::from(error).into()),
        };
        for text in warnings {
            print::error(format_args!("warning: {text}"));
        }
        let out = self.out.as_deref().unwrap_or(self.folder());
        std::fs::create_dir_all(out).map_err(|source| EngineError::Io {
            path: out.to_owned(),
            source,
        })?;
        let summary = report::write::<A::Page>(out, &records, report::environment(self.folder()))?;
        for grid in report::results::<A::Page>(&summary.results, Detail::Brief) {
            print::out(render(&grid))?;
        }
        print::out(out.join("report.md").display())?;
        Ok(Tried::Done)
    }
}

/// [`Report::of`] a study.
pub(super) type OfStudy = fn(&Report) -> Result<Tried, super::Failure>;

/// The first of the studies whose records they are.
pub(super) fn run(report: &Report, studies: &[OfStudy]) -> Outcome {
    if tabular::Folder::state(report.folder()) == tabular::State::Done {
        return page(report);
    }
    let mut refused = None;
    for study in studies {
        match study(report)? {
            Tried::Done => return Ok(DONE),
            Tried::Other(error) => refused = Some(error),
        }
    }
    match refused {
        Some(error) => Err(EngineError::from(error).into()),
        None => Ok(DONE),
    }
}

/// The page of a model.
fn page(report: &Report) -> Outcome {
    let folder = report.folder();
    let (ensemble, kept) = tabular::load(folder)?;
    let page = tabular::page(&ensemble, &kept, tabular::cost(folder))?;
    let out = report.out.as_deref().unwrap_or(folder);
    let path = out.join("report.html");
    std::fs::create_dir_all(out)
        .and_then(|()| std::fs::write(&path, page))
        .map_err(|source| EngineError::Io {
            path: path.clone(),
            source,
        })?;
    print::out(path.display())?;
    Ok(DONE)
}
