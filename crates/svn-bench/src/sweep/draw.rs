//! Options that are drawn at random: `random = { samples = 20, seed = 0, lr = { log = [1e-4, 1e-1] } }`.

use std::collections::BTreeMap;

use rand::RngExt;
use toml::{Table, Value};

use super::plan::{Given, Options, Wrong, given, number_text, option};
use crate::split::stream;

/// How often is drawn, and from what.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Random {
    samples: usize,
    seed: u64,
    draws: BTreeMap<String, Draw>,
}

/// What an option is drawn from.
#[derive(Debug, Clone, PartialEq)]
enum Draw {
    /// `{ log = [a, b] }`: the logarithm is uniform.
    Log(f64, f64),
    /// `{ uniform = [a, b] }`.
    Uniform(f64, f64),
    /// `{ whole = [a, b] }`: whole numbers, both ends among them.
    Whole(u64, u64),
    /// `[a, b, …]`: one of these.
    One(Vec<Given>),
}

const TABLE: &str = "random";
/// More would be a slip of the hand.
const MOST: i64 = 1_000_000;

impl Random {
    pub(super) fn new(table: &Table) -> Result<Self, Wrong> {
        let wrong = |message: String| (TABLE, message);
        let samples = match table.get("samples") {
            Some(Value::Integer(samples @ 1..=MOST)) => *samples as usize,
            Some(other) => {
                let message = format!("samples = {other}: expected a whole number, 1 to {MOST}");
                return Err(wrong(message));
            }
            None => return Err(wrong("no samples; expected samples = N".to_owned())),
        };
        let seed = match table.get("seed") {
            None => 0,
            Some(Value::Integer(seed @ 0..)) => *seed as u64,
            Some(other) => {
                let message = format!("seed = {other}: expected a whole number, 0 or more");
                return Err(wrong(message));
            }
        };
        let mut draws = BTreeMap::new();
        let options = table.iter();
        for (name, value) in
            options.filter(|(name, _)| !["samples", "seed"].contains(&name.as_str()))
        {
            let name = option(TABLE, name)?;
            draws.insert(name.clone(), Draw::new(&name, value)?);
        }
        match draws.is_empty() {
            true => Err(wrong(
                "nothing is drawn; expected an option such as lr = { log = [1e-4, 1e-1] }"
                    .to_owned(),
            )),
            false => Ok(Self {
                samples,
                seed,
                draws,
            }),
        }
    }

    /// The options that are drawn.
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.draws.keys()
    }

    /// The samples. Each number has a random stream of its own, so that more samples or options leave the others as they are.
    pub(super) fn samples(&self) -> impl Iterator<Item = Options> {
        (0..self.samples).map(|index| {
            let draw = |(name, draw): (&String, &Draw)| {
                let value = draw.value(self.seed, name, index);
                (name.clone(), value)
            };
            self.draws.iter().map(draw).collect()
        })
    }
}

impl Draw {
    fn new(name: &str, value: &Value) -> Result<Self, Wrong> {
        let refused = || {
            let message = format!(
                "{name} = {value}: expected {{ log = [a, b] }}, {{ uniform = [a, b] }}, {{ whole = [a, b] }} with a < b, \
                 or a list to choose from"
            );
            (TABLE, message)
        };
        if let Value::Array(values) = value {
            let values = values.iter().map(|value| given(TABLE, name, value));
            let values: Vec<_> = values.collect::<Result<_, _>>()?;
            return match values.is_empty() {
                true => Err(refused()),
                false => Ok(Self::One(values)),
            };
        }
        let table = value.as_table().filter(|table| table.len() == 1);
        let (kind, bounds) = table
            .and_then(|table| table.iter().next())
            .ok_or_else(refused)?;
        let bounds = bounds.as_array().map(Vec::as_slice);
        let Some([low, high]) = bounds else {
            return Err(refused());
        };
        let number = |value: &Value| match value {
            Value::Float(number) => Some(*number),
            Value::Integer(number) => Some(*number as f64),
            _ => None,
        };
        let whole = |value: &Value| u64::try_from(value.as_integer()?).ok();
        let draw = match kind.as_str() {
            "log" => number(low).zip(number(high)).map(|(a, b)| Self::Log(a, b)),
            "uniform" => number(low)
                .zip(number(high))
                .map(|(a, b)| Self::Uniform(a, b)),
            "whole" => whole(low).zip(whole(high)).map(|(a, b)| Self::Whole(a, b)),
            _ => None,
        };
        draw.filter(Self::is_sound).ok_or_else(refused)
    }

    fn is_sound(&self) -> bool {
        match self {
            Self::Log(a, b) => *a > 0.0 && a < b && b.is_finite(),
            Self::Uniform(a, b) => a < b && a.is_finite() && b.is_finite(),
            Self::Whole(a, b) => a < b,
            Self::One(_) => true,
        }
    }

    fn value(&self, seed: u64, name: &str, index: usize) -> Given {
        let mut rng = stream(seed, &["sweep", name, &index.to_string()]);
        // Four digits can be read; more would not change a result that matters.
        let short = |value: f64| {
            let text = format!("{value:.3e}");
            Given::Text(number_text(text.parse().unwrap_or(value)))
        };
        match self {
            Self::Log(a, b) => short(rng.random_range(a.ln()..b.ln()).exp()),
            Self::Uniform(a, b) => short(rng.random_range(*a..*b)),
            Self::Whole(a, b) => Given::Text(rng.random_range(*a..=*b).to_string()),
            Self::One(values) => values[rng.random_range(0..values.len())].clone(),
        }
    }
}
