//! What `svn bench-uci` has of its own.

use clap::Args;
use svn_models::recipe::Method;

use super::bench::{Common, StudyArgs};
use super::training::Hides;
use super::value::count_from_2;
use crate::data::Manifest;
use crate::engine::{Asked, EngineError};
use crate::study::uci::{ProtocolName, TUNED, Uci, UciOptions, UciPage};

#[derive(Debug, Args)]
pub(super) struct Tables {
    /// Data set; may be repeated
    #[arg(long = "dataset", value_name = "NAME", value_delimiter = ',')]
    pub datasets: Vec<String>,

    /// All data sets but those with a leak
    #[arg(long, conflicts_with = "datasets")]
    pub all: bool,

    /// Splits: paper (cross-validation, 64/16/20 %) or standard (random 90/10 %)
    #[arg(long, value_name = "NAME", default_value = "paper", value_parser = protocol)]
    pub protocol: ProtocolName,

    /// Folds or random splits [default: 5 (paper), 20 or for large sets 5 (standard)]
    #[arg(long, value_name = "K", value_parser = count_from_2)]
    pub folds: Option<usize>,
}

fn protocol(text: &str) -> Result<ProtocolName, String> {
    match text {
        "paper" => Ok(ProtocolName::Paper),
        "standard" => Ok(ProtocolName::Standard),
        _ => Err("expected paper or standard".to_owned()),
    }
}

impl Hides for Tables {
    const HIDDEN: &'static [&'static str] = &[];
}

impl StudyArgs for Tables {
    type Study = Uci;
    type Page = UciPage;
    const METHODS: &'static [Method] = &[
        Method::Ensemble,
        Method::Wgd,
        Method::Svgd,
        Method::NewtonEnsemble,
        Method::Svn,
        Method::Linear,
    ];
    const TUNED: &'static [(&'static str, &'static str)] = TUNED;

    fn study(&self, common: &Common, _: &Asked) -> Result<Uci, EngineError> {
        let manifest = Manifest::embedded()?;
        if self.datasets.is_empty() && !self.all {
            let names: Vec<&str> = manifest
                .entries()
                .iter()
                .map(|entry| entry.name.as_str())
                .collect();
            return Err(EngineError::Arguments(format!(
                "nothing to do: name a --dataset or say --all; known: {}",
                names.join(", ")
            )));
        }
        let sound = manifest.entries().iter().filter(|entry| !entry.leaky);
        let options = UciOptions {
            datasets: match self.all {
                true => sound.map(|entry| entry.name.clone()).collect(),
                false => self.datasets.clone(),
            },
            protocol: self.protocol,
            folds: self.folds,
            seeds: common.seeds(),
        };
        let uci = Uci::load(&options, &manifest, &common.search_path()?)?;
        common.check_data(uci.files())?;
        Ok(uci)
    }
}
