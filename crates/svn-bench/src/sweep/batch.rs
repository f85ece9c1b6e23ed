//! Jobs for others to do: a file of tasks, each a line of one job or several, which a task is found in by its index.

use std::path::{Path, PathBuf};

use super::folder::make;
use super::{Folder, Job, SweepError};

/// Tasks handed to Slurm or to GNU parallel, in a file of their own: a plan that is changed later changes nothing here.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// The file.
    pub path: PathBuf,
    /// Jobs of each task.
    pub tasks: Vec<Vec<Job>>,
}

impl Array {
    /// Cut jobs into tasks of so many, and write them to a new file of the plan.
    ///
    /// # Errors
    /// [`SweepError::Io`].
    pub fn new(
        folder: &Folder,
        plan: &str,
        jobs: &[Job],
        per_task: usize,
    ) -> Result<Self, SweepError> {
        let home = folder.plan(plan);
        make(&home)?;
        let tasks: Vec<Vec<Job>> = jobs.chunks(per_task.max(1)).map(<[Job]>::to_vec).collect();
        let path = free(&home)?;
        let io = |source| SweepError::io(&path, source);
        let mut text = String::new();
        for task in &tasks {
            text += &serde_json::to_string(task).map_err(|error| io(error.into()))?;
            text.push('\n');
        }
        super::folder::put(&path, &text)?;
        Ok(Self { path, tasks })
    }

    /// Read the jobs of one task.
    ///
    /// # Errors
    /// [`SweepError`] for an index that there is not, and a file that is none of tasks.
    pub fn task(path: &Path, index: usize) -> Result<Vec<Job>, SweepError> {
        let lines = lines(path)?;
        let line = lines.get(index).ok_or_else(|| {
            let (path, last) = (path.display(), lines.len().saturating_sub(1));
            SweepError::Arguments(format!(
                "--index {index}: expected 0 to {last}, the tasks of {path}"
            ))
        })?;
        jobs(path, index, line)
    }

    /// Read all of it.
    ///
    /// # Errors
    /// [`SweepError`] for a file that is none of tasks.
    pub fn read(path: &Path) -> Result<Self, SweepError> {
        let lines = lines(path)?;
        let tasks = lines.iter().enumerate();
        let tasks = tasks.map(|(index, line)| jobs(path, index, line));
        Ok(Self {
            path: path.to_owned(),
            tasks: tasks.collect::<Result<_, _>>()?,
        })
    }

    /// A file beside it, such as its script.
    pub fn beside(&self, ending: &str) -> PathBuf {
        self.path.with_extension(ending)
    }
}

/// How the file of an array is called.
const NAME: &str = "array-";
/// Its ending.
pub(super) const TASKS: &str = "tasks";

/// A name that is taken for this process, should others look for one now.
fn free(home: &Path) -> Result<PathBuf, SweepError> {
    let mut number = 1;
    loop {
        let path = home.join(format!("{NAME}{number}.{TASKS}"));
        match std::fs::File::create_new(&path) {
            Ok(_) => return Ok(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(source) => return Err(SweepError::io(&path, source)),
        }
    }
}

fn lines(path: &Path) -> Result<Vec<String>, SweepError> {
    let text = std::fs::read_to_string(path).map_err(|source| SweepError::io(path, source))?;
    Ok(text.lines().map(str::to_owned).collect())
}

fn jobs(path: &Path, index: usize, line: &str) -> Result<Vec<Job>, SweepError> {
    serde_json::from_str(line).map_err(|error| {
        let (path, number) = (path.display(), index + 1);
        SweepError::Arguments(format!(
            "{path}, line {number}: no task of this version of svn ({error}); plan it again"
        ))
    })
}
