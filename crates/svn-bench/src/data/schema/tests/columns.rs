//! What each column becomes, and which are left out.

use super::*;

#[test]
fn columns_become_features() {
    let text = "x,c,ok,day,y\n1.5,red,Yes,2021-01-04,0.1\n-2,blue,no,1970-01-02,0.7\n3,red,YES,1970-01-01,2\n4,red,no,1970-01-01,5\n";
    let learned = learn(text, &ask("y"));
    assert_eq!(
        kinds(&learned),
        [
            "x: number",
            "c: category of 2 levels",
            "ok: yes or no",
            "day: date (year first)"
        ]
    );
    assert_eq!(
        learned.schema.feature_names(),
        ["x", "c=blue", "c=red", "c=(unseen)", "ok=yes", "day"]
    );
    assert_eq!(
        learned.x,
        ndarray::array![
            [1.5, 0.0, 1.0, 0.0, 1.0, 18631.0],
            [-2.0, 1.0, 0.0, 0.0, 0.0, 1.0],
            [3.0, 0.0, 1.0, 0.0, 1.0, 0.0],
            [4.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        ]
    );
    assert_eq!(
        learned.target,
        Targets::Numbers(ndarray::array![0.1, 0.7, 2.0, 5.0])
    );
    let ranges: Vec<_> = learned
        .schema
        .columns()
        .into_iter()
        .map(|column| column.features)
        .collect();
    assert_eq!(ranges, [0..1, 1..4, 4..5, 5..6]);
    assert_eq!(
        (learned.schema.target(), learned.schema.task()),
        ("y", Task::Regression)
    );
}

#[test]
fn what_a_column_is_does_not_hang_on_its_first_rows() {
    let late = |odd: &str| {
        rows("code,z,y", 400, |i| {
            let code = if i == 351 { s(odd) } else { s(1 + i * 5 % 8) };
            vec![code, s(noise(i)), s(noise(i + 9))]
        })
    };
    let halves = learn(&late("2.5"), &ask("y"));
    assert_eq!(kinds(&halves), ["code: number", "z: number"]);
    assert_eq!(
        fault(&late("B7"), &ask("y")),
        "t.csv, line 353, column 1 (`code`): expected a number as in most rows, found the text `B7`; mend it, or --keep \
         code takes categories, --drop code no column"
    );
    let kept = learn(
        &late("B7"),
        &Ask {
            keep: vec!["code".into()],
            ..ask("y")
        },
    );
    assert_eq!(kinds(&kept)[0], "code: category of 9 levels");
    // The same rule for a later file.
    let error = encode(&halves.schema, "code,z\n1,2\nB7,2\n")
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "new.csv, line 3, column 1 (`code`): expected a number, found the text `B7`"
    );
    // Texts that are there again and again are levels.
    let levels = rows("n,y", 60, |i| {
        vec![s(["0", "1", "2", "3+"][i % 4]), s(noise(i))]
    });
    assert_eq!(
        kinds(&learn(&levels, &ask("y"))),
        ["n: category of 4 levels"]
    );
    assert_eq!(
        fault("a,b,y\n1,2,3\n\u{1b}[2Jok\u{7},2,3\n4,5,6\n", &ask("y")),
        "t.csv, line 3, column 1 (`a`): expected a number as in most rows, found the text `\\u{1b}[2Jok\\u{7}`; mend it, \
         or --keep a takes categories, --drop a no column"
    );
}

#[test]
fn numbers_in_disguise() {
    let text = "share,income,balance,m,y\n17.0%,\"$86,927\",25,\u{2212}0.5,1\n90.4%,\"$40,119\",(66),0.25,2\n5%,\"$8,135\",(100),\u{2212}1,4\n";
    let learned = learn(text, &ask("y"));
    assert_eq!(
        learned.x,
        ndarray::array![
            [17.0, 86927.0, 25.0, -0.5],
            [90.4, 40119.0, -66.0, 0.25],
            [5.0, 8135.0, -100.0, -1.0]
        ]
    );
    assert_eq!(told(&learned, Kind::Notation).len(), 2);
    let (new, _) = encode(
        &learned.schema,
        "share,income,balance,m\n1%,\"$1,000\",(1),-3\n",
    )
    .unwrap();
    assert_eq!(new, [Some(vec![1.0, 1000.0, -1.0, -3.0])]);
    let other = encode(&learned.schema, "share,income,balance,m\n0.01,5,1,3\n")
        .unwrap_err()
        .to_string();
    assert!(
        other.starts_with("new.csv, line 2, column 1 (`share`): expected a number, found"),
        "{other}"
    );

    let commas = "a;y\n1,5;0,25\n2,25;1\n3;2,125\n";
    let learned = learn(commas, &ask("y"));
    assert_eq!(learned.x.column(0).to_vec(), [1.5, 2.25, 3.0]);
    assert_eq!(
        learned.target,
        Targets::Numbers(ndarray::array![0.25, 1.0, 2.125])
    );
    let mixed = fault("a,y\n5%,1\n6%,2\n7,3\n", &ask("y"));
    assert!(
        mixed.starts_with(
            "t.csv, line 4, column 1 (`a`): expected a number written as in the other cells"
        ),
        "{mixed}"
    );
}

