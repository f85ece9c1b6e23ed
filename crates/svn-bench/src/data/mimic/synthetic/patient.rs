//! A made-up patient: levels of what is measured, and the stay that follows from them.

use std::fmt::Write;

use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use super::super::Timestamp;
use super::{NOISE_HOURS, Rows};

/// A patient with one stay that may count.
pub(super) struct Patient {
    pub index: u64,
    pub begin: Timestamp,
    pub hours: f64,
    pub age: f64,
    pub heart_rate: f64,
    pub creatinine: f64,
    pub lactate: f64,
    pub pressure: f64,
    died: bool,
}

/// Every how many patients something is odd.
const MINOR: u64 = 61;
const SECOND_STAY: u64 = 23;
const NO_END: u64 = 67;

const UNITS: [&str; 4] = [
    "Medical Intensive Care Unit (MICU)",
    "Surgical Intensive Care Unit (SICU)",
    "Cardiac Vascular Intensive Care Unit (CVICU)",
    "Trauma SICU (TSICU)",
];
const TYPES: [&str; 3] = ["EW EMER.", "URGENT", "OBSERVATION ADMIT"];
const LOCATIONS: [&str; 3] = [
    "EMERGENCY ROOM",
    "PHYSICIAN REFERRAL",
    "TRANSFER FROM HOSPITAL",
];

impl Patient {
    pub(super) fn draw(index: u64, rng: &mut impl RngExt) -> Self {
        let mut normal = || -> f64 { StandardNormal.sample(rng) };
        let [z_age, z_rate, z_creatinine, z_lactate, z_pressure, noise] =
            std::array::from_fn(|_| normal().clamp(-3.0, 3.0));
        let hours = 110.0
            + 10.0 * z_age
            + 16.0 * z_rate
            + 12.0 * z_creatinine
            + 8.0 * z_lactate.tanh()
            + 4.0 * (z_pressure * z_pressure - 1.0)
            + NOISE_HOURS * noise;
        let day = rng.random_range(0..36_500);
        Self {
            index,
            begin: Timestamp::EPOCH
                .plus_hours(24 * (47_482 + day))
                .plus_seconds(rng.random_range(0..86_400)),
            hours: hours.max(1.0),
            age: match index % MINOR {
                7 => 16.0,
                // 3 standard deviations below 20 is no age of an adult.
                _ => (60.0 + 13.0 * z_age).round(),
            },
            heart_rate: 88.0 + 12.0 * z_rate,
            creatinine: 1.6 + 0.4 * z_creatinine,
            lactate: 2.4 + 0.6 * z_lactate,
            pressure: 80.0 + 8.0 * z_pressure,
            died: rng.random_bool(0.08),
        }
    }

    pub(super) fn subject(&self) -> u64 {
        10_000_000 + self.index
    }

    pub(super) fn admission(&self) -> u64 {
        20_000_000 + self.index
    }

    /// Not in the order of the patients.
    pub(super) fn stay(&self) -> u64 {
        30_000_000 + self.index * 7919 % 1_000_000
    }

    fn end(&self) -> Timestamp {
        self.begin
            .plus_seconds((self.hours * 3600.0).round() as i64)
    }

    /// Rows of patients, admissions and stays.
    pub(super) fn rows(&self, rows: &mut Rows) {
        let [patients, admissions, stays, ..] = rows;
        let (subject, admission) = (self.subject(), self.admission());
        let pick = |words: &[&'static str]| words[self.index as usize % words.len()];
        let (begin, end) = (self.begin, self.end());
        let year = begin.to_string().get(..4).unwrap_or_default().to_owned();
        let sex = if self.index.is_multiple_of(2) {
            "F"
        } else {
            "M"
        };
        // Writing to a string cannot fail.
        let _ = writeln!(patients, "{subject},{sex},{},{year},2014 - 2016,", self.age);
        let left = end.plus_hours(30);
        let (death, flag) = match self.died {
            true => (left.to_string(), 1),
            false => (String::new(), 0),
        };
        let _ = writeln!(
            admissions,
            "{subject},{admission},{begin},{left},{death},{},P0000X,{},HOME,Other,English,SINGLE,UNKNOWN,,,{flag}",
            pick(&TYPES),
            pick(&LOCATIONS),
        );
        let unit = pick(&UNITS);
        let days = self.hours / 24.0;
        let (end_text, days) = match self.index % NO_END {
            11 => (String::new(), String::new()),
            _ => (end.to_string(), days.to_string()),
        };
        let mut line = |stay: u64, begin: Timestamp, end: &str, days: &str| {
            let _ = writeln!(
                stays,
                "{subject},{admission},{stay},{unit},{unit},{begin},{end},{days}"
            );
        };
        if self.index % SECOND_STAY == 3 {
            // Before the first one in the file, after it in time.
            line(
                self.stay() - 20_000_000,
                left,
                &left.plus_hours(50).to_string(),
                "2.08",
            );
        }
        line(self.stay(), begin, &end_text, &days);
    }
}
