//! Exponential moving averages of a curvature over batches, the newest of which can be taken back.
//!
//! ```text
//! A_t = β A_{t−1} + Σ_{i ∈ batch t} J_iᵀ S_i S_iᵀ J_i      m_t = β m_{t−1} + b_t      H = (n / m_t) A_t
//! ```
//!
//! Every row of a batch counts alike, so a shorter last batch counts less; the factor `1/m` leaves no bias towards the
//! start. `β = 1 − 1/L` lets the weights of the batches sum to `L`; with `L = 1` the last batch alone is left.

use ndarray::ArrayView4;
use svn_curvature::{Accumulate, AccumulatedSums, EkfacAccumulator, KfacAccumulator, Linearized};
use svn_linalg::Shifted;
use svn_stein::Curvature;

use super::collect::{Collect, SavedCollector, other_settings};
use crate::ModelError;

/// A moving average of the sums of one family, and the curvature made of it.
#[derive(Debug)]
pub(super) struct MovingAverage<A: Accumulate> {
    /// Batches before the current one, decayed already.
    past: A,
    with_batch: A,
    decay: f64,
    /// Training rows `n`.
    rows: usize,
    /// Whether the curvature is made anew at each step, for families that have nothing to decompose.
    eager: bool,
    /// The curvature in use and, unless eager, the sums that it was made of.
    latest: Option<(A::Curvature, Option<A>)>,
    behind: usize,
}

impl<A: Accumulate> MovingAverage<A> {
    /// Nothing yet, or the past, in `past`.
    pub(super) fn new(past: A, decay: f64, rows: usize, eager: bool) -> Self {
        Self {
            with_batch: past.clone(),
            past,
            decay,
            rows,
            eager,
            latest: None,
            behind: 0,
        }
    }

    /// The curvature of the sums, and a copy of them where a checkpoint will want it.
    fn finish(&self) -> Result<(A::Curvature, Option<A>), ModelError> {
        let curvature = self.with_batch.clone().finish_for(self.rows as f64)?;
        let sums = match self.eager {
            true => None,
            false => Some(self.with_batch.clone()),
        };
        Ok((curvature, sums))
    }

    /// The sums, the current batch among them, and those that the curvature in use was made of.
    fn sums(&self) -> Vec<AccumulatedSums> {
        let made_of = self.latest.as_ref().and_then(|(_, sums)| sums.as_ref());
        let all = [Some(&self.with_batch), made_of];
        let all = all.into_iter().flatten();
        all.map(A::sums).collect()
    }

    fn set_sums(&mut self, sums: &[AccumulatedSums]) -> Result<(), ModelError> {
        let Some((with_batch, made_of)) = sums.split_first().filter(|(_, rest)| rest.len() < 2)
        else {
            return Err(other_settings());
        };
        if let Some(made_of) = made_of.first() {
            // The accumulator serves both, one after the other.
            self.with_batch.set_sums(made_of)?;
            self.latest = Some(self.finish()?);
        }
        self.with_batch.set_sums(with_batch)?;
        Ok(())
    }
}

impl<A: Accumulate> Collect for MovingAverage<A> {
    fn advance(&mut self) -> Result<(), ModelError> {
        self.past = self.with_batch.clone();
        self.behind += 1;
        Ok(self.past.decay(self.decay)?)
    }

    fn set_batch(
        &mut self,
        linear: &dyn Linearized,
        root: ArrayView4<'_, f64>,
        _renew: bool,
    ) -> Result<(), ModelError> {
        let mut with_batch = self.past.clone();
        with_batch.accumulate(linear, root)?;
        self.with_batch = with_batch;
        Ok(())
    }

    fn curvature(
        &mut self,
        weight: f64,
        shift: f64,
        renew: bool,
    ) -> Result<Curvature<'_>, ModelError> {
        let latest = match self.latest.take() {
            Some(latest) if !renew && !self.eager => latest,
            _ => {
                self.behind = 0;
                self.finish()?
            }
        };
        let (curvature, _) = &*self.latest.insert(latest);
        Ok(Box::new(Shifted::new(curvature, weight, shift)))
    }

    fn age(&self) -> usize {
        self.behind
    }

    fn save(&self) -> Result<SavedCollector, ModelError> {
        Ok(SavedCollector {
            ring: None,
            arrays: Vec::new(),
            sums: self.sums(),
            behind: self.behind,
            weight: None,
        })
    }

    fn restore(&mut self, saved: SavedCollector) -> Result<(), ModelError> {
        self.set_sums(&saved.sums)?;
        self.behind = saved.behind;
        Ok(())
    }
}

/// EKFAC: a moving average of the factors gives eigenbases now and then, and one of the spectrum in them follows each batch.
///
/// With new bases the spectrum starts as the product of the factors of the past on the diagonal in them, the best that
/// is known of batches that are gone.
#[derive(Debug)]
pub(super) struct EigenAverage {
    factors: MovingAverage<KfacAccumulator>,
    spectrum: Option<MovingAverage<EkfacAccumulator>>,
}

impl EigenAverage {
    /// Nothing yet.
    pub(super) fn new(factors: KfacAccumulator, decay: f64, rows: usize) -> Self {
        Self {
            factors: MovingAverage::new(factors, decay, rows, false),
            spectrum: None,
        }
    }

    /// A spectrum in the eigenbases of the factors in use, from the past of the factors.
    fn renewed(&self) -> Result<Option<MovingAverage<EkfacAccumulator>>, ModelError> {
        let factors = &self.factors;
        let Some((bases, _)) = &factors.latest else {
            return Ok(None);
        };
        let past = EkfacAccumulator::with_past(bases, &factors.past)?;
        let average = MovingAverage::new(past, factors.decay, factors.rows, true);
        Ok(Some(average))
    }
}

impl Collect for EigenAverage {
    fn advance(&mut self) -> Result<(), ModelError> {
        self.factors.advance()?;
        match &mut self.spectrum {
            Some(spectrum) => spectrum.advance(),
            None => Ok(()),
        }
    }

    fn set_batch(
        &mut self,
        linear: &dyn Linearized,
        root: ArrayView4<'_, f64>,
        renew: bool,
    ) -> Result<(), ModelError> {
        self.factors.set_batch(linear, root, renew)?;
        if renew || self.spectrum.is_none() {
            self.factors.latest = Some(self.factors.finish()?);
            self.spectrum = self.renewed()?;
        }
        match &mut self.spectrum {
            Some(spectrum) => spectrum.set_batch(linear, root, renew),
            None => Ok(()),
        }
    }

    fn curvature(
        &mut self,
        weight: f64,
        shift: f64,
        renew: bool,
    ) -> Result<Curvature<'_>, ModelError> {
        match &mut self.spectrum {
            Some(spectrum) => spectrum.curvature(weight, shift, renew),
            None => self.factors.curvature(weight, shift, renew),
        }
    }

    /// The spectrum knows of each batch.
    fn age(&self) -> usize {
        0
    }

    fn save(&self) -> Result<SavedCollector, ModelError> {
        let mut saved = self.factors.save()?;
        if let Some(spectrum) = &self.spectrum {
            saved.sums.extend(spectrum.sums());
        }
        Ok(saved)
    }

    fn restore(&mut self, mut saved: SavedCollector) -> Result<(), ModelError> {
        let spectrum = saved.sums.split_off(saved.sums.len().min(2));
        self.factors.restore(saved)?;
        self.spectrum = self.renewed()?;
        match &mut self.spectrum {
            Some(average) => average.set_sums(&spectrum),
            None => Ok(()),
        }
    }
}
