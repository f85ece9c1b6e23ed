//! Records without results for the tests of reports and figures.

use std::collections::BTreeMap;

use svn_models::recipe::{Method, NetworkKind, Problem, Recipe};

use super::{DeviceKind, ImageSplit, NAME, VisionDesign, VisionExtra};
use crate::engine::{Entry, PartSizes, Record, SCHEMA, Timing};
use crate::split::Limits;

/// So many images of MNIST, the official split.
pub(crate) fn record(
    method: Method,
    learning: usize,
    seed: u64,
) -> Record<VisionDesign, VisionExtra> {
    let train = learning * 4 / 5;
    let problem = Problem {
        network: NetworkKind::LeNet,
        rows: train,
        features: 784,
        classes: Some(10),
    };
    let settings = Recipe::default().resolve(method, &problem).unwrap().recipe;
    let mut record = Record {
        schema: SCHEMA,
        study: NAME.to_owned(),
        config: String::new(),
        design: VisionDesign {
            dataset: "mnist".to_owned(),
            data_sha256: "ab".to_owned(),
            foreign: None,
            foreign_sha256: None,
            split: ImageSplit::Official,
            limits: Limits {
                learning: Some(learning),
                test: None,
            },
            corruption: None,
            device: DeviceKind::Cpu,
        },
        method,
        settings,
        seed,
        fold: 0,
        rows: PartSizes {
            train,
            validation: learning - train,
            test: 100,
        },
        epochs: 2,
        best_epoch: 2,
        validation_nll: None,
        metrics: BTreeMap::new(),
        extra: VisionExtra::default(),
        curve: Vec::new(),
        kernel: None,
        warnings: Vec::new(),
        timing: Timing::of(&[1.0, 2.0, 4.0], &[], 1.0),
    };
    rehash(&mut record);
    record
}

/// The hash again, after a change.
pub(crate) fn rehash(record: &mut Record<VisionDesign, VisionExtra>) {
    record.config = record.of().configuration().hash();
}
