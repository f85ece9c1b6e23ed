//! The case table of all tests, and the slow references they compare with.
#![allow(dead_code, unused_imports, reason = "each test uses a part of it")] // Each test binary uses its part.

mod cases;
mod compare;
mod reference;

pub(crate) use cases::{Case, PARTICLES, SAMPLES, cases, likelihoods, normal};
pub(crate) use compare::{CPU_F64, frobenius_error, layer_blocks, matrix, relative_error};
pub(crate) use reference::{
    reference_curvature, reference_forward, reference_jacobian, reference_layer_io, reference_loss,
    reference_output_fisher,
};
