//! f64 and f32, and where one becomes the other.

use ndarray::{Array, ArrayView, ArrayView2, ArrayViewMut2, CowArray, Dimension, Ix2};
use svn_linalg::dense::Real;

/// Numbers that a network is evaluated in.
pub(super) trait Number: Real + 'static {
    fn from_f64(value: f64) -> Self;

    fn to_f64(self) -> f64;

    /// Zero in place of numbers too small to be normal, on which arithmetic is many times slower on some processors.
    fn flushed(self) -> Self;

    /// The values in row-major order, whatever theirs was.
    fn converted<D: Dimension>(values: ArrayView<'_, f64, D>) -> Array<Self, D>;

    /// The values in f64; f64 are not copied.
    fn widened(values: ArrayView2<'_, Self>) -> CowArray<'_, f64, Ix2>;

    /// Lets `write` fill `out`, all of it; what f32 it writes is converted.
    fn fill(out: ArrayViewMut2<'_, f64>, write: impl FnOnce(ArrayViewMut2<'_, Self>));
}

impl Number for f64 {
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }

    #[inline(always)]
    fn flushed(self) -> Self {
        if self.abs() < Self::MIN_POSITIVE {
            0.0
        } else {
            self
        }
    }

    fn converted<D: Dimension>(values: ArrayView<'_, f64, D>) -> Array<Self, D> {
        values.as_standard_layout().into_owned()
    }

    fn widened(values: ArrayView2<'_, Self>) -> CowArray<'_, f64, Ix2> {
        values.into()
    }

    fn fill(out: ArrayViewMut2<'_, f64>, write: impl FnOnce(ArrayViewMut2<'_, Self>)) {
        write(out);
    }
}

impl Number for f32 {
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as f32
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn flushed(self) -> Self {
        if self.abs() < Self::MIN_POSITIVE {
            0.0
        } else {
            self
        }
    }

    fn converted<D: Dimension>(values: ArrayView<'_, f64, D>) -> Array<Self, D> {
        values.as_standard_layout().mapv(Self::from_f64)
    }

    fn widened(values: ArrayView2<'_, Self>) -> CowArray<'_, f64, Ix2> {
        values.mapv(f64::from).into()
    }

    fn fill(mut out: ArrayViewMut2<'_, f64>, write: impl FnOnce(ArrayViewMut2<'_, Self>)) {
        let mut narrow = ndarray::Array2::zeros(out.raw_dim());
        write(narrow.view_mut());
        out.zip_mut_with(&narrow, |out, value| *out = f64::from(*value));
    }
}
