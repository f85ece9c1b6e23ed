//! What a column of text is: yes or no, a category, or names and free text.

use std::collections::{BTreeSet, HashMap};

use super::super::DataError;
use super::super::notation::is_missing;
use super::super::shown::shown;
use super::SchemaError;
use super::column::Kind;
use super::decide::{Decision, FEW, Remark};
use super::survey::{Cells, Survey};

/// Rows from which on levels must be on two rows each, on average.
const MANY: usize = 20;
/// Levels of a category, and of one that is kept by name.
const LEVELS: usize = 100;
const KEPT_LEVELS: usize = 1000;
/// Two words, that of 0 first.
const PAIRS: [[&str; 2]; 12] = [
    ["no", "yes"],
    ["false", "true"],
    ["n", "y"],
    ["f", "t"],
    ["nein", "ja"],
    ["non", "oui"],
    ["no", "si"],
    ["no", "sí"],
    ["nee", "ja"],
    ["off", "on"],
    ["absent", "present"],
    ["negative", "positive"],
];

/// Decide about a column of text.
///
/// # Errors
/// [`SchemaError::Levels`].
pub(super) fn decide(cells: Cells<'_>, survey: &Survey, keep: bool) -> Result<Decision, DataError> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for cell in cells.iter() {
        *counts.entry(cell).or_default() += 1;
    }
    let rows = cells.rows.len();
    let distinct = counts.len();
    if distinct == 1 {
        let value = shown(cells.iter().next().unwrap_or_default());
        return Ok(Decision::useless(format!("it is `{value}` in every row")));
    }
    if let Some(kind) = yes_or_no(&counts, rows) {
        return Ok(Decision::Used(kind, None));
    }
    // Of empty cells there may be many; what is there counts.
    let filled = rows - counts.get("").copied().unwrap_or_default();
    let words = distinct - usize::from(filled < rows);
    let sparse = filled >= MANY && 2 * words > filled || filled >= FEW && words == filled;
    if !keep && (sparse || words > LEVELS) {
        return Ok(Decision::misleading(format!(
            "{words} distinct texts in {filled} rows"
        )));
    }
    if words > KEPT_LEVELS {
        return Err(SchemaError::Levels {
            path: cells.table.path.clone(),
            name: cells.name().to_owned(),
            levels: words,
            limit: KEPT_LEVELS,
        }
        .into());
    }
    let mut gaps: Vec<(&str, usize)> = counts.iter().map(|(&word, &count)| (word, count)).collect();
    gaps.retain(|(word, _)| is_missing(word));
    gaps.sort_unstable();
    let gaps: Vec<String> = gaps
        .iter()
        .map(|(word, count)| match word.is_empty() {
            true => format!("empty {count}"),
            false => format!("{} {count}", shown(word)),
        })
        .collect();
    let remark = match survey.is_code() {
        _ if !gaps.is_empty() => Some(Remark::Levels(gaps.join(", "))),
        true => Some(Remark::Notation(
            "codes of digits, each a category".to_owned(),
        )),
        false => None,
    };
    let levels: BTreeSet<&str> = counts.into_keys().collect();
    let levels = levels.into_iter().map(str::to_owned).collect();
    Ok(Decision::Used(Kind::Category { levels }, remark))
}

fn yes_or_no(counts: &HashMap<&str, usize>, rows: usize) -> Option<Kind> {
    if counts.len() > 8 {
        return None;
    }
    let lower: BTreeSet<String> = counts.keys().map(|word| word.to_lowercase()).collect();
    let pair = PAIRS
        .iter()
        .find(|pair| lower.len() == 2 && pair.iter().all(|word| lower.contains(*word)));
    let [no, yes] = *pair?;
    let ones = counts
        .iter()
        .filter(|(word, _)| word.eq_ignore_ascii_case(yes));
    let ones: usize = ones.map(|(_, count)| count).sum();
    Some(Kind::YesNo {
        no: no.to_owned(),
        yes: yes.to_owned(),
        mean: ones as f64 / rows as f64,
    })
}
