//! Made-up patients in the tables of MIMIC-IV, whose length of stay hangs on what is measured in a known way.
//!
//! ```text
//! z        age, heart rate, creatinine, lactate, mean pressure: independent, N(0, 1)
//! hours  = 110 + 10 z_age + 16 z_rate + 12 z_creatinine + 8 tanh(z_lactate) + 4 (z_pressure² − 1) + 12 ε      ε ~ N(0, 1)
//! ```
//!
//! A table shows each `z` through values around its own level, with noise of the single value. Nobody who knew all of `z` could
//! predict better than with a standard deviation of [`NOISE_HOURS`]. Beside them are what a cohort must leave out (minors, second
//! stays, stays without an end) and what a reader must not use (other items, absurd values, late results, text).

mod events;
mod patient;

use std::fs::File;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

use super::super::DataError;
use patient::Patient;

/// Standard deviation of the length of stay that nothing tells, hours.
pub const NOISE_HOURS: f64 = 12.0;

/// A file that tells the folder from one of real patients.
pub(super) const MARK: &str = "made-up-patients.txt";

/// What is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Synthetic {
    /// Patients.
    pub patients: u64,
    /// The first hours of each stay that are charted; `None` for all.
    pub charted_hours: Option<i64>,
    /// Rows of items that are not needed, each hour.
    pub other_rows: u64,
    /// Seed of all draws.
    pub seed: u64,
}

impl Default for Synthetic {
    fn default() -> Self {
        Self {
            patients: 2000,
            charted_hours: Some(26),
            other_rows: 2,
            seed: 0,
        }
    }
}

const TABLES: [(&str, &str); 6] = [
    (
        "hosp/patients",
        "subject_id,gender,anchor_age,anchor_year,anchor_year_group,dod",
    ),
    (
        "hosp/admissions",
        "subject_id,hadm_id,admittime,dischtime,deathtime,admission_type,admit_provider_id,admission_location,\
         discharge_location,insurance,language,marital_status,race,edregtime,edouttime,hospital_expire_flag",
    ),
    (
        "icu/icustays",
        "subject_id,hadm_id,stay_id,first_careunit,last_careunit,intime,outtime,los",
    ),
    (
        "icu/chartevents",
        "subject_id,hadm_id,stay_id,caregiver_id,charttime,storetime,itemid,value,valuenum,valueuom,warning",
    ),
    (
        "hosp/labevents",
        "labevent_id,subject_id,hadm_id,specimen_id,itemid,order_provider_id,charttime,storetime,value,valuenum,valueuom,\
         ref_range_lower,ref_range_upper,flag,priority,comments",
    ),
    (
        "icu/outputevents",
        "subject_id,hadm_id,stay_id,caregiver_id,charttime,storetime,itemid,value,valueuom",
    ),
];

/// Rows of the tables of one patient, in the order of [`TABLES`].
type Rows = [String; TABLES.len()];

impl Synthetic {
    /// Write the tables, gzip, into a folder that is made. Gives the number of chart events back.
    ///
    /// # Errors
    /// [`DataError::Io`].
    pub fn write(&self, folder: &Path) -> Result<u64, DataError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| DataError::Io { path, source }
        };
        let mut files = Vec::new();
        for (table, header) in TABLES {
            let path = folder.join(format!("{table}.csv.gz"));
            let parent = path.parent().unwrap_or(folder);
            std::fs::create_dir_all(parent).map_err(io(parent))?;
            let file = File::create(&path).map_err(io(&path))?;
            let mut file = GzEncoder::new(file, Compression::fast());
            writeln!(file, "{header}").map_err(io(&path))?;
            files.push((path, file));
        }
        let mut charted = 0;
        for index in 0..self.patients {
            let mut rng = ChaCha20Rng::seed_from_u64(self.seed);
            rng.set_stream(index);
            let mut rows = Rows::default();
            let patient = Patient::draw(index, &mut rng);
            patient.rows(&mut rows);
            charted += events::rows(&patient, self, &mut rng, &mut rows);
            for ((path, file), rows) in files.iter_mut().zip(&rows) {
                file.write_all(rows.as_bytes()).map_err(io(path))?;
            }
        }
        for (path, file) in files {
            file.finish().map_err(io(&path))?;
        }
        // Last, so that a folder with it is whole.
        let mark = folder.join(MARK);
        std::fs::write(&mark, format!("{self:?}\n")).map_err(io(&mark))?;
        Ok(charted)
    }

    /// Write the tables unless the folder holds them, whole.
    ///
    /// # Errors
    /// [`DataError::Io`].
    pub fn provide(&self, folder: &Path) -> Result<(), DataError> {
        let mark = std::fs::read_to_string(folder.join(MARK)).unwrap_or_default();
        match mark == format!("{self:?}\n") {
            true => Ok(()),
            // Without the mark first: what is written by halves is nobody's.
            false => {
                let _ = std::fs::remove_file(folder.join(MARK));
                self.write(folder).map(drop)
            }
        }
    }
}
