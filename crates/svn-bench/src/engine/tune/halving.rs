//! Successive halving: many configurations for few epochs, then the best third for three times as many.

/// Configurations that are kept and epochs that are multiplied from rung to rung.
const FACTOR: usize = 3;

/// Rungs at most: the first has a ninth of the epochs, fewer say little.
const RUNGS: u32 = 3;

/// One round of trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rung {
    /// Configurations that are tried.
    pub configurations: usize,
    /// Epochs of each trial.
    pub epochs: usize,
}

/// The rungs for a budget of configurations and epochs at most. The last has all epochs and, where there are two,
/// two configurations at least: one of them is the default.
pub fn rungs(configurations: usize, epochs: usize) -> Vec<Rung> {
    let mut counts = vec![configurations.max(1)];
    while let Some(&last) = counts.last()
        && counts.len() < RUNGS as usize
        && last > FACTOR
    {
        counts.push(last.div_ceil(FACTOR).max(2));
    }
    let rungs = counts.len() as u32;
    (1..=rungs)
        .zip(counts)
        .map(|(rung, configurations)| Rung {
            configurations,
            epochs: epochs.div_ceil(FACTOR.pow(rungs - rung)),
        })
        .collect()
}

/// The `keep` candidates of least score, in order of their index; the first candidate, the default, is always one of
/// them. `scores` holds (candidate, score) with no score for a trial that failed; ties go to the lower index.
pub(super) fn survivors(scores: &[(usize, Option<f64>)], keep: usize) -> Vec<usize> {
    let mut ranked = scores.to_vec();
    ranked.sort_by(|a, b| {
        let key = |score: Option<f64>| score.unwrap_or(f64::INFINITY);
        (a.0 != 0)
            .cmp(&(b.0 != 0))
            .then(key(a.1).total_cmp(&key(b.1)))
            .then(a.0.cmp(&b.0))
    });
    let mut kept: Vec<usize> = ranked
        .into_iter()
        .take(keep)
        .map(|(index, _)| index)
        .collect();
    kept.sort_unstable();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_stays_for_three_times_the_epochs() {
        let shape = |n, epochs| -> Vec<_> {
            rungs(n, epochs)
                .iter()
                .map(|rung| (rung.configurations, rung.epochs))
                .collect()
        };
        assert_eq!(shape(27, 50), [(27, 6), (9, 17), (3, 50)]);
        assert_eq!(shape(18, 50), [(18, 6), (6, 17), (2, 50)]);
        // Of three only the default and one other would be left: no third rung.
        assert_eq!(shape(9, 45), [(9, 15), (3, 45)]);
        assert_eq!(shape(3, 50), [(3, 50)]);
        assert_eq!(shape(1, 1), [(1, 1)]);
        assert_eq!(shape(0, 2), [(1, 2)]);
    }

    #[test]
    fn the_least_scores_and_the_default_stay() {
        let scores = [
            (0, Some(9.0)),
            (1, Some(2.0)),
            (2, None),
            (3, Some(1.0)),
            (4, Some(2.0)),
        ];
        assert_eq!(survivors(&scores, 3), [0, 1, 3]);
        assert_eq!(survivors(&scores, 1), [0]);
        assert_eq!(survivors(&scores, 9), [0, 1, 2, 3, 4]);
        assert_eq!(
            survivors(&[(0, None), (5, Some(f64::NAN)), (7, Some(3.0))], 2),
            [0, 7]
        );
    }
}
