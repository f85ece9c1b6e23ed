//! Arrays for Slurm: the script, handing it over, and what of it is still in the queue.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::batch::{Array, TASKS};
use super::folder::put;
use super::{Folder, SweepError};

/// Times as long as estimated: compute nodes differ from where a probe ran.
const SLACK: f64 = 2.0;
/// Starting, loading data, a slow file system, s.
const START: f64 = 120.0;
/// The program with its libraries, bytes.
const PROGRAM: f64 = 128.0 * 1024.0 * 1024.0;

/// What a script asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Request<'a> {
    /// Name of the plan.
    pub plan: &'a str,
    /// The program.
    pub program: &'a Path,
    /// The folder of the sweep.
    pub out: &'a Path,
    /// Folder that paths of the plan are relative to.
    pub place: &'a Path,
    /// Seconds of each task, in order; none if not estimated.
    pub seconds: Option<Vec<f64>>,
    /// Options for every task, such as `--partition=short`.
    pub options: &'a [String],
}

impl Array {
    /// The script that does it.
    pub fn script(&self, request: &Request<'_>) -> String {
        let last = self.tasks.len().saturating_sub(1);
        let bytes = self.tasks.iter().flatten().map(|job| job.bytes);
        let mib = ((bytes.fold(0.0, f64::max) * SLACK + PROGRAM) / f64::from(1 << 20)).ceil();
        let mut lines = vec![
            "#!/bin/bash".to_owned(),
            format!("#SBATCH --job-name=svn-{}", request.plan),
            format!("#SBATCH --array=0-{last}"),
            "#SBATCH --ntasks=1".to_owned(),
            "#SBATCH --cpus-per-task=1".to_owned(),
            format!("#SBATCH --mem={mib}M"),
        ];
        if let Some(seconds) = &request.seconds {
            let longest = seconds.iter().copied().fold(0.0, f64::max) * SLACK + START;
            lines.push(format!("#SBATCH --time={}", clock(longest)));
        }
        lines.push(format!("#SBATCH --chdir={}", request.place.display()));
        lines.push(format!(
            "#SBATCH --output={}",
            self.beside("").join("%a.out").display()
        ));
        lines.push("#SBATCH --open-mode=append".to_owned());
        lines.extend(
            request
                .options
                .iter()
                .map(|option| format!("#SBATCH {option}")),
        );
        lines.push(String::new());
        lines.push(format!(
            "exec {} --index \"$SLURM_ARRAY_TASK_ID\"",
            self.command(request.program, request.out)
        ));
        lines.join("\n") + "\n"
    }

    /// A command a line, for GNU parallel and its like.
    pub fn commands(&self, program: &Path, out: &Path) -> String {
        let command = self.command(program, out);
        let line = |index| format!("{command} --index {index}\n");
        (0..self.tasks.len()).map(line).collect()
    }

    /// The command of a task, without its index.
    fn command(&self, program: &Path, out: &Path) -> String {
        let file = std::path::absolute(&self.path).unwrap_or_else(|_| self.path.clone());
        let [program, file, out] = [program, &file, out].map(|path| quote(&path.to_string_lossy()));
        format!("{program} sweep task {file} --out {out}")
    }

    /// Hand its script to Slurm; the number it got.
    ///
    /// # Errors
    /// [`SweepError`] if there is no `sbatch`, or what it says.
    pub fn submit(&self, script: &Path) -> Result<String, SweepError> {
        super::folder::make(&self.beside(""))?;
        let mut sbatch = Command::new("sbatch");
        let answer = ask(sbatch.arg("--parsable").arg(script))?;
        // `number;cluster` where there are several.
        let number = answer
            .trim()
            .split(';')
            .next()
            .unwrap_or_default()
            .to_owned();
        put(&self.beside(NUMBER), &format!("{number}\n"))?;
        Ok(number)
    }
}

/// Ending of the file that holds the number of an array.
const NUMBER: &str = "slurm";

/// Names of the jobs of a plan that Slurm still has to do or is doing.
///
/// # Errors
/// [`SweepError`] if Slurm does not answer: without its word a job may be done twice, which costs time alone.
pub fn queued(folder: &Folder, plan: &str) -> Result<BTreeSet<String>, SweepError> {
    let mut keys = BTreeSet::new();
    for path in arrays(&folder.plan(plan)) {
        let Ok(number) = std::fs::read_to_string(path.with_extension(NUMBER)) else {
            continue;
        };
        let array = Array::read(&path)?;
        for index in in_queue(number.trim())? {
            let jobs = array.tasks.get(index).into_iter().flatten();
            keys.extend(jobs.map(super::Job::key));
        }
    }
    Ok(keys)
}

fn arrays(home: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(home).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let mut arrays: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|end| end == TASKS))
        .collect();
    arrays.sort();
    arrays
}

/// Indices of an array that are not over.
fn in_queue(number: &str) -> Result<Vec<usize>, SweepError> {
    let mut squeue = Command::new("squeue");
    squeue.args(["--noheader", "--array", "--format=%K", "--jobs", number]);
    match ask(&mut squeue) {
        Ok(text) => Ok(text
            .lines()
            .filter_map(|line| line.trim().parse().ok())
            .collect()),
        // It has been over for a while.
        Err(SweepError::Arguments(message)) if message.contains("Invalid job id") => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// What a command of Slurm answers.
fn ask(command: &mut Command) -> Result<String, SweepError> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|source| {
        let message = format!("cannot run {name} ({source}); --engine slurm needs Slurm here, --no-submit only writes the script");
        SweepError::Arguments(message)
    })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(SweepError::Arguments(format!(
            "{name}: {}",
            text(&output.stderr)
        ))),
    }
}

/// `HH:MM:SS`, in whole minutes, with days before where there are any.
fn clock(seconds: f64) -> String {
    let minutes = (seconds / 60.0).ceil() as u64;
    let (days, hours, minutes) = (minutes / 1440, minutes / 60 % 24, minutes % 60);
    match days {
        0 => format!("{hours:02}:{minutes:02}:00"),
        days => format!("{days}-{hours:02}:{minutes:02}:00"),
    }
}

/// A word for a shell.
fn quote(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_words_are_in_the_notation_of_slurm_and_shells() {
        assert_eq!(clock(61.0), "00:02:00");
        assert_eq!(clock(3600.0), "01:00:00");
        assert_eq!(clock(86_400.0 + 7_320.0), "1-02:02:00");
        assert_eq!(quote("/a/b-1.tasks"), "/a/b-1.tasks");
        assert_eq!(quote("it's here"), r"'it'\''s here'");
        assert_eq!(quote(""), "''");
    }
}
