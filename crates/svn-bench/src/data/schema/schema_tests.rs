//! Tables as people have them: what each column becomes, what is told, and later files read by the same rule.

use std::fmt::Write;
use std::io::Cursor;
use std::path::Path;

use super::super::{DataError, Reading, Table, TableReader};
use super::*;
use FindingKind as Kind;

fn table(text: &str) -> Table {
    let content = Box::new(Cursor::new(text.as_bytes().to_vec()));
    Table::new(Path::new("t.csv"), content, &Reading::default()).unwrap()
}

fn ask(target: &str) -> Ask {
    Ask {
        target: target.to_owned(),
        ..Ask::default()
    }
}

fn learn(text: &str, ask: &Ask) -> Learned {
    let learned = Schema::learn(&table(text), ask).unwrap();
    assert!(learned.x.iter().all(|value| value.is_finite()));
    assert_eq!(
        learned.x.dim(),
        (learned.lines.len(), learned.schema.width())
    );
    assert_eq!(learned.target.len(), learned.lines.len());
    assert_eq!(learned.schema.feature_names().len(), learned.schema.width());
    for finding in &learned.findings {
        assert!(
            finding.text.len() < 300 && !finding.text.contains(char::is_control),
            "{finding}"
        );
    }
    let saved = serde_json::to_string(&learned.schema).unwrap();
    assert_eq!(
        serde_json::from_str::<Schema>(&saved).unwrap(),
        learned.schema
    );
    learned
}

fn fault(text: &str, ask: &Ask) -> String {
    let message = Schema::learn(&table(text), ask).unwrap_err().to_string();
    assert!(
        message.len() < 300 && !message.contains(char::is_control),
        "{message}"
    );
    message
}

fn told(learned: &Learned, kind: Kind) -> Vec<&str> {
    let findings = learned
        .findings
        .iter()
        .filter(|finding| finding.kind == kind);
    findings.map(|finding| finding.text.as_str()).collect()
}

fn kinds(learned: &Learned) -> Vec<String> {
    let columns = learned.schema.columns();
    columns
        .iter()
        .map(|column| format!("{}: {}", column.name, column.kind))
        .collect()
}

/// Features of the rows of a later file, `None` for a row without prediction, and what was told.
type Encoded = (Vec<Option<Vec<f64>>>, Vec<String>);

fn encode(schema: &Schema, text: &str) -> Result<Encoded, DataError> {
    let path = Path::new("new.csv");
    let content = Box::new(Cursor::new(text.as_bytes().to_vec()));
    let mut reader = TableReader::new(path, content, &Reading::default())?;
    let mut matched = schema.matched(reader.columns(), path)?;
    let mut rows = Vec::new();
    while let Some(row) = reader.next()? {
        let mut out = vec![f64::NAN; schema.width()];
        let outcome = matched.features(&row, &mut out)?;
        rows.push((outcome == Outcome::Full).then_some(out));
    }
    let told = matched
        .told()
        .into_iter()
        .map(|finding| finding.text)
        .collect();
    Ok((rows, told))
}

/// `rows` rows of columns, each by a function of the row.
fn rows(header: &str, rows: usize, cells: impl Fn(usize) -> Vec<String>) -> String {
    let mut text = format!("{header}\n");
    for row in 0..rows {
        writeln!(text, "{}", cells(row).join(",")).unwrap();
    }
    text
}

fn s(value: impl ToString) -> String {
    value.to_string()
}

/// Something that looks random and is not in order.
fn noise(row: usize) -> f64 {
    (row * 7919 % 1009) as f64 / 1009.0
}

const WORDS: [&str; 3] = ["red", "blue", "green"];

fn plain(n: usize) -> String {
    rows("a,b,c,y", n, |i| {
        vec![
            s(noise(i)),
            s(-noise(i + 50)),
            s(WORDS[i % 3]),
            s(noise(3 * i + 1)),
        ]
    })
}

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
            "column `zip`: 1 cell(s) of categories never seen before, the first in line 2",
            "column `route`: 1 cell(s) of categories never seen before, the first in line 3",
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
fn missing_numbers_as_asked() {
    let text = "a,b,y\n1,2,0.5\n,3,1.5\n5,NA,2.5\n9,4,4.5\n";
    assert_eq!(
        fault(text, &ask("y")),
        "t.csv, line 3, column 1 (`a`): an empty cell; fill it, or see --missing drop and --missing impute"
    );
    let dropped = learn(
        text,
        &Ask {
            missing: Missing::Drop,
            ..ask("y")
        },
    );
    assert_eq!((dropped.lines.clone(), dropped.x.ncols()), (vec![2, 5], 2));
    assert_eq!(dropped.target, Targets::Numbers(ndarray::array![0.5, 4.5]));
    assert_eq!(
        told(&dropped, Kind::Rows),
        ["2 row(s) with missing cells are left out, the first in line 3, column 1"]
    );
    let imputed = learn(
        text,
        &Ask {
            missing: Missing::Impute,
            ..ask("y")
        },
    );
    assert_eq!(
        imputed.schema.feature_names(),
        ["a", "a (missing)", "b", "b (missing)"]
    );
    assert_eq!(
        imputed.x,
        ndarray::array![
            [1.0, 0.0, 2.0, 0.0],
            [5.0, 1.0, 3.0, 0.0],
            [5.0, 0.0, 3.0, 1.0],
            [9.0, 0.0, 4.0, 0.0]
        ]
    );
    assert_eq!(told(&imputed, Kind::Missing).len(), 2);
}

