//! A table case by case, with the exact message for each fault.

use std::path::Path;

use ndarray::array;

use super::*;

fn read(text: &str, options: &LoadOptions) -> Result<Dataset, DataError> {
    let path = Path::new("t.csv");
    let reading = Reading {
        header: options.header,
        ..Reading::default()
    };
    let content = Cursor::new(text.as_bytes().to_vec());
    from_table(
        &Table::new(path, Box::new(content), &reading)?,
        String::new(),
        options,
    )
}

fn regression() -> LoadOptions {
    LoadOptions::new("t", Task::Regression)
}

fn classification() -> LoadOptions {
    LoadOptions::new("t", Task::Classification)
}

#[test]
fn target_is_last_or_named() {
    let text = "a,b,y\n1,5,3\n2,1,4\n3,7,1\n";
    let last = read(text, &regression()).unwrap();
    assert_eq!((last.target.as_str(), last.y), ("y", array![3.0, 4.0, 1.0]));
    assert_eq!(last.x, array![[1.0, 5.0], [2.0, 1.0], [3.0, 7.0]]);

    let named = LoadOptions {
        target: Some("a".into()),
        drop: vec!["y".into()],
        ..regression()
    };
    let named = read(text, &named).unwrap();
    assert_eq!(
        (named.features, named.y),
        (vec!["b".to_owned()], array![1.0, 2.0, 3.0])
    );
}

#[test]
fn cells_that_are_no_numbers_are_refused() {
    let message = |text: &str| read(text, &regression()).unwrap_err().to_string();
    let at = |cell: &str| format!("a,b,y\n1,2,3\n4,{cell},6\n");
    for (cell, found) in [
        ("?", "`?` (missing)"),
        ("NA", "`NA` (missing)"),
        ("", "an empty cell"),
        (">60", "the text `>60`"),
        ("nan", "`nan` (missing)"),
        ("inf", "`inf` (not finite)"),
    ] {
        assert_eq!(
            message(&at(cell)),
            format!("t.csv, line 3, column 2 (`b`): expected a number, found {found}")
        );
    }
    assert_eq!(
        message("a,y\n1,?\n"),
        "t.csv, line 2, column 2 (`y`): expected a number, found `?` (missing)"
    );
    // A row of blanks between data is a row with missing cells.
    assert_eq!(
        message("a,y\n1,2\n,\n3,4\n"),
        "t.csv, line 3, column 1 (`a`): expected a number, found an empty cell"
    );
}

#[test]
fn policies_say_what_they_did() {
    let text = "a,b,y\n1,5,3\n?,1,4\n3,>60,1\n4,2,2\n5,1,9\n";
    let dropped = read(
        text,
        &LoadOptions {
            cells: CellPolicy::DropRow,
            ..regression()
        },
    )
    .unwrap();
    assert_eq!(dropped.y, array![3.0, 2.0, 9.0]);
    assert_eq!(dropped.report.dropped_rows, 2);
    assert_eq!(
        dropped.report.warnings,
        ["t: left out 2 row(s) with missing or unreadable cells"]
    );

    let imputed = read(
        text,
        &LoadOptions {
            cells: CellPolicy::ImputeMean,
            ..regression()
        },
    )
    .unwrap();
    assert_eq!(imputed.rows(), 5);
    assert!(imputed.x[[1, 0]].is_nan() && imputed.x[[2, 1]].is_nan());
    assert_eq!(
        imputed.report.warnings,
        ["t: 2 missing or unreadable cell(s) become the training mean"]
    );

    // A target is never made up.
    let target = read(
        "a,y\n1,?\n2,3\n",
        &LoadOptions {
            cells: CellPolicy::ImputeMean,
            ..regression()
        },
    );
    assert_eq!(
        target.unwrap_err().to_string(),
        "t.csv, line 2, column 2 (`y`): expected a number, found `?` (missing)"
    );
    let none = read(
        "a,y\n?,1\n",
        &LoadOptions {
            cells: CellPolicy::DropRow,
            ..regression()
        },
    );
    assert_eq!(none.unwrap_err().to_string(), "t.csv: no data rows");
}

#[test]
fn labels_are_encoded_and_kept() {
    let data = read("a,y\n1,M\n5,B\n3,M\n", &classification()).unwrap();
    assert_eq!(data.y, array![1.0, 0.0, 1.0]);
    assert_eq!(data.labels.unwrap().classes(), ["B", "M"]);
    let signs = read("a,y\n1,-1\n5,1\n3,-1\n", &classification()).unwrap();
    assert_eq!(signs.y, array![0.0, 1.0, 0.0]);
}

#[test]
fn targets_that_are_no_classes() {
    let message = |text: &str| read(text, &classification()).unwrap_err().to_string();
    assert_eq!(
        message("a,y\n1,g\n2,g\n"),
        "t.csv: the target `y` has the one class `g`; at least two are needed"
    );
    assert_eq!(
        message("a,y\n1,g\n2,\n"),
        "t.csv, line 3, column 2 (`y`): expected a class label, found an empty cell"
    );
    let many: String = (0..60).map(|i| format!("{i},{}.5\n", i * i)).collect();
    assert_eq!(
        message(&format!("a,y\n{many}")),
        "t.csv: the target `y` has 60 distinct labels in 60 rows; is this a regression set?"
    );
}

#[test]
fn second_target_must_be_told_apart() {
    let rows: String = (0..30)
        .map(|i| {
            format!(
                "{},{i},{}\n",
                i * i % 7,
                f64::from(i) + 0.01 * f64::from(i % 2)
            )
        })
        .collect();
    let text = format!("a,heating,cooling\n{rows}");
    assert_eq!(
        read(&text, &regression()).unwrap_err().to_string(),
        "t.csv: column `heating` has correlation 1.000 with the last column `cooling`, so the file may hold several \
         targets; name the target column (and drop the others)"
    );
    let named = LoadOptions {
        target: Some("cooling".into()),
        ..regression()
    };
    assert_eq!(
        read(&text, &named).unwrap().report.warnings,
        ["t: feature `heating` has correlation 1.000 with the target `cooling`; is it a leak?"]
    );
    let dropped = LoadOptions {
        drop: vec!["heating".into()],
        ..named
    };
    assert_eq!(
        read(&text, &dropped).unwrap().report.warnings,
        Vec::<String>::new()
    );
}

#[test]
fn columns_that_are_not_there() {
    let message = |options: LoadOptions| read("a,b,y\n1,2,3\n", &options).unwrap_err().to_string();
    assert_eq!(
        message(LoadOptions {
            target: Some("z".into()),
            ..regression()
        }),
        "t.csv: no column `z`; the file has a, b, y"
    );
    assert_eq!(
        message(LoadOptions {
            drop: vec!["a".into(), "b".into()],
            ..regression()
        }),
        "t.csv: no feature column besides the target `y`"
    );
    assert_eq!(
        read("1\n2\n", &regression()).unwrap_err().to_string(),
        "t.csv: no feature column besides the target `column1`"
    );
}

#[test]
fn one_row_is_a_dataset() {
    assert_eq!(read("a,y\n1,2\n", &regression()).unwrap().rows(), 1);
}
