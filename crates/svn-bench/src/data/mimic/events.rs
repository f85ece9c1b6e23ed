//! One pass over a table of events: unpacked on one thread, read on others, put together in the end.
//!
//! ```text
//! file → blocks of whole rows → bounded channel → rows of wanted items → of the cohort, in the first 24 hours → charts
//! ```
//!
//! An event counts if it was charted from the begin of the stay to the prediction hour, both included, and stored by then where
//! the table tells when. Memory does not depend on the number of rows; neither does any result on blocks and threads.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::super::DataError;
use super::blocks::{Block, Blocks};
use super::chart::{Chart, Place};
use super::cohort::Cohort;
use super::columns::places;
use super::scan::{Cell, Cells, Layout, scan};
use super::signals::{Events, Items, Meaning, Reading, TUBE, whole};
use super::{ExtractOptions, Progress, Timestamp};

/// Blocks that wait for a reader.
const WAITING: usize = 4;

/// What became of the rows of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// All rows.
    pub rows: u64,
    /// Too short to be a row of the table.
    pub short: u64,
    /// Of a wanted item and a patient of the cohort.
    pub of_cohort: u64,
    /// Of these: charted in another stay.
    pub other_stay: u64,
    /// A time that is none.
    pub bad_time: u64,
    /// Outside the first 24 hours.
    pub outside: u64,
    /// Stored after the prediction hour.
    pub late: u64,
    /// Without a number.
    pub no_number: u64,
    /// A verbal score with a tube in the throat.
    pub tube: u64,
    /// Outside the plausible range.
    pub implausible: u64,
    /// Temperatures that were in the other unit.
    pub mended: u64,
    /// Used, mended ones included.
    pub used: u64,
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.rows += other.rows;
        self.short += other.short;
        self.of_cohort += other.of_cohort;
        self.other_stay += other.other_stay;
        self.bad_time += other.bad_time;
        self.outside += other.outside;
        self.late += other.late;
        self.no_number += other.no_number;
        self.tube += other.tube;
        self.implausible += other.implausible;
        self.mended += other.mended;
        self.used += other.used;
    }

    /// Names and numbers, in the order of the fields.
    pub fn lines(&self) -> [(&'static str, u64); 12] {
        [
            ("rows", self.rows),
            ("too short", self.short),
            ("of the cohort", self.of_cohort),
            ("of another stay", self.other_stay),
            ("impossible time", self.bad_time),
            ("outside the first 24 h", self.outside),
            ("stored too late", self.late),
            ("without a number", self.no_number),
            ("verbal score with a tube", self.tube),
            ("implausible", self.implausible),
            ("unit mended", self.mended),
            ("used", self.used),
        ]
    }
}

/// A table of events.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table<'a> {
    pub path: &'a Path,
    pub events: Events,
    /// Whether it is an extract without stays, times of storage and texts.
    pub derived: bool,
}

/// What was read of a part of a table.
struct Part {
    charts: Vec<Chart>,
    counts: Counts,
}

impl Part {
    fn new(stays: usize) -> Self {
        Self {
            charts: vec![Chart::default(); stays],
            counts: Counts::default(),
        }
    }
}

/// Read a table into the charts of the cohort, stay by stay. Gives counts and the unpacked size back.
///
/// # Errors
/// [`DataError`] for a file that cannot be read to its end, or lacks a column.
pub(super) fn read(
    table: Table<'_>,
    cohort: &Cohort,
    charts: &mut [Chart],
    options: &ExtractOptions,
    progress: &dyn Progress,
) -> Result<(Counts, u64), DataError> {
    let mut blocks = Blocks::open(table.path, options.block)?;
    let layout = layout(table, &blocks.header()?)?;
    let items = Items::of(table.events);
    let (send, receive) = sync_channel::<Block>(WAITING);
    let receive = Mutex::new(receive);
    let reader = Reader {
        cohort,
        layout: &layout,
        items: &items,
    };
    let mut counts = Counts::default();
    let (parts, sent) = std::thread::scope(|scope| {
        let work = || {
            let mut part = Part::new(cohort.stays.len());
            while let Some(block) = next(&receive) {
                reader.block(&block, &mut part);
            }
            part
        };
        let workers: Vec<_> = (0..options.readers.max(1))
            .map(|_| scope.spawn(work))
            .collect();
        let sent = send_all(&mut blocks, send, progress);
        let parts: Vec<_> = workers
            .into_iter()
            .map(std::thread::ScopedJoinHandle::join)
            .collect();
        (parts, sent)
    });
    sent?;
    for part in parts {
        let part = part.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        counts.add(&part.counts);
        for (chart, other) in charts.iter_mut().zip(&part.charts) {
            chart.merge(other);
        }
    }
    Ok((counts, blocks.unpacked()))
}

