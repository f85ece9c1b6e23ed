//! What is kept of a stay: the same for any order of its rows and any cut of the file, so that parts of a file can be read apart
//! and put together.
//!
//! ```text
//! count, min, max       of the values of a signal
//! mean = Σ v / count    the sum in whole millionths of the unit, so that it does not depend on the order
//! last                  the latest charttime, of equal ones the row that is further behind in the file
//! coma_total(t)         eye + verbal + motor charted at the same time t; none where one is missing
//! urine                 Σ urine + Σ irrigant out − Σ irrigant in; none where that is negative: what was let in is still inside
//! ```
//!
//! The verbal score of somebody with a tube in the throat is no score: verbal and total are missing then, and `intubated` is set.

use std::collections::BTreeMap;

use super::Timestamp;
use super::signals::{COMA, COMA_TOTAL, Meaning, SIGNALS};

/// Millionths of a unit.
const SCALE: f64 = 1e6;

/// When and where a value was found: later is larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub time: Timestamp,
    /// Offset of the row in the file, unpacked.
    pub offset: u64,
}

/// Values of one signal.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Values {
    count: u32,
    sum: i64,
    min: f64,
    max: f64,
    last: Option<(Place, f64)>,
}

impl Values {
    fn add(&mut self, place: Place, value: f64) {
        self.merge(&Self {
            count: 1,
            sum: (value * SCALE).round() as i64,
            min: value,
            max: value,
            last: Some((place, value)),
        });
    }

    fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = *other;
            return;
        }
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        if other.last.map(|(place, _)| place) > self.last.map(|(place, _)| place) {
            self.last = other.last;
        }
    }

    /// Mean, min, max, last, NaN for none; count.
    pub(super) fn features(&self) -> [f64; 5] {
        let Some((_, last)) = self.last else {
            return [f64::NAN, f64::NAN, f64::NAN, f64::NAN, 0.0];
        };
        let count = f64::from(self.count);
        [
            self.sum as f64 / SCALE / count,
            self.min,
            self.max,
            last,
            count,
        ]
    }
}

/// Eye, verbal and motor score of one time, each with the offset of its row.
type Scores = [Option<(u64, f64)>; 3];

/// Urine and irrigation, in millionths of a mL.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Urine {
    net: i64,
    rows: u32,
    irrigated: bool,
}

/// All that is kept of a stay.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chart {
    values: Vec<Values>,
    coma: BTreeMap<Timestamp, Scores>,
    intubated: bool,
    urine: Urine,
}

impl Default for Chart {
    fn default() -> Self {
        Self {
            values: vec![Values::default(); SIGNALS.len()],
            coma: BTreeMap::new(),
            intubated: false,
            urine: Urine::default(),
        }
    }
}

impl Chart {
    /// A plausible number.
    pub(super) fn add(&mut self, meaning: Meaning, place: Place, value: f64) {
        match meaning {
            Meaning::Value(signal)
            | Meaning::Verbal(signal)
            | Meaning::Temperature { signal, .. } => {
                if let Some(values) = self.values.get_mut(signal) {
                    values.add(place, value);
                }
                if let Some(score) = signal.checked_sub(COMA).filter(|&score| score < 3) {
                    let scores = self.coma.entry(place.time).or_default();
                    set(&mut scores[score], Some((place.offset, value)));
                }
            }
            Meaning::Urine | Meaning::IrrigantIn | Meaning::IrrigantOut => {
                let volume = (value * SCALE).round() as i64;
                let into = meaning == Meaning::IrrigantIn;
                let net = if into { -volume } else { volume };
                let irrigated = meaning != Meaning::Urine;
                self.merge_urine(Urine {
                    net,
                    rows: 1,
                    irrigated,
                });
            }
        }
    }

    /// The verbal score could not be told for a tube.
    pub(super) fn add_tube(&mut self) {
        self.intubated = true;
    }

    /// What another part of the file has.
    pub(super) fn merge(&mut self, other: &Self) {
        for (own, other) in self.values.iter_mut().zip(&other.values) {
            own.merge(other);
        }
        for (time, others) in &other.coma {
            let scores = self.coma.entry(*time).or_default();
            for (own, other) in scores.iter_mut().zip(others) {
                set(own, *other);
            }
        }
        self.intubated |= other.intubated;
        self.merge_urine(other.urine);
    }

    fn merge_urine(&mut self, other: Urine) {
        self.urine.net = self.urine.net.saturating_add(other.net);
        self.urine.rows += other.rows;
        self.urine.irrigated |= other.irrigated;
    }

    /// Values of every signal, the total of the coma scale among them.
    pub(super) fn signals(&self) -> Vec<Values> {
        let mut values = self.values.clone();
        if let Some(total) = values.get_mut(COMA_TOTAL) {
            for (&time, scores) in &self.coma {
                if let [Some(eye), Some(verbal), Some(motor)] = scores {
                    let offset = eye.0.max(verbal.0).max(motor.0);
                    total.add(Place { time, offset }, eye.1 + verbal.1 + motor.1);
                }
            }
        }
        values
    }

