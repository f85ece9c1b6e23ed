//! Predictions of a file, row by row: one output row for each input row, in order, in bounded memory.
//!
//! Rows go through the networks in blocks of one size, the last one filled up, so that no row's prediction depends on how many
//! others there are or which.

use std::io::Write;
use std::path::Path;

use ndarray::Array2;
use svn_models::{Ensemble, Task};

use super::kept::Kept;
use super::novelty::disagreement;
use super::{Level, TabularError, predicted};
use crate::data::{Matched, Outcome, Reading, TableReader};
use crate::engine::Predicted;

/// Rows of a block.
const BLOCK: usize = 1024;

/// Which columns are written.
#[derive(Debug, Clone, Copy)]
pub struct Columns {
    /// Probability of the interval `lower` to `upper`.
    pub interval: Level,
    /// Whether it is a conformal one.
    pub conformal: bool,
    /// Whether the columns of the input come first.
    pub keep: bool,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Predictions {
    /// Rows read and written.
    pub rows: usize,
    /// Rows without a prediction, because of missing cells.
    pub empty: usize,
    /// What should be known of the input.
    pub notes: Vec<String>,
}

/// Predict the rows of `input` (`-` is standard input) and write them as CSV.
///
/// # Errors
/// [`TabularError::Data`] for a file that is no table, or lacks columns of the model, or has cells that are none;
/// [`TabularError::TooFew`] for a conformal interval of too few rows; [`TabularError::Io`].
pub fn predict(
    (ensemble, kept): (&Ensemble, &Kept),
    input: &Path,
    output: impl Write,
    columns: Columns,
) -> Result<Predictions, TabularError> {
    let mut reader = TableReader::open(input, &Reading::default())?;
    let mut notes = Vec::new();
    let mut matched = kept.schema.matched(reader.columns(), input)?;
    let mut writer = Writer::new((ensemble, kept), output, columns)?;
    let width = kept.schema.width();
    let mut block = Block::new(width);
    let (mut rows, mut empty, mut begun) = (0, 0, false);
    loop {
        let more = block.fill(&mut reader, &mut matched, columns.keep)?;
        // Not before it is known that there is something to write.
        if !begun {
            writer.header(reader.columns(), &mut notes)?;
            begun = true;
        }
        rows += block.rows.len();
        empty += block.rows.iter().filter(|row| !row.full).count();
        writer.write(&block)?;
        if !more {
            break;
        }
    }
    writer.finish()?;
    notes.extend(reader.notes());
    notes.extend(matched.told().iter().map(ToString::to_string));
    if empty > 0 {
        notes.push(format!(
            "{empty} of {rows} rows have missing cells and no prediction"
        ));
    }
    Ok(Predictions { rows, empty, notes })
}

/// A row of a block.
struct BlockRow {
    /// Whether all cells are there.
    full: bool,
    /// Its own cells, if they are kept.
    cells: csv::StringRecord,
}

struct Block {
    /// `BLOCK × p`; what no row fills is 0.
    features: Array2<f64>,
    rows: Vec<BlockRow>,
}

impl Block {
    fn new(width: usize) -> Self {
        Self {
            features: Array2::zeros((BLOCK, width)),
            rows: Vec::with_capacity(BLOCK),
        }
    }

    /// The next rows; whether there may be more.
    fn fill(
        &mut self,
        reader: &mut TableReader,
        matched: &mut Matched,
        keep: bool,
    ) -> Result<bool, TabularError> {
        self.rows.clear();
        self.features.fill(0.0);
        for mut place in self.features.rows_mut() {
            let Some(row) = reader.next()? else {
                return Ok(false);
            };
            let features = place.as_slice_mut().unwrap_or_default();
            let full = matches!(matched.features(&row, features)?, Outcome::Full);
            if !full {
                features.fill(0.0);
            }
            let cells = match keep {
                true => row.cells().collect(),
                false => csv::StringRecord::new(),
            };
            self.rows.push(BlockRow { full, cells });
        }
        Ok(true)
    }
}

struct Writer<'a, W: Write> {
    ensemble: &'a Ensemble,
    kept: &'a Kept,
    columns: Columns,
    /// Factor of the standard deviation in a conformal interval.
    factor: Option<f64>,
    csv: csv::Writer<W>,
    text: String,
}

impl<'a, W: Write> Writer<'a, W> {
    fn new(
        (ensemble, kept): (&'a Ensemble, &'a Kept),
        output: W,
        columns: Columns,
    ) -> Result<Self, TabularError> {
        let factor = match (columns.conformal, &kept.conformal) {
            (false, _) => None,
            (true, Some(conformal)) => Some(conformal.factor(columns.interval)?),
            (true, None) => {
                let text = "--conformal is for numbers, the model is of classes";
                return Err(TabularError::Option(text.to_owned()));
            }
        };
        Ok(Self {
            ensemble,
            kept,
            columns,
            factor,
            csv: csv::Writer::from_writer(output),
            text: String::new(),
        })
    }

