//! Which task is chosen, which rows have a target, and what cannot be learnt.

use super::*;

#[test]
fn the_task_is_chosen_once_and_said() {
    let task = |cells: &[&str]| {
        let text = rows("x,y", 60, |i| vec![s(noise(i)), s(cells[i % cells.len()])]);
        let learned = learn(&text, &ask("y"));
        (
            learned.schema.task(),
            told(&learned, Kind::Task)[0].to_owned(),
        )
    };
    let counts: Vec<String> = (0..13).map(s).collect();
    let counts: Vec<&str> = counts.iter().map(String::as_str).collect();
    for (cells, expected, why) in [
        (
            &["0", "1"][..],
            Task::Classification,
            "`y` has two values; --task regression takes them as numbers",
        ),
        (&["a", "b", "c"], Task::Classification, "`y` has text"),
        (
            &["007", "07"],
            Task::Classification,
            "`y` has codes of digits; --task regression takes them as numbers",
        ),
        (
            &["1.0", "2.0", "3.0"],
            Task::Regression,
            "`y` has 3 distinct whole numbers; --task classification takes them as classes",
        ),
        (
            &counts,
            Task::Regression,
            "`y` has 13 distinct whole numbers; --task classification takes them as classes",
        ),
        (
            &["0.1", "0.2", "0.3"],
            Task::Regression,
            "`y` has numbers; --task classification takes them as classes",
        ),
    ] {
        assert_eq!(
            task(cells),
            (expected, format!("the task is {expected}: {why}"))
        );
    }
    let text = rows("x,y", 60, |i| {
        vec![s(noise(i)), s(["1.0", "2", "1"][i % 3])]
    });
    let asked = learn(
        &text,
        &Ask {
            task: Some(Task::Classification),
            ..ask("y")
        },
    );
    assert_eq!(told(&asked, Kind::Task), Vec::<&str>::new());
    assert_eq!(told(&asked, Kind::Target), ["`y` has 2 classes: 1, 2"]);
}

#[test]
fn labels_stay_as_they_are_written() {
    for labels in [
        ["007", "07", "7"],
        ["100", "1E2", "2D4"],
        ["inf", "iv", "oral"],
    ] {
        let text = rows("x,y", 60, |i| vec![s(noise(i)), s(labels[i % 3])]);
        let learned = learn(&text, &ask("y"));
        assert_eq!(
            told(&learned, Kind::Target),
            [format!("`y` has 3 classes: {}", labels.join(", "))]
        );
        let Targets::Labels(found) = &learned.target else {
            panic!("numbers")
        };
        assert_eq!(found[..3], labels.map(str::to_owned));
    }
    let ids = rows("x,y", 40, |i| {
        vec![s(noise(i)), format!("1234567890123456789{}", i % 2)]
    });
    assert_eq!(learn(&ids, &ask("y")).schema.task(), Task::Classification);
}

#[test]
fn rows_without_a_target() {
    let region = rows("x,region", 30, |i| {
        vec![s(noise(i)), s(["EU", "AP", "NA"][i % 3])]
    });
    assert_eq!(
        fault(&region, &ask("region")),
        "t.csv, line 4, column 2: the target `region` has `NA` (missing); fill it, or --missing drop leaves such rows \
         out, --keep region makes it a class"
    );
    let three = learn(
        &region,
        &Ask {
            keep: vec!["region".into()],
            ..ask("region")
        },
    );
    assert_eq!(
        told(&three, Kind::Target),
        ["`region` has 3 classes: AP, EU, NA"]
    );
    for missing in [Missing::Drop, Missing::Impute] {
        let two = learn(
            &region,
            &Ask {
                missing,
                ..ask("region")
            },
        );
        assert_eq!(two.lines.len(), 20);
        assert_eq!(
            told(&two, Kind::Rows),
            ["10 row(s) without a target are left out, the first in line 4 (`NA` (missing))"]
        );
    }
    assert_eq!(
        fault("x,y\n1,2\n2,\n3,4\n", &ask("y")),
        "t.csv, line 3, column 2: the target `y` has an empty cell; fill it, or --missing drop leaves such rows out"
    );
    let late = rows("x,y", 300, |i| {
        vec![
            s(noise(i)),
            if i == 260 {
                s("<0.05")
            } else {
                s(noise(i + 3))
            },
        ]
    });
    for missing in [Missing::Error, Missing::Drop, Missing::Impute] {
        let message = fault(
            &late,
            &Ask {
                missing,
                ..ask("y")
            },
        );
        assert!(
            message.starts_with("t.csv, line 262, column 2 (`y`): expected a number"),
            "{message}"
        );
    }
}

