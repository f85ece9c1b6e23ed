//! Networks of the experiments and their starting weights.

mod init;
mod last_layer;
mod lenet;
mod mlp;
mod settings;

pub use init::initial_particles;
pub use last_layer::last_layer;
pub use lenet::LeNetSettings;
pub use mlp::MlpSettings;
pub use settings::{Layers, NetworkSettings};
