//! What `svn bench-toy` has of its own.

use clap::Args;

use super::bench::{Common, StudyArgs};
use crate::engine::{Asked, EngineError};
use crate::study::toy::{Toy, ToyPage};

#[derive(Debug, Args)]
pub(super) struct NoData {}

impl StudyArgs for NoData {
    type Study = Toy;
    type Page = ToyPage;
    const HIDDEN: &'static [&'static str] = &["binary", "temperature"];
    const TUNED: &'static [(&'static str, &'static str)] = &[];

    fn study(&self, common: &Common, _: &Asked) -> Result<Toy, EngineError> {
        if common.data.is_some() {
            let message = "--data has no effect: the rows are drawn";
            return Err(EngineError::Arguments(message.to_owned()));
        }
        Toy::new(common.seeds())
    }
}
