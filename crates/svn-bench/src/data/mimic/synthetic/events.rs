//! What is charted of a made-up patient, and what the laboratory says.

use std::fmt::Write;

use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use super::patient::Patient;
use super::{Rows, Synthetic};
use crate::data::mimic::Timestamp;

/// Items that nobody asks for, with a number or a text.
const OTHERS: [(u32, &str, &str); 6] = [
    (227_944, "Sinus Rhythm", ""),
    (220_339, "5", "5"),
    (224_080, "Side to Side", ""),
    (223_834, "4", "4"),
    (228_096, "\"Awake, calm\"", ""),
    (224_168, "480", "480"),
];

/// Every how many patients something is odd.
const OTHER_UNIT: u64 = 29;
const ABSURD: u64 = 31;
const TUBE: u64 = 17;
const IRRIGATED: u64 = 37;
const NO_LACTATE: u64 = 5;

/// Writes chart events in the order of the official table. Gives their number back.
pub(super) fn rows(
    patient: &Patient,
    asked: &Synthetic,
    rng: &mut impl RngExt,
    rows: &mut Rows,
) -> u64 {
    let [.., chart, labs, outputs] = rows;
    let hours = patient.hours.floor() as i64;
    let hours = asked.charted_hours.map_or(hours, |most| most.min(hours));
    let ids = format!(
        "{},{},{}",
        patient.subject(),
        patient.admission(),
        patient.stay()
    );
    let mut count = 0;
    let noise = |rng: &mut _, sd: f64| -> f64 {
        let z: f64 = StandardNormal.sample(rng);
        sd * z
    };
    for hour in 0..hours {
        let time = patient
            .begin
            .plus_seconds(hour * 3600 + 60 * (patient.index % 50) as i64);
        let stored = time.plus_seconds(420);
        // One text for all rows of the hour.
        let head = format!("{ids},10001,{time},{stored}");
        let mut event = |item: u32, text: &str, number: &str, unit: &str| {
            let _ = writeln!(chart, "{head},{item},{text},{number},{unit},0");
            count += 1;
        };
        let mut number = |item: u32, value: f64, unit: &str| {
            let text = (value * 10.0).round() / 10.0;
            let text = text.to_string();
            event(item, &text, &text, unit);
        };
        let pressure = patient.pressure + noise(rng, 4.0);
        number(
            220_045,
            (patient.heart_rate + noise(rng, 5.0)).round(),
            "bpm",
        );
        number(220_179, (pressure + 40.0).round(), "mmHg");
        number(220_180, (pressure - 18.0).round(), "mmHg");
        number(220_181, pressure.round(), "mmHg");
        number(
            220_210,
            (18.0 + noise(rng, 3.0)).round().max(4.0),
            "insp/min",
        );
        number(220_277, (97.0 + noise(rng, 1.5)).round().min(100.0), "%");
        if hour % 4 == 0 {
            let celsius = 36.9 + noise(rng, 0.4);
            let fahrenheit = celsius * 1.8 + 32.0;
            match patient.index % OTHER_UNIT {
                0 => number(223_762, fahrenheit, "°C"),
                _ => number(223_761, fahrenheit, "°F"),
            }
            number(220_739, 4.0, "");
            number(223_901, 6.0, "");
            match patient.index % TUBE {
                0 => event(223_900, "No Response-ETT", "1", ""),
                _ => event(223_900, "Oriented", "5", ""),
            }
        }
        for k in 0..asked.other_rows {
            let (item, text, number) = OTHERS[((hour as u64 + k) % 6) as usize];
            event(item, text, number, "");
        }
        if hour == 5 && patient.index.is_multiple_of(ABSURD) {
            event(220_045, "10000000", "10000000", "bpm");
            event(220_045, "ERROR", "", "bpm");
        }
        if hour % 2 == 1 {
            let volume = (90.0 + noise(rng, 30.0)).round().max(0.0);
            let _ = writeln!(outputs, "{ids},10001,{time},{stored},226559,{volume},mL");
        }
        if hour == 6 && patient.index.is_multiple_of(IRRIGATED) {
            for (item, volume) in [(227_488, 500), (227_489, 640)] {
                let _ = writeln!(outputs, "{ids},10001,{time},{stored},{item},{volume},mL");
            }
        }
    }
    for (k, hour) in [2, 11, 20, 23].into_iter().enumerate() {
        let time = patient.begin.plus_hours(hour);
        // The last is not known in time, and tells too much.
        let (stored, late) = match hour {
            23 => (time.plus_hours(3), Some(patient.hours / 10.0)),
            _ => (time.plus_hours(1), None),
        };
        let mut lab = |item: u32, value: f64| {
            let value = (late.unwrap_or(value) * 100.0).round() / 100.0;
            write_lab(
                labs,
                patient,
                (4 * patient.index + k as u64, item),
                (time, stored),
                value,
            );
        };
        lab(50_912, patient.creatinine + noise(rng, 0.08));
        lab(50_983, (139.0 + noise(rng, 3.0)).round());
        lab(50_971, 4.1 + noise(rng, 0.4));
        lab(51_222, 11.0 + noise(rng, 1.5));
        if !patient.index.is_multiple_of(NO_LACTATE) {
            lab(50_813, patient.lactate + noise(rng, 0.1));
        }
    }
    count
}

/// A result; that of every seventh order belongs to no admission.
fn write_lab(
    labs: &mut String,
    patient: &Patient,
    (order, item): (u64, u32),
    (time, stored): (Timestamp, Timestamp),
    value: f64,
) {
    let (subject, admission) = (patient.subject(), patient.admission());
    let admission = match order % 7 {
        0 => String::new(),
        _ => admission.to_string(),
    };
    let _ = writeln!(
        labs,
        "{order},{subject},{admission},{order},{item},P0000X,{time},{stored},{value},{value},mg/dL,,,,ROUTINE,\"made up, all of it\"",
    );
}
