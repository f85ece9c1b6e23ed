//! Files as people write them: each gives the one table that was meant, or one line that says what is wrong where.

use std::io::Cursor;

use super::super::HeaderMode;
use super::*;

pub(in crate::data) fn read(text: &str) -> Result<Table, DataError> {
    bytes(text.as_bytes())
}

fn bytes(text: &[u8]) -> Result<Table, DataError> {
    let content = Box::new(Cursor::new(text.to_vec()));
    Table::new(Path::new("t.csv"), content, &Reading::default())
}

fn cells(table: &Table) -> Vec<Vec<&str>> {
    table.rows().map(|row| row.cells().collect()).collect()
}

fn message(text: &str) -> String {
    let message = read(text).unwrap_err().to_string();
    assert!(
        message.len() < 300 && !message.contains(char::is_control),
        "{message:?}"
    );
    message
}

/// `rows` rows of 3 numbers and a word, below a header.
fn rows(rows: usize, separator: &str, end: &str) -> String {
    let row = |i: usize| {
        let words = ["red", "blue", "green"];
        [
            format!("{}.5", i % 7),
            format!("-0.{i}"),
            words[i % 3].to_owned(),
            format!("{}", 3 * i),
        ]
    };
    let header = ["a", "b", "c", "y"].map(str::to_owned);
    let lines = std::iter::once(header).chain((0..rows).map(row));
    lines.map(|cells| cells.join(separator) + end).collect()
}

#[test]
fn dialects_of_one_table_agree() {
    for text in [
        "a,b\n1,2\n3,4\n",
        "a,b\n1,2\n3,4",
        "a,b\r\n1,2\r\n3,4\r\n",
        "a,b\r1,2\r3,4\r",
        "a,b\r\n1,2\r3,4\n",
        "\u{feff}a,b\n1,2\n3,4\n",
        "a;b\n1;2\n3;4\n",
        "a|b\n1|2\n3|4\n",
        "a\tb\n1\t2\n3\t4\n",
        "\"a\",\"b\"\n\"1\",2\n3,4\n",
        " a , b \n 1 , 2 \n 3 , 4 \n",
        "a b\n 1   2\n 3   4\n",
        "a,b\n\n1,2\n\n3,4\n\n\n",
        "a,b,,\n1,2,,\n3,4,,\n,,,\n,,,\n",
        "a,b,\n1,2,\n3,4,\n",
        "sep=,\na,b\n1,2\n3,4\n",
        "\"sep=,\"\na,b\n1,2\n3,4\n",
        "sep=;\r\na;b\r\n1;2\r\n3;4\r\n",
        "# made by hand, units: m, kg\na,b\n1,2\n# the end\n3,4\n#\n",
        "a,b\nm,kg\n1,2\n3,4\n",
    ] {
        let table = read(text).unwrap();
        assert_eq!(table.columns, ["a", "b"], "{text:?}");
        assert_eq!(cells(&table), [["1", "2"], ["3", "4"]], "{text:?}");
    }
}

#[test]
fn header_is_found_out() {
    assert_eq!(read("1,2\n3,4\n").unwrap().columns, ["column1", "column2"]);
    assert_eq!(read("1,2\n3,4\n").unwrap().len(), 2);
    // Strings as labels do not make a header.
    assert_eq!(read("0.5,g\n0.1,b\n").unwrap().len(), 2);
    // Words that parsers take for numbers are names.
    let words = read("DOSE,INF,NAN\n1,2,3\n").unwrap();
    assert_eq!(words.columns, ["DOSE", "INF", "NAN"]);
    assert_eq!(read(",b\n0,2\n").unwrap().columns, ["column1", "b"]);
    let reading = Reading {
        header: HeaderMode::Present,
        delimiter: None,
    };
    let text = Box::new(Cursor::new(b"1990,1991\n3,4\n".to_vec()));
    let forced = Table::new(Path::new("t.csv"), text, &reading).unwrap();
    assert_eq!(forced.columns, ["1990", "1991"]);
}

#[test]
fn names_may_hold_the_separator_and_lines() {
    let table = read("\"force, kN\",\"of\nwhat\",y\n1,2,3\n").unwrap();
    assert_eq!(table.columns, ["force, kN", "of\nwhat", "y"]);
    assert_eq!(table.lines, [3]);
}

