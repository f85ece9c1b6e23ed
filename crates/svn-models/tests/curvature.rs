//! The curvature that the posterior hands to a step.

#[path = "curvature/by_hand.rs"]
mod by_hand;
#[path = "curvature/families.rs"]
mod families;
#[path = "curvature/schedule.rs"]
mod schedule;
