//! Curvature restricted to some coordinates, for last-layer methods.

use ndarray::{Array2, Array3, ArrayView2, Axis};
use serde::{Deserialize, Serialize};

use crate::error::SteinError;
use crate::target::{Curvature, FactoredCurvature, LowRank};

/// A set of coordinates of a particle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Coordinates {
    /// `start .. end`, as the last layer of a network is.
    Range {
        /// First coordinate.
        start: usize,
        /// One past the last.
        end: usize,
    },
    /// Any, ascending.
    Indices(Vec<usize>),
}

impl Coordinates {
    /// The coordinates, ascending.
    pub fn indices(&self) -> Vec<usize> {
        match self {
            Self::Range { start, end } => (*start..*end).collect(),
            Self::Indices(indices) => indices.clone(),
        }
    }

    /// Check that they are some, ascending and below `dim`.
    ///
    /// # Errors
    /// [`SteinError::Setting`].
    pub fn validate(&self, dim: usize) -> Result<(), SteinError> {
        let indices = self.indices();
        let ascending = indices.windows(2).all(|w| w[0] < w[1]);
        match indices.last() {
            Some(&last) if ascending && last < dim => Ok(()),
            _ => Err(SteinError::Setting {
                name: "coordinates",
                value: format!("{self:?} of {dim}"),
                expected: "at least one coordinate, ascending, each below the dimension",
            }),
        }
    }
}

/// Curvature of some coordinates that owns its entries, or the target's own if that is restricted already.
#[derive(Debug)]
pub(crate) enum Restricted<'a> {
    LowRank {
        rows: Array3<f64>,
        weight: f64,
        shift: f64,
    },
    Diagonal(Array2<f64>),
    Dense(Array3<f64>),
    Factored(&'a dyn FactoredCurvature),
}

impl<'a> Restricted<'a> {
    /// From the curvature of all `dim` coordinates, or of these coordinates alone.
    pub fn new(
        curvature: &Curvature<'a>,
        indices: &[usize],
        dim: usize,
    ) -> Result<Self, SteinError> {
        let (n, found) = curvature.shape();
        let whole = found == dim;
        if !whole && found != indices.len() {
            return Err(SteinError::Shape {
                what: "curvature of the selected coordinates",
                found: vec![n, found],
                expected: vec![n, indices.len()],
            });
        }
        let take = |a: ArrayView2<'_, f64>| {
            if whole {
                a.select(Axis(1), indices)
            } else {
                a.to_owned()
            }
        };
        Ok(match curvature {
            Curvature::LowRank(low) => Self::LowRank {
                rows: {
                    let rows: Vec<_> = (0..n)
                        .map(|p| take(low.rows.written_out(p).view()))
                        .collect();
                    let mut stacked = Array3::zeros((n, low.rows.count(), indices.len()));
                    for (mut out, rows) in stacked.outer_iter_mut().zip(&rows) {
                        out.assign(rows);
                    }
                    stacked
                },
                weight: low.weight,
                shift: low.shift,
            },
            Curvature::Diagonal(h) => Self::Diagonal(take(h.view())),
            Curvature::Dense(h) if whole => {
                Self::Dense(h.select(Axis(1), indices).select(Axis(2), indices))
            }
            Curvature::Dense(h) => Self::Dense(h.to_owned()),
            Curvature::Factored(f) if !whole || indices.len() == dim => Self::Factored(*f),
            Curvature::Factored(_) => {
                return Err(SteinError::Shape {
                    what: "factored curvature, which the target has to restrict itself,",
                    found: vec![n, dim],
                    expected: vec![n, indices.len()],
                });
            }
        })
    }

    pub fn view(&self) -> Curvature<'_> {
        match self {
            Self::LowRank {
                rows,
                weight,
                shift,
            } => Curvature::LowRank(LowRank {
                rows,
                weight: *weight,
                shift: *shift,
            }),
            Self::Diagonal(h) => Curvature::Diagonal(h.view()),
            Self::Dense(h) => Curvature::Dense(h.view()),
            Self::Factored(f) => Curvature::Factored(*f),
        }
    }
}
