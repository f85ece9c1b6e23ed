//! Which exit code an error means: bad input is 2, anything else 1.

use std::process::ExitCode;

/// The user's arguments or files are at fault; the text says how.
#[derive(Debug)]
pub(crate) struct BadInput(pub String);

impl std::fmt::Display for BadInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadInput {}

/// An error that ends with exit code 2.
pub(crate) fn bad_input(text: impl Into<String>) -> anyhow::Error {
    BadInput(text.into()).into()
}

/// 2 where [`BadInput`] is anywhere in the chain, else 1.
pub(crate) fn exit_code(error: &anyhow::Error) -> ExitCode {
    let blamed = error.chain().any(|cause| cause.is::<BadInput>());
    ExitCode::from(if blamed { 2 } else { 1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn bad_input_keeps_its_code_under_context() {
        let error = Err::<(), _>(bad_input("row 3"))
            .context("yacht.csv")
            .unwrap_err();
        assert_eq!(exit_code(&error), ExitCode::from(2));
        assert_eq!(format!("{error:#}"), "yacht.csv: row 3");
        assert_eq!(exit_code(&anyhow::anyhow!("disk full")), ExitCode::from(1));
    }
}
