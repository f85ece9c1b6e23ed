//! From a folder to features: the cohort first, then one pass over each table of events.

use super::super::DataError;
use super::chart::Chart;
use super::cohort::Cohort;
use super::events::{self, Table};
use super::signals::Events;
use super::{Counts, FeatureTable, Flow, Release, Tables};

/// How features are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtractOptions {
    /// Leave patients out who died in hospital.
    pub without_deaths: bool,
    /// Bytes of a block. Has no effect on the result.
    pub block: usize,
    /// Threads that read rows, beside the one that unpacks. Has no effect on the result.
    pub readers: usize,
}

impl Default for ExtractOptions {
    fn default() -> Self {
        Self {
            without_deaths: false,
            block: 1 << 20,
            readers: 1,
        }
    }
}

/// Is told how far the passes are. Never of a patient.
pub trait Progress: Sync {
    /// A table is begun, of so many bytes on disk.
    fn begin(&self, _table: &str, _bytes: u64) {}
    /// So many of them are read.
    fn at(&self, _bytes: u64) {}
    /// It is done: rows, and bytes unpacked.
    fn end(&self, _rows: u64, _unpacked: u64) {}
}

/// Tells nobody.
#[derive(Debug, Clone, Copy)]
pub struct Quiet;

impl Progress for Quiet {}

/// Features, and how they came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Extraction {
    /// One row a patient.
    pub table: FeatureTable,
    /// Which stays were left out.
    pub flow: Flow,
    /// What became of the rows of `chartevents`, `labevents` and `outputevents`.
    pub counts: [Counts; 3],
}

/// Read a folder.
///
/// # Errors
/// [`DataError`]: a table that cannot be read to its end, a missing column, a key that two rows have, an empty cohort.
pub fn extract(
    tables: &Tables,
    options: &ExtractOptions,
    progress: &dyn Progress,
) -> Result<Extraction, DataError> {
    let cohort = Cohort::read(tables, options.without_deaths)?;
    let mut charts = vec![Chart::default(); cohort.stays.len()];
    let mut counts = Events::ALL.map(|_| Counts::default());
    for (events, counts) in Events::ALL.into_iter().zip(&mut counts) {
        let (path, name) = match events {
            Events::Chart => (&tables.chartevents, "chartevents"),
            Events::Lab => (&tables.labevents, "labevents"),
            Events::Output => (&tables.outputevents, "outputevents"),
        };
        let table = Table {
            path,
            events,
            derived: tables.release == Release::DerivedDemo && events != Events::Output,
        };
        progress.begin(name, path.metadata().map_or(0, |data| data.len()));
        let (found, unpacked) = events::read(table, &cohort, &mut charts, options, progress)?;
        progress.end(found.rows, unpacked);
        *counts = found;
    }
    Ok(Extraction {
        table: FeatureTable::new(&cohort.stays, &charts),
        flow: cohort.flow,
        counts,
    })
}
