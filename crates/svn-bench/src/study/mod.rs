//! Studies: questions that one experiment answers, each with its own data.

pub mod toy;
