//! Networks of the experiments and their starting weights.

mod affine_layers;
mod init;
mod last_layer;
mod lenet;
mod mlp;
mod settings;

pub use affine_layers::affine_layers;
pub(crate) use affine_layers::with_layer_precisions;
pub use init::initial_particles;
pub use last_layer::last_layer;
pub use lenet::LeNetSettings;
pub use mlp::MlpSettings;
pub use settings::{Layers, NetworkSettings};
