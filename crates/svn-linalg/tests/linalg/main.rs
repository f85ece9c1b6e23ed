//! Tests of the public interface, each against a slow reference by another route.

#[cfg(feature = "lapack")]
mod blas;
mod cases;
mod cg;
mod dense;
mod factors;
mod gram;
mod input;
mod kronecker;
mod layout;
mod minres;
mod mixed;
mod operators;
mod particles;
mod reference;
mod solvers;
