//! How fast features are taken from the tables of MIMIC-IV, and from whom.
//!
//! ```text
//! cargo run --release --no-default-features -p svn-bench --example mimic_extract -- DIR
//! cargo run --release --no-default-features -p svn-bench --example mimic_extract -- DIR PATIENTS
//! ```
//!
//! The second form fills `DIR` with made-up patients first, each with all hours of the stay charted: about 2000 chart events a
//! patient.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context, Result};
use svn_bench::data::mimic::synthetic::Synthetic;
use svn_bench::data::mimic::{ExtractOptions, Progress, Tables, extract};

struct Clock(Mutex<Instant>);

impl Clock {
    fn restart(&self) -> f64 {
        let mut start = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        std::mem::replace(&mut *start, Instant::now())
            .elapsed()
            .as_secs_f64()
    }
}

impl Progress for Clock {
    fn begin(&self, table: &str, bytes: u64) {
        self.restart();
        print!("{table}: {:.1} MB on disk, ", bytes as f64 / 1e6);
    }

    fn end(&self, rows: u64, unpacked: u64) {
        let (seconds, megabytes) = (self.restart(), unpacked as f64 / 1e6);
        println!(
            "{megabytes:.1} MB of text, {rows} rows in {seconds:.2} s: {:.0} MB/s, {:.2} million rows a second",
            megabytes / seconds,
            rows as f64 / seconds / 1e6
        );
    }
}

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let folder = PathBuf::from(arguments.next().context("name a folder")?);
    if let Some(patients) = arguments.next() {
        let patients = patients
            .to_string_lossy()
            .parse()
            .context("PATIENTS: a whole number")?;
        let start = Instant::now();
        let people = Synthetic {
            patients,
            charted_hours: None,
            other_rows: 10,
            seed: 0,
        };
        let events = people.write(&folder)?;
        println!(
            "made up: {events} chart events in {:.1} s",
            start.elapsed().as_secs_f64()
        );
    }
    let tables = Tables::find(&folder)?;
    let clock = Clock(Mutex::new(Instant::now()));
    let extraction = extract(&tables, &ExtractOptions::default(), &clock)?;
    for (rule, removed, left) in extraction.flow.lines() {
        println!("{left:>8} {removed:>8}  {rule}");
    }
    for counts in &extraction.counts {
        let lines = counts
            .lines()
            .map(|(name, count)| format!("{name} {count}"));
        println!("{}", lines.join(", "));
    }
    println!(
        "{} patients × {} features",
        extraction.table.rows(),
        extraction.table.names.len()
    );
    // What Linux calls the largest resident size.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM"));
    println!(
        "{}",
        peak.unwrap_or("the largest resident size is not known here")
    );
    Ok(())
}
