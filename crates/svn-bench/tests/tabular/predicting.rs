//! Predictions of new files: by name, row by row, one for each row.

use super::*;

fn modelled() -> tempfile::TempDir {
    let place = place();
    fit(place.path(), "houses.csv", "price", "model", &[]);
    place
}

#[test]
fn a_row_does_not_depend_on_its_neighbours() {
    let place = modelled();
    let folder = place.path();
    let new = houses(2500, 9);
    write(folder, "many.csv", &new);
    let (all, _) = done(folder, &["predict", "model", "many.csv"]);
    let rows: Vec<&str> = new.lines().collect();
    let found: Vec<&str> = all.lines().collect();
    assert_eq!(found.len(), rows.len());
    // Backwards, alone, and a few from within.
    let backwards: String = rows[..1]
        .iter()
        .chain(rows[1..].iter().rev())
        .map(|row| format!("{row}\n"))
        .collect();
    write(folder, "backwards.csv", &backwards);
    let (again, _) = done(folder, &["predict", "model", "backwards.csv"]);
    let again: Vec<&str> = again.lines().skip(1).collect();
    assert!(again.iter().rev().eq(found[1..].iter()));
    for from in [1, 1023, 1700, 2498] {
        let few = format!("{}\n{}\n{}\n", rows[0], rows[from], rows[from + 1]);
        write(folder, "few.csv", &few);
        let (few, _) = done(folder, &["predict", "model", "few.csv"]);
        let few: Vec<&str> = few.lines().skip(1).collect();
        assert_eq!(few, [found[from], found[from + 1]], "{from}");
    }
}

#[test]
fn columns_are_matched_by_name() {
    let place = modelled();
    let folder = place.path();
    let (expected, _) = done(folder, &["predict", "model", "new.csv"]);
    let shuffled: String = read(folder, "new.csv")
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            format!(
                "{};{};{};{};extra\n",
                cells[4], cells[3], cells[1], cells[2]
            )
        })
        .collect();
    write(folder, "shuffled.csv", shuffled);
    let (found, stderr) = done(folder, &["predict", "model", "shuffled.csv"]);
    assert_eq!(found, expected);
    assert!(stderr.contains("extra"), "{stderr}");
    // Names of another case are not taken for the same.
    let renamed = read(folder, "new.csv").replace("area", "Area");
    write(folder, "renamed.csv", renamed);
    let (code, _, stderr) = svn(folder, &["predict", "model", "renamed.csv"]);
    assert_eq!(code, 2);
    assert!(
        stderr.contains("`area`") && stderr.contains("`Area`"),
        "{stderr}"
    );
    // A file without header has no such columns.
    let bare: String = read(folder, "new.csv")
        .lines()
        .skip(1)
        .map(|line| format!("{line}\n"))
        .collect();
    write(folder, "bare.csv", bare);
    let (code, stdout, _) = svn(folder, &["predict", "model", "bare.csv"]);
    assert_eq!((code, stdout.as_str()), (2, ""));
}

#[test]
fn every_row_has_its_row_and_missing_cells_are_as_asked() {
    let place = place();
    let folder = place.path();
    let gaps: String = read(folder, "new.csv")
        .lines()
        .enumerate()
        .map(|(index, line)| match index {
            3 | 17 => {
                let cells: Vec<&str> = line.split(',').collect();
                format!("{},,{},{},{},\n", cells[0], cells[2], cells[3], cells[4])
            }
            40 => ",,,,,\n".to_owned(),
            _ => format!("{line}\n"),
        })
        .collect();
    write(folder, "gaps.csv", gaps);
    for missing in ["error", "drop", "impute"] {
        fit(
            folder,
            "houses.csv",
            "price",
            missing,
            &["--missing", missing],
        );
        let (code, stdout, stderr) = svn(folder, &["predict", missing, "gaps.csv"]);
        let rows: Vec<&str> = stdout.lines().skip(1).collect();
        match missing {
            "error" => {
                assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
                assert!(
                    stderr.contains("line 4") && stderr.contains("area"),
                    "{stderr}"
                );
            }
            "drop" => {
                assert_eq!((code, rows.len()), (0, 40), "{stderr}");
                for index in [2, 16, 39] {
                    assert_eq!(rows[index], ",,,,,,");
                }
                assert!(stderr.contains("3 of 40 rows"), "{stderr}");
            }
            _ => {
                assert_eq!((code, rows.len()), (0, 40), "{stderr}");
                assert!(rows.iter().all(|row| !row.contains(",,")), "{stdout}");
            }
        }
    }
}

