//! A register of numbers in both precisions, and the choice of its width when the program runs.
//!
//! | processor | `f64` | `f32` | `a b + c` |
//! |---|---|---|---|
//! | AVX-512 | 8 | 16 | fused |
//! | AVX2 and FMA, NEON | 4, 2 | 8, 4 | fused |
//! | any other | 2 | 4 | rounded twice |
#![allow(
    unsafe_code,
    reason = "reads and writes of part of a register; what the caller has to keep is at each function"
)]

use std::any::TypeId;

use ndarray::LinalgScalar;
use pulp::{Arch, MemMask, Scalar128b, Simd, WithSimd};

/// Runs `op` with the widest registers that this processor has.
#[inline(always)]
pub(super) fn dispatch<O: WithSimd>(op: O) -> O::Output {
    match Arch::new() {
        Arch::Scalar => op.with_simd(Scalar128b),
        arch => arch.dispatch(op),
    }
}

/// Arithmetic on registers of `S`, lane by lane.
pub(super) trait Lanes: LinalgScalar + PartialEq {
    /// A register.
    type Vector<S: Simd>: Copy;
    /// Which of its lanes are read or written.
    type Mask<S: Simd>: Copy;

    /// Lanes of a register.
    fn lanes<S: Simd>() -> usize;
    /// `x` in each lane.
    fn splat<S: Simd>(s: S, x: Self) -> Self::Vector<S>;
    /// `a b`.
    fn times<S: Simd>(s: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// `a + b`.
    fn plus<S: Simd>(s: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// `a b + c`.
    fn mul_add<S: Simd>(
        s: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// Sum of all lanes.
    fn sum<S: Simd>(s: S, a: Self::Vector<S>) -> Self;
    /// The first `n` lanes.
    fn mask<S: Simd>(s: S, n: usize) -> Self::Mask<S>;

    /// A register from memory.
    ///
    /// # Safety
    /// All its lanes are readable.
    #[inline(always)]
    unsafe fn load<S: Simd>(_: S, from: *const Self) -> Self::Vector<S> {
        // SAFETY: the caller's; a register has no invalid values.
        unsafe { from.cast::<Self::Vector<S>>().read_unaligned() }
    }

    /// A register to memory.
    ///
    /// # Safety
    /// All its lanes are writable.
    #[inline(always)]
    unsafe fn store<S: Simd>(_: S, to: *mut Self, value: Self::Vector<S>) {
        // SAFETY: the caller's.
        unsafe { to.cast::<Self::Vector<S>>().write_unaligned(value) }
    }

    /// The lanes of the mask from memory, 0 in the others.
    ///
    /// # Safety
    /// Those lanes are readable.
    unsafe fn load_part<S: Simd>(s: S, mask: Self::Mask<S>, from: *const Self) -> Self::Vector<S>;

    /// The lanes of the mask to memory.
    ///
    /// # Safety
    /// Those lanes are writable.
    unsafe fn store_part<S: Simd>(s: S, mask: Self::Mask<S>, to: *mut Self, value: Self::Vector<S>);
}

macro_rules! lanes {
    ($float:ty, $count:ident, $vector:ident, $mask:ident, $integer:ty, $splat:ident, $mul:ident, $add:ident, $mul_add:ident,
     $sum:ident, $between:ident, $load:ident, $store:ident) => {
        impl Lanes for $float {
            type Vector<S: Simd> = S::$vector;
            type Mask<S: Simd> = S::$mask;

            #[inline(always)]
            fn lanes<S: Simd>() -> usize {
                S::$count
            }

            #[inline(always)]
            fn splat<S: Simd>(s: S, x: Self) -> Self::Vector<S> {
                s.$splat(x)
            }

            #[inline(always)]
            fn times<S: Simd>(s: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S> {
                s.$mul(a, b)
            }

            #[inline(always)]
            fn plus<S: Simd>(s: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S> {
                s.$add(a, b)
            }

            #[inline(always)]
            fn mul_add<S: Simd>(
                s: S,
                a: Self::Vector<S>,
                b: Self::Vector<S>,
                c: Self::Vector<S>,
            ) -> Self::Vector<S> {
                // Without the instruction a fused product is a function call of a hundred cycles.
                if TypeId::of::<S>() == TypeId::of::<Scalar128b>() {
                    s.$add(s.$mul(a, b), c)
                } else {
                    s.$mul_add(a, b, c)
                }
            }

            #[inline(always)]
            fn sum<S: Simd>(s: S, a: Self::Vector<S>) -> Self {
                s.$sum(a)
            }

            #[inline(always)]
            fn mask<S: Simd>(s: S, n: usize) -> Self::Mask<S> {
                // At most a register: a number of lanes.
                s.$between(0, n.min(S::$count) as $integer).mask()
            }

            #[inline(always)]
            unsafe fn load_part<S: Simd>(
                s: S,
                mask: Self::Mask<S>,
                from: *const Self,
            ) -> Self::Vector<S> {
                // SAFETY: the caller's.
                unsafe { s.$load(MemMask::new(mask), from) }
            }

            #[inline(always)]
            unsafe fn store_part<S: Simd>(
                s: S,
                mask: Self::Mask<S>,
                to: *mut Self,
                value: Self::Vector<S>,
            ) {
                // SAFETY: the caller's.
                unsafe { s.$store(MemMask::new(mask), to, value) }
            }
        }
    };
}

lanes!(
    f64,
    F64_LANES,
    f64s,
    m64s,
    u64,
    splat_f64s,
    mul_f64s,
    add_f64s,
    mul_add_f64s,
    reduce_sum_f64s,
    mask_between_m64s,
    mask_load_ptr_f64s,
    mask_store_ptr_f64s
);
lanes!(
    f32,
    F32_LANES,
    f32s,
    m32s,
    u32,
    splat_f32s,
    mul_f32s,
    add_f32s,
    mul_add_f32s,
    reduce_sum_f32s,
    mask_between_m32s,
    mask_load_ptr_f32s,
    mask_store_ptr_f32s
);
