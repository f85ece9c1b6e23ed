//! The curvature that the posterior hands to a step.

mod by_hand;
mod families;
mod schedule;
