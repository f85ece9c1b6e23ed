//! Everything that is tested from outside, in one program: linking many takes longer than running them.

mod auto;
#[cfg(feature = "torch")]
mod backends;
mod checkpoint;
mod classes;
mod curvature;
#[cfg(feature = "torch")]
mod device;
mod ensemble;
mod evidence;
mod fit;
mod folds;
mod heads;
mod last_layer;
mod layer_precisions;
#[cfg(feature = "torch")]
mod lenet;
mod linear;
mod model_file;
mod posterior;
