//! Values of options: from text to counts, or to the sentence that says what was expected.

/// From 1 to what no machine has.
pub(super) fn positive_count(text: &str) -> Result<usize, String> {
    within(1, 1_000_000_000, text)
}

/// From 1 to `MOST`.
pub(super) fn count<const MOST: usize>(text: &str) -> Result<usize, String> {
    within(1, MOST, text)
}

/// From 2.
pub(super) fn count_from_2(text: &str) -> Result<usize, String> {
    within(2, 1_000_000, text)
}

/// From 0, such as a seed.
pub(super) fn whole(text: &str) -> Result<u64, String> {
    let expected = "expected a whole number, 0 or more";
    text.parse().map_err(|_| expected.to_owned())
}

/// A time such as `90`, `90s`, `10m`, `1.5h`.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    let expected = || "expected a time such as 90, 90s, 10m or 1.5h".to_owned();
    let text = text.trim();
    let (number, unit) = match text.char_indices().next_back() {
        Some((at, 's')) => (&text[..at], 1.0),
        Some((at, 'm')) => (&text[..at], 60.0),
        Some((at, 'h')) => (&text[..at], 3600.0),
        _ => (text, 1.0),
    };
    let number: f64 = number.trim().parse().map_err(|_| expected())?;
    match number.is_finite() && number > 0.0 {
        true => Ok(number * unit),
        false => Err(expected()),
    }
}

fn within(least: usize, most: usize, text: &str) -> Result<usize, String> {
    let number: Option<u128> = text.parse().ok();
    match number.map(usize::try_from) {
        Some(Ok(count)) if (least..=most).contains(&count) => Ok(count),
        Some(_) if number.is_some_and(|number| number > most as u128) => {
            Err(format!("expected a whole number, at most {most}"))
        }
        _ => Err(format!("expected a whole number, at least {least}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_where_they_are_said_to_be() {
        assert_eq!(positive_count("1"), Ok(1));
        assert_eq!(count_from_2("2"), Ok(2));
        for text in ["0", "-1", "1.5", "x", ""] {
            let expected = Err("expected a whole number, at least 1".to_owned());
            assert_eq!(positive_count(text), expected, "{text}");
        }
        let expected = Err("expected a whole number, at least 2".to_owned());
        assert_eq!(count_from_2("1"), expected);
        assert_eq!(whole("0"), Ok(0));
        for text in ["-1", "1.5", "0x10", ""] {
            let expected = Err("expected a whole number, 0 or more".to_owned());
            assert_eq!(whole(text), expected, "{text}");
        }
        assert_eq!(seconds("90"), Ok(90.0));
        assert_eq!(
            ["90s", "10m", "1.5 h"].map(seconds),
            [90.0, 600.0, 5400.0].map(Ok)
        );
        for text in ["", "m", "-1", "0", "1d", "nan", "inf", "é"] {
            assert!(
                seconds(text).unwrap_err().starts_with("expected a time"),
                "{text}"
            );
        }
        let expected = Err("expected a whole number, at most 1024".to_owned());
        for text in ["1025", "18446744073709551615", "99999999999999999999"] {
            assert_eq!(count::<1024>(text), expected, "{text}");
        }
    }
}
