//! Recipes of a table and of images.

mod build;
mod defaults;
mod texts;
mod uses;

use svn_curvature::Activation;
use svn_stein::{Bandwidth, Coupling, Kernel, Lift, Metric, Solver};

use super::*;
use crate::fit::LikelihoodKind;
use crate::posterior::{Context, CurvatureFamily, CurvaturePart, CurvatureRoot};
use crate::stein;
use crate::{BackendKind, Device};

const TABLE: Problem = Problem {
    network: NetworkKind::Mlp,
    rows: 300,
    features: 7,
    classes: None,
};
const IMAGES: Problem = Problem {
    network: NetworkKind::LeNet,
    rows: 400,
    features: 784,
    classes: Some(10),
};

const LARGE: Problem = Problem {
    rows: 20_000,
    ..TABLE
};

fn resolved(method: Method, problem: &Problem) -> Recipe {
    Recipe::default().resolve(method, problem).unwrap().recipe
}
