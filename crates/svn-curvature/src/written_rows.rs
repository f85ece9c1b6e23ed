//! Rows `S_iᵀ J_i` written out, for networks whose rows have no shorter form: `C_p = Ĵ_pᵀ Ĵ_p`.

use ndarray::{Array3, ArrayD, ArrayView3, ArrayView4, ArrayViewMut2, s};
use svn_linalg::{KeptFactors, LowRank, ParticleOperators, ParticleRows, Rows};

use crate::slots::{BatchSlots, check_shapes, fixed, rows_of_slot};
use crate::{Linearized, Result};

/// Slots of `r` rows each for each of `N` particles.
#[derive(Debug, Clone)]
pub struct WrittenRows {
    /// `N × slots·r × d`.
    rows: Array3<f64>,
    /// Of the rows as they are, if they are kept.
    factors: Option<KeptFactors>,
    slot_rows: usize,
}

impl WrittenRows {
    /// Room for `slots` batches of up to `slot_rows` rows of what `linear` has.
    pub fn new(linear: &dyn Linearized, slots: usize, slot_rows: usize) -> Self {
        Self {
            rows: Array3::zeros((linear.particles(), slots * slot_rows, linear.dim())),
            factors: None,
            slot_rows,
        }
    }

    fn forget_factors(&mut self) {
        if let Some(factors) = &mut self.factors {
            factors.clear();
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
        self.forget_factors();
        self.rows.slice_mut(s![.., end..range.end, ..]).fill(0.0);
        linear.rows_into(root, self.rows.slice_mut(s![.., range.start..end, ..]))
    }

    fn curvature(&self, weight: f64, shift: f64) -> Box<dyn ParticleOperators + '_> {
        let rows: &dyn ParticleRows = self;
        Box::new(LowRank {
            rows,
            weight,
            shift,
        })
    }

    fn keep_factors(&mut self) {
        self.factors = Some(KeptFactors::new(self.rows.dim().0));
    }

    fn arrays(&self) -> Vec<ArrayD<f64>> {
        vec![self.rows.clone().into_dyn()]
    }

    fn set_arrays(&mut self, arrays: Vec<ArrayD<f64>>, _: &[usize]) -> Result<()> {
        check_shapes(&arrays, [self.rows.shape()])?;
        self.forget_factors();
        for array in arrays {
            self.rows = fixed(array)?;
        }
        Ok(())
    }
}

/// As of the array, with the factors kept.
impl ParticleRows for WrittenRows {
    fn particles(&self) -> usize {
        ParticleRows::particles(&self.rows)
    }

    fn count(&self) -> usize {
        ParticleRows::count(&self.rows)
    }

    fn dim(&self) -> usize {
        ParticleRows::dim(&self.rows)
    }

    fn rows(&self, particle: usize) -> Box<dyn Rows + '_> {
        ParticleRows::rows(&self.rows, particle)
    }

    fn cross_gram_into(&self, p: usize, q: usize, out: ArrayViewMut2<'_, f64>) {
        self.rows.cross_gram_into(p, q, out);
    }

    fn kept_factors(&self) -> Option<&KeptFactors> {
        self.factors.as_ref()
    }

    fn non_finite(&self) -> Option<usize> {
        self.rows.non_finite()
    }
}
