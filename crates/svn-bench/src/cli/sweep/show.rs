//! What a sweep says: how many runs, how long, what is missing.

use std::collections::{BTreeMap, BTreeSet};

use svn_models::recipe::Method;

use super::super::Outcome;
use super::planned::Planned;
use crate::sweep::{Job, Known, Lack};
use crate::terminal::{DONE, FAILED, Grid, print, render};

/// Jobs whose logs are shown.
const SHOWN: usize = 10;

/// What there is and what is not; the exit code says whether anything is missing.
pub(super) fn state(planned: &Planned) -> Outcome {
    for (study, collected) in &planned.collected {
        for path in &collected.torn {
            print::error(format_args!(
                "torn: {}: its run counts as missing",
                path.display()
            ));
        }
        for (path, what) in &collected.foreign {
            print::error(format_args!("foreign: {}: {what}; skipped", path.display()));
        }
        for path in &collected.double {
            print::error(format_args!(
                "double: {}: another record of the run was collected before; skipped",
                path.display()
            ));
        }
        print::out(format_args!(
            "{}: {} records, {} new",
            planned.folder.study(study).join("records.jsonl").display(),
            collected.records,
            collected.new
        ))?;
    }
    let (lacking, waiting) = (planned.lacking(), planned.waiting());
    if waiting > 0 {
        print::out(format_args!("{waiting} runs are in the queue of Slurm"))?;
    }
    if lacking.is_empty() && waiting > 0 {
        return Ok(DONE);
    }
    if lacking.is_empty() {
        print::out(format_args!(
            "all {} runs of the plan are done",
            planned.jobs.len()
        ))?;
        return Ok(DONE);
    }
    let (mut failed, mut begun, mut untouched) = (Vec::new(), Vec::new(), 0);
    for (job, lack) in &lacking {
        match lack {
            Lack::Failed(lines) => failed.push((*job, lines)),
            Lack::Begun(lines) => begun.push((*job, lines)),
            Lack::Untouched => untouched += 1,
        }
    }
    logs("failed", &failed);
    logs("begun, not finished", &begun);
    print::error(format_args!(
        "error: {} of {} runs have no record: {} failed, {} begun, {untouched} not begun",
        lacking.len(),
        planned.jobs.len(),
        failed.len(),
        begun.len()
    ));
    Ok(FAILED)
}

fn logs(what: &str, jobs: &[(&Job, &Vec<String>)]) {
    for (job, lines) in jobs.iter().take(SHOWN) {
        print::error(format_args!("{what}: {job} ({})", job.key()));
        for line in *lines {
            print::error(format_args!("  {line}"));
        }
    }
    if jobs.len() > SHOWN {
        print::error(format_args!("{what}: and {} more", jobs.len() - SHOWN));
    }
}

#[derive(Default)]
struct Row<'a> {
    configurations: BTreeSet<&'a str>,
    runs: usize,
    done: usize,
    seconds: f64,
    /// Runs to do whose time nobody knows.
    unknown: usize,
}

/// How many runs by study, data set and method, and how long those to do take.
pub(super) fn estimated(planned: &Planned, jobs: &[Job], workers: usize) -> Outcome {
    let known = planned.known();
    let mut rows: BTreeMap<(&str, &str, Method), Row<'_>> = BTreeMap::new();
    for job in &planned.jobs {
        let row = rows
            .entry((&job.study, &job.dataset, job.method))
            .or_default();
        row.configurations.insert(&job.config);
        row.runs += 1;
        row.done += usize::from(planned.is_done(job));
    }
    let (mut records, mut probes) = (BTreeSet::new(), BTreeSet::new());
    for job in jobs {
        let row = rows
            .entry((&job.study, &job.dataset, job.method))
            .or_default();
        match known.get(&job.config) {
            None => row.unknown += 1,
            Some(estimate) => {
                row.seconds += estimate.seconds;
                let sources = match estimate.known {
                    Known::Records => &mut records,
                    Known::Probe => &mut probes,
                };
                sources.insert(&job.config);
            }
        }
    }
    let total: f64 = rows.values().map(|row| row.seconds).sum();
    let unknown: usize = rows.values().map(|row| row.unknown).sum();
    let row = |((study, dataset, method), row): ((&str, &str, Method), Row<'_>)| {
        vec![
            study.to_owned(),
            dataset.to_owned(),
            method.to_string(),
            row.configurations.len().to_string(),
            row.runs.to_string(),
            row.done.to_string(),
            match row.unknown {
                0 => time(row.seconds),
                _ => "?".to_owned(),
            },
        ]
    };
    let header = [
        "study",
        "dataset",
        "method",
        "configurations",
        "runs",
        "done",
        "time left",
    ];
    let header = header.map(str::to_owned).to_vec();
    let grid = Grid::new("Runs", header, rows.into_iter().map(row).collect());
    print::out(render(&grid))?;
    let done = planned
        .jobs
        .iter()
        .filter(|job| planned.is_done(job))
        .count();
    print::out(format_args!(
        "{} runs, {done} done, {} to do",
        planned.jobs.len(),
        jobs.len()
    ))?;
    if !jobs.is_empty() {
        let unknown = match unknown {
            0 => String::new(),
            runs => format!(" without {runs} runs of unknown time"),
        };
        print::out(format_args!(
            "about {} of one core, {} by {workers} here{unknown}; {} configurations by their records, {} by a probe of two epochs",
            time(total),
            time(total / workers as f64),
            records.len(),
            probes.len()
        ))?;
    }
    Ok(DONE)
}

/// `40 s`, `12 min`, `3.5 h`, `2.1 d`.
fn time(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 120.0 => format!("{seconds:.0} s"),
        seconds if seconds < 7200.0 => format!("{:.0} min", seconds / 60.0),
        seconds if seconds < 172_800.0 => format!("{:.1} h", seconds / 3600.0),
        seconds => format!("{:.1} d", seconds / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_the_unit_that_suits_them() {
        assert_eq!(
            [0.4, 119.0, 720.0, 12_600.0, 181_440.0].map(time),
            ["0 s", "119 s", "12 min", "3.5 h", "2.1 d"]
        );
    }
}
