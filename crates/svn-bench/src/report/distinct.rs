//! Names that would be the same are told apart by what differs.
//!
//! Each name comes with its features, from the most telling to the least. To names that are the same, the first feature in which
//! they differ is added, and so on among those that still are.

use serde_json::Value;
use svn_models::recipe::Recipe;

use crate::engine::Design;

/// Name and value; the name may be empty where the value says what it is.
pub(super) type Feature = (String, String);

/// Digits of a hash that are shown.
const DIGITS: usize = 6;

/// Add to equal names what tells them apart. `add` puts a feature behind a name; no value is a feature that only others have.
///
/// # Shapes
/// `features`: as many as `names`.
pub(super) fn tell_apart(
    names: &mut [String],
    features: &[Vec<Feature>],
    add: &dyn Fn(&mut String, &str, Option<&str>),
) {
    let groups = parts((0..names.len()).collect(), |index| names[index].clone());
    for group in groups {
        let mut keys: Vec<&str> = Vec::new();
        for &index in &group {
            // What only some have stands behind what it follows there.
            let mut place = 0;
            for (key, _) in &features[index] {
                match keys.iter().position(|other| other == key) {
                    Some(found) => place = found + 1,
                    None => {
                        keys.insert(place, key);
                        place += 1;
                    }
                }
            }
        }
        split(names, features, add, group, &keys);
    }
}

fn split(
    names: &mut [String],
    features: &[Vec<Feature>],
    add: &dyn Fn(&mut String, &str, Option<&str>),
    group: Vec<usize>,
    keys: &[&str],
) {
    let [key, rest @ ..] = keys else { return };
    let value = |index: usize| {
        let found = features[index].iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.as_str())
    };
    let parts = parts(group, value);
    if parts.len() > 1 {
        for &index in parts.iter().flatten() {
            add(&mut names[index], key, value(index));
        }
    }
    for part in parts.into_iter().filter(|part| part.len() > 1) {
        split(names, features, add, part, rest);
    }
}

/// Indices of equal keys together, in the order of their first.
fn parts<K: PartialEq>(indices: Vec<usize>, key: impl Fn(usize) -> K) -> Vec<Vec<usize>> {
    let mut parts: Vec<(K, Vec<usize>)> = Vec::new();
    for index in indices {
        let own = key(index);
        match parts.iter_mut().find(|(other, _)| *other == own) {
            Some((_, part)) => part.push(index),
            None => parts.push((own, vec![index])),
        }
    }
    parts.into_iter().map(|(_, part)| part).collect()
}

/// Behind a comma: `svn, lr 0.1`, `svn, standard`, `svn, no ring`.
pub(super) fn with_comma(name: &mut String, key: &str, value: Option<&str>) {
    name.push_str(", ");
    match value {
        Some(value) => name.push_str(format!("{key} {value}").trim_start()),
        None => name.push_str(&format!("no {key}")),
    }
}

/// What tells a design from others of its data set, its hashes last.
pub(super) fn of_design<D: Design>(design: &D) -> (Vec<Feature>, Vec<Feature>) {
    let mut features = vec![
        (String::new(), design.protocol().to_owned()),
        ("folds".to_owned(), design.folds().to_string()),
    ];
    // A design is plain data: it always serialises.
    leaves(
        &serde_json::to_value(design).unwrap_or_default(),
        &mut features,
    );
    let hashes = features.extract_if(.., |(key, _)| key.ends_with("_sha256"));
    let short = |(key, value): Feature| {
        let key = match key.trim_end_matches("_sha256") {
            "data" => "data".to_owned(),
            other => format!("{other} data"),
        };
        (key, value.chars().take(DIGITS).collect())
    };
    let hashes = hashes.map(short).collect();
    (features, hashes)
}

/// Settings that have a value, in the order of their list.
pub(crate) fn of_settings(settings: &Recipe) -> Vec<Feature> {
    let values = serde_json::to_value(settings).unwrap_or_default();
    let named = Recipe::SETTINGS.iter().filter_map(|setting| {
        let value = values.get(setting.name)?;
        Some((setting.name.to_owned(), text(value)))
    });
    named.collect()
}

/// Fields that have a value, by their own name.
fn leaves(value: &Value, features: &mut Vec<Feature>) {
    for (key, value) in value.as_object().into_iter().flatten() {
        match value {
            Value::Null => {}
            Value::Object(_) => leaves(value, features),
            _ => features.push((key.clone(), text(value))),
        }
    }
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_get_the_first_features_in_which_they_differ() {
        let feature = |text: &str| {
            let (key, value) = text.split_once(' ').unwrap();
            (key.to_owned(), value.to_owned())
        };
        let features = [
            vec!["lr 0.1", "ring 6"],
            vec!["lr 0.2", "ring 6"],
            vec!["lr 0.1"],
            vec!["lr 0.3"],
            vec!["lr 0.1", "ring 6"],
        ];
        let features = features.map(|texts| texts.into_iter().map(feature).collect::<Vec<_>>());
        let mut names = ["svn", "svn", "svn", "wgd", "svn"].map(str::to_owned);
        tell_apart(&mut names, &features, &with_comma);
        assert_eq!(
            names,
            [
                "svn, lr 0.1, ring 6",
                "svn, lr 0.2",
                "svn, lr 0.1, no ring",
                "wgd",
                // Nothing tells it from the first.
                "svn, lr 0.1, ring 6",
            ]
        );
    }

    #[test]
    fn settings_go_in_the_order_of_their_list() {
        let settings = Recipe {
            ring: Some(6),
            lr: Some(0.1),
            hidden: Some(vec![50, 50]),
            ..Recipe::default()
        };
        let names = of_settings(&settings);
        let text: Vec<String> = names
            .iter()
            .map(|(key, value)| format!("{key} {value}"))
            .collect();
        assert_eq!(text, ["lr 0.1", "hidden [50,50]", "ring 6"]);
    }
}
