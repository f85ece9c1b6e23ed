//! What is measured: item ids, units, plausible ranges.
//!
//! Chart items and laboratory items of one quantity are one signal. Glucose is that of the laboratory and of finger sticks: the
//! other chart items repeat the laboratory's.

/// Which table an item is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Events {
    Chart,
    Lab,
    Output,
}

impl Events {
    pub(super) const ALL: [Self; 3] = [Self::Chart, Self::Lab, Self::Output];
}

/// A quantity that becomes features.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Signal {
    /// Its name, the first part of the names of its features.
    pub name: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// The least value that is taken for a measurement.
    pub low: f64,
    /// The largest.
    pub high: f64,
    chart: &'static [u32],
    lab: &'static [u32],
}

const fn signal(
    name: &'static str,
    unit: &'static str,
    (low, high): (f64, f64),
    chart: &'static [u32],
    lab: &'static [u32],
) -> Signal {
    Signal {
        name,
        unit,
        low,
        high,
        chart,
        lab,
    }
}

/// All signals, in the order of their features. The last is the sum of the three before it, charted at the same time.
pub const SIGNALS: [Signal; 26] = [
    signal("heart_rate", "1/min", (10.0, 300.0), &[220045], &[]),
    signal(
        "systolic",
        "mmHg",
        (20.0, 350.0),
        &[220050, 220179, 225309],
        &[],
    ),
    signal(
        "diastolic",
        "mmHg",
        (5.0, 250.0),
        &[220051, 220180, 225310],
        &[],
    ),
    signal(
        "mean_pressure",
        "mmHg",
        (10.0, 300.0),
        &[220052, 220181, 225312],
        &[],
    ),
    signal(
        "respiratory_rate",
        "1/min",
        (1.0, 80.0),
        &[220210, 224690],
        &[],
    ),
    signal(
        "temperature",
        "°C",
        (25.0, 45.0),
        &[CELSIUS, FAHRENHEIT],
        &[],
    ),
    signal("spo2", "%", (20.0, 100.0), &[220277], &[]),
    signal(
        "glucose",
        "mg/dL",
        (10.0, 2000.0),
        &[225664],
        &[50931, 50809],
    ),
    signal("creatinine", "mg/dL", (0.05, 40.0), &[], &[50912]),
    signal("urea", "mg/dL", (1.0, 300.0), &[], &[51006]),
    signal("sodium", "mEq/L", (80.0, 200.0), &[], &[50983, 50824]),
    signal("potassium", "mEq/L", (1.0, 15.0), &[], &[50971, 50822]),
    signal("chloride", "mEq/L", (50.0, 170.0), &[], &[50902, 50806]),
    signal("calcium", "mg/dL", (2.0, 25.0), &[], &[50893]),
    signal("magnesium", "mg/dL", (0.2, 20.0), &[], &[50960]),
    signal("phosphate", "mg/dL", (0.2, 30.0), &[], &[50970]),
    signal("haemoglobin", "g/dL", (1.0, 30.0), &[], &[51222, 50811]),
    signal(
        "white_cells",
        "1000/uL",
        (0.0, 1000.0),
        &[],
        &[51301, 51300],
    ),
    signal("platelets", "1000/uL", (0.0, 4000.0), &[], &[51265]),
    signal("lactate", "mmol/L", (0.05, 50.0), &[], &[50813]),
    signal("bicarbonate", "mEq/L", (1.0, 70.0), &[], &[50882]),
    signal("anion_gap", "mEq/L", (-10.0, 80.0), &[], &[50868]),
    signal("coma_eye", "points", (1.0, 4.0), &[220739], &[]),
    signal("coma_verbal", "points", (1.0, 5.0), &[VERBAL], &[]),
    signal("coma_motor", "points", (1.0, 6.0), &[223901], &[]),
    signal("coma_total", "points", (3.0, 15.0), &[], &[]),
];

const CELSIUS: u32 = 223_762;
const FAHRENHEIT: u32 = 223_761;
const VERBAL: u32 = 223_900;