    /// Whether there was a tube.
    pub(super) fn is_intubated(&self) -> bool {
        self.intubated
    }

    /// Volume in mL, NaN for none that is known; rows; whether the bladder was irrigated.
    pub(super) fn urine(&self) -> (f64, f64, bool) {
        let Urine {
            net,
            rows,
            irrigated,
        } = self.urine;
        let known = rows > 0 && net >= 0;
        let volume = if known { net as f64 / SCALE } else { f64::NAN };
        (volume, f64::from(rows), irrigated)
    }
}

/// Of two scores of one time the one further behind in the file.
fn set(own: &mut Option<(u64, f64)>, other: Option<(u64, f64)>) {
    if other.map(|(offset, _)| offset) > own.map(|(offset, _)| offset) {
        *own = other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(hour: i64, offset: u64) -> Place {
        let time = Timestamp::parse(b"2150-01-01 00:00:00")
            .unwrap()
            .plus_hours(hour);
        Place { time, offset }
    }

    fn charted(rows: &[(Meaning, i64, u64, f64)]) -> Chart {
        let mut chart = Chart::default();
        for &(meaning, hour, offset, value) in rows {
            chart.add(meaning, place(hour, offset), value);
        }
        chart
    }

    const RATE: Meaning = Meaning::Value(0);

    #[test]
    fn values_are_summed_up() {
        let rows = [
            (RATE, 1, 0, 80.0),
            (RATE, 10, 9, 90.0),
            (RATE, 2, 20, 100.0),
        ];
        let features = charted(&rows).signals()[0].features();
        assert_eq!(features, [90.0, 80.0, 100.0, 90.0, 3.0]);
        let [mean, .., count] = Chart::default().signals()[0].features();
        assert!(mean.is_nan() && count == 0.0);
    }

    #[test]
    fn of_one_time_the_row_further_behind_is_the_last() {
        let rows = [(RATE, 1, 7, 80.0), (RATE, 1, 5, 90.0)];
        assert_eq!(charted(&rows).signals()[0].features()[3], 80.0);
    }

    #[test]
    fn neither_order_nor_cut_matters() {
        let score = |signal| Meaning::Value(COMA + signal);
        let rows: Vec<_> = (0..60)
            .flat_map(|i: u64| {
                let hour = (i * 7 % 24) as i64;
                [
                    // Tenths have no exact form: a sum of them in another order has other bits.
                    (RATE, hour, 10 * i, 60.1 + 0.7 * i as f64),
                    (
                        score(i as usize % 3),
                        hour / 4,
                        10 * i + 1,
                        1.0 + (i % 4) as f64,
                    ),
                    (Meaning::Urine, hour, 10 * i + 2, 0.1 * i as f64),
                ]
            })
            .collect();
        let whole = charted(&rows);
        let mut reversed = rows.clone();
        reversed.reverse();
        assert_eq!(charted(&reversed), whole);
        for cut in [0, 1, 50, 179, 180] {
            let mut merged = charted(&rows[cut..]);
            merged.merge(&charted(&rows[..cut]));
            assert_eq!(merged, whole, "{cut}");
        }
        assert!(whole.signals()[COMA_TOTAL].features()[4] > 0.0);
    }

    #[test]
    fn the_total_needs_all_three_scores_of_one_time() {
        let [eye, verbal, motor] = [COMA, COMA + 1, COMA + 2].map(Meaning::Value);
        let rows = [
            (eye, 1, 1, 4.0),
            (verbal, 1, 2, 4.0),
            (motor, 1, 3, 6.0),
            (eye, 2, 4, 3.0),
            (motor, 2, 5, 5.0),
            // Charted again for the first hour.
            (verbal, 1, 6, 5.0),
        ];
        let signals = charted(&rows).signals();
        assert_eq!(
            signals[COMA_TOTAL].features(),
            [15.0, 15.0, 15.0, 15.0, 1.0]
        );
        assert_eq!(signals[COMA].features()[4], 2.0);
    }

    #[test]
    fn irrigation_is_taken_off() {
        let urine = |rows: &[(Meaning, f64)]| {
            let rows: Vec<_> = rows
                .iter()
                .map(|&(meaning, value)| (meaning, 1, 0, value))
                .collect();
            charted(&rows).urine()
        };
        let (into, out) = (Meaning::IrrigantIn, Meaning::IrrigantOut);
        let rows = [(Meaning::Urine, 200.0), (into, 1000.0), (out, 1200.0)];
        assert_eq!(urine(&rows), (400.0, 3.0, true));
        let (volume, _, irrigated) = urine(&[(into, 500.0)]);
        assert!(volume.is_nan() && irrigated);
        let (volume, rows, irrigated) = urine(&[]);
        assert!(volume.is_nan() && rows == 0.0 && !irrigated);
        assert_eq!(urine(&[(Meaning::Urine, 0.0)]).0, 0.0);
    }
}
