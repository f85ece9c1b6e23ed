//! FashionMNIST and MNIST: results, few images, calibration, corrupted images.

use super::super::sources::Found;
use super::super::{Panel, Run, Section, Sources, SurveyError};
use super::studied;
use crate::report::{self, Detail, Page};
use crate::study::vision::VisionPage;

const ID: &str = "images";

pub(super) const RUN: Run = Run {
    folder: "vision",
    whole: "bench-vision --low-data --dataset fashion-mnist --seeds 3",
    // Convolutions need libtorch, which takes longer to set up than this page may.
    quick: &[],
};

pub(super) fn section(sources: &Sources) -> Result<Section, SurveyError> {
    Ok(Section {
        id: ID,
        title: "Images",
        intro: "LeNet on images of clothes, from 500 of them on: NLL, accuracy and calibration on 10,000 test images, the same turned and under noise, and \
                whether images of digits are told apart.",
        panels: studied::<VisionPage>(sources, &RUN, panels)?,
    })
}

fn panels(found: &Found<VisionPage>) -> Result<Vec<Panel>, SurveyError> {
    let (rows, source) = (&found.summary.results, &found.source);
    let mut panels = Vec::new();
    for grid in report::results::<VisionPage>(rows, Detail::Full) {
        let says = "NLL in nats an image; `ood_auroc` is the probability that an image of digits has the larger entropy.";
        panels.push(Panel::table(grid, says, source));
    }
    for figure in VisionPage::figures(rows)? {
        let name = figure.name.trim_end_matches(".svg");
        let (title, says) = match name.split('-').next() {
            Some("low") => (
                "Quality by number of images",
                "Fewer images to the left: where methods differ most.",
            ),
            Some("reliability") => (
                "Reliability",
                "How often the class that was given so much probability is right; below the diagonal members are too sure.",
            ),
            _ => (
                "Corrupted images",
                "Images that are turned or under noise, from left to right more of it.",
            ),
        };
        let title = format!("{title}: {}", name.replace('-', " "));
        panels.push(Panel::figure(ID, figure, (&title, says), source));
    }
    Ok(panels)
}
