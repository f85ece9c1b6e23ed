//! Results with data sets down and methods across, and how methods rank over the sets.

use std::collections::BTreeMap;

use crate::metrics::Estimate;
use crate::report::{Grid, Page, Row, dash, number, with_error};

/// One metric of some rows, data sets down and labels across.
pub(super) struct Pivot<'a> {
    sets: Vec<&'a str>,
    labels: Vec<&'a str>,
    cells: BTreeMap<(&'a str, &'a str), Estimate>,
}

impl<'a> Pivot<'a> {
    /// Of the rows that have the metric.
    pub(super) fn new<P: Page>(rows: &[&'a Row<P>], metric: &str) -> Self {
        let (mut sets, mut labels, mut cells) = (Vec::new(), Vec::new(), BTreeMap::new());
        // In the order of methods, which that of rows is within a data set alone.
        let mut by_method: Vec<&&'a Row<P>> = rows.iter().collect();
        by_method.sort_by_key(|row| row.method);
        for row in by_method {
            if let Some(estimate) = row.metric(metric) {
                let (set, label) = (row.dataset.as_str(), row.label.as_str());
                if !labels.contains(&label) {
                    labels.push(label);
                }
                if !sets.contains(&set) {
                    sets.push(set);
                }
                cells.insert((set, label), estimate);
            }
        }
        sets.sort_unstable();
        Self {
            sets,
            labels,
            cells,
        }
    }

    /// Mean ± standard error; the least mean of a set has a star.
    pub(super) fn table(&self, title: &str) -> Grid {
        let header = ["data set"].into_iter().chain(self.labels.iter().copied());
        let rows = self.sets.iter().map(|set| {
            let least = self.least(set);
            let cell = |label: &&str| match self.cells.get(&(*set, *label)) {
                None => dash(),
                Some(estimate) => {
                    let star = if Some(estimate.mean) == least {
                        " *"
                    } else {
                        ""
                    };
                    with_error(Some(*estimate)) + star
                }
            };
            let cells = self.labels.iter().map(cell);
            [(*set).to_owned()].into_iter().chain(cells).collect()
        });
        Grid::new(title, header.map(str::to_owned).collect(), rows.collect())
    }

    fn least(&self, set: &str) -> Option<f64> {
        let means = self.labels.iter();
        let means = means.filter_map(|label| Some(self.cells.get(&(set, *label))?.mean));
        means.min_by(f64::total_cmp)
    }

    /// The mean rank of each label, 1 for the least mean, over the sets where all labels have a cell; ties share theirs. No rows
    /// where there is no such set.
    pub(super) fn ranks(&self, title: &str) -> Grid {
        let means = |set: &str| -> Option<Vec<f64>> {
            let means = self.labels.iter();
            means
                .map(|label| Some(self.cells.get(&(set, *label))?.mean))
                .collect()
        };
        let complete: Vec<Vec<f64>> = self.sets.iter().filter_map(|set| means(set)).collect();
        let labels = self.labels.iter().filter(|_| !complete.is_empty());
        let mut rows: Vec<(f64, Vec<String>)> = labels
            .enumerate()
            .map(|(k, label)| {
                let ranks: Vec<f64> = complete.iter().map(|means| rank(means, k)).collect();
                let mean = Estimate::of(&ranks).map_or(f64::NAN, |estimate| estimate.mean);
                let first = ranks.iter().filter(|rank| **rank == 1.0).count();
                let sets = complete.len();
                let cells = vec![
                    (*label).to_owned(),
                    number(mean),
                    format!("{first} of {sets}"),
                ];
                (mean, cells)
            })
            .collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        let header = ["method", "mean rank", "least mean"].map(str::to_owned);
        Grid::new(
            title,
            header.to_vec(),
            rows.into_iter().map(|(_, cells)| cells).collect(),
        )
    }
}

/// The rank of a value among all, from 1; equal values share the mean of theirs.
fn rank(values: &[f64], k: usize) -> f64 {
    let less = values.iter().filter(|value| **value < values[k]).count();
    let equal = values.iter().filter(|value| **value == values[k]).count();
    less as f64 + (equal as f64 + 1.0) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_ranks() {
        let values = [2.0, 1.0, 2.0, 5.0];
        let ranks: Vec<f64> = (0..4).map(|k| rank(&values, k)).collect();
        assert_eq!(ranks, [2.5, 1.0, 2.5, 4.0]);
    }

    #[test]
    fn ranks_are_over_the_sets_that_are_complete_and_the_least_has_a_star() {
        let estimate = |mean| Estimate {
            mean,
            se: Some(0.1),
            n: 5,
        };
        let cells = [
            (("a", "x"), 1.0),
            (("a", "y"), 2.0),
            (("b", "x"), 3.0),
            (("b", "y"), 2.0),
            (("b", "z"), 0.0),
            (("c", "x"), 1.0),
            (("c", "y"), 2.0),
        ];
        let pivot = Pivot {
            sets: vec!["a", "b", "c"],
            labels: vec!["x", "y", "z"],
            cells: cells.map(|(key, mean)| (key, estimate(mean))).into(),
        };
        // Of three sets `b` alone has all three.
        let ranks = pivot.ranks("r").rows;
        let names: Vec<&str> = ranks.iter().map(|row| row[0].as_str()).collect();
        assert_eq!(names, ["z", "y", "x"]);
        assert_eq!(ranks[0][1..], ["1.000".to_owned(), "1 of 1".to_owned()]);
        let none = Pivot {
            sets: vec!["a"],
            ..pivot
        };
        assert!(none.ranks("r").rows.is_empty());
        let pivot = Pivot {
            sets: vec!["a", "b", "c"],
            ..none
        };
        let table = pivot.table("t");
        assert_eq!(table.rows[1][3], "0.000 ± 0.100 *");
        assert_eq!(table.rows[0][3], "–");
    }
}
