//! Tables as people have them, and what is learnt from each.

mod columns;
mod copies;
mod later;
mod targets;

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
