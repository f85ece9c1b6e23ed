//! Downloading a small file over HTTP, whole or with an error that says what to do.

use anyhow::Result;

/// What helps where the network does not.
pub(super) const HINT: &str = "without a network, name a folder of converted files (NAME.csv) with --mirror DIR or SVN_DATA_MIRROR";

/// The content at an address; errors end with the hint.
#[cfg(feature = "fetch")]
pub(super) fn get(url: &str, hint: &str) -> Result<Vec<u8>> {
    use anyhow::{Context, anyhow};
    use std::time::Duration;
    use ureq::tls::{RootCerts, TlsConfig};

    const LARGEST: u64 = 256 << 20;
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_connect(Some(Duration::from_secs(20)))
        .timeout_global(Some(Duration::from_secs(600)))
        .tls_config(
            TlsConfig::builder()
                .root_certs(RootCerts::PlatformVerifier)
                .build(),
        )
        .build()
        .into();
    let mut response = agent.get(url).call().map_err(|error| match error {
        ureq::Error::StatusCode(code) => anyhow!("{url}: the server answered {code}; {hint}"),
        error => anyhow!("{url}: {error}; {hint}"),
    })?;
    let body = response
        .body_mut()
        .with_config()
        .limit(LARGEST)
        .read_to_vec();
    let body = body.with_context(|| format!("{url}: the download broke off; try again"))?;
    super::raw::refuse_web_page(&body).with_context(|| url.to_string())?;
    Ok(body)
}

/// Only in the complete build.
#[cfg(not(feature = "fetch"))]
pub(super) fn get(_: &str, _: &str) -> Result<Vec<u8>> {
    Err(crate::complete::Needed.into())
}
