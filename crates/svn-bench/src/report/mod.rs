//! stub
#![allow(missing_docs)]
use crate::engine::{Design, Extra, Record, Study};
use std::collections::BTreeMap;
use std::path::Path;
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    #[error("x")]
    X,
}
pub trait Page {
    type Design: Design;
    type Extra: Extra;
}
use crate::terminal::Grid;
pub enum Detail {
    Brief,
}
pub struct Row {
    pub config: String,
}
pub struct Summary {
    pub results: Vec<Row>,
}
pub fn number(value: f64) -> String {
    format!("{value:.3}")
}
pub fn write<P: Page>(
    _: &Path,
    _: &[Record<P::Design, P::Extra>],
    _: BTreeMap<String, String>,
) -> Result<Summary, ReportError> {
    Ok(Summary { results: vec![] })
}
pub fn results<P: Page>(_: &[Row], _: Detail) -> Vec<Grid> {
    vec![]
}
impl Page for crate::study::uci::Uci {
    type Design = <Self as Study>::Design;
    type Extra = ();
}
impl Page for crate::study::vision::Vision {
    type Design = <Self as Study>::Design;
    type Extra = <Self as Study>::Extra;
}