#[test]
fn no_row_of_a_later_file_is_lost() {
    let train = plain(60);
    let new = "a,b,c\n0.5,1,red\n0.5,,blue\n0.5,1,\n,,\n";
    let of = |missing| {
        learn(
            &train,
            &Ask {
                missing,
                ..ask("y")
            },
        )
        .schema
    };
    assert_eq!(
        encode(&of(Missing::Error), new).unwrap_err().to_string(),
        "new.csv, line 3, column 2 (`b`): an empty cell; fill it, or see --missing drop and --missing impute"
    );
    let (rows, _) = encode(&of(Missing::Drop), new).unwrap();
    assert_eq!(
        rows.iter().map(Option::is_some).collect::<Vec<_>>(),
        [true, false, true, false]
    );
    let schema = of(Missing::Impute);
    let (rows, told) = encode(&schema, new).unwrap();
    let mean = learn(&train, &ask("y")).x.column(1).mean().unwrap();
    let second = rows[1].clone().unwrap();
    assert_eq!((rows.len(), schema.width()), (4, 6));
    assert!((second[1] - mean).abs() < 1e-15);
    assert_eq!(rows[3].clone().unwrap()[2..], [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(
        told,
        [
            "column `a`: 1 missing cell(s) become the mean of the training rows, the first in line 5",
            "column `b`: 2 missing cell(s) become the mean of the training rows, the first in line 3",
            "column `c`: 2 cell(s) of categories never seen before, the first in line 4",
        ]
    );
}

#[test]
fn columns_are_found_by_name() {
    let learned = learn(
        &plain(40),
        &Ask {
            drop: vec!["c".into()],
            ..ask("y")
        },
    );
    let (first, told) = encode(&learned.schema, "a,b,c\n1,2,red\n").unwrap();
    assert_eq!(told, Vec::<String>::new());
    let (other, told) = encode(&learned.schema, "c,extra,b,a\nred,9,2,1\n").unwrap();
    assert_eq!(first, other);
    assert_eq!(
        told,
        ["column(s) that the model does not know are ignored: `extra`"]
    );
    let (swapped, _) = encode(&learned.schema, "b,a,c\n1,2,red\n").unwrap();
    assert_ne!(first, swapped);
    let message = |text: &str| encode(&learned.schema, text).unwrap_err().to_string();
    assert_eq!(
        message("A,B ,c\n1,2,red\n"),
        "new.csv: no column `a`, `b`; the nearest names are `A`, `B`"
    );
    assert_eq!(
        message("1,2,red\n3,4,red\n"),
        "new.csv: no column `a`, `b`; the file seems to have no header line"
    );
    assert_eq!(
        message("x,z\n1,2\n"),
        "new.csv: no column `a`, `b`; the file has `x`, `z`"
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

#[test]
fn names_of_strangers_are_shown_escaped() {
    let text = rows("\u{1b}[1Ab,a,y", 30, |i| {
        vec![format!("\u{1b}[8mred{i}"), s(noise(i)), s(noise(i + 3))]
    });
    let learned = learn(&text, &ask("y"));
    assert_eq!(
        told(&learned, Kind::LeftOut),
        [
            "column `\\u{1b}[1Ab` is left out: 30 distinct texts in 30 rows; --keep \\u{1b}[1Ab uses it"
        ]
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
fn real_files() {
    let Some(mirror) = std::env::var_os("SVN_DATA_MIRROR").filter(|path| !path.is_empty()) else {
        eprintln!("skipped: SVN_DATA_MIRROR is not set");
        return;
    };
    let folder = Path::new(&mirror).join("own-data");
    let learn = |name: &str, ask: &Ask| -> Option<Learned> {
        let path = folder.join(name);
        if !path.is_file() {
            eprintln!("skipped: no {}", path.display());
            return None;
        }
        let table = Table::open(&path, &Reading::default()).unwrap();
        Some(Schema::learn(&table, ask).unwrap())
    };
    let mass = ask("Body Mass (g)");
    for (missing, rows) in [(Missing::Drop, 330), (Missing::Impute, 342)] {
        if let Some(learned) = learn(
            "penguins_raw.csv",
            &Ask {
                missing,
                ..mass.clone()
            },
        ) {
            assert_eq!(learned.lines.len(), rows);
            assert_eq!(told(&learned, Kind::LeftOut).len(), 3);
        }
    }
    if let Some(learned) = learn(
        "telco_churn.csv",
        &Ask {
            missing: Missing::Impute,
            ..ask("Churn")
        },
    ) {
        assert_eq!(learned.lines.len(), 7043);
        assert_eq!(
            told(&learned, Kind::LeftOut),
            [
                "column `customerID` is left out: 7043 distinct texts in 7043 rows; --keep customerID uses it"
            ]
        );
    }
    if let Some(learned) = learn(
        "steak_survey.csv",
        &Ask {
            missing: Missing::Drop,
            ..ask("Do you eat steak?")
        },
    ) {
        assert_eq!(learned.lines.len(), 539);
        assert!(
            !learned
                .schema
                .columns()
                .iter()
                .any(|column| column.name == "RespondentID")
        );
    }
}
