//! Signs that a column gives the target away: `|corr(x_j, y)| > 0.97`.

use ndarray::{ArrayView1, ArrayView2};

/// Correlation with the target above which a feature is reported.
pub const LEAK_CORRELATION: f64 = 0.97;

/// Pearson correlation `Σ(x−x̄)(y−ȳ) / √(Σ(x−x̄)² Σ(y−ȳ)²)` over the rows where both are finite; 0 if one is constant.
///
/// Columns are divided by their largest deviation first, so that no scale under- or overflows.
///
/// # Shapes
/// `x`, `y`: `n`.
pub fn correlation(x: ArrayView1<'_, f64>, y: ArrayView1<'_, f64>) -> f64 {
    let pairs: Vec<(f64, f64)> = x
        .iter()
        .zip(y)
        .filter(|(x, y)| x.is_finite() && y.is_finite())
        .map(|(&x, &y)| (x, y))
        .collect();
    let n = pairs.len() as f64;
    let (mx, my) = pairs
        .iter()
        .fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let (sx, sy) = pairs.iter().fold((0.0_f64, 0.0_f64), |(a, b), (x, y)| {
        (a.max((x - mx).abs()), b.max((y - my).abs()))
    });
    if sx == 0.0 || sy == 0.0 || pairs.is_empty() {
        return 0.0;
    }
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in pairs {
        let (u, v) = ((x - mx) / sx, (y - my) / sy);
        xx += u * u;
        yy += v * v;
        xy += u * v;
    }
    (xy / (xx * yy).sqrt()).clamp(-1.0, 1.0)
}

/// Columns whose correlation with the target is above [`LEAK_CORRELATION`], with that correlation.
pub(super) fn leaks(x: ArrayView2<'_, f64>, y: ArrayView1<'_, f64>) -> Vec<(usize, f64)> {
    x.columns()
        .into_iter()
        .map(|column| correlation(column, y))
        .enumerate()
        .filter(|(_, r)| r.abs() > LEAK_CORRELATION)
        .collect()
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, array};

    use super::*;

    #[test]
    fn agrees_with_hand_computed_values() {
        let x = array![1.0, 2.0, 3.0, 4.0];
        // Σ(x−x̄)(y−ȳ) = 4, Σ(x−x̄)² = 5, Σ(y−ȳ)² = 5.
        let y = array![1.0, 3.0, 2.0, 4.0];
        assert!((correlation(x.view(), y.view()) - 0.8).abs() < 1e-15);
        assert_eq!(
            correlation(x.view(), array![7.0, 7.0, 7.0, 7.0].view()),
            0.0
        );
        assert_eq!(correlation(x.view(), (-&x).view()), -1.0);
    }

    #[test]
    fn scale_does_not_matter() {
        let x = Array1::from_iter((0..50).map(|i| f64::from(i * i % 17)));
        let y = Array1::from_iter((0..50).map(|i| f64::from(i * 3 % 11)));
        let plain = correlation(x.view(), y.view());
        for scale in [1e-200, 1e-20, 1e200] {
            assert!((correlation((&x * scale).view(), y.view()) - plain).abs() < 1e-12);
        }
    }
}
