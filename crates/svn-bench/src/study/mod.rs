//! The studies: what each of them fits and measures. Everything that they have in common is the engine's.

pub mod mimic;
pub mod toy;
pub mod uci;
pub mod vision;