#[test]
fn lines_are_those_of_an_editor() {
    assert_eq!(read("a,b\n\n1,2\n\n3,4\n").unwrap().lines, [3, 5]);
    assert_eq!(read("a b\n\n1 2\n\n3 4\n").unwrap().lines, [3, 5]);
    assert_eq!(read("a,b\r\r1,2\r3,4\r").unwrap().lines, [3, 4]);
    assert_eq!(read("a,b\n\"1\n2\",2\n3,4\n").unwrap().lines, [2, 4]);
    assert_eq!(read("sep=,\na,b\n# c\n1,2\n").unwrap().lines, [4]);
}

#[test]
fn what_is_left_out_is_noted() {
    let table = read(&format!(
        "# x, y, z, u, v\n# w\n{}# end\n",
        rows(40, ";", "\n")
    ))
    .unwrap();
    assert_eq!(
        (table.len(), table.columns.join("")),
        (40, "abcy".to_owned())
    );
    assert_eq!(table.notes, ["3 comment lines are left out"]);
    let table = read(&format!("sep=;\r\n{}", rows(40, ";", "\r\n"))).unwrap();
    assert_eq!(
        (table.len(), table.columns.join("")),
        (40, "abcy".to_owned())
    );
    assert_eq!(
        table.notes,
        ["line 1 tells Excel the separator and is left out"]
    );
    let table = read("a,b\n1,2\n,\n,\n").unwrap();
    assert_eq!(table.notes, ["2 blank row(s) at the end are left out"]);
    assert_eq!(read("a,b\n1,2\n").unwrap().notes, Vec::<String>::new());
}

#[test]
fn a_hash_may_begin_a_cell() {
    let table = read("#,colour\n1,#ff0000\n2,#00ff00\n").unwrap();
    assert_eq!((table.columns[0].as_str(), table.len()), ("#", 2));
    assert_eq!(read("colour,y\n#ff0000,1\n#00ff00,2\n").unwrap().len(), 2);
}

#[test]
fn units_and_second_headers() {
    let units =
        read("depth,temp,colour,y\nm,degC,-,umol\n9.4,10.9,green,22\n5.1,9.7,blue,21\n").unwrap();
    assert_eq!(
        units.notes,
        ["line 2 holds units or a second header and is left out"]
    );
    assert_eq!((units.len(), units.lines.clone()), (2, vec![3, 4]));
    let second =
        read("id,q1,q2,q3\n,Response,Response,Response\n7,Yes,No,No\n9,No,No,Yes\n").unwrap();
    assert_eq!((second.len(), second.notes.len()), (2, 1));
    for data in [
        "a,b,c\nx,u,v\ny,u,w\n",
        "a,b,c\nYes,Yes,Yes\nNo,Yes,No\n",
        "a,b,c\nYes,Yes,Yes\nNo,No,No\n",
        "a,b,c\n\nNA,?,red\n1,2,blue\n",
        "a,b\nred,NA\nblue,3\n",
        "a\nB7\n1\n2\n",
        "a,b\nNA,NA\n1,2\n",
    ] {
        let table = read(data).unwrap();
        let lines = data.lines().filter(|line| !line.is_empty()).count();
        assert_eq!(table.len(), lines - 1, "{data}");
    }
}

#[test]
fn titles_and_footers_are_errors_with_their_line() {
    let title = "t.csv, line 1: this looks like a title above the header in line 3; delete the lines above the header";
    for text in [
        "All plots",
        "All plots, all years, all sites, draft",
        "All plots,,,",
    ] {
        assert_eq!(
            message(&format!("{text}\n\n{}", rows(40, ",", "\n"))),
            title
        );
    }
    let footer = rows(40, ",", "\n") + "\nSource: own measurements, 2024\n";
    assert_eq!(
        message(&footer),
        "t.csv, line 43: expected 4 cells, found 2; is this a row of the table?"
    );
}

#[test]
fn any_line_end_in_turn() {
    let mixed: String = rows(50, ",", "\n")
        .lines()
        .zip(["\r\n", "\n", "\r"].into_iter().cycle())
        .map(|(line, end)| format!("{line}{end}"))
        .collect();
    for text in [rows(50, ",", "\r"), mixed] {
        let table = read(&text).unwrap();
        assert_eq!((table.len(), table.columns.len()), (50, 4));
        assert!(
            !table
                .rows()
                .any(|row| row.cells().any(|cell| cell.contains('\r')))
        );
    }
}

