//! Inner products and products of a matrix and a vector, each in one pass over the matrix.
//!
//! ```text
//! Σ x_i y_i                                  partial sums in several registers
//! y ← α A x + β y                            rows contiguous: inner products; columns contiguous: sums of columns
//! ```
#![allow(
    unsafe_code,
    reason = "registers are read through pointers into slices; bounds are at each read"
)]

use pulp::{Simd, WithSimd};

use super::lanes::{Lanes, dispatch};

/// `Σ x_i y_i` of slices of one length.
pub(super) fn dot<T: Lanes>(x: &[T], y: &[T]) -> T {
    assert_eq!(
        x.len(),
        y.len(),
        "an inner product needs two vectors of one length"
    );
    dispatch(Dot { x, y })
}

struct Dot<'a, T> {
    x: &'a [T],
    y: &'a [T],
}

/// Registers of partial sums: enough that each addition waits for one long finished.
const SUMS: usize = 8;

impl<T: Lanes> WithSimd for Dot<'_, T> {
    type Output = T;

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) -> T {
        let (lanes, n) = (T::lanes::<S>(), self.x.len());
        let (x, y) = (self.x.as_ptr(), self.y.as_ptr());
        let mut sums = [T::splat(s, T::zero()); SUMS];
        let mut i = 0;
        while i + SUMS * lanes <= n {
            for (j, sum) in sums.iter_mut().enumerate() {
                let at = i + j * lanes;
                // SAFETY: `at + lanes ≤ i + SUMS · lanes ≤ n`, the length of both.
                let (x, y) = unsafe { (T::load(s, x.add(at)), T::load(s, y.add(at))) };
                *sum = T::mul_add(s, x, y, *sum);
            }
            i += SUMS * lanes;
        }
        while i + lanes <= n {
            // SAFETY: `i + lanes ≤ n`, the length of both.
            let (x, y) = unsafe { (T::load(s, x.add(i)), T::load(s, y.add(i))) };
            sums[0] = T::mul_add(s, x, y, sums[0]);
            i += lanes;
        }
        if i < n {
            let mask = T::mask(s, n - i);
            // SAFETY: the mask leaves `n − i` lanes.
            let (x, y) = unsafe {
                (
                    T::load_part(s, mask, x.add(i)),
                    T::load_part(s, mask, y.add(i)),
                )
            };
            sums[1] = T::mul_add(s, x, y, sums[1]);
        }
        let mut width = SUMS;
        while width > 1 {
            width /= 2;
            for j in 0..width {
                sums[j] = T::plus(s, sums[j], sums[j + width]);
            }
        }
        T::sum(s, sums[0])
    }
}
