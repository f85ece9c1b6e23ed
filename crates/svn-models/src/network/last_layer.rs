//! Where the last affine layer's parameters lie in a network's flat vector.

use super::affine_layers;
use svn_curvature::Sequential;
use svn_stein::Coordinates;

/// The coordinates of weight and bias of the last affine layer: those of
/// [`CurvaturePart::LastLayer`](crate::posterior::CurvaturePart::LastLayer), for
/// [`Method::LlSvn`](svn_stein::Method::LlSvn).
///
/// # Examples
/// ```
/// use svn_models::curvature::Activation;
/// use svn_models::network::{MlpSettings, last_layer};
/// use svn_models::stein::Coordinates;
///
/// let network = MlpSettings { inputs: 6, hidden: vec![50], outputs: 2, activation: Activation::Relu }.build()?;
/// assert_eq!(last_layer(&network), Coordinates::Range { start: 350, end: 350 + 2 * 50 + 2 });
/// # Ok::<(), svn_models::ModelError>(())
/// ```
pub fn last_layer(network: &Sequential) -> Coordinates {
    let last = affine_layers(network).pop().unwrap_or_default();
    Coordinates::Range {
        start: last.start,
        end: last.end,
    }
}