#[test]
fn quotes() {
    // Inside an unquoted cell it is a character.
    let inch = read("a,note\n1,5\" pipe\n2,ok\n").unwrap();
    assert_eq!(cells(&inch), [["1", "5\" pipe"], ["2", "ok"]]);
    let spoken = read("a,note\n1,\"he said \"\"no, 3\"\"\nand left\"\n2,ok\n").unwrap();
    assert_eq!(spoken.cell(0, 1), "he said \"no, 3\"\nand left");

    let at = |line: usize, from: &str, to: &str| -> String {
        let text = rows(6000, ",", "\n");
        let lines = text.lines().zip(1..);
        lines
            .map(|(text, number)| match number == line {
                true => text.replacen(from, to, 1) + "\n",
                false => format!("{text}\n"),
            })
            .collect()
    };
    let open = "t.csv, line 13: a quote opens here and is not closed; close or delete it";
    assert_eq!(message(&at(13, ",-", ",\"-")), open);
    assert_eq!(
        message(&rows(11, ",", "\n").replace("blue,30\n", "\"blue,30\n")),
        open.replace("13", "12")
    );
    let text = at(13, ",-", ",\"-");
    let closed: String = text
        .lines()
        .zip(1..)
        .map(|(text, number)| match number == 31 {
            true => format!("{text}\"\n"),
            false => format!("{text}\n"),
        })
        .collect();
    assert_eq!(
        message(&closed),
        "t.csv, line 13: a quote opens here and closes in line 31, over lines that look like rows; close or delete it"
    );
    // An address over three lines is none of that.
    let address =
        read("name,address,n\nA,\"1 Low St\nOxford, UK\nEarth\",1\nB,\"2 High St\nRugby, UK\",2\n")
            .unwrap();
    assert_eq!(address.len(), 2);
}

#[test]
fn a_quote_is_given_up_after_a_megabyte() {
    let text = format!("a,b\n\"1,2\n{}", "5,6\n".repeat(4 << 20));
    let content = Box::new(Cursor::new(text.into_bytes()));
    let mut reader = match TableReader::new(Path::new("t.csv"), content, &Reading::default()) {
        Ok(reader) => reader,
        Err(error) => return assert!(error.to_string().contains("line 2: a quote opens here")),
    };
    let error = reader.next().unwrap_err().to_string();
    assert!(
        error.starts_with("t.csv, line 2: a quote opens here"),
        "{error}"
    );
}

#[test]
fn a_row_of_separators_is_a_row_of_the_reader() {
    let content = Box::new(Cursor::new(b"a,b,c\n1,2,x\n,,\n3,,y\n,,\n".to_vec()));
    let mut reader = TableReader::new(Path::new("t.csv"), content, &Reading::default()).unwrap();
    let mut lines = Vec::new();
    while let Some(row) = reader.next().unwrap() {
        assert_eq!(row.len(), 3);
        lines.push((row.line, row.is_blank()));
    }
    assert_eq!(lines, [(2, false), (3, true), (4, false), (5, true)]);
}

#[test]
fn messages() {
    assert_eq!(
        message("a,b\n1,2\n3\n"),
        "t.csv, line 3: expected 2 cells, found 1; is this a row of the table?"
    );
    assert_eq!(
        message("a,b\n1,2,3\n4,5\n"),
        "t.csv, line 2: expected 2 cells, found 3; is this a row of the table?"
    );
    assert_eq!(
        message("a,a\n1,2\n"),
        "t.csv: two columns are named `a`; rename one"
    );
    assert_eq!(
        message("a,\u{1b}[1A,\u{1b}[1A\n1,2,3\n"),
        "t.csv: two columns are named `\\u{1b}[1A`; rename one"
    );
    for text in [
        "", "\n \n", "a,b\n", ",,\n,,\n", "# only\n", "\u{feff}", "sep=;\n",
    ] {
        assert_eq!(message(text), "t.csv: no data rows", "{text:?}");
    }
    assert_eq!(
        read("a,b\n1,2\n")
            .unwrap()
            .column("c")
            .unwrap_err()
            .to_string(),
        "t.csv: no column `c`; the file has a, b"
    );
    assert_eq!(
        message("a,b\n1,2\n1\u{0}2,2\n"),
        "t.csv, line 3: NUL byte; the file is damaged or no text (UTF-16 without a byte-order mark?)"
    );
    let utf8 = bytes(b"a,b\n1,2\n\xff,2\n").unwrap_err().to_string();
    assert_eq!(
        utf8,
        "t.csv, line 3: not UTF-8 text; save the file as UTF-8"
    );
}
