//! `v_c(x) = j_c(x) H⁻¹ j_c(x)ᵀ` of one member's outputs.
//!
//! By a solve with the factor for each gradient `j_c`. In the last layer that is a detour: there `j_c` is the layer's input `ã = (a, 1)` at the
//! parameters `S_c` of output `c` and zero elsewhere, so that
//!
//! ```text
//! v_c = ãᵀ (H⁻¹)_{S_c S_c} ã
//! ```
//!
//! needs of `H⁻¹` one small block an output, made once. A scaling behind the layer is in its `ã`.

use ndarray::{Array1, Array2, Array4, ArrayView2, ArrayViewMut2, Axis};
use svn_curvature::{Layer, Linearized, Sequential};
use svn_linalg::{Factor, dense};

use super::laplace::not_factored;
use super::member_curvature::{MemberCurvature, Part};
use crate::ModelError;

/// What the variances of a member's first outputs take.
pub(super) enum OutputVariances<'a> {
    Solved {
        factor: Box<dyn Factor + 'a>,
        outputs: usize,
    },
    LastLayer {
        /// `S_0`, among the layer's parameters.
        first: Vec<usize>,
        /// `(H⁻¹)_{S_c S_c}`.
        blocks: Vec<Array2<f64>>,
    },
}

impl<'a> OutputVariances<'a> {
    /// Of the curvature of `part` of the network, factored.
    pub(super) fn new(
        (network, part): (&Sequential, Part),
        curvature: &MemberCurvature,
        (member, outputs): (usize, usize),
        factor: Box<dyn Factor + 'a>,
    ) -> Result<Self, ModelError> {
        // Of few rows the layer may be wide, and its blocks with it.
        let blocked = part == Part::LastLayer && matches!(curvature, MemberCurvature::Dense(_));
        let Some(first) = own_parameters(network, 0).filter(|_| blocked) else {
            return Ok(Self::Solved { factor, outputs });
        };
        let block = |output| {
            let own = own_parameters(network, output).unwrap_or_default();
            let mut select = Array2::zeros((factor.dim(), own.len()));
            for (column, &place) in own.iter().enumerate() {
                select[(place, column)] = 1.0;
            }
            let columns = factor.solve(select.view());
            let columns = columns.map_err(|error| not_factored(member, error))?;
            Ok(columns.select(Axis(0), &own))
        };
        Ok(Self::LastLayer {
            first,
            blocks: (0..outputs).map(block).collect::<Result<_, ModelError>>()?,
        })
    }

    /// Of the samples that `linear` has one particle at, rows × outputs.
    pub(super) fn at(
        &self,
        linear: &dyn Linearized,
        mut out: ArrayViewMut2<'_, f64>,
    ) -> Result<(), ModelError> {
        match self {
            Self::Solved { factor, outputs } => {
                for output in 0..*outputs {
                    let gradients = output_gradients(linear, output)?;
                    let variances = factor.inverse_quadratic(gradients.view());
                    out.column_mut(output).assign(&variances);
                }
            }
            Self::LastLayer { first, blocks } => {
                let inputs = output_gradients(linear, 0)?.select(Axis(1), first);
                for (block, mut out) in blocks.iter().zip(out.columns_mut()) {
                    out.assign(&quadratics(inputs.view(), block.view()));
                }
            }
        }
        Ok(())
    }
}

/// `xᵀ B x` of the rows of `x`.
fn quadratics(x: ArrayView2<'_, f64>, block: ArrayView2<'_, f64>) -> Array1<f64> {
    let product = dense::product(x, block);
    let rows = product.rows().into_iter().zip(x.rows());
    // Rounding may leave less than nothing.
    rows.map(|(product, x)| dense::dot(product, x).max(0.0))
        .collect()
}

/// Where the weights of an output lie among those of the last layer, and behind them its bias if it has one: `[vec W | β]`, `W`: O × K row-major.
/// None where a network does not end in that layer.
fn own_parameters(network: &Sequential, output: usize) -> Option<Vec<usize>> {
    let Some(&Layer::Linear {
        inputs,
        outputs,
        bias,
    }) = network
        .layers()
        .iter()
        .rfind(|layer| !matches!(layer, Layer::Scale(_)))
    else {
        return None;
    };
    let bias = bias.then_some(outputs * inputs + output);
    let weights = output * inputs..(output + 1) * inputs;
    Some(weights.chain(bias).collect())
}

/// `∂f_c/∂φ`, one row a sample.
fn output_gradients(linear: &dyn Linearized, output: usize) -> Result<Array2<f64>, ModelError> {
    // A root with a one at the output: its rows are the gradients.
    let (members, rows, outputs) = linear.outputs().dim();
    let mut root = Array4::zeros((members, rows, outputs, 1));
    root.index_axis_mut(Axis(2), output).fill(1.0);
    Ok(linear.rows(root.view())?.index_axis_move(Axis(0), 0))
}
