//! Everything that is tested from outside, in one program: linking many takes longer than running them.

mod common;
mod diagnostics;
mod function;
mod invariance;
mod many;
mod methods;
mod momentum;
mod newton_ensemble;
mod posteriors;
mod random;
mod refusals;
mod safety;
mod steps;
mod system;
mod threads;
