//! The open demo of 100 patients, where it is.

use super::*;

fn demo() -> Option<Tables> {
    let mirror = std::env::var_os("SVN_DATA_MIRROR")?;
    let folder = Path::new(&mirror).join("mimic-iv-demo");
    folder.is_dir().then(|| Tables::find(&folder).unwrap())
}

#[test]
fn the_demo_gives_a_cohort_and_plausible_features() {
    let Some(tables) = demo() else {
        println!("skipped: no mimic-iv-demo in SVN_DATA_MIRROR");
        return;
    };
    let Extraction {
        table,
        flow,
        counts,
    } = extract(&tables, &ExtractOptions::default(), &Quiet).unwrap();
    assert_eq!(flow.stays, 140);
    // 100 patients, each with a first stay.
    assert_eq!(
        flow.removed
            .iter()
            .find(|r| r.rule.contains("first"))
            .map(|r| r.stays),
        Some(40)
    );
    assert_eq!(flow.kept, table.rows());
    assert!((60..=100).contains(&flow.kept), "{}", flow.rules());
    assert!(
        counts[0].used > 10_000 && counts[1].used > 1000 && counts[2].used > 500,
        "{counts:?}"
    );
    for (row, &hours) in table.hours.iter().enumerate() {
        assert!((24.0..3000.0).contains(&hours));
        // A heart rate is charted of everybody.
        assert!((40.0..160.0).contains(&table.value(row, "heart_rate_mean").unwrap()));
        assert!((18.0..=90.0).contains(&table.value(row, "age").unwrap()));
    }
}
