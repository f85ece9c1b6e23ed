//! Elementwise functions of many numbers, with their derivatives.

use std::f64::consts::{FRAC_1_SQRT_2, TAU};

use svn_linalg::dense;

use super::elementary::{sigmoid, tanh};
use super::number::Number;
use crate::Activation;

/// Replaces `z` by the function's values; `slopes` becomes the derivatives, as many, or is empty.
pub(super) fn activate<T: Number>(function: Activation, z: &mut [T], slopes: &mut [T]) {
    match function {
        Activation::Relu => apply(z, slopes, relu),
        Activation::Tanh => apply(z, slopes, wide(tanh)),
        Activation::Sigmoid => apply(z, slopes, wide(sigmoid)),
        Activation::Gelu => apply(z, slopes, wide(gelu)),
    }
}

#[inline(always)]
fn apply<T: Number>(z: &mut [T], slopes: &mut [T], f: impl Fn(T) -> (T, T)) {
    dense::vectorized(
        #[inline(always)]
        || {
            if slopes.is_empty() {
                for z in z {
                    *z = f(*z).0.flushed();
                }
                return;
            }
            for (z, slope) in z.iter_mut().zip(slopes) {
                let (value, derivative) = f(*z);
                (*z, *slope) = (value.flushed(), derivative.flushed());
            }
        },
    );
}

/// In f64, whatever the network's numbers are.
#[inline(always)]
fn wide<T: Number>(f: impl Fn(f64) -> (f64, f64)) -> impl Fn(T) -> (T, T) {
    #[inline(always)]
    move |z| {
        let (value, slope) = f(z.to_f64());
        (T::from_f64(value), T::from_f64(slope))
    }
}

/// NaN stays NaN.
#[inline(always)]
fn relu<T: Number>(z: T) -> (T, T) {
    let slope = if z > T::zero() { T::one() } else { T::zero() };
    (if z < T::zero() { T::zero() } else { z }, slope)
}

#[inline(always)]
fn gelu(z: f64) -> (f64, f64) {
    let below = 0.5 * libm::erfc(-z * FRAC_1_SQRT_2);
    let density = (-0.5 * z * z).exp() / TAU.sqrt();
    (z * below, below + z * density)
}
