//! Curvature of the last batches, one slot a batch: what a ring of recent batches is made of.
//!
//! ```text
//! C_p = Σ_slots Σ_{i ∈ batch} J_iᵀ S_i S_iᵀ J_i        a batch written to a slot replaces what it held
//! ```
//!
//! | kept as | for | memory of a slot |
//! |---|---|---|
//! | [`LayeredRows`](crate::LayeredRows) | layers of one position a sample | rows × widths |
//! | [`WrittenRows`](crate::WrittenRows) | any network | rows × `d` |
//! | [`LayerGgn`](crate::LayerGgn) | one layer with fewer parameters than rows | ½ `O (O + 1) K'²` |

use std::fmt::Debug;

use ndarray::{Array, ArrayD, ArrayView4, Dimension};
use svn_linalg::ParticleOperators;

use crate::{CurvatureError, Linearized, Result};

/// A store of batches, one slot each, that a ring is made of. Unwritten slots are zero.
pub trait BatchSlots: Debug + Send {
    /// Put one batch, whose root is `S` (`N × b × c × k`), in place of what the slot held.
    ///
    /// # Errors
    /// As for [`Linearized::rows_into`]; no such slot; more rows than a slot has. The slot is undefined after an error.
    fn write(
        &mut self,
        linear: &dyn Linearized,
        root: ArrayView4<'_, f64>,
        slot: usize,
    ) -> Result<()>;

    /// `weight · C_p + shift · I` with the sum `C_p` over all slots.
    fn curvature(&self, weight: f64, shift: f64) -> Box<dyn ParticleOperators + '_>;

    /// Keep the factors of the rows until a batch is written, for rows that serve several steps; what has no rows has nothing to keep.
    fn keep_factors(&mut self) {}

    /// What the slots hold, for a checkpoint.
    fn arrays(&self) -> Vec<ArrayD<f64>>;

    /// Put back what [`Self::arrays`] gave. `written` are the slots in use in the order in which they were written last:
    /// what follows from the arrays is then computed as it was, to the last bit.
    ///
    /// # Errors
    /// [`CurvatureError::Shape`](crate::CurvatureError::Shape) for arrays of other shapes.
    fn set_arrays(&mut self, arrays: Vec<ArrayD<f64>>, written: &[usize]) -> Result<()>;
}

/// Rows of a slot of `slot_rows` out of `rows`, of which `filled` are asked for.
pub(crate) fn rows_of_slot(
    slot: usize,
    slot_rows: usize,
    rows: usize,
    filled: usize,
) -> Result<std::ops::Range<usize>> {
    let start = slot.saturating_mul(slot_rows);
    if start.saturating_add(slot_rows) > rows {
        return Err(CurvatureError::OutOfRange {
            name: "slot",
            range: "below the number of slots",
            found: slot as f64,
        });
    }
    if filled > slot_rows {
        return Err(CurvatureError::OutOfRange {
            name: "rows of a batch",
            range: "at most those of a slot",
            found: filled as f64,
        });
    }
    Ok(start..start + slot_rows)
}

/// Whether arrays from a checkpoint have the shapes of those here.
pub(crate) fn check_shapes<'a>(
    found: &[ArrayD<f64>],
    expected: impl IntoIterator<Item = &'a [usize]>,
) -> Result<()> {
    let found: Vec<&[usize]> = found.iter().map(|array| array.shape()).collect();
    let expected: Vec<&[usize]> = expected.into_iter().collect();
    if found == expected {
        return Ok(());
    }
    Err(CurvatureError::Shape {
        what: "arrays of kept batches",
        expected: format!("{expected:?}"),
        found: found.concat(),
    })
}

/// An array whose number of dimensions was looked at.
pub(crate) fn fixed<D: Dimension>(array: ArrayD<f64>) -> Result<Array<f64, D>> {
    let found = array.shape().to_vec();
    array
        .into_dimensionality()
        .map_err(|_| CurvatureError::Shape {
            what: "array of kept batches",
            expected: format!("{:?} dimensions", D::NDIM),
            found,
        })
}
