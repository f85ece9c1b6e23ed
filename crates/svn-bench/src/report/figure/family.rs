//! Rows that belong into one figure, and its name.

use super::super::distinct;
use super::{Page, Row};
use crate::engine::Design;

/// Rows of one figure.
#[derive(Debug)]
pub struct Family<'a, P: Page> {
    /// What tells it from other families, fit for a file name: `mnist-500`, `yacht-standard`.
    pub name: String,
    /// At least one, in the order of the summary.
    pub rows: Vec<&'a Row<P>>,
}

/// Rows of one design each; the name is data set and columns, and more where these are those of another design too.
pub fn by_design<P: Page>(rows: &[Row<P>]) -> Vec<Family<'_, P>> {
    families(rows, |row| {
        let mut name = row.dataset.clone();
        for (_, cell) in row.design.columns() {
            name.push_str(&format!("-{cell}"));
        }
        (name, row.design.clone())
    })
}

/// Rows by what `of` makes of them: a name, and a design that the rows of a family share. Families of one name are told apart
/// by their designs.
pub fn families<P: Page>(
    rows: &[Row<P>],
    of: impl Fn(&Row<P>) -> (String, P::Design),
) -> Vec<Family<'_, P>> {
    let mut names = Vec::new();
    let mut designs: Vec<P::Design> = Vec::new();
    let mut members: Vec<Vec<&Row<P>>> = Vec::new();
    for row in rows {
        let (name, design) = of(row);
        match designs.iter().position(|other| *other == design) {
            Some(place) => members[place].push(row),
            None => {
                names.push(name);
                designs.push(design);
                members.push(vec![row]);
            }
        }
    }
    let features: Vec<_> = designs
        .iter()
        .map(|design| {
            let (features, hashes) = distinct::of_design(design);
            [features, hashes].concat()
        })
        .collect();
    distinct::tell_apart(&mut names, &features, &|name, key, value| {
        name.push_str(&match value {
            Some(value) => format!("-{value}"),
            None => format!("-no-{key}"),
        });
    });
    let safe =
        |name: String| name.replace(|c: char| !c.is_alphanumeric() && !"-_.".contains(c), "-");
    let named = names.into_iter().map(safe).zip(members);
    named.map(|(name, rows)| Family { name, rows }).collect()
}
