//! The known name that somebody may have meant.

use crate::failure::bad_input;
use crate::say;

/// The error for a name that is not known: what it may have meant, and the known ones.
pub(crate) fn unknown(what: &str, name: &str, known: &[&str]) -> anyhow::Error {
    let meant = nearest(name, known).map(|near| format!(": did you mean `{near}`?"));
    let (name, meant) = (say::word(name), meant.unwrap_or_else(|| ";".into()));
    let known = known.join(", ");
    bad_input(format!("unknown {what} `{name}`{meant} known: {known}"))
}

/// The first of the names that are fewest slips away, less than one for two letters; the case of letters is none.
pub(crate) fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let near = known.iter().map(|known| (slips(name, known), *known));
    let (slips, near) = near.min_by_key(|(slips, _)| *slips)?;
    (slips * 2 < near.chars().count()).then_some(near)
}

/// Letters to add, leave out, replace or swap with the next one, each pair of letters once.
fn slips(from: &str, to: &str) -> usize {
    strsim::osa_distance(&from.to_lowercase(), &to.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted() {
        for (from, to, count) in [
            ("wine", "wine", 0),
            ("Wine", "wine", 0),
            ("yatch", "yacht", 2),
            ("yahct", "yacht", 1),
            ("win", "wine", 1),
            ("winne", "wine", 1),
            ("kin8mm", "kin8nm", 1),
            ("", "wine", 4),
            ("energi_y1", "energy_y1y2", 3),
        ] {
            assert_eq!(slips(from, to), count, "{from} {to}");
            assert_eq!(slips(to, from), count, "{to} {from}");
        }
    }

    #[test]
    fn only_a_near_name_is_offered() {
        let known = ["yacht", "energy", "energy_y1y2", "wine"];
        assert_eq!(nearest("enegry_y1y2", &known), Some("energy_y1y2"));
        assert_eq!(nearest("enery", &known), Some("energy"));
        assert_eq!(nearest("yatch", &known), Some("yacht"));
        assert_eq!(nearest("boston", &known), None);
        assert_eq!(nearest("x", &[]), None);
        assert_eq!(
            unknown("data set", "wime\n", &["wine"]).to_string(),
            "unknown data set `wime\\n`; known: wine"
        );
        assert_eq!(
            unknown("data set", "wime", &["wine"]).to_string(),
            "unknown data set `wime`: did you mean `wine`? known: wine"
        );
    }
}
