//! Networks of the experiments and their starting weights.

mod init;
mod last_layer;
mod mlp;

pub use init::initial_particles;
pub use last_layer::last_layer;
pub use mlp::MlpSettings;
