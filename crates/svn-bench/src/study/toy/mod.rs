//! A curve with a gap: what the methods believe where there are no rows, beside what the posterior says.

pub mod data;
