//! Checks made once at every entry, before any decomposition sees the numbers.
//!
//! A decomposition returns garbage on NaN, and a shape mismatch three calls deep is hard to read. Every public
//! routine that can fail calls one of these first, and names what it was given.

use ndarray::{ArrayView1, ArrayView2};

use crate::dense::all_finite;

/// Input that a routine cannot work with.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// Two shapes that belong together do not.
    #[error("{what} has shape {found:?}, expected {expected:?}")]
    Shape {
        /// The argument at fault.
        what: &'static str,
        /// Rows and columns it must have.
        expected: (usize, usize),
        /// Rows and columns it has.
        found: (usize, usize),
    },
    /// NaN or an infinity.
    #[error("{what} is not finite: element ({row}, {column}) is {value}")]
    NonFinite {
        /// The argument at fault.
        what: &'static str,
        /// Row of the first such element.
        row: usize,
        /// Column of the first such element; 0 for a vector.
        column: usize,
        /// The element.
        value: f64,
    },
    /// A matrix that must equal its transpose does not.
    #[error(
        "{what} is not symmetric: element ({row}, {column}) is {value}, element ({column}, {row}) is {transposed}"
    )]
    NotSymmetric {
        /// The argument at fault.
        what: &'static str,
        /// Row of the worst pair.
        row: usize,
        /// Column of the worst pair.
        column: usize,
        /// `a[row, column]`.
        value: f64,
        /// `a[column, row]`.
        transposed: f64,
    },
    /// A matrix without elements, or a composition without parts.
    #[error("{what} is empty")]
    Empty {
        /// The argument at fault.
        what: &'static str,
    },
    /// A number outside its range.
    #[error("{name} must be {range}, found {value}")]
    OutOfRange {
        /// The parameter at fault.
        name: &'static str,
        /// The values allowed, in words.
        range: &'static str,
        /// The value given.
        value: f64,
    },
}

/// Largest `|a_ij − a_ji|`, relative to the largest `|a_ij|`, that still counts as rounding.
const SYMMETRY_TOLERANCE: f64 = 1e-8;

pub(crate) fn check_shape(
    what: &'static str,
    found: (usize, usize),
    expected: (usize, usize),
) -> Result<(), InputError> {
    if found == expected {
        Ok(())
    } else {
        Err(InputError::Shape {
            what,
            expected,
            found,
        })
    }
}

pub(crate) fn check_finite(what: &'static str, a: ArrayView2<'_, f64>) -> Result<(), InputError> {
    if all_finite(a.view()) {
        return Ok(());
    }
    match a.indexed_iter().find(|(_, v)| !v.is_finite()) {
        Some(((row, column), &value)) => Err(InputError::NonFinite {
            what,
            row,
            column,
            value,
        }),
        None => Ok(()),
    }
}

pub(crate) fn check_finite_vector(
    what: &'static str,
    a: ArrayView1<'_, f64>,
) -> Result<(), InputError> {
    check_finite(what, a.insert_axis(ndarray::Axis(1)))
}

pub(crate) fn check_non_negative(name: &'static str, value: f64) -> Result<(), InputError> {
    if value.is_finite() && value >= 0.0 {
        Ok(())
    } else {
        Err(InputError::OutOfRange {
            name,
            range: "finite and non-negative",
            value,
        })
    }
}

/// Side of the tiles in which a triangle is visited, so that `(i, j)` and `(j, i)` both stay in cache.
const TILE: usize = 32;

/// Call `f(i, j)` for all pairs strictly below the diagonal, tile by tile.
pub(crate) fn for_each_below_diagonal(n: usize, mut f: impl FnMut(usize, usize)) {
    for top in (0..n).step_by(TILE) {
        for left in (0..=top).step_by(TILE) {
            for i in top..(top + TILE).min(n) {
                for j in left..(left + TILE).min(i) {
                    f(i, j);
                }
            }
        }
    }
}

/// Square, not empty, finite and symmetric up to rounding.
pub(crate) fn check_symmetric(
    what: &'static str,
    a: ArrayView2<'_, f64>,
) -> Result<(), InputError> {
    let (rows, columns) = a.dim();
    check_shape(what, (rows, columns), (rows, rows))?;
    if rows == 0 {
        return Err(InputError::Empty { what });
    }
    check_finite(what, a)?;
    // Halves, so that two huge numbers of opposite sign do not overflow.
    let mut worst = (0.0, 0, 0);
    for_each_below_diagonal(rows, |i, j| {
        let gap = (0.5 * a[[i, j]] - 0.5 * a[[j, i]]).abs();
        if gap > worst.0 {
            worst = (gap, i, j);
        }
    });
    let (gap, row, column) = worst;
    if gap == 0.0 {
        return Ok(());
    }
    let scale = a.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    if gap > 0.5 * SYMMETRY_TOLERANCE * scale {
        return Err(InputError::NotSymmetric {
            what,
            row,
            column,
            value: a[[row, column]],
            transposed: a[[column, row]],
        });
    }
    Ok(())
}
