//! Parts are disjoint and complete, seeded, stratified, and refuse to be empty.

use proptest::prelude::*;

use super::*;

const PAPER: Protocol = Protocol::Paper { folds: 5 };

fn assert_partition(folds: &[FoldRows], rows: usize) {
    for fold in folds {
        let mut all = [
            fold.train.clone(),
            fold.validation.clone(),
            fold.test.clone(),
        ]
        .concat();
        all.sort_unstable();
        assert_eq!(all, (0..rows).collect::<Vec<_>>());
    }
}

#[test]
fn paper_protocol_is_64_16_20() {
    let folds = split(PAPER, "yacht", 308, None, 0).unwrap();
    assert_partition(&folds, 308);
    let sizes: Vec<_> = folds
        .iter()
        .map(|f| (f.train.len(), f.validation.len(), f.test.len()))
        .collect();
    assert_eq!(
        sizes,
        [
            (197, 49, 62),
            (197, 49, 62),
            (197, 49, 62),
            (198, 49, 61),
            (198, 49, 61)
        ]
    );
    let mut tested: Vec<_> = folds.iter().flat_map(|fold| fold.test.clone()).collect();
    tested.sort_unstable();
    assert_eq!(
        tested,
        (0..308).collect::<Vec<_>>(),
        "every row is tested exactly once"
    );
}

#[test]
fn standard_protocol_is_twenty_times_ten_percent() {
    let folds = split(Protocol::standard(308), "yacht", 308, None, 0).unwrap();
    assert_eq!(folds.len(), 20);
    assert_partition(&folds, 308);
    assert!(folds.iter().all(|fold| fold.test.len() == 31));
    assert_ne!(folds[0].test, folds[1].test);
    assert_eq!(Protocol::standard(45_730).folds(), 5);
}

#[test]
fn rows_are_shuffled_by_seed_and_name() {
    let test = |name, seed| split(PAPER, name, 100, None, seed).unwrap()[0].test.clone();
    assert_eq!(test("a", 0), test("a", 0));
    assert_ne!(test("a", 0), test("a", 1));
    assert_ne!(test("a", 0), test("b", 0));
    assert_ne!(test("a", 0), (0..20).collect::<Vec<_>>());
}

#[test]
fn order_of_the_validation_rows_does_not_follow_the_file() {
    let fold = &split(PAPER, "a", 100, None, 0).unwrap()[0];
    let gaps: std::collections::BTreeSet<_> =
        fold.validation.windows(2).map(|w| w[1] - w[0]).collect();
    assert!(gaps.len() > 2, "{:?}", fold.validation);
}

#[test]
fn too_few_rows_or_folds() {
    let message = |protocol, rows| split(protocol, "a", rows, None, 0).unwrap_err().to_string();
    assert_eq!(
        message(Protocol::Paper { folds: 1 }, 10),
        "cross-validation needs at least 2 folds, found 1"
    );
    assert_eq!(
        message(PAPER, 4),
        "4 rows are too few for 5 folds: the test part of fold 5 would be empty"
    );
    assert_eq!(
        message(PAPER, 1),
        "1 rows are too few for 5 folds: the validation part of fold 1 would be empty"
    );
    assert_eq!(
        message(Protocol::Paper { folds: 2 }, 3),
        "3 rows are too few for 2 folds: the validation part of fold 1 would be empty"
    );
    assert_eq!(
        message(Protocol::Standard { splits: 3 }, 4),
        "4 rows are too few for 3 folds: the test part of fold 1 would be empty"
    );
}

proptest! {
    #[test]
    fn parts_keep_the_share_of_every_class(
        classes in proptest::collection::vec(0..3_usize, 30..200), folds in 2..7_usize, seed in 0..5_u64
    ) {
        let rows = classes.len();
        for protocol in [Protocol::Paper { folds }, Protocol::Standard { splits: folds }] {
            let parts = split(protocol, "a", rows, Some(&classes), seed).unwrap();
            assert_partition(&parts, rows);
            for class in 0..3 {
                let count = |part: &[usize]| part.iter().filter(|&&row| classes[row] == class).count() as f64;
                let all: Vec<_> = (0..rows).collect();
                for fold in &parts {
                    let rest = [fold.train.clone(), fold.validation.clone()].concat();
                    let share = match protocol {
                        Protocol::Paper { folds } => count(&all) / folds as f64,
                        Protocol::Standard { .. } => count(&all) * fold.test.len() as f64 / rows as f64,
                    };
                    // Even dealing of a run of rows is off by less than one.
                    prop_assert!((count(&fold.test) - share).abs() < 1.0 + 1e-9);
                    let share = count(&rest) * fold.validation.len() as f64 / rest.len() as f64;
                    prop_assert!((count(&fold.validation) - share).abs() < 1.0 + 1e-9);
                }
            }
        }
    }
}
