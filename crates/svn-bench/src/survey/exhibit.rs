//! What no study measures: made in seconds, kept as a file, drawn from that file.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Panel, Source, Sources, SurveyError};

/// A measurement with figures. [`made`](Self::made) is called once; what it gives is kept and read again.
pub(super) trait Exhibit {
    /// Name of its folder, and beginning of the names of its figures.
    const NAME: &'static str;
    /// Its heading where it cannot be made.
    const TITLE: &'static str;
    /// Seed of everything random in it.
    const SEED: u64;
    /// What was measured.
    type Data: Serialize + DeserializeOwned;

    /// Measure; shorter where the survey is quick.
    ///
    /// # Errors
    /// [`SurveyError`]: the exhibit is then missing, and the page says why.
    fn made(sources: &Sources) -> Result<Self::Data, SurveyError>;

    /// Figures and tables.
    ///
    /// # Errors
    /// [`SurveyError`] for a figure that cannot be drawn.
    fn panels(data: &Self::Data, source: &Source) -> Result<Vec<Panel>, SurveyError>;
}

/// The panels of an exhibit, made now unless it was kept.
pub(super) fn shown<E: Exhibit>(sources: &Sources) -> Result<Vec<Panel>, SurveyError> {
    if sources.kept::<E::Data>(E::NAME)?.is_none() {
        match E::made(sources) {
            Ok(data) => {
                sources.keep(E::NAME, &data)?;
            }
            Err(error) => {
                let mut panel = Panel::missing(E::TITLE, &sources.command());
                panel.says = error.to_string();
                return Ok(vec![panel]);
            }
        }
    }
    let Some((kept, path)) = sources.kept::<E::Data>(E::NAME)? else {
        return Ok(Vec::new());
    };
    let source = Source {
        command: sources.command(),
        seeds: vec![E::SEED],
        commit: kept.commit,
        file: Some(path.display().to_string()),
    };
    E::panels(&kept.data, &source)
}
