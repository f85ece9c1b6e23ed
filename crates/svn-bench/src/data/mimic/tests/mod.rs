//! Folders of made-up patients with known answers.

mod bad_input;
mod cases;
mod demo;
mod pipeline;
mod reference;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

use super::*;
use crate::data::DataError;

/// Tables in memory, and the folder they are written to.
pub(super) struct Made {
    pub(super) folder: TempDir,
    pub(super) tables: BTreeMap<&'static str, String>,
}

/// A time in January 2150.
pub(super) fn time(day: u32, hour: u32, minute: u32) -> String {
    format!("2150-01-{day:02} {hour:02}:{minute:02}:00")
}

const HEADERS: [(&str, &str); 6] = [
    (
        "hosp/patients",
        "subject_id,gender,anchor_age,anchor_year,anchor_year_group,dod",
    ),
    (
        "hosp/admissions",
        "subject_id,hadm_id,admittime,dischtime,deathtime,admission_type,admission_location,hospital_expire_flag",
    ),
    (
        "icu/icustays",
        "stay_id,hadm_id,subject_id,outtime,intime,first_careunit,los",
    ),
    (
        "icu/chartevents",
        "itemid,charttime,value,valuenum,valueuom,subject_id,hadm_id,stay_id,caregiver_id,storetime,warning",
    ),
    (
        "hosp/labevents",
        "labevent_id,subject_id,hadm_id,specimen_id,itemid,charttime,storetime,value,valuenum,valueuom,comments",
    ),
    (
        "icu/outputevents",
        "subject_id,hadm_id,stay_id,caregiver_id,charttime,storetime,itemid,value,valueuom",
    ),
];

impl Made {
    pub(super) fn new() -> Self {
        let tables = HEADERS.map(|(table, header)| (table, format!("{header}\n")));
        Self {
            folder: tempfile::tempdir().unwrap(),
            tables: tables.into(),
        }
    }

    pub(super) fn row(&mut self, table: &str, row: &str) {
        let text = self.tables.get_mut(table).unwrap();
        text.push_str(row);
        text.push('\n');
    }

    pub(super) fn patient(&mut self, subject: u32, age: u32, year: u32) {
        self.row(
            "hosp/patients",
            &format!("{subject},F,{age},{year},2014 - 2016,"),
        );
    }

    pub(super) fn admission(&mut self, subject: u32, begin: &str, end: &str, death: &str) {
        let died = u8::from(!death.is_empty());
        self.row(
            "hosp/admissions",
            &format!(
                "{subject},{},{begin},{end},{death},URGENT,PACU,{died}",
                1000 + subject
            ),
        );
    }

    pub(super) fn stay(&mut self, subject: u32, stay: u32, begin: &str, end: &str) {
        let row = format!(
            "{stay},{},{subject},{end},{begin},Neuro Stepdown,1",
            1000 + subject
        );
        self.row("icu/icustays", &row);
    }

    /// A patient of 50 years with a stay, of the same number, from the begin of January 2 for three days.
    pub(super) fn person(&mut self, subject: u32) {
        self.patient(subject, 50, 2150);
        self.admission(subject, &time(1, 20, 0), &time(9, 0, 0), "");
        self.stay(subject, subject, &time(2, 0, 0), &time(5, 0, 0));
    }

    pub(super) fn chart(&mut self, stay: u32, item: u32, time: &str, text: &str, number: &str) {
        let row = format!(
            "{item},{time},{text},{number},u,{stay},{},{stay},1,{time},0",
            1000 + stay
        );
        self.row("icu/chartevents", &row);
    }

    pub(super) fn lab(
        &mut self,
        subject: u32,
        item: u32,
        times: [&str; 2],
        text: &str,
        number: &str,
    ) {
        let [time, stored] = times;
        let row = format!("1,{subject},,7,{item},{time},{stored},{text},{number},mg/dL,");
        self.row("hosp/labevents", &row);
    }

    pub(super) fn output(&mut self, stay: u32, item: u32, time: &str, volume: &str) {
        let row = format!(
            "{stay},{},{stay},1,{time},{time},{item},{volume},mL",
            1000 + stay
        );
        self.row("icu/outputevents", &row);
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn write(&self) {
        for (table, text) in &self.tables {
            write(self.path(), &format!("{table}.csv"), text.as_bytes());
        }
    }

    pub(super) fn extract(&self) -> Result<Extraction, DataError> {
        self.write();
        let tables = Tables::find(self.path())?;
        extract(&tables, &ExtractOptions::default(), &Quiet)
    }

    /// Features of the one patient.
    pub(super) fn one(&self) -> impl Fn(&str) -> f64 + use<> {
        let table = self.extract().unwrap().table;
        assert_eq!(table.rows(), 1);
        move |name| table.value(0, name).unwrap()
    }

    pub(super) fn error(&self) -> String {
        let text = self.extract().unwrap_err().to_string();
        text.replace(&self.path().display().to_string(), "DIR")
    }
}

pub(super) fn write(folder: &Path, name: &str, bytes: &[u8]) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
