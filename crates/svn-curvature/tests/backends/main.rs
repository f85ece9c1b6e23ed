//! Backends beside each other, whatever their threads, and what each refuses.

#[cfg(feature = "torch")]
mod agreement;
#[path = "../common/mod.rs"]
mod common;
mod denormals;
mod products;
mod refusals;
mod threads;
