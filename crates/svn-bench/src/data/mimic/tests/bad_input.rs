//! Folders and files that are not what they should be.

use super::*;

fn sound() -> Made {
    let mut made = Made::new();
    made.person(5);
    made.chart(5, 220_045, &time(2, 1, 0), "70", "70");
    made
}

#[test]
fn a_missing_table_is_answered_by_the_nearest() {
    let mut made = sound();
    let text = made.tables.remove("icu/icustays").unwrap();
    write(made.path(), "icu/icustay.csv", text.as_bytes());
    assert_eq!(
        made.error(),
        "DIR: no icu/icustays.csv or icu/icustays.csv.gz, did you mean `icu/icustay`?; \
         name the folder that holds hosp/ and icu/ of MIMIC-IV"
    );
    let empty = tempfile::tempdir().unwrap();
    let error = Tables::find(empty.path()).unwrap_err().to_string();
    assert!(
        error.contains("no hosp/patients.csv or hosp/patients.csv.gz; name the"),
        "{error}"
    );
}

#[test]
fn a_missing_column_is_answered_by_the_nearest() {
    for (table, column, other) in [
        ("icu/chartevents", "storetime", "storedtime"),
        ("icu/chartevents", "valuenum", "value_num"),
        ("hosp/labevents", "storetime", "store_time"),
        ("icu/icustays", "intime", "in_time"),
        ("hosp/patients", "anchor_year", "anchor_yr"),
    ] {
        let mut made = sound();
        let text = made.tables.get_mut(table).unwrap();
        *text = text.replacen(column, other, 1);
        let error = made.error();
        let expected = format!("DIR/{table}.csv: no column `{column}`, did you mean `");
        assert!(error.starts_with(&expected) && error.len() < 300, "{error}");
    }
}

#[test]
fn truncated_files_are_told_with_line_and_byte_and_nothing_is_kept() {
    let mut made = sound();
    for minute in 0..4000 {
        let rate = (60 + minute % 37).to_string();
        made.chart(
            5,
            220_045,
            &time(2, 1 + minute / 60 % 20, minute % 60),
            &rate,
            &rate,
        );
    }
    let text = made.tables.remove("icu/chartevents").unwrap();
    made.write();
    let whole = gzip(text.as_bytes());
    write(
        made.path(),
        "icu/chartevents.csv.gz",
        &whole[..whole.len() / 2],
    );
    let tables = Tables::find(made.path()).unwrap();
    let cache = made.path().join("cache");
    let error = cached(&tables, &cache, &ExtractOptions::default(), &Quiet).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("chartevents.csv.gz: ") && error.contains("; read up to line "),
        "{error}"
    );
    let (_, read) = error.split_once("; read up to line ").unwrap();
    let (line, byte) = read
        .strip_suffix(" of its text")
        .unwrap()
        .split_once(", byte ")
        .unwrap();
    let [line, byte]: [usize; 2] = [line, byte].map(|number| number.parse().unwrap());
    // As many lines as there are in so many bytes.
    assert_eq!(
        line,
        text[..byte].lines().count() - usize::from(!text[..byte].ends_with('\n'))
    );
    assert!(byte > 0 && byte < text.len(), "{error}");
    assert!(!cache.exists());
}

#[test]
fn members_and_padding_of_gzip_are_read() {
    let mut made = sound();
    let text = made.tables.remove("icu/chartevents").unwrap();
    let (head, tail) = text.split_at(text.len() / 2);
    let members = [
        gzip(head.as_bytes()),
        gzip(b""),
        gzip(tail.as_bytes()),
        vec![0; 1000],
    ];
    write(made.path(), "icu/chartevents.csv.gz", &members.concat());
    assert_eq!(made.one()("heart_rate_mean"), 70.0);
}

