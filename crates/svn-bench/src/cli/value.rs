//! Values of options: from text to numbers, or to the sentence that says what was expected.

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

pub(super) fn positive(text: &str) -> Result<f64, String> {
    let value = text
        .parse()
        .ok()
        .filter(|value: &f64| value.is_finite() && *value > 0.0);
    value.ok_or_else(|| "expected a positive finite number".to_owned())
}

pub(super) fn non_negative(text: &str) -> Result<f64, String> {
    let value = text
        .parse()
        .ok()
        .filter(|value: &f64| value.is_finite() && *value >= 0.0);
    value.ok_or_else(|| "expected a finite number, 0 or more".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_where_they_are_said_to_be() {
        assert_eq!(positive_count("1"), Ok(1));
        assert_eq!(folds("2"), Ok(2));
        assert_eq!(positive("5e-324"), Ok(5e-324));
        assert_eq!(non_negative("0"), Ok(0.0));
        for text in ["0", "-1", "1.5", "x", ""] {
            let expected = Err("expected a whole number, at least 1".to_owned());
            assert_eq!(positive_count(text), expected, "{text}");
        }
        let expected = Err("expected a whole number, at least 2".to_owned());
        assert_eq!(folds("1"), expected);
        for text in ["0", "-0.1", "nan", "inf", "x"] {
            assert!(positive(text).is_err(), "{text}");
        }
        for text in ["-0.1", "nan", "inf", "x"] {
            assert!(non_negative(text).is_err(), "{text}");
        }
    }
}
