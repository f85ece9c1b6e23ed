//! Discrepancies against closed forms and differences of the kernel.

use crate::common::normals;
use ndarray::{Array1, Array2, array};
use svn_stein::{effective_dimension, kernel_stein_discrepancy};

/// The Stein kernel with every derivative taken by differences.
#[test]
fn ksd_matches_a_stein_kernel_made_of_finite_differences() {
    let (n, d, scale) = (4, 3, 1.7);
    let x = normals(1, (n, d));
    let s = normals(2, (n, d));
    let k = |a: &Array1<f64>, b: &Array1<f64>| 1.0 / (scale + (a - b).dot(&(a - b))).sqrt();
    let shift = |a: &Array1<f64>, i: usize, h: f64| {
        let mut a = a.clone();
        a[i] += h;
        a
    };
    let h = 1e-4;
    let mut sum = 0.0;
    for p in 0..n {
        for q in 0..n {
            let (a, b) = (x.row(p).to_owned(), x.row(q).to_owned());
            sum += s.row(p).dot(&s.row(q)) * k(&a, &b);
            for i in 0..d {
                let in_b = (k(&a, &shift(&b, i, h)) - k(&a, &shift(&b, i, -h))) / (2.0 * h);
                let in_a = (k(&shift(&a, i, h), &b) - k(&shift(&a, i, -h), &b)) / (2.0 * h);
                let mixed = (k(&shift(&a, i, h), &shift(&b, i, h))
                    - k(&shift(&a, i, h), &shift(&b, i, -h))
                    - k(&shift(&a, i, -h), &shift(&b, i, h))
                    + k(&shift(&a, i, -h), &shift(&b, i, -h)))
                    / (4.0 * h * h);
                sum += s[(p, i)] * in_b + s[(q, i)] * in_a + mixed;
            }
        }
    }
    let expected = sum.sqrt() / n as f64;
    let found = kernel_stein_discrepancy(x.view(), s.view(), scale).unwrap();
    // Mixed differences: truncation h² and rounding ε/h², both about 1e-8.
    assert!(
        (found - expected).abs() < 1e-6,
        "{found} against {expected}"
    );
}

#[test]
fn ksd_prefers_the_right_variance() {
    let ksd = |scale: f64| {
        let x = normals(3, (200, 2)) * scale;
        kernel_stein_discrepancy(x.view(), (-&x).view(), 2.0).unwrap()
    };
    let (narrow, right, wide) = (ksd(0.5), ksd(1.0), ksd(2.0));
    assert!(
        right < 0.5 * narrow && right < 0.5 * wide,
        "{narrow} {right} {wide}"
    );
}

#[test]
fn effective_dimension_counts_directions() {
    let line = Array2::from_shape_fn((5, 4), |(p, i)| p as f64 * (i as f64 + 1.0));
    assert!((effective_dimension(line.view()) - 1.0).abs() < 1e-12);
    let cross = array![[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]];
    assert!((effective_dimension(cross.view()) - 2.0).abs() < 1e-12);
    assert_eq!(
        effective_dimension(Array2::from_elem((3, 2), 0.5).view()),
        0.0
    );
}

#[test]
fn wrong_shapes_are_errors() {
    let (a, b) = (Array2::zeros((2, 3)), Array2::zeros((2, 2)));
    assert!(kernel_stein_discrepancy(a.view(), b.view(), 1.0).is_err());
    assert!(kernel_stein_discrepancy(a.view(), a.view(), 0.0).is_err());
}
