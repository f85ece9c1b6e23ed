//! The case table of all tests, and the slow references they compare with.
#![allow(dead_code, unused_imports)] // Each test binary uses its part.

mod cases;
mod compare;
mod reference;

pub use cases::{Case, PARTICLES, SAMPLES, cases, likelihoods, normal};
pub use compare::{CPU_F64, frobenius_error, layer_blocks, matrix, relative_error};
pub use reference::{
    reference_curvature, reference_forward, reference_jacobian, reference_layer_io, reference_loss,
    reference_output_fisher,
};
