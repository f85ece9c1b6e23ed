//! Further densities of the plane.
#![allow(dead_code, unused_imports, reason = "each test uses a part of it")]

pub(crate) use svn_stein::plane::{DoubleBanana, Planar, Quadrature, Target};

/// `½ N((−2, 0), ½ I) + ½ N((2, 0), ½ I)`; the curvature is that of the components.
pub(crate) struct TwoModes;

impl Planar for TwoModes {
    fn evaluate(&self, x: f64, y: f64) -> (f64, [f64; 2], [[f64; 2]; 2]) {
        let log = |m: f64| -((x - m) * (x - m) + y * y);
        let (a, b) = (log(-2.0), log(2.0));
        let top = a.max(b);
        let (wa, wb) = ((a - top).exp(), (b - top).exp());
        let left = wa / (wa + wb);
        let mean = -2.0 * left + 2.0 * (1.0 - left);
        (
            top + (wa + wb).ln(),
            [-2.0 * (x - mean), -2.0 * y],
            [[2.0, 0.0], [0.0, 2.0]],
        )
    }
}

/// The hybrid Rosenbrock density in two dimensions: `x ~ N(1, 1)`, `y | x ~ N(x², 1)` (Pagani et al. 2022).
///
/// Mean `(1, 2)`, variances 1 and 7, covariance 2.
pub(crate) struct Rosenbrock;

impl Planar for Rosenbrock {
    fn evaluate(&self, x: f64, y: f64) -> (f64, [f64; 2], [[f64; 2]; 2]) {
        let (a, b) = (x - 1.0, y - x * x);
        let value = -0.5 * (a * a + b * b);
        let h = [[1.0 + 4.0 * x * x, -2.0 * x], [-2.0 * x, 1.0]];
        (value, [-a + 2.0 * x * b, -b], h)
    }
}
