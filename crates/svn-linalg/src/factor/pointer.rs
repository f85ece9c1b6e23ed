//! A reference, a `Box` and an `Arc` of a factor are factors.

use std::sync::Arc;

use ndarray::{Array1, ArrayView2, ArrayViewMut2};

use super::Factor;

macro_rules! forward_to_pointee {
    ($($pointer:ty),*) => {$(
        impl<F: Factor + ?Sized> Factor for $pointer {
            fn dim(&self) -> usize {
                (**self).dim()
            }
            fn solve_into(&self, b: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
                (**self).solve_into(b, out);
            }
            fn inverse_sqrt_into(&self, z: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
                (**self).inverse_sqrt_into(z, out);
            }
            fn log_det(&self) -> f64 {
                (**self).log_det()
            }
            fn inverse_quadratic(&self, x: ArrayView2<'_, f64>) -> Array1<f64> {
                (**self).inverse_quadratic(x)
            }
        }
    )*};
}
forward_to_pointee!(&F, Box<F>, Arc<F>);
