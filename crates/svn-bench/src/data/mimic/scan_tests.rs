//! Against the csv crate, and rules by hand.

use super::*;

const LAYOUT: [(Cell, usize); 3] = [(Cell::Item, 1), (Cell::Number, 2), (Cell::Subject, 0)];

/// Offset, subject, item and number of each row whose item begins with `w`.
fn rows(text: &str) -> (Vec<(usize, String, String, String)>, Tally) {
    let mut rows = Vec::new();
    let wanted = |item: &[u8]| item.starts_with(b"w").then_some(());
    let tally = scan(
        text.as_bytes(),
        &Layout::new(&LAYOUT),
        wanted,
        |offset, (), cells| {
            let text = |cell: Cell| String::from_utf8_lossy(cells[cell as usize]).into_owned();
            rows.push((
                offset,
                text(Cell::Subject),
                text(Cell::Item),
                text(Cell::Number),
            ));
            assert!(cells[Cell::Stay as usize].is_empty());
        },
    );
    (rows, tally)
}

fn row(offset: usize, subject: &str, item: &str, number: &str) -> (usize, String, String, String) {
    (
        offset,
        subject.to_owned(),
        item.to_owned(),
        number.to_owned(),
    )
}

#[test]
fn rows_of_wanted_items_are_handed_on() {
    let (found, tally) = rows("1,wa,5,x\n2,other,6,x\n\n3,wb,7\n4,wc,,x");
    let expected = [
        row(0, "1", "wa", "5"),
        row(22, "3", "wb", "7"),
        row(29, "4", "wc", ""),
    ];
    assert_eq!(found, expected);
    assert_eq!(tally, Tally { rows: 4, short: 0 });
}

#[test]
fn short_rows_are_counted_and_empty_lines_are_none() {
    let (found, tally) = rows("1,wa\n5\n\r\n2,wb,6\r\n3,other\n");
    assert_eq!(found, [row(9, "2", "wb", "6")]);
    // A row of no interest need not be whole.
    assert_eq!(tally, Tally { rows: 4, short: 2 });
}

#[test]
fn quotes_hold_commas_and_line_ends() {
    let text = "\"1\",\"wa\",\"5\",\"a,\nb \"\"c\"\"\n\"\n2,wb,6,\"x\n3,wc,7\n\"\n4,\"w,\nd\",8,5\" tube\n5,we,9\n";
    let (found, tally) = rows(text);
    let cells: Vec<_> = found
        .iter()
        .map(|(_, a, b, c)| [a.as_str(), b, c])
        .collect();
    assert_eq!(
        cells,
        [
            ["1", "wa", "5"],
            ["2", "wb", "6"],
            ["4", "w,\nd", "8"],
            ["5", "we", "9"]
        ]
    );
    assert_eq!(tally.rows, 4);
}

/// All small texts of the characters that matter, beside the csv crate.
#[test]
fn rows_are_those_of_the_csv_crate() {
    const CHARACTERS: [u8; 5] = [b'w', b',', b'\n', b'"', b'1'];
    let mut compared = 0;
    for code in 0..CHARACTERS.len().pow(7) {
        let digits = (0..7).map(|k| CHARACTERS[code / 5_usize.pow(k) % 5]);
        let text = String::from_utf8(digits.collect()).unwrap();
        // What follows a closed quote inside a cell has no meaning.
        if text.contains("\"w") || text.contains("\"1") || text.matches('"').count() % 2 == 1 {
            continue;
        }
        let mut reader = csv::ReaderBuilder::new();
        let reader = reader.has_headers(false).flexible(true);
        let mut expected = Vec::new();
        for record in reader.from_reader(text.as_bytes()).records() {
            let record = record.unwrap();
            if record.len() >= 3
                && record[1].starts_with('w')
                && !record.iter().take(3).any(|cell| cell.contains('"'))
            {
                expected.push([
                    record[0].to_owned(),
                    record[1].to_owned(),
                    record[2].to_owned(),
                ]);
            }
        }
        let found: Vec<_> = rows(&text)
            .0
            .into_iter()
            .map(|(_, a, b, c)| [a, b, c])
            .collect();
        let plain = |cells: &[String; 3]| cells.iter().all(|cell| !cell.contains('"'));
        let found: Vec<_> = found.into_iter().filter(plain).collect();
        assert_eq!(found, expected, "{text:?}");
        compared += expected.len();
    }
    assert!(compared > 1000, "{compared}");
}

#[test]
fn whole_rows_end_behind_a_line_end_outside_quotes() {
    assert_eq!(whole_rows(b"a,b\nc"), Some((4, 1)));
    assert_eq!(whole_rows(b"a,b\nc,d\n"), Some((8, 2)));
    assert_eq!(whole_rows(b"a,b"), None);
    assert_eq!(whole_rows(b"a,\"b\nc\"\nd,\"\n"), Some((8, 2)));
    assert_eq!(whole_rows(b"a,\"b\n"), None);
    assert_eq!(whole_rows(b"5\" tube,b\nc\n"), Some((12, 2)));
    assert_eq!(whole_rows(b""), None);
}

#[test]
fn cells_of_a_header() {
    let text = |row: &str| -> Vec<String> {
        let cells = super::cells(row.as_bytes());
        cells
            .into_iter()
            .map(|cell| String::from_utf8(cell).unwrap())
            .collect()
    };
    assert_eq!(text("a,\"b,c\",d\r"), ["a", "b,c", "d"]);
    assert_eq!(text("a,"), ["a", ""]);
    assert_eq!(text(""), [""]);
}
