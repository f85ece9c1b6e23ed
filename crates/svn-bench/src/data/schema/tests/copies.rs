//! Copies, groups and columns that give the target away.

use super::*;

#[test]
fn copies_are_counted_and_kept_together() {
    let text = rows("a,b,y", 90, |i| {
        let i = if i < 60 { i } else { i - 60 };
        vec![s(noise(i)), s(noise(i + 500)), s(noise(i + 100))]
    });
    let learned = learn(&text, &ask("y"));
    assert_eq!(
        told(&learned, Kind::Duplicates),
        ["30 of 90 rows are exact copies of others in features and target"]
    );
    let groups = learned.groups.unwrap();
    assert_eq!(groups[..60], (0..60).collect::<Vec<_>>());
    assert_eq!(groups[60..], (0..30).collect::<Vec<_>>());

    let pairs = rows("a,b,y", 80, |i| {
        vec![
            s(noise(i % 40)),
            s(noise(i % 40 + 500)),
            s(5 * (i / 40) + i % 7),
        ]
    });
    let learned = learn(&pairs, &ask("y"));
    assert_eq!(
        told(&learned, Kind::Contradictions),
        [
            "40 row(s) have the features of another row but not its target, the first in lines 2 and 42; no model can tell them apart"
        ]
    );
    assert_eq!(learned.groups.unwrap()[40..], (0..40).collect::<Vec<_>>());

    let few = rows("a,y", 60, |i| vec![s(i % 3), s(noise(i))]);
    let learned = learn(&few, &ask("y"));
    assert_eq!(learned.groups, None);
    assert_eq!(
        told(&learned, Kind::Groups),
        ["there are 3 distinct rows of features only; equal ones are not kept together"]
    );
    let none = learn(&plain(50), &ask("y"));
    assert_eq!(
        (none.groups.clone(), told(&none, Kind::Groups).len()),
        (None, 0)
    );
}

#[test]
fn groups_of_a_column() {
    let text = rows("who,a,y", 12, |i| {
        vec![s(["p", "q", "r", ""][i % 4]), s(noise(i)), s(noise(i + 5))]
    });
    let learned = learn(
        &text,
        &Ask {
            group: Some("who".into()),
            ..ask("y")
        },
    );
    assert_eq!(kinds(&learned), ["a: number"]);
    // A row without a name is alone.
    assert_eq!(
        learned.groups.clone().unwrap(),
        [0, 1, 2, 3, 0, 1, 2, 4, 0, 1, 2, 5]
    );
    assert_eq!(
        told(&learned, Kind::Groups),
        ["rows of equal `who` stay on one side when rows are split: 6 groups in 12 rows"]
    );
}

#[test]
fn columns_that_give_the_target_away() {
    let twin = rows("a,b,y", 50, |i| {
        vec![
            s(noise(i)),
            s(noise(i + 9)),
            s(2.0 * noise(i) + 0.001 * noise(i + 3)),
        ]
    });
    let told_of = |text: &str, ask: &Ask| -> Vec<String> {
        told(&learn(text, ask), Kind::Leak)
            .into_iter()
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(
        told_of(&twin, &ask("y")),
        [
            "column `a` has correlation 1.000 with the target; is it known when predictions are made? --drop a leaves it out"
        ]
    );
    let class = rows("a,c,y", 50, |i| {
        let high = noise(i) > 0.5;
        vec![
            s(noise(i)),
            s(if high { ["u", "v"][i % 2] } else { "w" }),
            s(if high { "high" } else { "low" }),
        ]
    });
    let found = told_of(&class, &ask("y"));
    assert!(
        found.len() == 2 && found[0].starts_with("column `a` tells the classes apart"),
        "{found:?}"
    );
    assert_eq!(told_of(&plain(60), &ask("y")), Vec::<String>::new());
    let mixed = rows("a,y", 50, |i| vec![s(noise(i)), s(["p", "q"][i % 2])]);
    assert_eq!(told_of(&mixed, &ask("y")), Vec::<String>::new());
}
