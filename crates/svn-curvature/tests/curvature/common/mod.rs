//! The case table of all tests, and the slow references they compare with.
#![allow(dead_code, unused_imports, reason = "each test uses a part of it")]

mod cases;
mod compare;
mod dual;
mod losses;
mod network;
#[cfg(feature = "torch")]
pub(crate) mod torch;

pub(crate) use cases::{Case, PARTICLES, SAMPLES, backends, cases, cases_of, likelihoods, normal};
pub(crate) use compare::{frobenius_error, layer_blocks, relative_error};
pub(crate) use dual::Dual;
pub(crate) use losses::{reference, reference_fisher, reference_loss};
pub(crate) use network::{
    duals, evaluate, outer, reference_curvature, reference_factors, reference_jacobian,
    reference_outputs,
};
