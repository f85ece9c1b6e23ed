//! Names, shapes and places of the parameters in one particle's flat vector.

use std::ops::Range;

/// Named blocks of a flat `d`-vector, one behind the other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParameterLayout {
    blocks: Vec<ParameterBlock>,
}

/// One parameter of the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterBlock {
    name: String,
    shape: Vec<usize>,
    range: Range<usize>,
}

impl ParameterBlock {
    /// Name, such as `0.weight`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Shape, row-major.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Place in the flat vector.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }
}

impl ParameterLayout {
    pub(crate) fn new(
        blocks: impl IntoIterator<Item = (String, Vec<usize>)>,
    ) -> Result<Self, std::convert::Infallible> {
        let mut start = 0;
        let placed = blocks.into_iter().map(|(name, shape)| {
            let range = start..start + shape.iter().product::<usize>();
            start = range.end;
            ParameterBlock { name, shape, range }
        });
        Ok(Self {
            blocks: placed.collect(),
        })
    }

    /// The blocks in order.
    pub fn blocks(&self) -> &[ParameterBlock] {
        &self.blocks
    }

    /// `d`.
    pub fn dim(&self) -> usize {
        self.blocks.last().map_or(0, |b| b.range.end)
    }
}
