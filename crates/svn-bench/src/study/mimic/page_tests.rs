//! Tables by hand, and when the paper's cells stand beside ours.

use super::*;
use crate::data::mimic::{Release, Removal};

fn design(release: Release) -> MimicDesign {
    MimicDesign {
        release,
        data_sha256: "ab".to_owned(),
        los: LosTask::LosTotal,
        log_target: false,
        without_deaths: false,
        folds: 5,
    }
}

#[test]
fn the_paper_is_of_whole_stays_of_real_patients_in_hours() {
    let cell = |design: &MimicDesign| MimicPage::paper(design, Method::Svn).unwrap();
    let full = design(Release::Full);
    assert_eq!(cell(&full).unwrap()["nll_paper"].mean, 107.3);
    assert_eq!(MimicPage::paper(&full, Method::LlSvn).unwrap(), None);
    for other in [
        design(Release::Demo),
        design(Release::DerivedDemo),
        design(Release::Synthetic),
        MimicDesign {
            log_target: true,
            ..full.clone()
        },
        MimicDesign {
            los: LosTask::LosRemaining,
            ..full
        },
    ] {
        assert_eq!(cell(&other), None);
    }
}

#[test]
fn figures_of_the_demo_are_called_a_smoke_test() {
    for release in [Release::Demo, Release::DerivedDemo] {
        assert!(design(release).warnings()[0].contains("smoke test"));
    }
    assert!(design(Release::Synthetic).warnings()[0].contains("made-up patients"));
    assert_eq!(design(Release::Full).warnings(), Vec::<String>::new());
}

#[test]
fn the_cohort_table_says_what_each_rule_leaves() {
    let removal = |rule: &str, stays| Removal {
        rule: rule.to_owned(),
        stays,
    };
    let flow = Flow {
        stays: 16,
        removed: vec![
            removal("no such patient", 1),
            removal("impossible times", 0),
        ],
        kept: 15,
        died: 2,
        odd_discharges: 1,
    };
    let rows = cohort_table("mimic-iv", &flow).rows;
    let line = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
    assert_eq!(rows[0], line(["stays", "–", "16"]));
    assert_eq!(rows[1], line(["no such patient", "1", "15"]));
    assert_eq!(rows[2], line(["impossible times", "0", "15"]));
    assert_eq!(rows[3], line(["of these died in hospital", "–", "2"]));
}
