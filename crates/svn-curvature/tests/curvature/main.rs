//! Everything that is tested from outside but `memory`, in one program: linking many takes longer than running them.

mod backends;
mod common;
mod families;
mod golden;
mod jacobian;
#[cfg(all(feature = "torch", feature = "lapack"))]
mod lapack;
mod layered_rows;
mod layers;
mod loss;
mod protocol;
