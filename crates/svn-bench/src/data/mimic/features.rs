//! One row of features a patient.
//!
//! ```text
//! age, male                                    years, 90 for all above 89; 1 or 0
//! type_…, location_…, unit_…                   one column a group, 1 in the group of the stay
//! SIGNAL_mean, _min, _max, _last, _count       of the first 24 hours
//! SIGNAL_missing                               1 where there is no value; the others are NaN then, count is 0
//! intubated                                    1 if the verbal score could not be told for a tube
//! urine, _rows, _missing, _irrigated           mL; rows of outputs; 1 without a known volume; 1 if the bladder was irrigated
//! ```
//!
//! NaN is a missing value. What stands in for it depends on which patients are trained on, and is no part of the table.

use ndarray::{Array1, Array2};

use super::chart::Chart;
use super::cohort::Stay;
use super::signals::SIGNALS;

/// Features and lengths of stay. Which patient a row is of is not told.
///
/// # Shapes
/// `x`: `n × d`; `hours`: `n`.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureTable {
    /// Names of the columns, `d`.
    pub names: Vec<String>,
    /// Features; NaN is missing.
    pub x: Array2<f64>,
    /// Hours in the unit, from begin to end.
    pub hours: Array1<f64>,
}

/// A group and the words, in capitals, that its members have in their names; the first group that fits is taken.
type Groups = &'static [(&'static str, &'static [&'static str])];

const TYPES: Groups = &[
    ("observation", &["OBSERVATION"]),
    ("emergency", &["EMER"]),
    ("urgent", &["URGENT"]),
    ("elective", &["ELECTIVE", "SAME DAY"]),
];

const LOCATIONS: Groups = &[
    ("emergency_room", &["EMERGENCY ROOM"]),
    ("referral", &["REFERRAL"]),
    ("transfer", &["TRANSFER"]),
    ("procedure", &["PROCEDURE", "PACU"]),
];

const UNITS: Groups = &[
    ("neuro", &["NEURO"]),
    ("medical_surgical", &["MICU/SICU"]),
    ("trauma", &["TSICU", "TRAUMA"]),
    ("cardiac_vascular", &["CVICU"]),
    ("coronary", &["CCU", "CORONARY"]),
    ("medical", &["MICU"]),
    ("surgical", &["SICU"]),
];

const OF_SIGNAL: [&str; 6] = ["mean", "min", "max", "last", "count", "missing"];

fn one_hot(groups: Groups, text: &str) -> impl Iterator<Item = f64> {
    let text = text.to_ascii_uppercase();
    let fits = |(_, words): &(&str, &[&str])| words.iter().any(|word| text.contains(word));
    let found = groups.iter().position(fits).unwrap_or(groups.len());
    (0..=groups.len()).map(move |group| f64::from(group == found))
}

fn names() -> Vec<String> {
    let mut names = vec!["age".to_owned(), "male".to_owned()];
    for (prefix, groups) in [("type", TYPES), ("location", LOCATIONS), ("unit", UNITS)] {
        let groups = groups.iter().map(|(name, _)| *name).chain(["other"]);
        names.extend(groups.map(|name| format!("{prefix}_{name}")));
    }
    for signal in SIGNALS {
        names.extend(OF_SIGNAL.map(|part| format!("{}_{part}", signal.name)));
    }
    let others = [
        "intubated",
        "urine",
        "urine_rows",
        "urine_missing",
        "urine_irrigated",
    ];
    names.extend(others.map(str::to_owned));
    names
}

fn row(stay: &Stay, chart: &Chart) -> Vec<f64> {
    let mut row = vec![stay.age, stay.male];
    row.extend(one_hot(TYPES, &stay.admission_type));
    row.extend(one_hot(LOCATIONS, &stay.location));
    row.extend(one_hot(UNITS, &stay.unit));
    for values in chart.signals() {
        let features = values.features();
        row.extend(features);
        row.push(f64::from(features[4] == 0.0));
    }
    let (volume, rows, irrigated) = chart.urine();
    row.push(f64::from(chart.is_intubated()));
    row.extend([
        volume,
        rows,
        f64::from(volume.is_nan()),
        f64::from(irrigated),
    ]);
    row
}

impl FeatureTable {
    /// Of stays and their charts, in the order of the stays.
    pub(super) fn new(stays: &[Stay], charts: &[Chart]) -> Self {
        let names = names();
        let mut x = Array2::from_elem((stays.len(), names.len()), f64::NAN);
        for (mut line, (stay, chart)) in x.rows_mut().into_iter().zip(stays.iter().zip(charts)) {
            for (cell, value) in line.iter_mut().zip(row(stay, chart)) {
                *cell = value;
            }
        }
        Self {
            names,
            x,
            hours: stays.iter().map(Stay::hours).collect(),
        }
    }

    /// Patients.
    pub fn rows(&self) -> usize {
        self.hours.len()
    }

    /// A feature of a row; `None` for no such name or row.
    pub fn value(&self, row: usize, name: &str) -> Option<f64> {
        let column = self.names.iter().position(|other| other == name)?;
        self.x.get((row, column)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(groups: Groups, text: &str) -> &'static str {
        let place = one_hot(groups, text)
            .position(|value| value == 1.0)
            .unwrap();
        groups.get(place).map_or("other", |(name, _)| name)
    }

    #[test]
    fn groups_of_the_names_that_the_source_has() {
        for (text, expected) in [
            ("EW EMER.", "emergency"),
            ("DIRECT EMER.", "emergency"),
            ("URGENT", "urgent"),
            ("ELECTIVE", "elective"),
            ("SURGICAL SAME DAY ADMISSION", "elective"),
            ("EU OBSERVATION", "observation"),
            ("", "other"),
        ] {
            assert_eq!(group(TYPES, text), expected, "{text}");
        }
        for (text, expected) in [
            ("EMERGENCY ROOM", "emergency_room"),
            ("WALK-IN/SELF REFERRAL", "referral"),
            ("TRANSFER FROM SKILLED NURSING FACILITY", "transfer"),
            ("PACU", "procedure"),
            ("INFORMATION NOT AVAILABLE", "other"),
        ] {
            assert_eq!(group(LOCATIONS, text), expected, "{text}");
        }
        for (text, expected) in [
            ("Medical Intensive Care Unit (MICU)", "medical"),
            ("Surgical Intensive Care Unit (SICU)", "surgical"),
            (
                "Medical/Surgical Intensive Care Unit (MICU/SICU)",
                "medical_surgical",
            ),
            (
                "Cardiac Vascular Intensive Care Unit (CVICU)",
                "cardiac_vascular",
            ),
            ("Trauma SICU (TSICU)", "trauma"),
            ("Coronary Care Unit (CCU)", "coronary"),
            ("Neuro Surgical Intensive Care Unit (Neuro SICU)", "neuro"),
            ("Neuro Stepdown", "neuro"),
            ("PACU", "other"),
        ] {
            assert_eq!(group(UNITS, text), expected, "{text}");
        }
    }

    #[test]
    fn every_group_has_one_column_and_every_name_is_its_own() {
        for text in ["", "URGENT", "EW EMER. OBSERVATION"] {
            assert_eq!(one_hot(TYPES, text).sum::<f64>(), 1.0);
        }
        let mut names = names();
        let count = names.len();
        assert_eq!(count, 2 + 5 + 5 + 8 + 6 * SIGNALS.len() + 5);
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