#[test]
fn streams_and_files_and_own_columns() {
    let place = modelled();
    let folder = place.path();
    let (expected, _) = done(folder, &["predict", "model", "new.csv"]);
    let piped = command(folder, &["predict", "model", "-", "-o", "-"])
        .stdin(std::fs::File::open(folder.join("new.csv")).unwrap())
        .output()
        .unwrap();
    assert_eq!(finished(piped), (0, expected.clone(), String::new()));
    let (kept, _) = done(folder, &["predict", "model", "new.csv", "--keep"]);
    let (own, kept) = (cells(&read(folder, "new.csv")), cells(&kept));
    for ((kept, own), expected) in kept.iter().zip(&own).zip(cells(&expected)) {
        assert_eq!(*kept, [own.clone(), expected].concat());
    }
    // Names that are there already.
    let taken = read(folder, "new.csv").replacen("id,", "mean,", 1);
    write(folder, "taken.csv", taken);
    let (kept, stderr) = done(folder, &["predict", "model", "taken.csv", "--keep"]);
    assert!(
        kept.starts_with("mean,") && kept.contains(",predicted_mean,"),
        "{stderr}"
    );
    // Never over the table itself, and no file from a table that is none.
    let (code, _, stderr) = svn(folder, &["predict", "model", "new.csv", "-o", "./new.csv"]);
    assert!(code == 2 && stderr.contains("the table itself"), "{stderr}");
    write(
        folder,
        "bad.csv",
        "area,rooms,town,garden\n1,2,Ulm,no\n1,2\n",
    );
    let (code, ..) = svn(folder, &["predict", "model", "bad.csv", "-o", "bad.out"]);
    assert!(code == 2 && !folder.join("bad.out").exists());
}

#[test]
fn conformal_intervals_keep_their_promise_or_say_that_they_cannot() {
    let place = modelled();
    let folder = place.path();
    let (out, _) = done(
        folder,
        &[
            "predict",
            "model",
            "new.csv",
            "--conformal",
            "--interval",
            "0.8",
        ],
    );
    let (mean, sd) = (column(&out, "mean"), column(&out, "sd"));
    let (lower, upper) = (column(&out, "lower"), column(&out, "upper"));
    let factor = (upper[0] - mean[0]) / sd[0];
    for i in 0..mean.len() {
        assert!(((upper[i] - mean[i]) / sd[i] / factor - 1.0).abs() < 1e-9);
        assert!(((mean[i] - lower[i]) / sd[i] / factor - 1.0).abs() < 1e-9);
    }
    // 120 validation rows.
    let (code, stdout, stderr) = svn(
        folder,
        &[
            "predict",
            "model",
            "new.csv",
            "--conformal",
            "--interval",
            "0.999",
        ],
    );
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains("needs 999 validation rows"), "{stderr}");
    for level in ["0", "1", "1.5", "x"] {
        let (code, _, stderr) = svn(
            folder,
            &["predict", "model", "new.csv", "--interval", level],
        );
        assert!(
            code == 2 && stderr.contains("above 0 and below 1"),
            "{stderr}"
        );
    }
}

#[test]
fn unseen_towns_are_told_and_rows_far_away_are_new() {
    let place = modelled();
    let folder = place.path();
    let text = "area,rooms,town,garden\n100,3,Ulm,no\n100,3,Oslo,no\n9000,40,Ulm,no\n";
    write(folder, "strange.csv", text);
    let (out, stderr) = done(folder, &["predict", "model", "strange.csv"]);
    assert!(
        stderr.contains("Oslo") && stderr.contains("line 3"),
        "{stderr}"
    );
    let (sd, novelty) = (column(&out, "epistemic_sd"), column(&out, "novelty"));
    assert!(sd[2] > 3.0 * sd[0], "{sd:?}");
    assert!(novelty.iter().all(|rank| (0.0..=1.0).contains(rank)));
}
