//! The cohort: adults in their first stay, at least 24 hours in the unit.
//!
//! ```text
//! age         anchor_age + year of admittime − anchor_year; 90 stands for all above 89, which the source codes as 91
//! first       the earliest intime of the patient, of equal ones the lower stay_id, whatever becomes of that stay
//! prediction  intime + 24 h
//! ```
//!
//! A stay counts by its own `intime` and `outtime`. A discharge before the admission does not matter to it, and is counted.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use super::super::DataError;
use super::flow::Rule;
use super::rows::{key, read};
use super::{Flow, MimicError, Tables, Timestamp};

/// Hours that features are taken from.
pub(super) const HOURS: i64 = 24;
/// The oldest age that is told apart.
const OLDEST: f64 = 90.0;

/// A stay in the cohort.
#[derive(Debug, Clone)]
pub(super) struct Stay {
    pub id: u64,
    pub begin: Timestamp,
    pub end: Timestamp,
    pub age: f64,
    /// 1 for men, 0 for women, NaN where it is not told.
    pub male: f64,
    pub admission_type: String,
    pub location: String,
    pub unit: String,
}

impl Stay {
    /// When the prediction is made.
    pub(super) fn prediction(&self) -> Timestamp {
        self.begin.plus_hours(HOURS)
    }

    /// Hours in the unit.
    pub(super) fn hours(&self) -> f64 {
        self.end.hours_since(self.begin)
    }
}

/// All stays of the cohort, by ascending patient.
#[derive(Debug, Clone)]
pub(super) struct Cohort {
    pub stays: Vec<Stay>,
    pub by_subject: HashMap<u64, usize>,
    pub flow: Flow,
}

/// A row of `icustays`.
struct Row {
    subject: u64,
    admission: Option<u64>,
    id: u64,
    unit: String,
    begin: Option<Timestamp>,
    end: Option<Timestamp>,
    has_end: bool,
}

struct Patient {
    male: f64,
    /// Age less the year it is of.
    offset: Option<f64>,
}

struct Admission {
    year: Option<i64>,
    death: Option<Timestamp>,
    died: bool,
    odd: bool,
    kind: String,
    location: String,
}

impl Cohort {
    /// Read stays, patients and admissions, and apply the rules.
    ///
    /// # Errors
    /// [`DataError`]: a table that cannot be read, a key that two rows have; [`MimicError::EmptyCohort`].
    pub(super) fn read(tables: &Tables, without_deaths: bool) -> Result<Self, DataError> {
        let rows = stays(&tables.icustays)?;
        let patients = patients(&tables.patients)?;
        let wanted = rows.iter().filter_map(|row| Some((row.admission?, None)));
        let admissions = admissions(&tables.admissions, wanted.collect())?;
        let mut first: HashMap<u64, (Timestamp, u64)> = HashMap::new();
        for row in &rows {
            if let Some(begin) = row.begin {
                let own = (begin, row.id);
                let known = first.entry(row.subject).or_insert(own);
                *known = own.min(*known);
            }
        }
        let mut outcomes = Vec::with_capacity(rows.len());
        let (mut kept, mut died, mut odd) = (BTreeMap::new(), 0, 0);
        for row in &rows {
            let patient = patients.get(&row.subject);
            let admission = row.admission.and_then(|id| admissions.get(&id)?.as_ref());
            let is_first = first.get(&row.subject).is_some_and(|&(_, id)| id == row.id);
            let outcome = apply(row, patient, admission, is_first, without_deaths);
            outcomes.push(outcome.as_ref().err().copied());
            if let (Ok(stay), Some(admission)) = (outcome, admission) {
                kept.insert(row.subject, stay);
                died += usize::from(admission.died);
                odd += usize::from(admission.odd);
            }
        }
        let flow = Flow {
            died,
            odd_discharges: odd,
            ..Flow::new(&outcomes)
        };
        if kept.is_empty() {
            let (folder, stays) = (tables.folder.clone(), flow.stays);
            let rules = flow.rules();
            return Err(MimicError::EmptyCohort {
                folder,
                stays,
                rules,
            }
            .into());
        }
        Ok(Self {
            by_subject: kept.keys().copied().zip(0..).collect(),
            stays: kept.into_values().collect(),
            flow,
        })
    }
}