/// Place of the first of the three scores of the coma scale among the signals.
pub(super) const COMA: usize = 22;
/// Place of their sum.
pub(super) const COMA_TOTAL: usize = 25;

/// What is written for the verbal score of somebody with a tube in the throat.
pub(super) const TUBE: &[u8] = b"No Response-ETT";

/// Items of urine: catheters, bags, stomata. What was measured in the operating room is not the unit's.
const URINE: [u32; 10] = [
    226559, 226560, 226561, 226584, 226563, 226564, 226565, 226567, 226557, 226558,
];
/// Fluid that is let into the bladder.
const IRRIGANT_IN: u32 = 227_488;
/// That fluid and urine together.
const IRRIGANT_OUT: u32 = 227_489;
/// The largest volume of one row that is taken for a measurement, mL.
const MOST_VOLUME: f64 = 10_000.0;

/// What a row of an item means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A value of a signal.
    Value(usize),
    /// A temperature, which may be in the other unit.
    Temperature { signal: usize, fahrenheit: bool },
    /// A verbal score, which a tube makes impossible.
    Verbal(usize),
    /// Urine, in mL.
    Urine,
    /// Let into the bladder, in mL.
    IrrigantIn,
    /// Let out of it, urine included, in mL.
    IrrigantOut,
}

/// A number that was read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Reading {
    /// As it stands.
    Plausible(f64),
    /// From the other unit.
    Mended(f64),
    /// No measurement.
    Implausible,
}

impl Meaning {
    /// A number in the unit of the signal, if it can be one.
    pub(super) fn read(self, number: f64) -> Reading {
        let celsius = |fahrenheit: f64| (fahrenheit - 32.0) / 1.8;
        let (plain, mended, (low, high)) = match self {
            Self::Value(signal) | Self::Verbal(signal) => (number, None, range(signal)),
            Self::Temperature {
                signal,
                fahrenheit: true,
            } => (celsius(number), Some(number), range(signal)),
            Self::Temperature {
                signal,
                fahrenheit: false,
            } => (number, Some(celsius(number)), range(signal)),
            Self::Urine | Self::IrrigantIn | Self::IrrigantOut => {
                (number, None, (0.0, MOST_VOLUME))
            }
        };
        let fits = |value: &f64| (low..=high).contains(value);
        match (fits(&plain), mended.filter(fits)) {
            (true, _) => Reading::Plausible(plain),
            (false, Some(value)) => Reading::Mended(value),
            (false, None) => Reading::Implausible,
        }
    }
}

fn range(signal: usize) -> (f64, f64) {
    SIGNALS
        .get(signal)
        .map_or((0.0, -1.0), |signal| (signal.low, signal.high))
}

/// Item ids of a table, for a look-up by number.
#[derive(Debug, Clone)]
pub(super) struct Items {
    first: u32,
    meanings: Vec<Option<Meaning>>,
}

impl Items {
    pub(super) fn of(events: Events) -> Self {
        let mut items: Vec<(u32, Meaning)> = Vec::new();
        for (place, signal) in SIGNALS.iter().enumerate() {
            let meaning = |item: &u32| match *item {
                CELSIUS | FAHRENHEIT => Meaning::Temperature {
                    signal: place,
                    fahrenheit: *item == FAHRENHEIT,
                },
                VERBAL => Meaning::Verbal(place),
                _ => Meaning::Value(place),
            };
            let own = match events {
                Events::Chart => signal.chart,
                Events::Lab => signal.lab,
                Events::Output => &[],
            };
            items.extend(own.iter().map(|item| (*item, meaning(item))));
        }
        if events == Events::Output {
            items.extend(URINE.map(|item| (item, Meaning::Urine)));
            items.push((IRRIGANT_IN, Meaning::IrrigantIn));
            items.push((IRRIGANT_OUT, Meaning::IrrigantOut));
        }
        let ids = || items.iter().map(|(item, _)| *item);
        let first = ids().min().unwrap_or(0);
        let last = ids().max().unwrap_or(0);
        let mut meanings = vec![None; (last - first) as usize + 1];
        for (item, meaning) in items {
            if let Some(place) = meanings.get_mut((item - first) as usize) {
                *place = Some(meaning);
            }
        }
        Self { first, meanings }
    }