/// One worker waits at a time; the others find the next block behind it.
fn next(receive: &Mutex<Receiver<Block>>) -> Option<Block> {
    receive
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .recv()
        .ok()
}

fn send_all(
    blocks: &mut Blocks,
    send: SyncSender<Block>,
    progress: &dyn Progress,
) -> Result<(), DataError> {
    while let Some(block) = blocks.next()? {
        progress.at(blocks.taken());
        // Nobody listens only if every worker has panicked, which is told when they are joined.
        if send.send(block).is_err() {
            break;
        }
    }
    Ok(())
}

/// Where the cells of a table stand.
fn layout(table: Table<'_>, header: &[Vec<u8>]) -> Result<Layout, DataError> {
    let number = match table.events {
        Events::Output => "value",
        Events::Chart | Events::Lab => "valuenum",
    };
    let common = [
        (Cell::Item, "itemid"),
        (Cell::Subject, "subject_id"),
        (Cell::Time, "charttime"),
        (Cell::Number, number),
    ];
    let more: &[_] = match (table.derived, table.events) {
        (true, _) => &[],
        (false, Events::Chart) => &[
            (Cell::Stay, "stay_id"),
            (Cell::Stored, "storetime"),
            (Cell::Text, "value"),
        ],
        (false, Events::Output) => &[(Cell::Stay, "stay_id"), (Cell::Stored, "storetime")],
        // A laboratory knows of no stays, and often of no admission.
        (false, Events::Lab) => &[(Cell::Stored, "storetime")],
    };
    let mut found = Vec::new();
    for &(cell, name) in common.iter().chain(more) {
        let [place] = places(table.path, header, [name])?;
        found.push((cell, place));
    }
    Ok(Layout::new(&found))
}

struct Reader<'a> {
    cohort: &'a Cohort,
    layout: &'a Layout,
    items: &'a Items,
}

impl Reader<'_> {
    fn block(&self, block: &Block, part: &mut Part) {
        let Part { charts, counts } = part;
        let tally = scan(
            &block.bytes,
            self.layout,
            |item| self.items.find(item),
            |offset, meaning, cells| {
                self.row(block.offset + offset as u64, meaning, cells, charts, counts);
            },
        );
        counts.rows += tally.rows;
        counts.short += tally.short;
    }

    fn row(
        &self,
        offset: u64,
        meaning: Meaning,
        cells: &Cells<'_>,
        charts: &mut [Chart],
        counts: &mut Counts,
    ) {
        let cell = |cell: Cell| cells[cell as usize];
        let subject = whole(cell(Cell::Subject));
        let place = subject.and_then(|subject| self.cohort.by_subject.get(&subject));
        let Some((stay, chart)) =
            place.and_then(|&place| self.cohort.stays.get(place).zip(charts.get_mut(place)))
        else {
            return;
        };
        counts.of_cohort += 1;
        let other = cell(Cell::Stay);
        if !other.is_empty() && whole(other) != Some(stay.id) {
            counts.other_stay += 1;
            return;
        }
        let time = Timestamp::parse(cell(Cell::Time));
        let stored = match cell(Cell::Stored) {
            [] => time,
            text => Timestamp::parse(text),
        };
        let (Some(time), Some(stored)) = (time, stored) else {
            counts.bad_time += 1;
            return;
        };
        if time < stay.begin || time > stay.prediction() {
            counts.outside += 1;
            return;
        }
        if stored > stay.prediction() {
            counts.late += 1;
            return;
        }
        if matches!(meaning, Meaning::Verbal(_)) && cell(Cell::Text) == TUBE {
            counts.tube += 1;
            chart.add_tube();
            return;
        }
        let Some(number) = number(cell(Cell::Number)) else {
            counts.no_number += 1;
            return;
        };
        let value = match meaning.read(number) {
            Reading::Implausible => {
                counts.implausible += 1;
                return;
            }
            Reading::Mended(value) => {
                counts.mended += 1;
                value
            }
            Reading::Plausible(value) => value,
        };
        counts.used += 1;
        chart.add(meaning, Place { time, offset }, value);
    }
}

/// A finite number; text such as `___` or `LESS THAN 0.2` is none.
fn number(cell: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(cell).ok()?.trim();
    text.parse().ok().filter(|number: &f64| number.is_finite())
}