    fn names(&self) -> Vec<String> {
        let fixed = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        match self.ensemble.task() {
            Task::Regression => fixed(&[
                "mean",
                "sd",
                "epistemic_sd",
                "aleatoric_sd",
                "lower",
                "upper",
                "novelty",
            ]),
            Task::Classification => {
                let mut names: Vec<String> = fixed(&["label"]);
                let labels = self.ensemble.labels().iter();
                names.extend(labels.map(|label| format!("p({label})")));
                let rest: Vec<String> = fixed(&["entropy", "mutual_information", "novelty"]);
                names.extend(rest);
                names
            }
        }
    }

    fn header(&mut self, own: &[String], notes: &mut Vec<String>) -> Result<(), TabularError> {
        let mut names = self.names();
        if self.columns.keep && names.iter().any(|name| own.contains(name)) {
            for name in &mut names {
                *name = format!("predicted_{name}");
            }
            notes.push(format!(
                "the file has a column of such a name already: predictions are named {} and so on",
                names[0]
            ));
        }
        let own = own.iter().filter(|_| self.columns.keep);
        let header: Vec<&String> = own.chain(&names).collect();
        self.csv.write_record(header).map_err(failed)
    }

    fn write(&mut self, block: &Block) -> Result<(), TabularError> {
        if block.rows.is_empty() {
            return Ok(());
        }
        let found = predicted(self.ensemble, block.features.view())?;
        let unlike = disagreement(&found);
        match &found {
            Predicted::Numbers(prediction) => {
                let (mean, sd) = (prediction.mean(), prediction.sd());
                let (low, high) = match self.factor {
                    Some(factor) => (&mean - &(factor * &sd), &mean + &(factor * &sd)),
                    None => prediction.interval(self.columns.interval.value())?,
                };
                let (epistemic, aleatoric) = (prediction.epistemic_sd(), prediction.aleatoric_sd());
                for (index, row) in block.rows.iter().enumerate() {
                    let novelty = self.kept.novelty.rank(unlike[index]);
                    let values = [
                        mean[index],
                        sd[index],
                        epistemic[index],
                        aleatoric[index],
                        low[index],
                        high[index],
                        novelty,
                    ];
                    self.row(row, None, &values)?;
                }
            }
            Predicted::Classes(prediction) => {
                let (classes, p) = (prediction.most_probable(), prediction.mean_probability());
                let (entropy, information) = (prediction.entropy(), &unlike);
                for (index, row) in block.rows.iter().enumerate() {
                    let mut values = p.row(index).to_vec();
                    let novelty = self.kept.novelty.rank(unlike[index]);
                    values.extend([entropy[index], information[index], novelty]);
                    self.row(row, Some(classes[index]), &values)?;
                }
            }
        }
        Ok(())
    }

    fn row(
        &mut self,
        row: &BlockRow,
        class: Option<usize>,
        values: &[f64],
    ) -> Result<(), TabularError> {
        for cell in &row.cells {
            self.csv.write_field(cell).map_err(failed)?;
        }
        if let Some(class) = class {
            let label = self.ensemble.labels().get(class);
            let label = label.filter(|_| row.full).map_or("", String::as_str);
            self.csv.write_field(label).map_err(failed)?;
        }
        for value in values {
            self.text.clear();
            if row.full {
                write_number(&mut self.text, *value);
            }
            self.csv.write_field(&self.text).map_err(failed)?;
        }
        self.csv.write_record(None::<&[u8]>).map_err(failed)
    }

    fn finish(mut self) -> Result<(), TabularError> {
        self.csv.flush().map_err(TabularError::io("the output"))
    }
}

/// The shortest decimal that is read back as the same number.
fn write_number(text: &mut String, value: f64) {
    use std::fmt::Write;
    let size = value.abs();
    // Writing into a string does not fail.
    let _ = match size == 0.0 || (1e-5..1e16).contains(&size) {
        true => write!(text, "{value}"),
        false => write!(text, "{value:e}"),
    };
}

fn failed(error: csv::Error) -> TabularError {
    let text = error.to_string();
    let source = match error.into_kind() {
        csv::ErrorKind::Io(source) => source,
        _ => std::io::Error::other(text),
    };
    TabularError::io("the output")(source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_back_as_they_were() {
        for value in [
            0.0,
            -1.5,
            1e9 + 0.123_456_7,
            1e-7,
            3e20,
            0.1 + 0.2,
            f64::MIN_POSITIVE,
        ] {
            let mut text = String::new();
            write_number(&mut text, value);
            assert_eq!(text.parse::<f64>().unwrap(), value);
            assert!(text.len() < 26, "{text}");
        }
    }
}
