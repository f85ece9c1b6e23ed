//! Curvature restricted to some coordinates, for last-layer methods.

use serde::{Deserialize, Serialize};
use svn_linalg::ParticleOperators;

use crate::error::SteinError;
use crate::target::Curvature;

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

/// The target's curvature of these coordinates: all of it, where the target knows no others.
///
/// # Errors
/// [`SteinError::Shape`] if it is neither that of all `dim` coordinates nor that of these alone.
pub(crate) fn restrict<'a>(
    curvature: &'a dyn ParticleOperators,
    indices: &[usize],
    dim: usize,
) -> Result<Curvature<'a>, SteinError> {
    match curvature.dim() {
        found if found == indices.len() => Ok(Box::new(curvature)),
        found if found == dim => Ok(curvature.restrict(indices)),
        found => Err(SteinError::Shape {
            what: "curvature of the selected coordinates",
            found: vec![curvature.particles(), found],
            expected: vec![curvature.particles(), indices.len()],
        }),
    }
}
