//! What `svn bench-mimic` has of its own: which patients, which length of stay, and how far the tables are read.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use svn_models::recipe::Method;

use super::bench::{Common, StudyArgs};
use super::training::Hides;
use super::value::{count, count_from_2};
use crate::data::mimic::synthetic::Synthetic;
use crate::data::mimic::{ExtractOptions, Progress, Tables, cached};
use crate::engine::{Asked, Design, EngineError, Study};
use crate::study::mimic::{LosTask, Mimic, MimicOptions, MimicPage, cohort_table};
use crate::terminal::{print, render};

#[derive(Debug, Args)]
pub(super) struct Stays {
    /// Hours that are predicted: of the whole stay, or of what is left after 24 hours
    #[arg(long = "task", value_name = "NAME", default_value = "los-total")]
    pub los: LosTask,

    /// Networks see ln (1 + hours); metrics stay in hours
    #[arg(long)]
    pub log_target: bool,

    /// Leave patients out who died in hospital [default: their stays count as they were]
    #[arg(long)]
    pub without_deaths: bool,

    /// Parts of the cross-validation over patients
    #[arg(long, value_name = "K", default_value = "5", value_parser = count_from_2)]
    pub folds: usize,

    /// Made-up patients, in OUT/mimic-made-up; what runs also where no data are found
    #[arg(long, conflicts_with = "data")]
    pub demo: bool,

    /// How many made-up patients
    #[arg(long, value_name = "N", default_value = "2000", value_parser = count::<1_000_000>)]
    pub demo_patients: usize,
}

/// Folders that are looked for where no `--data` is given.
const FOLDERS: [&str; 2] = ["mimic-iv", "mimic-iv-demo"];

impl Stays {
    /// The tables, and a line on them.
    fn tables(&self, common: &Common, out: &Path) -> Result<Tables, EngineError> {
        let path = common.search_path()?;
        if let Some(folder) = &common.data {
            return Ok(Tables::find(folder)?);
        }
        let folders: Vec<PathBuf> = path
            .folders()
            .map(|(_, folder)| folder.to_owned())
            .collect();
        let names = FOLDERS.iter().filter(|_| !self.demo);
        let found = names.flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
        if let Some(folder) = found.into_iter().find(|folder| folder.is_dir()) {
            return Ok(Tables::find(&folder)?);
        }
        if !self.demo {
            print::error(
                "no MIMIC-IV here: made-up patients instead; --data DIR names a folder, docs/mimic.md says how to get one",
            );
        }
        let folder = out.join("mimic-made-up");
        let made = Synthetic {
            patients: self.demo_patients as u64,
            ..Synthetic::default()
        };
        made.provide(&folder)?;
        Ok(Tables::find(&folder)?)
    }
}

impl Hides for Stays {
    const HIDDEN: &'static [&'static str] = &["binary", "temperature"];
}

impl StudyArgs for Stays {
    type Study = Mimic;
    type Page = MimicPage;
    const METHODS: &'static [Method] = &[
        Method::Ensemble,
        Method::Wgd,
        Method::Svgd,
        Method::NewtonEnsemble,
        Method::Svn,
        Method::Linear,
    ];
    const TUNED: &'static [(&'static str, &'static str)] = &[];

    fn study(&self, common: &Common, _: &Asked) -> Result<Mimic, EngineError> {
        let out = common.out::<Mimic>()?;
        let tables = self.tables(common, &out)?;
        let options = ExtractOptions {
            without_deaths: self.without_deaths,
            ..ExtractOptions::default()
        };
        let bar = Bar::new(common.quiet);
        let (table, manifest) = cached(&tables, &out.join("mimic-features"), &options, &bar)?;
        bar.bar.finish_and_clear();
        let flow = manifest.flow.clone();
        let options = MimicOptions {
            los: self.los,
            log_target: self.log_target,
            folds: self.folds,
            seeds: common.seeds(),
        };
        let study = Mimic::new(table, manifest, &options)?;
        if !common.quiet {
            let name = study
                .designs()
                .first()
                .map_or_else(String::new, |d| d.dataset().to_owned());
            let path = PathBuf::from("standard output");
            let shown = print::out(render(&cohort_table(&name, &flow)));
            shown.map_err(|source| EngineError::Io { path, source })?;
        }
        Ok(study)
    }
}

/// A bar of bytes on a terminal, a line a table elsewhere.
struct Bar {
    bar: ProgressBar,
    quiet: bool,
}

/// Fits 80 columns.
const BYTES: &str = "{prefix:14} {bar:14} {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left";

impl Bar {
    fn new(quiet: bool) -> Self {
        let bar = if quiet {
            ProgressBar::hidden()
        } else {
            ProgressBar::new(0)
        };
        let style = ProgressStyle::with_template(BYTES);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar, quiet }
    }
}

impl Progress for Bar {
    fn begin(&self, table: &str, bytes: u64) {
        self.bar.reset();
        self.bar.set_length(bytes);
        self.bar.set_prefix(table.to_owned());
        self.bar.enable_steady_tick(Duration::from_millis(200));
    }

    fn at(&self, bytes: u64) {
        self.bar.set_position(bytes);
    }

    fn end(&self, rows: u64, unpacked: u64) {
        if self.quiet {
            return;
        }
        let (name, seconds) = (self.bar.prefix(), self.bar.elapsed().as_secs_f64());
        let line = format!(
            "{name}: {rows} rows, {:.0} MB of text, {seconds:.1} s",
            unpacked as f64 / 1e6
        );
        if self.bar.is_hidden() {
            print::error(line);
        } else {
            self.bar.println(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_parses() {
        assert!(ProgressStyle::with_template(BYTES).is_ok());
    }
}
