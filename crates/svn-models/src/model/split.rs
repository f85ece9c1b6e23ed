//! Which rows are set aside for validation: a seeded share, class by class, or whole groups.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use rand::seq::SliceRandom;

/// Groups of each stratum from which on each keeps its share.
const ENOUGH: usize = 10;

/// Training rows and validation rows, ascending; at least one of each where there are two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Split {
    pub train: Vec<usize>,
    pub validation: Vec<usize>,
}

/// Set aside `share` of the rows. `strata` has a number for each row, and each number keeps its share; `groups` has one for
/// each row, and rows of a group stay together, in the stratum of the first of them.
pub(super) fn split(
    rows: usize,
    share: f64,
    strata: Option<&[usize]>,
    groups: Option<&[usize]>,
    seed: u64,
) -> Split {
    let mut random = ChaCha20Rng::seed_from_u64(seed);
    let mut chosen = vec![false; rows];
    let mut classes = drawn(rows, strata, groups);
    // A share of few large groups is more than was asked for, and that of each stratum more still.
    if groups.is_some() && classes.values().any(|units| units.len() < ENOUGH) {
        classes = drawn(rows, None, groups);
    }
    for units in classes.values_mut() {
        units.shuffle(&mut random);
        let total: usize = units.iter().map(Vec::len).sum();
        let wanted = (share * total as f64).round() as usize;
        let (mut taken, last) = (0, units.len().saturating_sub(1));
        for unit in units.iter().take(last) {
            if taken >= wanted {
                break;
            }
            taken += unit.len();
            unit.iter().for_each(|&row| chosen[row] = true);
        }
    }
    // A share of few rows may round to none.
    if !chosen.contains(&true)
        && let Some(units) = classes.values().find(|units| units.len() > 1)
    {
        units[0].iter().for_each(|&row| chosen[row] = true);
    }
    let (validation, train) = (0..rows).partition(|&row| chosen[row]);
    Split { train, validation }
}

/// What is drawn together: rows, or groups of them, by stratum.
fn drawn(
    rows: usize,
    strata: Option<&[usize]>,
    groups: Option<&[usize]>,
) -> BTreeMap<usize, Vec<Vec<usize>>> {
    let mut classes: BTreeMap<usize, Vec<Vec<usize>>> = BTreeMap::new();
    let stratum = |row: usize| strata.map_or(0, |strata| strata[row]);
    if let Some(groups) = groups {
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (row, &group) in groups.iter().enumerate() {
            members.entry(group).or_default().push(row);
        }
        for rows in members.into_values() {
            classes.entry(stratum(rows[0])).or_default().push(rows);
        }
    } else {
        for row in 0..rows {
            classes.entry(stratum(row)).or_default().push(vec![row]);
        }
    }
    classes
}

/// Cut the rows into `count` parts of about one size; strata and groups as in [`split`]. The number of the part of each row.
pub(super) fn folds(
    rows: usize,
    count: usize,
    strata: Option<&[usize]>,
    groups: Option<&[usize]>,
    seed: u64,
) -> Vec<usize> {
    let mut random = ChaCha20Rng::seed_from_u64(seed);
    let mut fold = vec![0; rows];
    let mut sizes = vec![0_usize; count.max(1)];
    for mut units in drawn(rows, strata, groups).into_values() {
        units.shuffle(&mut random);
        for unit in units {
            // The smallest part, the first of equals.
            let least = (0..sizes.len())
                .min_by_key(|&part| sizes[part])
                .unwrap_or(0);
            sizes[least] += unit.len();
            unit.iter().for_each(|&row| fold[row] = least);
        }
    }
    fold
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_set_aside_and_every_row_is_somewhere() {
        let found = split(100, 0.2, None, None, 3);
        assert_eq!((found.train.len(), found.validation.len()), (80, 20));
        let mut all = [found.train.clone(), found.validation.clone()].concat();
        all.sort_unstable();
        assert_eq!(all, (0..100).collect::<Vec<_>>());
        assert_eq!(found, split(100, 0.2, None, None, 3));
        assert_ne!(found, split(100, 0.2, None, None, 4));
        for rows in 2..6 {
            let few = split(rows, 0.2, None, None, 0);
            assert!(
                !few.train.is_empty() && !few.validation.is_empty(),
                "{rows}"
            );
        }
    }

    #[test]
    fn classes_keep_their_share_and_a_single_row_is_trained_on() {
        let strata: Vec<usize> = (0..101)
            .map(|row| usize::from(row % 10 == 0) + 2 * usize::from(row == 100))
            .collect();
        let found = split(101, 0.2, Some(&strata), None, 1);
        let rare = |rows: &[usize]| rows.iter().filter(|&&row| strata[row] == 1).count();
        assert_eq!((rare(&found.validation), rare(&found.train)), (2, 8));
        assert!(found.train.contains(&100));
    }

    #[test]
    fn folds_are_of_one_size_by_class_and_keep_groups() {
        let strata: Vec<usize> = (0..103).map(|row| usize::from(row % 10 == 0)).collect();
        let found = folds(103, 5, Some(&strata), None, 2);
        for fold in 0..5 {
            let rows: Vec<usize> = (0..103).filter(|&row| found[row] == fold).collect();
            assert!((20..=21).contains(&rows.len()));
            let rare = rows.iter().filter(|&&row| strata[row] == 1).count();
            assert!((2..=3).contains(&rare), "{rare}");
        }
        assert_eq!(found, folds(103, 5, Some(&strata), None, 2));
        assert_ne!(found, folds(103, 5, Some(&strata), None, 3));
        let groups: Vec<usize> = (0..90).map(|row| row / 4).collect();
        let found = folds(90, 5, None, Some(&groups), 2);
        for rows in found.chunks(4) {
            assert!(rows.iter().all(|fold| *fold == rows[0]));
        }
    }

    #[test]
    fn groups_stay_together() {
        let groups: Vec<usize> = (0..90).map(|row| row / 7).collect();
        let found = split(90, 0.2, None, Some(&groups), 5);
        let of = |rows: &[usize]| {
            rows.iter()
                .map(|&row| groups[row])
                .collect::<std::collections::BTreeSet<_>>()
        };
        assert!(of(&found.train).is_disjoint(&of(&found.validation)));
        assert!((18..25).contains(&found.validation.len()));
        // Each class keeps its share of many groups, but not of few.
        for (size, expected) in [(3, (6, 18)), (7, (0, 21))] {
            let groups: Vec<usize> = (0..90).map(|row| row / size).collect();
            let strata: Vec<usize> = groups
                .iter()
                .map(|group| usize::from(group % 3 == 0))
                .collect();
            let found = split(90, 0.2, Some(&strata), Some(&groups), 5);
            let rows = &found.validation;
            assert!(rows.iter().all(|row| {
                found
                    .train
                    .iter()
                    .all(|other| groups[*row] != groups[*other])
            }));
            let rare = rows.iter().filter(|&&row| strata[row] == 1).count();
            assert_eq!((rare, rows.len()), expected);
        }
    }
}
