//! The `svn` command.
fn main() {}
