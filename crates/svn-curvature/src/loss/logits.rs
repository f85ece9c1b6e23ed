//! Probabilities of logits and their logarithms, without overflow and without a difference of near numbers.

use ndarray::ArrayViewMut1;

/// Makes logits `f` probabilities `p = softmax f`, and returns `(m, log Σ_c e^{f_c − m})` with `m = max f`.
///
/// The logarithm is `log1p` of all but the largest term, so that it keeps what is far below the rounding of 1.
pub(super) fn softmax_in_place(mut f: ArrayViewMut1<'_, f64>) -> (f64, f64) {
    let (mut top, mut max) = (0, f64::NEG_INFINITY);
    for (c, &f) in f.iter().enumerate() {
        if f > max {
            (top, max) = (c, f);
        }
    }
    let mut rest = 0.0;
    for (c, f) in f.iter_mut().enumerate() {
        *f = (*f - max).exp();
        if c != top {
            rest += *f;
        }
    }
    f /= 1.0 + rest;
    (max, rest.ln_1p())
}

/// `(log(1 + eᶻ), 1/(1 + e⁻ᶻ))`: the loss of a class with log odds `−z`, and its derivative.
pub(super) fn softplus_and_sigmoid(z: f64) -> (f64, f64) {
    let e = (-z.abs()).exp();
    let sigmoid = if z < 0.0 { e } else { 1.0 } / (1.0 + e);
    (z.max(0.0) + e.ln_1p(), sigmoid)
}

#[cfg(test)]
mod tests {
    use super::{softmax_in_place, softplus_and_sigmoid};
    use ndarray::{arr1, array};

    #[test]
    fn logits_of_any_size_keep_the_digits_of_small_probabilities() {
        for z in [40.0f64, 60.0, 700.0] {
            let e = (-z).exp();
            let (softplus, sigmoid) = softplus_and_sigmoid(-z);
            assert!((softplus / e - 1.0).abs() < 1e-12 && (sigmoid / e - 1.0).abs() < 1e-12);
            let (softplus, sigmoid) = softplus_and_sigmoid(z);
            assert_eq!((softplus, sigmoid), (z, 1.0));

            let mut p = array![2.0, 2.0 - z];
            let (max, log_sum) = softmax_in_place(p.view_mut());
            assert_eq!((max, p[0]), (2.0, 1.0));
            assert!((log_sum / e - 1.0).abs() < 1e-12 && (p[1] / e - 1.0).abs() < 1e-12);
        }
        let mut p = array![800.0, -800.0, 800.0];
        assert_eq!(softmax_in_place(p.view_mut()), (800.0, 2.0f64.ln()));
        assert_eq!(p, arr1(&[0.5, 0.0, 0.5]));
    }

    #[test]
    fn not_a_number_stays_one() {
        for f in [
            array![f64::NAN, 0.0],
            array![0.0, f64::NAN],
            array![f64::NAN],
        ] {
            let mut p = f;
            softmax_in_place(p.view_mut());
            assert!(p.iter().all(|p| p.is_nan()), "{p}");
        }
        let (softplus, sigmoid) = softplus_and_sigmoid(f64::NAN);
        assert!(softplus.is_nan() && sigmoid.is_nan());
    }
}
