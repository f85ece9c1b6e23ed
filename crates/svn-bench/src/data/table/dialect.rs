//! Which character separates cells: the one that cuts most lines of the head into the same number of cells.

use super::records::{count, is_blank};

/// What stands between cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delimiter {
    /// One character.
    Byte(u8),
    /// Any white space; there are no empty cells.
    Blank,
}

/// Candidates; of equally good ones the first.
const CANDIDATES: [Delimiter; 5] = [
    Delimiter::Byte(b'\t'),
    Delimiter::Byte(b';'),
    Delimiter::Byte(b'|'),
    Delimiter::Byte(b','),
    Delimiter::Blank,
];
/// Lines of the head that are looked at.
const LINES: usize = 500;

/// Separator, and the number of cells of most lines.
///
/// Comment lines have no say. White space separates only if it cuts all lines alike, or if nothing else separates the
/// first one. A table without any separator has one column.
pub(super) fn sniff(lines: &[Vec<u8>], given: Option<Delimiter>) -> (Delimiter, usize) {
    let spoken = |line: &&Vec<u8>| !line.trim_ascii().is_empty() && line.first() != Some(&b'#');
    let lines: Vec<&Vec<u8>> = lines.iter().filter(spoken).take(LINES).collect();
    let widths = |delimiter| -> Vec<usize> {
        let lines = lines.iter().filter(|line| !is_blank(line, delimiter));
        lines.map(|line| count(line, delimiter).0).collect()
    };
    if let Some(delimiter) = given {
        return (delimiter, mode(&widths(delimiter)).0);
    }
    let mut best = (Delimiter::Byte(b','), 1, 0);
    let mut first_cut = None;
    for delimiter in CANDIDATES {
        let widths = widths(delimiter);
        let (width, alike) = mode(&widths);
        let first = widths.first().copied().unwrap_or_default();
        let cuts = width > 1 && (delimiter != Delimiter::Blank || alike == lines.len());
        if cuts && alike > best.2 {
            best = (delimiter, width, alike);
        }
        if first > 1 && first_cut.is_none() {
            first_cut = Some((delimiter, width));
        }
    }
    // A few lines with a comma are no table of two columns.
    if 2 * best.2 > lines.len() {
        return (best.0, best.1);
    }
    first_cut.unwrap_or((Delimiter::Byte(b','), 1))
}

/// The most frequent number of cells, the larger of equally frequent ones, and of how many lines.
fn mode(widths: &[usize]) -> (usize, usize) {
    let mut sorted = widths.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a == b);
    let runs = runs.filter_map(|run| Some((*run.first()?, run.len())));
    runs.max_by_key(|&(width, lines)| (lines, width))
        .unwrap_or((1, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_lines_decide() {
        let byte = |text: &str| {
            let lines: Vec<Vec<u8>> = text.lines().map(|line| line.as_bytes().to_vec()).collect();
            match sniff(&lines, None) {
                (Delimiter::Byte(byte), width) => (char::from(byte), width),
                (Delimiter::Blank, width) => (' ', width),
            }
        };
        for (text, expected) in [
            ("a,b\n1,2\n3,4\n", (',', 2)),
            ("a;b\n1,5;2,5\n3,5;4,5\n", (';', 2)),
            ("1,5;2,5\n3,5;4,5\n", (';', 2)),
            ("a\tb,c\n1\t2,3\n", ('\t', 2)),
            ("a|b\n1|2\n", ('|', 2)),
            ("# x, y, z, w\na;b\n1;2\n", (';', 2)),
            ("title\n\na,b\n1,2\n3,4\n", (',', 2)),
            ("a b\n1,5 2,5\n3,5 4,5\n", (' ', 2)),
            ("first name,last name\nJo Do,Al Bo\n", (',', 2)),
            ("name\nred apple\ngreen pear\n", (',', 1)),
            ("1 2\n3 4 5\n", (' ', 3)),
            ("a\n1\n2\n", (',', 1)),
            ("\"force, kN\";y\n1;2\n", (';', 2)),
            ("a,b\n1,2\n3\n", (',', 2)),
            ("", (',', 1)),
        ] {
            assert_eq!(byte(text), expected, "{text:?}");
        }
    }
}
