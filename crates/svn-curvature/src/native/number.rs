//! f64 and f32, and where one becomes the other.

use ndarray::{Array, ArrayView, ArrayView2, ArrayViewMut2, CowArray, Dimension, Ix2};
use svn_linalg::dense::Real;

/// Numbers that a network is evaluated in.
pub(super) trait Number: Real + 'static {
    fn from_f64(value: f64) -> Self;

    fn to_f64(self) -> f64;

    /// The values in f64; f64 are not copied.
    fn widened(values: ArrayView2<'_, Self>) -> CowArray<'_, f64, Ix2>;

    /// Lets `write` fill `out`, all of it; what f32 it writes is converted.
    fn fill(out: ArrayViewMut2<'_, f64>, write: impl FnOnce(ArrayViewMut2<'_, Self>));
}

impl Number for f64 {
    fn from_f64(value: f64) -> Self {
        value
    }

    fn to_f64(self) -> f64 {
        self
    }

    fn widened(values: ArrayView2<'_, Self>) -> CowArray<'_, f64, Ix2> {
        values.into()
    }

    fn fill(out: ArrayViewMut2<'_, f64>, write: impl FnOnce(ArrayViewMut2<'_, Self>)) {
        write(out);
    }
}

impl Number for f32 {
    fn from_f64(value: f64) -> Self {
        value as f32
    }

    fn to_f64(self) -> f64 {
        f64::from(self)
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

/// The values in row-major order, whatever theirs was.
pub(super) fn converted<T: Number, D: Dimension>(values: ArrayView<'_, f64, D>) -> Array<T, D> {
    values.as_standard_layout().mapv(T::from_f64)
}