#[test]
fn keys_that_two_rows_have_are_told_by_their_lines() {
    let mut made = sound();
    made.stay(5, 5, &time(3, 0, 0), &time(5, 0, 0));
    assert_eq!(
        made.error(),
        "DIR/icu/icustays.csv, line 3: the same `stay_id` as in line 2; every row has its own"
    );
    let mut made = sound();
    made.patient(5, 51, 2150);
    assert!(
        made.error()
            .starts_with("DIR/hosp/patients.csv, line 3: the same `subject_id` as in")
    );
    let mut made = sound();
    made.admission(5, &time(1, 0, 0), &time(9, 0, 0), "");
    assert!(
        made.error()
            .starts_with("DIR/hosp/admissions.csv, line 3: the same `hadm_id` as in")
    );
}

#[test]
fn a_key_that_is_none_is_told_without_what_the_cell_holds() {
    let mut made = sound();
    made.row("icu/icustays", "x7,1005,5,a,b,c,1");
    assert_eq!(
        made.error(),
        "DIR/icu/icustays.csv, line 3, column `stay_id`: expected a whole number"
    );
    let mut made = sound();
    made.row("icu/icustays", "7,1005,5");
    assert_eq!(
        made.error(),
        "DIR/icu/icustays.csv, line 3: expected 7 cells, found 3; is this a row of the table?"
    );
}

#[test]
fn a_cohort_of_nobody_is_an_error_that_says_why() {
    let mut made = Made::new();
    made.patient(5, 12, 2150);
    made.admission(5, &time(1, 20, 0), &time(9, 0, 0), "");
    made.stay(5, 5, &time(2, 0, 0), &time(5, 0, 0));
    assert_eq!(
        made.error(),
        "DIR: none of 1 stays is left: 1 under 18, or age unknown"
    );
}

#[test]
fn empty_files_and_web_pages_are_told() {
    let mut made = sound();
    made.tables.insert("icu/chartevents", String::new());
    assert_eq!(made.error(), "DIR/icu/chartevents.csv: no data rows");
    made.tables.insert(
        "icu/chartevents",
        "<!DOCTYPE html><title>Log in</title>".to_owned(),
    );
    assert!(made.error().contains("this is an HTML page"));
    let mut made = sound();
    made.tables.insert("hosp/patients", String::new());
    assert_eq!(made.error(), "DIR/hosp/patients.csv: no data rows");
    // A table of events may be without one.
    let mut made = sound();
    let header = made.tables["icu/chartevents"]
        .lines()
        .next()
        .unwrap()
        .to_owned();
    made.tables.insert("icu/chartevents", header);
    assert_eq!(made.one()("heart_rate_missing"), 1.0);
}

#[test]
fn a_quote_that_is_not_closed_does_not_fill_the_memory() {
    let mut made = sound();
    let text = made.tables.get_mut("hosp/labevents").unwrap();
    text.push_str("1,5,,7,50912,a,b,\"never closed");
    text.push_str(&"x\n".repeat(9 << 20));
    let error = made.error();
    assert!(
        error.starts_with("DIR/hosp/labevents.csv, line 2: a row of more than 16777216 bytes"),
        "{error}"
    );
}

#[test]
fn odd_rows_of_events_are_counted() {
    let mut made = sound();
    made.row("icu/chartevents", "220045,2150-01-02 01:00:00,70");
    made.row("icu/chartevents", &"9".repeat(100));
    made.row("icu/chartevents", "220045,yesterday,70,70,u,5,1005,5,1,,0");
    made.row(
        "icu/chartevents",
        "220045,2150-01-02 01:00:00,70,inf,u,5,1005,5,1,,0",
    );
    made.row(
        "icu/chartevents",
        "220045,2150-01-02 01:00:00,70,70,u,unknown,1005,5,1,,0",
    );
    made.row(
        "icu/chartevents",
        "220045,2150-01-02 01:00:00,70,70,u,6,1005,5,1,,0",
    );
    let [counts, ..] = made.extract().unwrap().counts;
    assert_eq!((counts.rows, counts.short, counts.of_cohort), (7, 1, 3));
    assert_eq!((counts.bad_time, counts.no_number, counts.used), (1, 1, 1));
}