    /// What an item id in digits means; `None` for one that is not needed, and for what is no number.
    pub(super) fn find(&self, digits: &[u8]) -> Option<Meaning> {
        let item = whole(digits)?;
        let place = item.checked_sub(u64::from(self.first))?;
        self.meanings
            .get(usize::try_from(place).ok()?)
            .copied()
            .flatten()
    }
}

/// A whole number of at most 18 digits.
pub(super) fn whole(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    digits.iter().try_fold(0, |number, digit| {
        let digit = digit.checked_sub(b'0').filter(|&digit| digit < 10)?;
        Some(10 * number + u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coma_scale_is_where_it_is_said_to_be() {
        let names = SIGNALS.map(|signal| signal.name);
        assert_eq!(
            names[COMA..=COMA + 2],
            ["coma_eye", "coma_verbal", "coma_motor"]
        );
        assert_eq!(names[COMA_TOTAL], "coma_total");
    }

    #[test]
    fn items_have_one_meaning_each() {
        for events in Events::ALL {
            let ids = SIGNALS.iter().flat_map(|signal| match events {
                Events::Chart => signal.chart,
                Events::Lab => signal.lab,
                Events::Output => &[],
            });
            let mut ids: Vec<u32> = ids.copied().collect();
            if events == Events::Output {
                ids.extend(URINE);
            }
            let count = ids.len();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), count, "{events:?}");
            let items = Items::of(events);
            assert!(
                ids.iter()
                    .all(|id| items.find(id.to_string().as_bytes()).is_some())
            );
        }
        let chart = Items::of(Events::Chart);
        assert_eq!(chart.find(b"220045"), Some(Meaning::Value(0)));
        for text in [
            "220046",
            "0",
            "",
            "-1",
            "99999999999",
            "22004x",
            "999999999999999999999",
        ] {
            assert_eq!(chart.find(text.as_bytes()), None, "{text}");
        }
        assert_eq!(Items::of(Events::Lab).find(b"220045"), None);
    }

    #[test]
    fn temperatures_of_the_other_unit_are_mended_and_others_left_out() {
        let read = |fahrenheit, number| {
            Meaning::Temperature {
                signal: 5,
                fahrenheit,
            }
            .read(number)
        };
        assert_eq!(read(false, 37.0), Reading::Plausible(37.0));
        assert_eq!(read(true, 37.0), Reading::Mended(37.0));
        for (fahrenheit, number) in [(true, 98.6), (false, 98.6)] {
            match (fahrenheit, read(fahrenheit, number)) {
                (true, Reading::Plausible(value)) | (false, Reading::Mended(value)) => {
                    assert!((value - 37.0).abs() < 1e-12);
                }
                other => panic!("{other:?}"),
            }
        }
        for number in [0.0, 24.9, 46.0, 76.9, 113.1, 370.0] {
            assert_eq!(read(false, number), Reading::Implausible, "{number}");
            assert_eq!(read(true, number), Reading::Implausible, "{number}");
        }
    }

    #[test]
    fn both_ends_of_a_range_are_plausible() {
        let rate = Meaning::Value(0);
        assert_eq!(rate.read(10.0), Reading::Plausible(10.0));
        assert_eq!(rate.read(300.0), Reading::Plausible(300.0));
        for number in [0.0, 9.9, 300.1, 1e7, -80.0] {
            assert_eq!(rate.read(number), Reading::Implausible);
        }
        assert_eq!(Meaning::Urine.read(0.0), Reading::Plausible(0.0));
        assert_eq!(Meaning::Urine.read(-50.0), Reading::Implausible);
        assert_eq!(Meaning::IrrigantIn.read(10_000.5), Reading::Implausible);
    }
}