#[test]
fn targets_that_cannot_be_learnt() {
    let of = |target: &dyn Fn(usize) -> String| rows("x,y", 60, |i| vec![s(noise(i)), target(i)]);
    let classes = Ask {
        task: Some(Task::Classification),
        ..ask("y")
    };
    assert_eq!(
        fault(&of(&|_| s("a")), &ask("y")),
        "t.csv: the target `y` has the one class `a`; at least two are needed"
    );
    assert_eq!(
        fault(&of(&|i| s(if i == 4 { "b" } else { "a" })), &ask("y")),
        "t.csv: the target `y` has the class `b` in line 6 alone; at least two rows are needed, leave that one out"
    );
    assert_eq!(
        fault(&of(&|i| s(noise(i))), &classes),
        "t.csv: the target `y` has 60 distinct labels in 60 rows; is this a regression set?"
    );
    let tiny = fault(&of(&|i| format!("5.00000000000{}", i % 3)), &ask("y"));
    assert!(
        tiny.contains("in every row but for the last digits (standard deviation"),
        "{tiny}"
    );
    assert!(fault(&of(&|_| s("5")), &ask("y")).contains("is 5 in every row"));
    // Large numbers that differ by little are no constant.
    let offset = learn(&of(&|i| s(1e9 + noise(i))), &ask("y"));
    assert_eq!(offset.schema.task(), Task::Regression);
    let text = fault(
        &of(&|i| s(["a", "b"][i % 2])),
        &Ask {
            task: Some(Task::Regression),
            ..ask("y")
        },
    );
    assert_eq!(
        text,
        "t.csv, line 2, column 2 (`y`): expected a number written as in the other cells, found the text `a`"
    );
    assert_eq!(
        fault(&plain(9), &ask("z")),
        "t.csv: no column `z`; the file has a, b, c, y"
    );
}

#[test]
fn targets_of_later_files() {
    let path = Path::new("new.csv");
    let target = |schema: &Schema, text: &str| -> Result<Vec<Option<TargetCell>>, DataError> {
        let table = table(text);
        let matched = schema.matched(&table.columns, path)?;
        table.rows().map(|row| matched.target(&row)).collect()
    };
    let numbers = learn("a,y\n1,5%\n2,6%\n4,8%\n", &ask("y")).schema;
    assert_eq!(
        target(&numbers, "a,y\n1,7%\n2,\n").unwrap(),
        [Some(TargetCell::Number(7.0)), None]
    );
    assert_eq!(
        target(&numbers, "a,y\n1,7\n").unwrap_err().to_string(),
        "new.csv, line 2, column 2 (`y`): expected a number, found the plain number `7`"
    );
    let labels = learn("a,y\n1,007\n2,7\n4,007\n5,7\n", &ask("y")).schema;
    assert_eq!(
        target(&labels, "a,y\n1,007\n2,8\n3,NA\n").unwrap(),
        [
            Some(TargetCell::Label(s("007"))),
            Some(TargetCell::Label(s("8"))),
            None
        ]
    );
    assert_eq!(target(&labels, "a\n1\n2\n").unwrap(), [None, None]);
}
