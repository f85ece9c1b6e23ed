//! Lines on standard output and error that survive a reader who has left (`cargo xtask … | head`) and a full disk.
//!
//! Names of data sets, paths and pieces of files go into lines, so control characters, which a terminal obeys, are shown
//! as escapes.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;
use std::sync::OnceLock;

/// The first fault of standard output.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// A line, or several, on standard output.
///
/// A fault does not stop the work: what is fetched or built is on disk. [`finish`] tells it.
pub(crate) fn out(text: impl Display) {
    note(put(&mut io::stdout().lock(), &text));
}

/// A line, or several, on standard error. Where that fails, there is nobody to tell.
pub(crate) fn error(text: impl Display) {
    let _ = put(&mut io::stderr().lock(), &text);
}

/// Remembers what became of a write to standard output by others.
pub(crate) fn note(written: io::Result<()>) {
    if let Some(fault) = worth_telling(written) {
        // The first one is the cause of the others.
        let _ = LOST.set(fault);
    }
}

/// The exit code of this program: never 0 where lines on standard output were lost to anything but a closed pipe.
pub(crate) fn finish(code: ExitCode) -> ExitCode {
    let Some(fault) = LOST.get() else {
        return code;
    };
    error(format_args!(
        "error: cannot write to standard output: {fault}"
    ));
    match code == ExitCode::SUCCESS {
        true => ExitCode::FAILURE,
        false => code,
    }
}

/// A word of somebody else within a line: control characters as escapes, line breaks among them.
pub(crate) fn word(text: impl Display) -> String {
    escaped(&text.to_string(), |c| c.is_control())
}

/// A reader who has left has seen enough.
fn worth_telling(written: io::Result<()>) -> Option<io::Error> {
    written
        .err()
        .filter(|fault| fault.kind() != ErrorKind::BrokenPipe)
}

fn put(to: &mut dyn Write, text: &dyn Display) -> io::Result<()> {
    let mut lines = escaped(&text.to_string(), |c| c.is_control() && c != '\n');
    lines.push('\n');
    to.write_all(lines.as_bytes())?;
    to.flush()
}

fn escaped(text: &str, which: impl Fn(char) -> bool) -> String {
    let mut plain = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        match which(c) {
            true => plain.extend(c.escape_debug()),
            false => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Refuses every byte.
    struct Broken(ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_told_and_a_closed_pipe_is_not() {
        let fault = |kind| worth_telling(put(&mut Broken(kind), &"a line"));
        assert_eq!(
            fault(ErrorKind::StorageFull).unwrap().kind(),
            ErrorKind::StorageFull
        );
        assert!(fault(ErrorKind::BrokenPipe).is_none());
    }

    #[test]
    fn a_terminal_gets_nothing_to_obey() {
        let mut bytes = Vec::new();
        put(&mut bytes, &"\u{1b}[2J «é»\r\u{9b}31m\tx\n  second line").unwrap();
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            "\\u{1b}[2J «é»\\r\\u{9b}31m\\tx\n  second line\n"
        );
        assert_eq!(word("a\nb\u{7}"), "a\\nb\\u{7}");
    }
}
