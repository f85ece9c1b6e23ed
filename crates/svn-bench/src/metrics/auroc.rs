//! Area under the ROC curve: the probability that a positive scores above a negative, ties counting half.

/// `P(s⁺ > s⁻) + ½ P(s⁺ = s⁻)` by midranks, `(R⁺ − n⁺(n⁺+1)/2) / (n⁺ n⁻)`; `None` without a positive or a negative.
///
/// # Shapes
/// `scores`, free of NaN, and `positive`: `n`.
///
/// # References
/// Hanley and McNeil, *The meaning and use of the area under a ROC curve*, Radiology 1982.
pub fn auroc(scores: &[f64], positive: &[bool]) -> Option<f64> {
    let mut ranked: Vec<(f64, bool)> = scores
        .iter()
        .copied()
        .zip(positive.iter().copied())
        .collect();
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    let positives = ranked.iter().filter(|(_, positive)| *positive).count() as f64;
    let negatives = ranked.len() as f64 - positives;
    if positives == 0.0 || negatives == 0.0 {
        return None;
    }
    let (mut below, mut rank_sum) = (0.0, 0.0);
    // Not `total_cmp`: −0 and 0 are a tie.
    for tie in ranked.chunk_by(|a, b| a.0 == b.0) {
        let size = tie.len() as f64;
        let midrank = below + (size + 1.0) / 2.0;
        rank_sum += midrank * tie.iter().filter(|(_, positive)| *positive).count() as f64;
        below += size;
    }
    Some((rank_sum - positives * (positives + 1.0) / 2.0) / (positives * negatives))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition, pair by pair.
    fn pairs(scores: &[f64], positive: &[bool]) -> Option<f64> {
        let side = |want: bool| {
            scores
                .iter()
                .zip(positive)
                .filter(move |(_, p)| **p == want)
                .map(|(s, _)| *s)
        };
        let (mut wins, mut count) = (0.0, 0.0);
        for plus in side(true) {
            for minus in side(false) {
                wins += if plus > minus {
                    1.0
                } else if plus == minus {
                    0.5
                } else {
                    0.0
                };
                count += 1.0;
            }
        }
        (count > 0.0).then(|| wins / count)
    }

    proptest! {
        #[test]
        fn midranks_count_pairs(rows in proptest::collection::vec((0..6_i32, any::<bool>()), 1..60)) {
            let scores: Vec<f64> = rows.iter().map(|row| f64::from(row.0)).collect();
            let positive: Vec<bool> = rows.iter().map(|row| row.1).collect();
            match (auroc(&scores, &positive), pairs(&scores, &positive)) {
                // Sums of halves are exact; one division rounds on each side.
                (Some(fast), Some(slow)) => prop_assert!((fast - slow).abs() < 1e-15),
                (fast, slow) => prop_assert_eq!(fast, slow),
            }
        }
    }

    #[test]
    fn corners() {
        assert_eq!(auroc(&[0.1, 0.9], &[false, true]), Some(1.0));
        assert_eq!(auroc(&[0.9, 0.1], &[false, true]), Some(0.0));
        assert_eq!(auroc(&[0.5, 0.5], &[false, true]), Some(0.5));
        assert_eq!(auroc(&[0.0, -0.0], &[false, true]), Some(0.5));
        assert_eq!(auroc(&[0.1, 0.9], &[true, true]), None);
        assert_eq!(auroc(&[], &[]), None);
    }
}
