//! What registers alone can do: the bound that products are measured against.

use std::hint::black_box;

use pulp::{Simd, WithSimd};

use super::lanes::{Lanes, dispatch};

/// Sums that do not wait for each other, all in registers.
const SUMS: usize = 12;

/// Does `rounds` rounds of `a x + b` on registers and gives the number of multiplications and additions in them.
pub(super) fn register_operations<T: Lanes>(rounds: usize) -> usize {
    dispatch(Rounds {
        rounds,
        a: black_box(T::one()),
        b: black_box(T::zero()),
    })
}

struct Rounds<T> {
    rounds: usize,
    a: T,
    b: T,
}

impl<T: Lanes> WithSimd for Rounds<T> {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) -> usize {
        let (a, b) = (T::splat(s, self.a), T::splat(s, self.b));
        let mut sums = [b; SUMS];
        for _ in 0..self.rounds {
            for sum in &mut sums {
                *sum = T::mul_add(s, a, *sum, b);
            }
        }
        for sum in sums {
            black_box(T::sum(s, sum));
        }
        2 * SUMS * T::lanes::<S>() * self.rounds
    }
}
