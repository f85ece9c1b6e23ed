//! Curvature of recent batches in the form of its family.
//!
//! ```text
//! full        H_p = (w/L) Σ_{last L batches} (n/b) Σ_i J_iᵀ R_i R_iᵀ J_i + δ I        rows, or one layer's matrix
//! diag, kfac  H_p = w (moving average over batches) + δ I
//! ```
//!
//! The noise weight `w` stays outside, so that older batches follow a noise that is still learned.

use super::average::MovingAverage;
use super::curvature::RowsByLayer;
use super::kronecker::KroneckerCurvature;
use super::{CurvatureFamily, CurvatureSettings, RowRing};
use crate::ModelError;
use ndarray::{Array2, Array3, s};
use svn_curvature::{
    Accumulate, Diag, DiagAccumulator, KfacAccumulator, LayerGgn, LayeredRows, Linearization,
    ParameterLayout,
};
use svn_stein::{Curvature, LowRank};
use tch::Tensor;

/// Rows written out may take this much memory in all.
const LARGEST_ROWS: usize = 8 << 30;

/// So many rows are kept as such even where they are more than the parameters: their Gram matrix is small as well.
const SMALL_ROWS: usize = 512;

/// Parameters of a layer up to which its curvature is kept as a matrix.
const LARGEST_MATRIX: usize = 4096;

/// What stays the same over a posterior's life.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub settings: CurvatureSettings,
    /// Rows of a full batch.
    pub batch: usize,
    /// Training rows `n`.
    pub rows: usize,
    /// Prior precision `δ`.
    pub shift: f64,
}

/// Curvature of recent batches.
#[derive(Debug)]
pub(super) struct Accumulated {
    pub(super) shape: Shape,
    pub(super) family: Family,
    /// Batches since the first.
    pub(super) step: usize,
    /// The newest batch that the curvature in use knows of.
    pub(super) newest: usize,
}

#[derive(Debug)]
pub(super) enum Family {
    ByLayer(RowRing, RowsByLayer),
    WrittenOut(RowRing, Array3<f64>),
    /// One layer with fewer parameters than rows: the sums of the batches and `w H_p + δ`.
    Matrix {
        ring: RowRing,
        batches: LayerGgn,
        matrices: Array3<f64>,
    },
    Diag {
        average: MovingAverage<DiagAccumulator>,
        latest: Option<Diag>,
        /// `w h_p + δ`.
        diagonal: Array2<f64>,
    },
    Kfac {
        average: MovingAverage<KfacAccumulator>,
        fan_ins: Vec<usize>,
        latest: Option<Decomposed>,
    },
}

/// Factors in use and the sums that they were decomposed from.
#[derive(Debug)]
pub(super) struct Decomposed {
    pub curvature: KroneckerCurvature,
    pub sums: KfacAccumulator,
}

impl Decomposed {
    /// The curvature of `sums`, scaled to `rows` rows.
    pub fn new(
        sums: KfacAccumulator,
        rows: usize,
        fan_ins: &[usize],
        weight: f64,
        shift: f64,
    ) -> Result<Self, ModelError> {
        let kfac = sums.try_clone()?.finish_for(rows as f64)?;
        Ok(Self {
            curvature: KroneckerCurvature::new(&kfac, fan_ins, weight, shift)?,
            sums,
        })
    }
}

impl Accumulated {
    /// Nothing yet, for networks like that of `linear` with `columns` columns in the root.
    pub fn new(
        linear: &Linearization,
        layout: &ParameterLayout,
        columns: usize,
        shape: Shape,
    ) -> Result<Self, ModelError> {
        let settings = &shape.settings;
        let family = match settings.family {
            CurvatureFamily::Full => rows(linear, columns, &shape)?,
            CurvatureFamily::Diag => Family::Diag {
                average: MovingAverage::new(DiagAccumulator::new(linear)?, settings.decay())?,
                latest: None,
                diagonal: Array2::zeros((linear.particles(), linear.dim())),
            },
            CurvatureFamily::Kfac => Family::Kfac {
                average: MovingAverage::new(KfacAccumulator::new(linear)?, settings.decay())?,
                fan_ins: fan_ins(layout, linear.dim()),
                latest: None,
            },
        };
        Ok(Self {
            shape,
            family,
            step: 0,
            newest: 0,
        })
    }

    /// A new batch begins.
    pub fn next_batch(&mut self) -> Result<(), ModelError> {
        self.step += 1;
        if !self.is_due() {
            return Ok(());
        }
        match &mut self.family {
            Family::ByLayer(ring, _)
            | Family::WrittenOut(ring, _)
            | Family::Matrix { ring, .. } => ring.advance(),
            Family::Diag { average, .. } => average.advance()?,
            Family::Kfac { average, .. } => average.advance()?,
        }
        Ok(())
    }

    /// Whether the current batch is one that is added.
    pub fn is_due(&self) -> bool {
        self.step.is_multiple_of(self.shape.settings.every)
    }

    /// Steps since the oldest rows in use were written; for a moving average since the newest batch in use.
    pub fn age(&self) -> usize {
        let behind = self.step - self.newest;
        match &self.family {
            Family::ByLayer(ring, _)
            | Family::WrittenOut(ring, _)
            | Family::Matrix { ring, .. } => behind + ring.age() * self.shape.settings.every,
            Family::Diag { .. } | Family::Kfac { .. } => behind,
        }
    }

