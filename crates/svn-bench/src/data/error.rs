//! What can be wrong with a data file, in words that say where and what to do.

use std::path::{Path, PathBuf};

use super::schema::SchemaError;
use super::shown::{listed, shown};

/// Why a data set could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A data set is in none of the folders.
    #[error(
        "data set `{name}` not found: looked for {name}.csv and {name}.csv.gz in {searched}; fetch it with `cargo xtask fetch-data {name}` or name its folder with --data DIR"
    )]
    NotFound {
        /// Name of the data set.
        name: String,
        /// The folders that were looked into.
        searched: String,
    },
    /// No such name in the manifest.
    #[error("unknown data set `{name}`{near}; known: {known}", near = near(name, known))]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// All names, comma separated.
        known: String,
    },
    /// The manifest itself is wrong.
    #[error("datasets/manifest.toml: {message}")]
    Manifest {
        /// What the parser said.
        message: String,
    },
    /// The description of the image sets itself is wrong.
    #[error("datasets/images.toml: {message}")]
    Catalogue {
        /// What the parser said.
        message: String,
    },
    /// An image set is in none of the folders.
    #[error(
        "image set `{name}` not found: looked for its IDX files (train-images-idx3-ubyte and so on, plain or .gz) in {searched}; fetch it with `cargo xtask fetch-data {name}` or name its folder with --data DIR"
    )]
    NoImages {
        /// Name of the image set.
        name: String,
        /// The folders that were looked into.
        searched: String,
    },
    /// A web page was saved instead of the file.
    #[error("{}: this is an HTML page, not data (it starts with `{}`); the download failed, fetch it again", path.display(), shown(start))]
    Html {
        /// The file.
        path: PathBuf,
        /// Its first characters.
        start: String,
    },
    /// A format that is no text.
    #[error("{}: this is {what}, not a text table; {advice}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What the file is.
        what: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// The gzip stream is damaged or ends too early.
    #[error("{}: the gzip file {}; fetch it again", path.display(), gzip_fault(*offset, source))]
    Gzip {
        /// The file.
        path: PathBuf,
        /// Bytes of the file before the fault.
        offset: u64,
        /// What the decoder said.
        source: std::io::Error,
    },
    /// Something else behind a whole gzip file.
    #[error("{}: the data are complete, but what follows from byte {offset} on is not gzip; cut the file there", path.display())]
    AfterGzip {
        /// The file.
        path: PathBuf,
        /// Bytes of the file before what is not gzip.
        offset: u64,
    },
    /// Not the IDX file that was expected.
    #[error("{}: {message}", path.display())]
    Idx {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// No IDX file under any of its names.
    #[error("{}: no {names}", folder.display())]
    NoIdx {
        /// The folder.
        folder: PathBuf,
        /// The names, comma separated.
        names: String,
    },
    /// Bytes that are not UTF-8.
    #[error("{}, line {line}: not UTF-8 text; save the file as UTF-8", path.display())]
    Encoding {
        /// The file.
        path: PathBuf,
        /// 1-based line of the first bad byte.
        line: u64,
    },
    /// No rows.
    #[error("{}: no data rows", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A row of another length than the first.
    #[error("{}, line {line}: expected {expected} cells, found {found}; is this a row of the table?", path.display())]
    Ragged {
        /// The file.
        path: PathBuf,
        /// 1-based line.
        line: u64,
        /// Cells in the first row.
        expected: usize,
        /// Cells in this row.
        found: usize,
    },
    /// A quote that is never closed, or not within a megabyte.
    #[error("{}, line {line}: a quote opens here and is not closed; close or delete it", path.display())]
    OpenQuote {
        /// The file.
        path: PathBuf,
        /// 1-based line.
        line: u64,
    },
    /// A quoted cell over lines that look like rows.
    #[error("{}, line {line}: a quote opens here and closes in line {closed}, over lines that look like rows; close or delete it", path.display())]
    SwallowedRows {
        /// The file.
        path: PathBuf,
        /// 1-based line on which the quote opens.
        line: u64,
        /// 1-based line on which it closes.
        closed: u64,
    },
    /// A NUL byte.
    #[error("{}, line {line}: NUL byte; the file is damaged or no text (UTF-16 without a byte-order mark?)", path.display())]
    Nul {
        /// The file.
        path: PathBuf,
        /// 1-based line.
        line: u64,
    },
    /// A line that does not end.
    #[error("{}, line {line}: more than {} MiB without an end of line; this is no table", path.display(), bytes >> 20)]
    LongLine {
        /// The file.
        path: PathBuf,
        /// 1-based line.
        line: u64,
        /// The limit.
        bytes: usize,
    },
    /// A title above the header.
    #[error("{}, line {line}: this looks like a title above the header in line {header}; delete the lines above the header", path.display())]
    Title {
        /// The file.
        path: PathBuf,
        /// 1-based line of the title.
        line: u64,
        /// 1-based line of what looks like the header.
        header: u64,
    },
    /// Two columns of the same name.
    #[error("{}: two columns are named `{}`; rename one", path.display(), shown(column))]
    DuplicateColumn {
        /// The file.
        path: PathBuf,
        /// The name.
        column: String,
    },
    /// A column that is asked for does not exist.
    #[error("{}: no column `{}`; the file has {}", path.display(), shown(column), listed(known))]
    NoColumn {
        /// The file.
        path: PathBuf,
        /// The name that was asked for.
        column: String,
        /// Names of the file's columns.
        known: Vec<String>,
    },
    /// Nothing is left to learn from.
    #[error("{}: no feature column besides the target `{}`", path.display(), shown(target))]
    NoFeatures {
        /// The file.
        path: PathBuf,
        /// The target column.
        target: String,
    },
    /// A cell that is no finite number, or no class label.
    #[error("{}, line {line}, column {column} (`{}`): expected {expected}, found {found}", path.display(), shown(name))]
    Cell {
        /// The file.
        path: PathBuf,
        /// 1-based line.
        line: u64,
        /// 1-based column.
        column: usize,
        /// Name of the column.
        name: String,
        /// What should be there.
        expected: &'static str,
        /// The cell, described.
        found: String,
    },
    /// A table that cannot be learnt from, or a later one that does not fit.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The target was not named although another column looks like a second target.
    #[error("{}: column `{}` has correlation {correlation:.3} with the last column `{}`, so the file may hold several targets; name the target column (and drop the others)", path.display(), shown(column), shown(target))]
    AmbiguousTarget {
        /// The file.
        path: PathBuf,
        /// The suspicious column.
        column: String,
        /// The column that would have been the target.
        target: String,
        /// Their Pearson correlation.
        correlation: f64,
    },
    /// A classification target with one class.
    #[error("{}: the target `{}` has the one class `{}`; at least two are needed", path.display(), shown(target), shown(class))]
    OneClass {
        /// The file.
        path: PathBuf,
        /// The target column.
        target: String,
        /// The only class.
        class: String,
    },
    /// A classification target that looks continuous.
    #[error("{}: the target `{}` has {classes} distinct labels in {rows} rows; is this a regression set?", path.display(), shown(target))]
    TooManyClasses {
        /// The file.
        path: PathBuf,
        /// The target column.
        target: String,
        /// Distinct labels.
        classes: usize,
        /// Rows.
        rows: usize,
    },
    /// The file is not the data set it claims to be.
    #[error("{}: expected {what} {expected} for data set `{name}`, found {found}; it is another version of the set, fetch it with `cargo xtask fetch-data {name}`", path.display())]
    Mismatch {
        /// The file.
        path: PathBuf,
        /// Name of the data set.
        name: String,
        /// Which property.
        what: &'static str,
        /// As in the manifest.
        expected: String,
        /// As in the file.
        found: String,
    },
    /// A folder of MIMIC-IV could not be read.
    #[error(transparent)]
    Mimic(#[from] super::mimic::MimicError),
}

impl DataError {
    /// What a stream of [`open`](super::open) said: its own error, or one of the operating system.
    pub fn from_read(path: &Path, error: std::io::Error) -> Self {
        error.downcast().unwrap_or_else(|source| Self::Io {
            path: path.to_owned(),
            source,
        })
    }
}

fn gzip_fault(offset: u64, source: &std::io::Error) -> String {
    match source.kind() {
        std::io::ErrorKind::UnexpectedEof => format!("ends inside the data, at byte {offset}"),
        _ => format!("is damaged at byte {offset} ({source})"),
    }
}

impl DataError {
    /// Whether another file or other options would help.
    pub fn is_input(&self) -> bool {
        match self {
            Self::Io { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
            _ => true,
        }
    }
}

/// `, did you mean ...?` if one of the names, which are separated by commas, is nearly this one.
pub(crate) fn near(name: &str, known: &str) -> String {
    let scored = known
        .split(", ")
        .map(|known| (strsim::jaro(name, known), known));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0));
    match best.filter(|(score, _)| *score > 0.8) {
        Some((_, known)) => format!(", did you mean `{known}`?"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::near;

    #[test]
    fn a_misspelt_name_is_answered_by_the_nearest() {
        let known = "yacht, energy, wine";
        assert_eq!(near("yaht", known), ", did you mean `yacht`?");
        assert_eq!(near("energie", known), ", did you mean `energy`?");
        assert_eq!(near("mnist", known), "");
    }
}
