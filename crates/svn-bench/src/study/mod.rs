//! The studies, a folder each: its data and splits, its measures beside the common ones, its part of the report.

pub mod uci;
pub mod vision;