/// The stay of a row, or the first rule that leaves it out.
fn apply(
    row: &Row,
    patient: Option<&Patient>,
    admission: Option<&Admission>,
    is_first: bool,
    without_deaths: bool,
) -> Result<Stay, Rule> {
    let patient = patient.ok_or(Rule::NoPatient)?;
    let admission = admission.ok_or(Rule::NoAdmission)?;
    let (begin, end) = match (row.begin, row.end) {
        (_, None) if !row.has_end => return Err(Rule::NoEnd),
        (Some(begin), Some(end)) if begin < end => (begin, end),
        _ => return Err(Rule::ImpossibleTimes),
    };
    let age = patient.offset.zip(admission.year);
    let age = age.map(|(offset, year)| (offset + year as f64).min(OLDEST));
    let age = age.filter(|&age| age >= 18.0).ok_or(Rule::Minor)?;
    let stay = Stay {
        id: row.id,
        begin,
        end,
        age,
        male: patient.male,
        admission_type: admission.kind.clone(),
        location: admission.location.clone(),
        unit: row.unit.clone(),
    };
    match () {
        () if !is_first => Err(Rule::NotFirst),
        () if end < stay.prediction() => Err(Rule::Short),
        () if admission
            .death
            .is_some_and(|death| death <= stay.prediction()) =>
        {
            Err(Rule::Dead)
        }
        () if without_deaths && admission.died => Err(Rule::DiedInHospital),
        () => Ok(stay),
    }
}

/// Remember the line of a key.
fn once(
    lines: &mut HashMap<u64, u64>,
    path: &Path,
    column: &'static str,
    (key, line): (u64, u64),
) -> Result<(), DataError> {
    match lines.insert(key, line) {
        None => Ok(()),
        Some(first) => {
            let path = path.to_owned();
            Err(MimicError::Duplicate {
                path,
                column,
                first,
                line,
            }
            .into())
        }
    }
}

fn stays(path: &Path) -> Result<Vec<Row>, DataError> {
    let columns = [
        "subject_id",
        "hadm_id",
        "stay_id",
        "first_careunit",
        "intime",
        "outtime",
    ];
    let (mut rows, mut lines) = (Vec::new(), HashMap::new());
    read(
        path,
        columns,
        |line, [subject, admission, id, unit, begin, end]| {
            let row = Row {
                subject: key(path, line, "subject_id", subject)?,
                admission: admission.parse().ok(),
                id: key(path, line, "stay_id", id)?,
                unit: unit.to_owned(),
                begin: Timestamp::parse(begin.as_bytes()),
                end: Timestamp::parse(end.as_bytes()),
                has_end: !end.is_empty(),
            };
            once(&mut lines, path, "stay_id", (row.id, line))?;
            rows.push(row);
            Ok(())
        },
    )?;
    Ok(rows)
}

fn patients(path: &Path) -> Result<HashMap<u64, Patient>, DataError> {
    let columns = ["subject_id", "gender", "anchor_age", "anchor_year"];
    let (mut patients, mut lines) = (HashMap::new(), HashMap::new());
    read(path, columns, |line, [subject, sex, age, year]| {
        let subject = key(path, line, "subject_id", subject)?;
        once(&mut lines, path, "subject_id", (subject, line))?;
        let whole = |cell: &str| cell.parse::<u16>().ok().map(f64::from);
        let patient = Patient {
            male: match sex {
                "M" => 1.0,
                "F" => 0.0,
                _ => f64::NAN,
            },
            // A coded age is capped before it is shifted, like any other: both ends at the cap.
            offset: whole(age)
                .zip(whole(year))
                .map(|(age, year)| match age >= OLDEST {
                    true => f64::MAX,
                    false => age - year,
                }),
        };
        patients.insert(subject, patient);
        Ok(())
    })?;
    Ok(patients)
}

fn admissions(
    path: &Path,
    mut wanted: HashMap<u64, Option<Admission>>,
) -> Result<HashMap<u64, Option<Admission>>, DataError> {
    let columns = [
        "hadm_id",
        "admittime",
        "dischtime",
        "deathtime",
        "hospital_expire_flag",
        "admission_type",
        "admission_location",
    ];
    let mut lines = HashMap::new();
    read(
        path,
        columns,
        |line, [id, begin, end, death, died, kind, location]| {
            let id = key(path, line, "hadm_id", id)?;
            let Some(place) = wanted.get_mut(&id) else {
                return Ok(());
            };
            once(&mut lines, path, "hadm_id", (id, line))?;
            let [begins, ends, death] =
                [begin, end, death].map(|cell| Timestamp::parse(cell.as_bytes()));
            *place = Some(Admission {
                year: Timestamp::year(begin.as_bytes()),
                death,
                died: died == "1" || death.is_some(),
                odd: begins.zip(ends).is_some_and(|(begin, end)| end < begin),
                kind: kind.to_owned(),
                location: location.to_owned(),
            });
            Ok(())
        },
    )?;
    Ok(wanted)
}
