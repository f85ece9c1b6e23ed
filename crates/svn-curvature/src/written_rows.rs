//! Rows `S_iᵀ J_i` written out, for networks whose rows have no shorter form: `C_p = Ĵ_pᵀ Ĵ_p`.

use ndarray::{Array3, ArrayD, ArrayView3, ArrayView4, s};
use svn_linalg::{LowRank, ParticleOperators};

use crate::slots::{BatchSlots, check_shapes, fixed, rows_of_slot};
use crate::{Linearized, Result};

/// Slots of `r` rows each for each of `N` particles.
#[derive(Debug, Clone)]
pub struct WrittenRows {
    /// `N × slots·r × d`.
    rows: Array3<f64>,
    slot_rows: usize,
}

impl WrittenRows {
    /// Room for `slots` batches of up to `slot_rows` rows of what `linear` has.
    pub fn new(linear: &dyn Linearized, slots: usize, slot_rows: usize) -> Self {
        Self {
            rows: Array3::zeros((linear.particles(), slots * slot_rows, linear.dim())),
            slot_rows,
        }
    }

    /// `Ĵ`, `N × R × d`.
    pub fn rows(&self) -> ArrayView3<'_, f64> {
        self.rows.view()
    }
}

impl BatchSlots for WrittenRows {
    fn write(
        &mut self,
        linear: &dyn Linearized,
        root: ArrayView4<'_, f64>,
        slot: usize,
    ) -> Result<()> {
        let filled = linear.batch() * linear.check_root(root)?;
        let range = rows_of_slot(slot, self.slot_rows, self.rows.dim().1, filled)?;
        let end = range.start + filled;
        self.rows.slice_mut(s![.., end..range.end, ..]).fill(0.0);
        linear.rows_into(root, self.rows.slice_mut(s![.., range.start..end, ..]))
    }

    fn curvature(&self, weight: f64, shift: f64) -> Box<dyn ParticleOperators + '_> {
        Box::new(LowRank {
            rows: self.rows.view(),
            weight,
            shift,
        })
    }

    fn arrays(&self) -> Vec<ArrayD<f64>> {
        vec![self.rows.clone().into_dyn()]
    }

    fn set_arrays(&mut self, arrays: Vec<ArrayD<f64>>, _: &[usize]) -> Result<()> {
        check_shapes(&arrays, [self.rows.shape()])?;
        for array in arrays {
            self.rows = fixed(array)?;
        }
        Ok(())
    }
}
