//! Lines on standard output and error that survive a reader who has left (`svn … | head`).

use std::io::Write;

/// A line on standard output. A closed pipe is no reason to stop: the results are on disk.
pub(crate) fn out(line: impl std::fmt::Display) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// A line on standard error.
pub(crate) fn error(line: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
