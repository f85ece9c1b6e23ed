//! Backends beside each other, whatever their threads, and what each refuses.

#[cfg(feature = "torch")]
mod agreement;
mod denormals;
mod products;
mod refusals;
mod threads;
