//! What the members' densities are beside their moments, and their components.

use ndarray::{Array, Array2, Array3, Axis, Dimension, RemoveAxis};

use super::{Component, Family};
use crate::likelihood::Levels;

/// Gaussians and Student t follow from a member's mean and variance; of others there is more to keep.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    Gaussian,
    StudentT {
        degrees: f64,
    },
    /// Probabilities of levels, by locations and squared scales of a logistic density, `N × n`.
    Ordinal {
        levels: Levels,
        locations: Array2<f64>,
        squared_scales: Array2<f64>,
    },
    /// Gaussians, each `N × n × K`; variances without those of Laplace approximations.
    Mixture {
        log_weights: Array3<f64>,
        locations: Array3<f64>,
        variances: Array3<f64>,
    },
}

impl Shape {
    pub(super) fn family(&self) -> Family {
        match self {
            Self::StudentT { degrees } => Family::StudentT { degrees: *degrees },
            Self::Ordinal { levels, .. } => Family::Ordinal(*levels),
            Self::Gaussian | Self::Mixture { .. } => Family::Gaussian,
        }
    }

    pub(super) fn components_per_member(&self) -> usize {
        match self {
            Self::Mixture { locations, .. } => locations.dim().2,
            _ => 1,
        }
    }

    /// Component `k` of a member at a row, without its Laplace variance; none where it follows from the moments.
    pub(super) fn component(&self, at: [usize; 2], k: usize) -> Option<Component> {
        let [member, row] = at;
        match self {
            Self::Gaussian | Self::StudentT { .. } => None,
            Self::Ordinal {
                locations,
                squared_scales,
                ..
            } => Some(Component {
                log_weight: 0.0,
                location: locations[at],
                squared_scale: squared_scales[at],
            }),
            Self::Mixture {
                log_weights,
                locations,
                variances,
            } => Some(Component {
                log_weight: log_weights[[member, row, k]],
                location: locations[[member, row, k]],
                squared_scale: variances[[member, row, k]],
            }),
        }
    }

    /// In other units: `m + s y` for what is `y` here.
    pub(super) fn rescaled(self, mean: f64, scale: f64) -> Self {
        let square = scale * scale;
        match self {
            Self::Gaussian | Self::StudentT { .. } => self,
            Self::Ordinal {
                levels,
                locations,
                squared_scales,
            } => Self::Ordinal {
                levels: levels.rescaled(mean, scale),
                locations: locations.mapv_into(|y| mean + scale * y),
                squared_scales: squared_scales.mapv_into(|v| square * v),
            },
            Self::Mixture {
                log_weights,
                locations,
                variances,
            } => Self::Mixture {
                log_weights,
                locations: locations.mapv_into(|y| mean + scale * y),
                variances: variances.mapv_into(|v| square * v),
            },
        }
    }

    /// One of the shapes of parts, whose rows go to their places in `rows` in all.
    pub(super) fn gathered(rows: usize, parts: &[(&[usize], &Self)]) -> Option<Self> {
        let (_, first) = parts.first()?;
        match first {
            Self::Gaussian | Self::StudentT { .. } => {
                let alike = parts.iter().all(|(_, shape)| shape == first);
                alike.then(|| (*first).clone())
            }
            Self::Ordinal { levels, .. } => {
                let mut arrays = Vec::new();
                for (places, shape) in parts {
                    let Self::Ordinal {
                        levels: own,
                        locations,
                        squared_scales,
                    } = shape
                    else {
                        return None;
                    };
                    if own != levels {
                        return None;
                    }
                    arrays.push((*places, locations, squared_scales));
                }
                Some(Self::Ordinal {
                    levels: *levels,
                    locations: scattered(rows, arrays.iter().map(|part| (part.0, part.1)))?,
                    squared_scales: scattered(rows, arrays.iter().map(|part| (part.0, part.2)))?,
                })
            }
            Self::Mixture { .. } => {
                let mut arrays = Vec::new();
                for (places, shape) in parts {
                    let Self::Mixture {
                        log_weights,
                        locations,
                        variances,
                    } = shape
                    else {
                        return None;
                    };
                    arrays.push((*places, log_weights, locations, variances));
                }
                Some(Self::Mixture {
                    log_weights: scattered(rows, arrays.iter().map(|part| (part.0, part.1)))?,
                    locations: scattered(rows, arrays.iter().map(|part| (part.0, part.2)))?,
                    variances: scattered(rows, arrays.iter().map(|part| (part.0, part.3)))?,
                })
            }
        }
    }

    /// These rows, in this order.
    pub(super) fn select(&self, rows: &[usize]) -> Self {
        match self {
            Self::Gaussian | Self::StudentT { .. } => self.clone(),
            Self::Ordinal {
                levels,
                locations,
                squared_scales,
            } => Self::Ordinal {
                levels: *levels,
                locations: locations.select(Axis(1), rows),
                squared_scales: squared_scales.select(Axis(1), rows),
            },
            Self::Mixture {
                log_weights,
                locations,
                variances,
            } => Self::Mixture {
                log_weights: log_weights.select(Axis(1), rows),
                locations: locations.select(Axis(1), rows),
                variances: variances.select(Axis(1), rows),
            },
        }
    }
}

/// Rows (axis 1) of parts put to their places among `rows`.
pub(super) fn scattered<'a, D: Dimension + RemoveAxis + 'a>(
    rows: usize,
    parts: impl Iterator<Item = (&'a [usize], &'a Array<f64, D>)> + Clone,
) -> Option<Array<f64, D>> {
    let (_, first) = parts.clone().next()?;
    let mut dim = first.raw_dim();
    dim[1] = rows;
    let mut whole = Array::zeros(dim);
    for (places, part) in parts {
        for (row, &place) in places.iter().enumerate() {
            whole
                .index_axis_mut(Axis(1), place)
                .assign(&part.index_axis(Axis(1), row));
        }
    }
    Some(whole)
}