#[test]
fn one_order_of_dates_for_a_column() {
    let dates = |cells: &[&str]| {
        let mut text = s("when,x,y\n");
        for (i, cell) in cells.iter().enumerate() {
            writeln!(text, "{cell},{},{}", noise(i), noise(i + 3)).unwrap();
        }
        text
    };
    let day_first = learn(
        &dates(&["04/01/2021", "11/01/2021", "18/01/2021", "01/02/2021"]),
        &ask("y"),
    );
    let iso = learn(
        &dates(&["2021-01-04", "2021-01-11", "2021-01-18", "2021-02-01"]),
        &ask("y"),
    );
    assert_eq!(day_first.x, iso.x);
    assert_eq!(kinds(&day_first)[0], "when: date (day first)");
    assert_eq!(
        fault(
            &dates(&["2021-01-04", "11/01/2021", "18/01/2021"]),
            &ask("y")
        ),
        "t.csv, line 3, column 1 (`when`): expected a date written as in the cells above, found `11/01/2021`"
    );
    assert_eq!(
        fault(
            &dates(&["2021-01-04", "2021-01-11", "soon", "2021-01-18"]),
            &ask("y")
        ),
        "t.csv, line 4, column 1 (`when`): expected a date written as in the cells above, found `soon`"
    );
    let either = learn(
        &dates(&["04/01/2021", "11/01/2021", "08/01/2021"]),
        &ask("y"),
    );
    assert_eq!(
        told(&either, Kind::LeftOut),
        [
            "column `when` is left out: its dates could be day first or month first; write them as 2021-01-31; --keep when uses it"
        ]
    );
    let later = encode(&iso.schema, "when,x\n31/01/2021,1\n")
        .unwrap_err()
        .to_string();
    assert_eq!(
        later,
        "new.csv, line 2, column 1 (`when`): expected a date, found the text `31/01/2021`"
    );
}

#[test]
fn columns_that_would_mislead_are_left_out() {
    let text = rows(",name,note,same,one,RespondentID,a,y", 60, |i| {
        vec![
            s(i),
            format!("\"Person, Nr. {i}\""),
            format!("text {}", i % 40),
            s("m"),
            s("1.0"),
            s(90_000 + i * 7 % 60),
            s(noise(i)),
            s(noise(i + 7)),
        ]
    });
    let learned = learn(&text, &ask("y"));
    assert_eq!(kinds(&learned), ["a: number"]);
    assert_eq!(
        told(&learned, Kind::LeftOut),
        [
            "column `column1` is left out: it counts up from row to row, like a row number; --keep column1 uses it",
            "column `name` is left out: 60 distinct texts in 60 rows; --keep name uses it",
            "column `note` is left out: 40 distinct texts in 60 rows; --keep note uses it",
            "column `same` is left out: it is `m` in every row",
            "column `one` is left out: it is `1.0` in every row",
            "column `RespondentID` is left out: it is named like an id and differs in every row; --keep RespondentID uses it",
        ]
    );
    let keep = ["column1", "name", "RespondentID"]
        .map(str::to_owned)
        .to_vec();
    let kept = learn(
        &text,
        &Ask {
            keep,
            drop: vec!["a".into()],
            ..ask("y")
        },
    );
    assert_eq!(
        kinds(&kept),
        [
            "column1: number",
            "name: category of 60 levels",
            "RespondentID: number"
        ]
    );
    // Few rows tell nothing, and a name that ends like an id is none.
    assert_eq!(
        kinds(&learn("x,y\n1,5\n2,4\n3,9\n", &ask("y"))),
        ["x: number"]
    );
    let acid = rows("acid,y", 30, |i| vec![s(i * 7 % 30), s(noise(i))]);
    assert_eq!(kinds(&learn(&acid, &ask("y"))), ["acid: number"]);
    let nothing = fault("x,y\n1,5\n1,4\n1,9\n", &ask("y"));
    assert_eq!(nothing, "t.csv: no feature column besides the target `y`");
}

