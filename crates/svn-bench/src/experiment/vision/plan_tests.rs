//! Parts, sizes and groups of a plan on images drawn here.

use super::*;

fn options(split: ImageSplit) -> VisionOptions {
    VisionOptions {
        datasets: vec!["synthetic-digits".to_owned()],
        methods: vec![Method::Svgd, Method::LlSvn],
        split,
        folds: None,
        subsets: Vec::new(),
        test_limit: None,
        corruption: None,
        foreign: true,
        first_seed: 3,
        seeds: 2,
        settings: Recipe::default(),
        folder: None,
        jobs: 1,
    }
}

fn plan(options: &VisionOptions) -> VisionPlan {
    VisionPlan::new(options, &SearchPath::default(), DeviceKind::Cpu).unwrap()
}

#[test]
fn the_papers_split_is_five_folds_over_all_images() {
    let plan = plan(&options(ImageSplit::Paper));
    assert_eq!(plan.jobs(), 2 * 2 * 5);
    let set = &plan.images[0].own;
    let mut tested = vec![0; set.len()];
    for fold in 0..5 {
        let rows = plan.groups[0].rows(set, 3, fold).unwrap();
        let sizes = [&rows.train, &rows.validation, &rows.test].map(Vec::len);
        // 64 / 16 / 20 % of 5000.
        assert_eq!(sizes, [3200, 800, 1000]);
        rows.test.iter().for_each(|&row| tested[row] += 1);
    }
    assert!(tested.iter().all(|&count| count == 1));
}

#[test]
fn the_official_split_keeps_the_test_images_apart() {
    let plan = plan(&options(ImageSplit::Official));
    assert_eq!(plan.runs, [(3, 0), (4, 0)]);
    let set = &plan.images[0].own;
    let rows = plan.groups[0].rows(set, 3, 0).unwrap();
    assert_eq!([rows.train.len(), rows.validation.len()], [3200, 800]);
    assert_eq!(rows.test, (4000..5000).collect::<Vec<_>>());
    let foreign = plan.images[0].foreign.as_ref().unwrap();
    assert_eq!(foreign.name, "synthetic-letters");
    assert_eq!(
        plan.groups[0].configuration.foreign_sha256.as_ref(),
        Some(&foreign.sha256)
    );
}

#[test]
fn each_size_has_settings_of_its_own() {
    let mut options = options(ImageSplit::Official);
    options.subsets = vec![100, 2000];
    options.foreign = false;
    let plan = plan(&options);
    let sizes: Vec<_> = plan
        .groups
        .iter()
        .map(|group| group.configuration.limits.learning)
        .collect();
    assert_eq!(sizes, [Some(100), Some(100), Some(2000), Some(2000)]);
    assert!(plan.images[0].foreign.is_none());
    let mut hashes: Vec<_> = plan.groups.iter().map(|group| &group.config).collect();
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), 4);
}

/// The foreign set is an extra: what is not there is a warning, and a reason for another hash once it is.
#[test]
fn a_missing_foreign_set_is_a_warning() {
    let mut loader = Loader {
        path: &SearchPath::default(),
        loaded: BTreeMap::from([(
            "mnist".to_owned(),
            Arc::new(synthetic(Synthetic::Digits, 20, 10, 0)),
        )]),
    };
    let mut warnings = Vec::new();
    let images = loader.with_partner("mnist", true, &mut warnings).unwrap();
    assert!(images.foreign.is_none());
    assert!(warnings[0].starts_with(
        "no out-of-distribution score for mnist: image set `fashion-mnist` not found"
    ));
    loader.with_partner("mnist", false, &mut warnings).unwrap();
    assert_eq!(warnings.len(), 1);
}

#[test]
fn full_curvature_is_for_the_last_layer() {
    let mut options = options(ImageSplit::Official);
    options.settings.hessian = Some(CurvatureFamily::Full);
    assert!(VisionPlan::new(&options, &SearchPath::default(), DeviceKind::Cpu).is_ok());
    options.methods.push(Method::Svn);
    let refused = VisionPlan::new(&options, &SearchPath::default(), DeviceKind::Cpu);
    assert_eq!(
        refused.err().unwrap().to_string(),
        "--hessian full: expected diag or kfac for svn, whose curvature is of all of LeNet"
    );
}
