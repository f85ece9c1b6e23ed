//! Second-order dual numbers: derivatives by arithmetic, exact to rounding.

use std::f64::consts::{FRAC_1_SQRT_2, TAU};
use std::iter::Sum;
use std::ops::{Add, Mul, Sub};

use svn_curvature::Activation;

/// `a + b ε₁ + c ε₂ + d ε₁ε₂` with `ε₁² = ε₂² = 0`: carries a function's value, two of its first derivatives and the
/// mixed second one, all exact to rounding.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dual(pub(crate) [f64; 4]);

impl Dual {
    /// `g` of it, from the derivatives of orders 0 to 2 of `g` at its value.
    fn chain(self, [value, first, second]: [f64; 3]) -> Self {
        let Self([_, b, c, d]) = self;
        Self([value, first * b, first * c, first * d + second * b * c])
    }

    pub(crate) fn exp(self) -> Self {
        self.chain([self.0[0].exp(); 3])
    }

    pub(crate) fn ln(self) -> Self {
        let a = self.0[0];
        self.chain([a.ln(), 1.0 / a, -1.0 / (a * a)])
    }

    /// An elementwise layer, from the textbook's derivatives.
    pub(crate) fn activate(self, function: Activation) -> Self {
        let z = self.0[0];
        self.chain(match function {
            Activation::Relu if z > 0.0 => [z, 1.0, 0.0],
            Activation::Relu => [0.0; 3],
            Activation::Tanh => {
                let (y, slope) = (z.tanh(), z.cosh().powi(-2));
                [y, slope, -2.0 * y * slope]
            }
            Activation::Sigmoid => {
                let (y, slope) = (
                    0.5 + 0.5 * (0.5 * z).tanh(),
                    0.25 / (0.5 * z).cosh().powi(2),
                );
                [y, slope, slope * (1.0 - 2.0 * y)]
            }
            Activation::Gelu => {
                let below = 0.5 * (1.0 + libm::erf(z * FRAC_1_SQRT_2));
                let density = (-0.5 * z * z).exp() / TAU.sqrt();
                [z * below, below + z * density, (2.0 - z * z) * density]
            }
            other => panic!("no reference for {other:?}"),
        })
    }
}

impl From<f64> for Dual {
    fn from(a: f64) -> Self {
        Self([a, 0.0, 0.0, 0.0])
    }
}

impl Add for Dual {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] + other.0[i]))
    }
}

impl Sub for Dual {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + other * (-1.0).into()
    }
}

impl Mul for Dual {
    type Output = Self;
    fn mul(self, Self([p, q, r, s]): Self) -> Self {
        let Self([a, b, c, d]) = self;
        Self([
            a * p,
            a * q + b * p,
            a * r + c * p,
            a * s + b * r + c * q + d * p,
        ])
    }
}

impl Sum for Dual {
    fn sum<I: Iterator<Item = Self>>(terms: I) -> Self {
        terms.fold(0.0.into(), Add::add)
    }
}
