//! Missing cells, and later files read by the same rule.

use super::*;

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
            "column `c`: 2 cell(s) of categories never seen before, the first in line 4: an empty cell",
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
