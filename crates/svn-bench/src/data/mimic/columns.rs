//! Where the columns that are needed stand in a file, by its header.

use std::path::Path;

use super::super::{DataError, near};
use super::MimicError;

/// Places of named columns, in the order they were asked for.
///
/// # Errors
/// [`MimicError::NoColumn`], with the nearest name of the header.
pub(super) fn places<const N: usize>(
    path: &Path,
    header: &[Vec<u8>],
    names: [&'static str; N],
) -> Result<[usize; N], DataError> {
    let header: Vec<String> = header.iter().map(|name| title(name)).collect();
    let mut places = [0; N];
    for (place, name) in places.iter_mut().zip(names) {
        let found = header.iter().position(|other| other == name);
        *place = found.ok_or_else(|| MimicError::NoColumn {
            path: path.to_owned(),
            column: name,
            near: near(name, &header.join(", ")),
        })?;
    }
    Ok(places)
}

/// A name as it is compared: without a byte-order mark, blanks and capitals, and no longer than a name would be.
fn title(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    let name = name.trim_start_matches('\u{feff}').trim();
    name.chars()
        .take(64)
        .collect::<String>()
        .to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(header: &str) -> Result<[usize; 2], String> {
        let header: Vec<Vec<u8>> = header.split(',').map(|name| name.into()).collect();
        places(Path::new("x.csv"), &header, ["stay_id", "intime"]).map_err(|e| e.to_string())
    }

    #[test]
    fn columns_are_found_in_any_order() {
        assert_eq!(find("a,intime,stay_id"), Ok([2, 1]));
        assert_eq!(find("\u{feff}STAY_ID, intime ,b"), Ok([0, 1]));
    }

    #[test]
    fn a_missing_column_is_answered_by_the_nearest() {
        assert_eq!(
            find("icustay_id,intime").unwrap_err(),
            "x.csv: no column `stay_id`, did you mean `icustay_id`?; is it the table of MIMIC-IV 2.x or 3.x?"
        );
        let long = format!("{},intime", "x".repeat(10_000));
        assert!(find(&long).unwrap_err().len() < 300);
    }
}
