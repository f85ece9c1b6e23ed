//! Lines on standard output and error that survive a reader who has left (`svn … | head`).

use std::io::{ErrorKind, Write};

/// A line on standard output. A closed pipe is no reason to stop, the results are on disk; a full disk is an error.
///
/// # Errors
/// What the operating system says.
pub(crate) fn out(line: impl std::fmt::Display) -> std::io::Result<()> {
    let mut output = std::io::stdout();
    match writeln!(output, "{line}").and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Standard output for many bytes. A reader who has left is no reason to stop, as in [`out`].
#[derive(Debug)]
pub(crate) struct Piped(std::io::Stdout);

impl Piped {
    pub(crate) fn stdout() -> Self {
        Self(std::io::stdout())
    }
}

impl Write for Piped {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(bytes.len()),
            other => other,
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self.0.flush() {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }
}

/// A line on standard error, where nothing can be done about a reader who has left.
pub(crate) fn error(line: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{}", escaped(&line.to_string()));
}

/// Control characters of names and cells as escapes: what is told stays in its line and moves no cursor.
pub(crate) fn escaped(text: &str) -> String {
    let escape = |c: char| match c.is_control() {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_stays_in_its_line() {
        assert_eq!(escaped("a\u{1b}[31m\nb\tµ"), "a\\u{1b}[31m\\nb\\tµ");
    }
}
