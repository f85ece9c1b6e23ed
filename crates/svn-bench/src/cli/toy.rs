//! What `svn bench-toy` has of its own.

use clap::Args;
use svn_models::recipe::Method;

use super::bench::{Common, StudyArgs};
use super::training::Hides;
use crate::engine::{Asked, EngineError};
use crate::study::toy::{Toy, ToyPage};

#[derive(Debug, Args)]
pub(super) struct NoData {}

impl Hides for NoData {
    const HIDDEN: &'static [&'static str] = &["binary", "temperature"];
}

impl StudyArgs for NoData {
    type Study = Toy;
    type Page = ToyPage;
    const METHODS: &'static [Method] = &[
        Method::Ensemble,
        Method::Wgd,
        Method::Svgd,
        Method::FunctionWgd,
        Method::NewtonEnsemble,
        Method::FunctionSvn,
        Method::Svn,
        Method::LlSvn,
    ];
    const TUNED: &'static [(&'static str, &'static str)] = &[];

    fn study(&self, common: &Common, _: &Asked) -> Result<Toy, EngineError> {
        if common.data.is_some() {
            let message = "--data has no effect: the rows are drawn";
            return Err(EngineError::Arguments(message.to_owned()));
        }
        Toy::new(common.seeds())
    }
}
