//! Bands and bins by hand, and groups too small to be told of.

use ndarray::Array2;
use svn_models::Prediction;

use super::*;

/// Medians 30, 31, … hours, standard deviation 10, of two members that agree.
fn density(rows: usize) -> Density {
    let means = Array2::from_shape_fn((2, rows), |(_, row)| 30.0 + row as f64);
    let prediction = Prediction::new(means, Array2::from_elem((2, rows), 100.0)).unwrap();
    Density::new(&prediction, false).unwrap()
}

fn measured(
    rows: usize,
    hours: impl Fn(usize) -> f64,
) -> (Vec<Band<f64>>, Vec<IntervalBin>, Metrics) {
    let hours: Vec<f64> = (0..rows).map(hours).collect();
    let mut metrics = Metrics::default();
    let (bands, intervals) = measure(&density(rows), &hours, &hours, &mut metrics);
    (bands, intervals, metrics)
}

#[test]
fn metrics_are_means_over_all_rows_and_over_bands() {
    // 12 stays of 47 hours and 9 of 48: the bound belongs to the longer band.
    let (bands, _, metrics) = measured(21, |row| if row < 12 { 47.0 } else { 48.0 });
    let errors = (0..21).map(|row: usize| (if row < 12 { 47.0 } else { 48.0 }) - 30.0 - row as f64);
    let absolute: f64 = errors.clone().map(f64::abs).sum::<f64>() / 21.0;
    assert!((metrics.value("mae").unwrap() - absolute).abs() < 1e-12);
    let inside = errors.clone().filter(|error| error.abs() <= 6.7449).count() as f64 / 21.0;
    assert_eq!(metrics.value("coverage50"), Some(inside));
    let rows: Vec<usize> = bands.iter().map(|band| band.rows).collect();
    assert_eq!(rows, [12, 9, 0, 0, 0]);
    let mae: f64 = errors.take(12).map(f64::abs).sum::<f64>() / 12.0;
    assert!((bands[0].metrics["mae"] - mae).abs() < 1e-12);
    assert!(
        bands[1].metrics.is_empty(),
        "nine patients are too few to be told of"
    );
}

#[test]
fn runs_are_pooled_by_band_and_bin() {
    let run = |hours: f64| {
        let (bands, intervals, _) = measured(20, |_| hours);
        MimicExtra {
            bands,
            intervals,
            ..MimicExtra::default()
        }
    };
    let (a, b) = (run(40.0), run(44.0));
    let pooled = MimicExtra::pool(&[&a, &b]);
    assert_eq!((pooled.bands[0].rows, pooled.bands[1].rows), (40, 0));
    let mae = pooled.bands[0].metrics["mae"];
    assert_eq!(
        (mae.n, mae.mean),
        (
            2,
            (a.bands[0].metrics["mae"] + b.bands[0].metrics["mae"]) / 2.0
        )
    );
    assert_eq!(pooled.intervals[0].observed, [42.0; 5]);
    assert_eq!(MimicExtra::pool(&[]).bands, []);
}