    /// Add the current batch, in place of what was added of it before.
    pub fn set_batch(&mut self, linear: &Linearization, root: &Tensor) -> Result<(), ModelError> {
        let columns = root.size().last().copied().unwrap_or(1) as usize;
        let scale = (self.shape.rows as f64 / linear.batch() as f64).sqrt();
        match &mut self.family {
            Family::ByLayer(ring, rows) => {
                rows.0.write(linear, &(root * scale), ring.slot())?;
                self.newest = self.step;
            }
            Family::WrittenOut(ring, rows) => {
                let (slot, filled) = (ring.slot(), linear.batch() * columns);
                rows.slice_mut(s![.., slot.start + filled..slot.end, ..])
                    .fill(0.0);
                linear.rows_into(
                    &(root * scale),
                    rows.slice_mut(s![.., slot.start..slot.start + filled, ..]),
                )?;
                self.newest = self.step;
            }
            Family::Matrix { ring, batches, .. } => {
                batches.write(linear, &(root * scale), ring.index())?;
                self.newest = self.step;
            }
            Family::Diag {
                average, latest, ..
            } => {
                average.set_batch(linear, root)?;
                *latest = Some(average.finish_for(self.shape.rows)?);
                self.newest = self.step;
            }
            Family::Kfac { average, .. } => average.set_batch(linear, root)?,
        }
        Ok(())
    }

    /// The curvature in use under noise weight `w`.
    pub fn curvature(&mut self, weight: f64) -> Result<Curvature<'_>, ModelError> {
        let shift = self.shape.shift;
        let decompose = self.decomposes();
        let last_added = self.step - self.step % self.shape.settings.every;
        match &mut self.family {
            Family::ByLayer(ring, rows) => Ok(Curvature::LowRank(LowRank {
                rows,
                weight: weight * ring.weight(),
                shift,
            })),
            Family::WrittenOut(ring, rows) => Ok(Curvature::LowRank(LowRank {
                rows,
                weight: weight * ring.weight(),
                shift,
            })),
            Family::Matrix {
                ring,
                batches,
                matrices,
            } => {
                let scale = weight * ring.weight();
                for (p, matrix) in matrices.outer_iter_mut().enumerate() {
                    batches.dense_into(p, scale, shift, matrix);
                }
                Ok(Curvature::Dense(matrices.view()))
            }
            Family::Diag {
                latest, diagonal, ..
            } => {
                if let Some(latest) = latest {
                    diagonal.zip_mut_with(&latest.diagonal(), |out, h| *out = weight * h + shift);
                }
                Ok(Curvature::Diagonal(diagonal.view()))
            }
            Family::Kfac {
                average,
                fan_ins,
                latest,
            } => {
                let current = match latest.take() {
                    Some(mut current) if !decompose => {
                        current.curvature.set_weight(weight)?;
                        current
                    }
                    _ => {
                        self.newest = last_added;
                        let sums = average.copy()?;
                        Decomposed::new(sums, self.shape.rows, fan_ins, weight, shift)?
                    }
                };
                Ok(Curvature::Factored(&latest.insert(current).curvature))
            }
        }
    }

    /// Whether Kronecker factors are decomposed at this step.
    fn decomposes(&self) -> bool {
        let refresh = self.shape.settings.refresh;
        self.step.is_multiple_of(refresh) || (self.step < refresh && self.step.is_power_of_two())
    }
}

/// A ring of rows, by layer where the network has that form, else written out; their matrix where it is one layer with
/// fewer parameters than rows.
fn rows(linear: &Linearization, columns: usize, shape: &Shape) -> Result<Family, ModelError> {
    let ring = RowRing::new(shape.settings.accumulated_batches, shape.batch * columns);
    if ring.capacity() > linear.dim().max(SMALL_ROWS)
        && linear.dim() <= LARGEST_MATRIX
        && let Some(batches) = LayerGgn::new(linear, ring.slots())
    {
        let matrices = Array3::zeros((linear.particles(), linear.dim(), linear.dim()));
        return Ok(Family::Matrix {
            ring,
            batches,
            matrices,
        });
    }
    if let Some(rows) = LayeredRows::new(linear, ring.capacity()) {
        return Ok(Family::ByLayer(ring, RowsByLayer(rows)));
    }
    let size = (linear.particles(), ring.capacity(), linear.dim());
    let bytes = [size.0, size.1, size.2]
        .iter()
        .fold(size_of::<f64>(), |product, side| {
            product.saturating_mul(*side)
        });
    if bytes > LARGEST_ROWS {
        return Err(ModelError::setting(
            "curvature family",
            format!(
                "full, whose {} particles × {} rows × {} parameters take {} GiB",
                size.0,
                size.1,
                size.2,
                bytes >> 30
            ),
            &format!(
                "diag or kfac, a sampled root, the last layer or fewer accumulated batches: rows of at most {} GiB",
                LARGEST_ROWS >> 30
            ),
        ));
    }
    Ok(Family::WrittenOut(ring, Array3::zeros(size)))
}

/// Fan-ins of the last affine layers that together have `dim` parameters.
fn fan_ins(layout: &ParameterLayout, dim: usize) -> Vec<usize> {
    let start = layout.dim() - dim;
    layout
        .blocks()
        .iter()
        .filter(|block| block.range().start >= start && block.shape().len() > 1)
        .map(|block| block.shape()[1..].iter().product())
        .collect()
}
