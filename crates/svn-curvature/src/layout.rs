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
    /// Name, such as `0.weight`.
    pub name: String,
    /// Shape, row-major.
    pub shape: Vec<usize>,
    /// Place in the flat vector.
    pub range: Range<usize>,
}

impl ParameterLayout {
    /// Appends a block.
    pub fn push(&mut self, name: impl Into<String>, shape: &[usize]) -> Range<usize> {
        let start = self.dim();
        let range = start..start + shape.iter().product::<usize>();
        self.blocks.push(ParameterBlock { name: name.into(), shape: shape.to_vec(), range: range.clone() });
        range
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
