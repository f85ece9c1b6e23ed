//! Values of options: from text to counts, or to the sentence that says what was expected.

pub(super) fn positive_count(text: &str) -> Result<usize, String> {
    at_least(1, text)
}

pub(super) fn folds(text: &str) -> Result<usize, String> {
    at_least(2, text)
}

fn at_least(least: usize, text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|&count| count >= least)
        .ok_or_else(|| format!("expected a whole number, at least {least}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_where_they_are_said_to_be() {
        assert_eq!(positive_count("1"), Ok(1));
        assert_eq!(folds("2"), Ok(2));
        for text in ["0", "-1", "1.5", "x", ""] {
            let expected = Err("expected a whole number, at least 1".to_owned());
            assert_eq!(positive_count(text), expected, "{text}");
        }
        let expected = Err("expected a whole number, at least 2".to_owned());
        assert_eq!(folds("1"), expected);
    }
}