#[test]
fn codes_and_words_are_categories() {
    let text = rows("zip,route,y", 30, |i| {
        vec![
            s(["00501", "02139", "90210"][i % 3]),
            s(["iv", "inf", "oral"][i * 7 % 3]),
            s(noise(i)),
        ]
    });
    let learned = learn(&text, &ask("y"));
    assert_eq!(
        kinds(&learned),
        ["zip: category of 3 levels", "route: category of 3 levels"]
    );
    let (new, told) = encode(&learned.schema, "zip,route\n2139,inf\n02139,\n").unwrap();
    assert_eq!(new[0], Some(vec![0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0]));
    assert_eq!(new[1], Some(vec![0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]));
    assert_eq!(
        told,
        [
            "column `zip`: 1 cell(s) of categories never seen before, the first in line 2: the plain number `2139`",
            "column `route`: 1 cell(s) of categories never seen before, the first in line 3: an empty cell",
        ]
    );
    // A large code takes no room.
    let codes = rows("code,y", 30, |i| {
        vec![s([0, 1, 2, 3, 5_999_999][i % 5]), s(noise(i))]
    });
    assert_eq!(learn(&codes, &ask("y")).x.ncols(), 1);
}

#[test]
fn words_for_missing_are_levels_of_a_category() {
    let text = rows("fence,price", 40, |i| {
        vec![s(["NA", "None", "Wood", ""][i % 4]), s(noise(i))]
    });
    for missing in [Missing::Error, Missing::Drop, Missing::Impute] {
        let learned = learn(
            &text,
            &Ask {
                missing,
                ..ask("price")
            },
        );
        assert_eq!(
            (learned.x.nrows(), kinds(&learned)),
            (40, vec![s("fence: category of 4 levels")])
        );
        assert_eq!(
            told(&learned, Kind::Levels),
            [
                "in columns of text, empty cells and words such as NA are levels of their own: `fence` (empty 10, NA 10, None 10); --drop leaves a column out"
            ]
        );
    }
}

#[test]
fn names_of_strangers_are_shown_escaped() {
    let text = rows("\u{1b}[1Ab,a,y", 30, |i| {
        vec![format!("\u{1b}[8mred{i}"), s(noise(i)), s(noise(i + 3))]
    });
    let learned = learn(&text, &ask("y"));
    assert_eq!(
        told(&learned, Kind::LeftOut),
        ["column `\\u{1b}[1Ab` is left out: 30 distinct texts in 30 rows; --keep NAME uses it"]
    );
    let colours = rows("c,y", 30, |i| {
        vec![s(["\u{1b}[8mred", "red"][i % 2]), s(noise(i))]
    });
    assert_eq!(
        kinds(&learn(&colours, &ask("y"))),
        ["c: category of 2 levels"]
    );
}

#[test]
fn messages_are_short_whatever_the_names() {
    for name in [
        "é".repeat(200),
        "\u{1b}[2J".repeat(40),
        "\u{1f600}".repeat(99),
    ] {
        let odd = rows(&format!("{name},y"), 30, |i| {
            vec![
                if i == 7 { name.clone() } else { s(noise(i)) },
                s(noise(i + 3)),
            ]
        });
        assert!(fault(&odd, &ask("y")).contains("line 9"));
        let gap = format!("{name},y\n1,2\n,3\n4,5\n");
        assert!(fault(&gap, &ask("y")).contains("line 3"));
        let target = format!("x,{name}\n1,a\n2,NA\n3,a\n");
        assert!(fault(&target, &ask(&name)).contains("line 3"));
        let class = format!("x,{name}\n1,{name}\n2,{name}\n");
        fault(&class, &ask(&name));
        fault(&gap, &ask("absent"));
        fault(&gap, &ask(&(name.clone() + "x")));
        let texts = rows(&format!("{name},x,y"), 30, |i| {
            vec![format!("{name}{i}"), s(noise(i)), s(noise(i + 3))]
        });
        assert_eq!(told(&learn(&texts, &ask("y")), Kind::LeftOut).len(), 1);
        let later = encode(&learn(&texts, &ask("y")).schema, "z\n1\n")
            .unwrap_err()
            .to_string();
        assert!(later.len() < 300, "{later}");
    }
}
