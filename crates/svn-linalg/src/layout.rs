//! Where each named parameter lives in the flat `d`-vector.
//!
//! ```text
//! φ = [ vec(W_1) | b_1 | vec(W_2) | … ]      each block row-major, one after the other, no gaps
//! ```

use std::collections::HashSet;
use std::ops::Range;

use ndarray::{ArrayView1, ArrayView2, ArrayViewD, Axis, IxDyn};
use serde::{Deserialize, Serialize};

/// One named parameter: its shape and its place in the flat vector.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ParameterBlock {
    name: String,
    shape: Vec<usize>,
    offset: usize,
    len: usize,
}

impl ParameterBlock {
    /// Name, unique in its layout, such as `layers.0.weight`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Shape; empty for a scalar.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// First index in the flat vector.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Never: a block has elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn size_error(&self) -> LayoutError {
        LayoutError::Size {
            name: self.name.clone(),
            shape: self.shape.clone(),
        }
    }

    /// Indices in the flat vector.
    pub fn range(&self) -> Range<usize> {
        self.offset..self.offset + self.len
    }
}

/// Named blocks with shapes, in the order in which they fill a flat vector.
///
/// Serialises as the list of names and shapes; offsets follow from it, so a file cannot contradict itself.
///
/// # Examples
/// ```
/// use svn_linalg::ParameterLayout;
///
/// let layout = ParameterLayout::new([("weight", vec![2, 3]), ("bias", vec![2])])?;
/// assert_eq!(layout.dim(), 8);
/// assert_eq!(layout.block("bias")?.range(), 6..8);
///
/// let flat = ndarray::Array1::range(0.0, 8.0, 1.0);
/// assert_eq!(layout.view("weight", flat.view())?[[1, 0]], 3.0);
/// # Ok::<(), svn_linalg::LayoutError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<NamedShape>", into = "Vec<NamedShape>")]
pub struct ParameterLayout {
    blocks: Vec<ParameterBlock>,
}

/// The serialised form of a block.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedShape {
    name: String,
    shape: Vec<usize>,
}

/// Why a layout could not be made or used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// Two blocks of one name.
    #[error("parameter {name:?} appears twice")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// A block without elements, or with more than fit in memory.
    #[error("parameter {name:?} of shape {shape:?} has no elements or too many")]
    Size {
        /// The name.
        name: String,
        /// The shape.
        shape: Vec<usize>,
    },
    /// A name that is not there.
    #[error("no parameter {name:?}; there are {known:?}")]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A flat vector (or a row of particles) of another length.
    #[error("flat parameter vector has {found} elements, the layout has {expected}")]
    Dimension {
        /// The layout's dimension `d`.
        expected: usize,
        /// The length given.
        found: usize,
    },
    /// A flat vector whose elements are not adjacent in memory.
    #[error("flat parameter vector is strided; copy it with to_owned() first")]
    Strided,
}

impl ParameterLayout {
    /// Blocks in order, offsets counted up.
    ///
    /// # Errors
    /// [`LayoutError::Duplicate`], [`LayoutError::Size`].
    pub fn new<N: Into<String>>(
        blocks: impl IntoIterator<Item = (N, Vec<usize>)>,
    ) -> Result<Self, LayoutError> {
        let mut offset = 0_usize;
        let mut names = HashSet::new();
        let mut placed = Vec::new();
        for (name, shape) in blocks {
            let name = name.into();
            if !names.insert(name.clone()) {
                return Err(LayoutError::Duplicate { name });
            }
            let len = shape
                .iter()
                .try_fold(1_usize, |n, &side| n.checked_mul(side));
            let end = len.and_then(|len| offset.checked_add(len));
            let (Some(len @ 1..), Some(end)) = (len, end) else {
                return Err(LayoutError::Size { name, shape });
            };
            placed.push(ParameterBlock {
                name,
                shape,
                offset,
                len,
            });
            offset = end;
        }
        Ok(Self { blocks: placed })
    }

    /// Length `d` of the flat vector.
    pub fn dim(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.range().end)
    }

    /// The blocks in order.
    pub fn blocks(&self) -> &[ParameterBlock] {
        &self.blocks
    }

    /// The block of this name.
    ///
    /// # Errors
    /// [`LayoutError::Unknown`] with the names there are.
    pub fn block(&self, name: &str) -> Result<&ParameterBlock, LayoutError> {
        self.blocks
            .iter()
            .find(|block| block.name == name)
            .ok_or_else(|| LayoutError::Unknown {
                name: name.to_owned(),
                known: self.blocks.iter().map(|block| block.name.clone()).collect(),
            })
    }

    /// One parameter of a flat vector, in its shape.
    ///
    /// # Errors
    /// [`LayoutError::Unknown`], [`LayoutError::Dimension`], [`LayoutError::Strided`].
    pub fn view<'a>(
        &self,
        name: &str,
        flat: ArrayView1<'a, f64>,
    ) -> Result<ArrayViewD<'a, f64>, LayoutError> {
        let block = self.block(name)?;
        self.check(flat.len())?;
        let slice = flat.to_slice().ok_or(LayoutError::Strided)?;
        shaped(block, &slice[block.range()])
    }

    /// All parameters of a flat vector in order, each in its shape.
    ///
    /// # Errors
    /// [`LayoutError::Dimension`], [`LayoutError::Strided`].
    pub fn split<'a>(
        &self,
        flat: ArrayView1<'a, f64>,
    ) -> Result<Vec<ArrayViewD<'a, f64>>, LayoutError> {
        self.check(flat.len())?;
        let slice = flat.to_slice().ok_or(LayoutError::Strided)?;
        self.blocks
            .iter()
            .map(|block| shaped(block, &slice[block.range()]))
            .collect()
    }

    /// The columns of each block of `N × d` particles: `N × len` views in order.
    ///
    /// # Errors
    /// [`LayoutError::Dimension`].
    pub fn split_particles<'a>(
        &self,
        particles: ArrayView2<'a, f64>,
    ) -> Result<Vec<ArrayView2<'a, f64>>, LayoutError> {
        self.check(particles.ncols())?;
        let mut rest = particles;
        Ok(self
            .blocks
            .iter()
            .map(|block| {
                let (head, tail) = rest.split_at(Axis(1), block.len);
                rest = tail;
                head
            })
            .collect())
    }

    fn check(&self, found: usize) -> Result<(), LayoutError> {
        let expected = self.dim();
        if found == expected {
            Ok(())
        } else {
            Err(LayoutError::Dimension { expected, found })
        }
    }
}

fn shaped<'a>(
    block: &ParameterBlock,
    slice: &'a [f64],
) -> Result<ArrayViewD<'a, f64>, LayoutError> {
    ArrayViewD::from_shape(IxDyn(&block.shape), slice).map_err(|_| block.size_error())
}

impl TryFrom<Vec<NamedShape>> for ParameterLayout {
    type Error = LayoutError;

    fn try_from(blocks: Vec<NamedShape>) -> Result<Self, LayoutError> {
        Self::new(blocks.into_iter().map(|block| (block.name, block.shape)))
    }
}

impl From<ParameterLayout> for Vec<NamedShape> {
    fn from(layout: ParameterLayout) -> Self {
        let named = |block: ParameterBlock| NamedShape {
            name: block.name,
            shape: block.shape,
        };
        layout.blocks.into_iter().map(named).collect()
    }
}
