//! The whole curvature as its rows, `H_p = Ĵ_pᵀ Ĵ_p`, `Ĵ_p` = `S_iᵀ J_i` one below the other: never a `d × d` matrix.

use std::collections::VecDeque;

use ndarray::{Array2, Array3, ArrayView3, Axis, s};
use svn_linalg::{Factor, FactorizeDamped, LowRankPlusDiagonal, SelfAdjoint};
use tch::Tensor;

use super::{Accumulate, ParticleCurvature, check_decay, scale};
use crate::subject::Subject;
use crate::{CurvatureError, Linearization, Result};

/// Collects [`Full`]: the rows of all batches, or of the most recent ones.
#[derive(Debug)]
pub struct FullAccumulator {
    subject: Subject,
    batches: VecDeque<Batch>,
    capacity: Option<usize>,
}

/// One batch's rows, `N × bk × d`, and how much they count.
#[derive(Debug, Clone)]
struct Batch {
    rows: Array3<f64>,
    samples: usize,
    weight: f64,
}

impl FullAccumulator {
    /// Nothing yet, about the network, layers and particles of `like`; keeps every row.
    pub fn new(like: &Linearization) -> Self {
        Self {
            subject: like.subject().clone(),
            batches: VecDeque::new(),
            capacity: None,
        }
    }

    /// The same as a ring that keeps the rows of the `batches` most recent batches only.
    ///
    /// After a merge the other's batches count as the more recent ones.
    ///
    /// # Errors
    /// No batches.
    pub fn recent(like: &Linearization, batches: usize) -> Result<Self> {
        if batches == 0 {
            return Err(CurvatureError::OutOfRange {
                name: "batches",
                range: "at least 1",
                found: 0.0,
            });
        }
        Ok(Self {
            capacity: Some(batches),
            ..Self::new(like)
        })
    }

    fn forget_oldest(&mut self) {
        let capacity = self.capacity.unwrap_or(usize::MAX);
        while self.batches.len() > capacity {
            self.batches.pop_front();
        }
    }
}

impl Accumulate for FullAccumulator {
    type Curvature = Full;

    fn accumulate(&mut self, linearization: &Linearization, root: &Tensor) -> Result<()> {
        self.subject
            .check_same("linearization", linearization.subject())?;
        let columns = linearization.check_root(root)? as usize;
        let samples = linearization.batch();
        let mut rows = Array3::zeros((
            self.subject.particles,
            samples * columns,
            self.subject.dim(),
        ));
        linearization.rows_into(root, rows.view_mut())?;
        self.batches.push_back(Batch {
            rows,
            samples,
            weight: 1.0,
        });
        self.forget_oldest();
        Ok(())
    }

    fn decay(&mut self, factor: f64) -> Result<()> {
        check_decay(factor)?;
        for batch in &mut self.batches {
            batch.weight *= factor;
        }
        Ok(())
    }

    fn merge(&mut self, other: Self) -> Result<()> {
        self.subject.check_same("accumulator", &other.subject)?;
        self.batches.extend(other.batches);
        self.forget_oldest();
        Ok(())
    }

    fn samples(&self) -> f64 {
        self.batches
            .iter()
            .map(|batch| batch.weight * batch.samples as f64)
            .sum()
    }

    fn try_clone(&self) -> Result<Self> {
        Ok(Self {
            subject: self.subject.clone(),
            batches: self.batches.clone(),
            capacity: self.capacity,
        })
    }

    fn finish_for(self, rows: f64) -> Result<Full> {
        let scale = scale(rows, self.samples())?;
        let total = self
            .batches
            .iter()
            .map(|batch| batch.rows.len_of(Axis(1)))
            .sum();
        let mut rows = Array3::zeros((self.subject.particles, total, self.subject.dim()));
        let mut start = 0;
        for batch in self.batches {
            let end = start + batch.rows.len_of(Axis(1));
            let factor = (scale * batch.weight).sqrt();
            rows.slice_mut(s![.., start..end, ..])
                .zip_mut_with(&batch.rows, |row, value| *row = factor * value);
            start = end;
        }
        Ok(Full {
            rows,
            subject: self.subject,
        })
    }
}

/// The curvature of all particles, exact, as a product of rows.
#[derive(Debug, Clone)]
pub struct Full {
    rows: Array3<f64>,
    subject: Subject,
}

impl Full {
    /// `Ĵ`, `N × R × d`.
    pub fn rows(&self) -> ArrayView3<'_, f64> {
        self.rows.view()
    }

    /// `Ĵ_pᵀ Ĵ_p + shift · I`, with the rows borrowed.
    ///
    /// # Errors
    /// No such particle; a shift that is not finite.
    pub fn low_rank(&self, particle: usize, shift: f64) -> Result<LowRankPlusDiagonal<'_>> {
        self.subject.check_particle(particle)?;
        Ok(LowRankPlusDiagonal::with_shift(
            self.rows.index_axis(Axis(0), particle),
            1.0,
            shift,
        )?)
    }
}

impl ParticleCurvature for Full {
    fn particles(&self) -> usize {
        self.subject.particles
    }

    fn dim(&self) -> usize {
        self.subject.dim()
    }

    fn operator(&self, particle: usize) -> Result<Box<dyn SelfAdjoint + '_>> {
        Ok(Box::new(self.low_rank(particle, 0.0)?))
    }

    fn factor(&self, particle: usize, damping: f64) -> Result<Box<dyn Factor + '_>> {
        Ok(Box::new(
            self.low_rank(particle, 0.0)?.factorize_damped(damping)?,
        ))
    }

    fn dense(&self, particle: usize) -> Result<Array2<f64>> {
        self.subject.check_particle(particle)?;
        let rows = self.rows.index_axis(Axis(0), particle);
        Ok(rows.t().dot(&rows))
    }
}
