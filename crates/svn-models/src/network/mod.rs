//! Networks of the experiments and their starting weights.

mod init;
mod mlp;

pub use init::initial_particles;
pub use mlp::MlpSettings;
