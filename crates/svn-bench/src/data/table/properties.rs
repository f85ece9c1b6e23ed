//! Any table in any dialect is read back as it was; no bytes make the reader panic or say more than a line.

use std::io::Cursor;
use std::path::Path;

use proptest::prelude::*;

use super::super::schema::{Ask, Missing, Schema};
use super::{HeaderMode, Reading, Table};

fn open(bytes: Vec<u8>, header: HeaderMode) -> Result<Table, super::super::DataError> {
    let reading = Reading {
        header,
        delimiter: None,
    };
    let content = super::super::bytes::content(Path::new("t.csv"), Cursor::new(bytes))?;
    Table::new(Path::new("t.csv"), content, &reading)
}

/// Words and numbers; what a cell may hold without quotes, and what it may not.
fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,6}",
        "-?[0-9]{1,4}(\\.[0-9]{1,3})?",
        Just(String::new()),
        "[a-z]{1,3}[,;\"\\t|][a-z,;\"]{0,4}[a-z]",
        "[a-z]\n[a-z]",
        "[äöß€]{1,3}",
    ]
}

fn tables() -> impl Strategy<Value = Vec<Vec<String>>> {
    (2..6usize, 3..12usize).prop_flat_map(|(width, rows)| {
        prop::collection::vec(prop::collection::vec(cell(), width), rows)
    })
}

fn written(rows: &[Vec<String>], delimiter: u8, crlf: bool, always: bool) -> Vec<u8> {
    let width = rows.first().map_or(0, Vec::len);
    let mut writer = csv::WriterBuilder::new()
        .delimiter(delimiter)
        .terminator(if crlf {
            csv::Terminator::CRLF
        } else {
            csv::Terminator::Any(b'\n')
        })
        .quote_style(if always {
            csv::QuoteStyle::Always
        } else {
            csv::QuoteStyle::Necessary
        })
        .from_writer(Vec::new());
    writer
        .write_record((0..width).map(|column| format!("name{column}x")))
        .unwrap();
    for row in rows {
        writer.write_record(row).unwrap();
    }
    writer.into_inner().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_table_is_read_back(
        mut rows in tables(),
        delimiter in prop::sample::select(vec![b',', b';', b'\t', b'|']),
        crlf: bool,
        always: bool,
        mark: bool,
    ) {
        // The last row of a table is not blank, and its first column is a number in each row: otherwise rows could be units.
        for (index, row) in rows.iter_mut().enumerate() {
            row[0] = index.to_string();
        }
        let mut bytes = if mark { b"\xef\xbb\xbf".to_vec() } else { Vec::new() };
        bytes.extend(written(&rows, delimiter, crlf, always));
        let reading = Reading {
            header: HeaderMode::Present,
            delimiter: Some(super::Delimiter::Byte(delimiter)),
        };
        let table = Table::new(Path::new("t.csv"), Box::new(Cursor::new(bytes)), &reading).unwrap();
        let found: Vec<Vec<&str>> = table.rows().map(|row| row.cells().collect()).collect();
        prop_assert_eq!(found, rows);
    }

    #[test]
    fn the_dialect_of_plain_cells_is_found_out(
        rows in (2..6usize, 3..12usize).prop_flat_map(|(width, rows)| {
            prop::collection::vec(prop::collection::vec("-?[0-9]{1,4}\\.[0-9]{1,2}|[a-z]{1,6}", width), rows)
        }),
        delimiter in prop::sample::select(vec![b',', b';', b'\t', b'|', b' ']),
        end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
    ) {
        let mut rows = rows;
        for (index, row) in rows.iter_mut().enumerate() {
            row[0] = index.to_string();
        }
        let text = String::from_utf8(written(&rows, delimiter, false, false)).unwrap();
        let table = open(text.replace('\n', end).into_bytes(), HeaderMode::Auto).unwrap();
        let found: Vec<Vec<&str>> = table.rows().map(|row| row.cells().collect()).collect();
        prop_assert_eq!(found, rows);
        prop_assert_eq!(table.columns[0].as_str(), "name0x");
    }

    #[test]
    fn no_bytes_break_the_reader(
        rows in tables(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 0..12),
        packed: bool,
    ) {
        let mut bytes = written(&rows, b',', false, false);
        if packed {
            bytes = super::super::bytes::tests::gzip(&bytes);
        }
        const ODD: &[u8] = b"\"\n\r,;\t\0#\xff\xfe\x1b 0-";
        for (place, byte, what) in changes {
            if bytes.is_empty() {
                break;
            }
            let at = place.index(bytes.len());
            let odd = ODD[usize::from(byte) % ODD.len()];
            match what {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, odd),
                2 => { bytes.remove(at); }
                _ => bytes[at] = odd,
            }
        }
        let sound = |message: String| message.len() < 300 && !message.contains(char::is_control);
        let table = match open(bytes, HeaderMode::Auto) {
            Ok(table) => table,
            Err(error) => {
                prop_assert!(sound(error.to_string()), "{}", error);
                return Ok(());
            }
        };
        prop_assert!(table.notes.iter().cloned().all(sound));
        let target = table.columns.last().cloned().unwrap_or_default();
        for missing in [Missing::Error, Missing::Impute] {
            let ask = Ask { target: target.clone(), missing, ..Ask::default() };
            match Schema::learn(&table, &ask) {
                Ok(learned) => {
                    prop_assert!(learned.x.iter().all(|value| value.is_finite()));
                    prop_assert!(learned.findings.iter().all(|finding| sound(finding.text.clone())));
                }
                Err(error) => prop_assert!(sound(error.to_string()), "{}", error),
            }
        }
    }
}
