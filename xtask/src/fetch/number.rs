//! Numbers as the shortest decimal text that parses back to the same f64, integers without a point.
//!
//! The exponent form is Python's: below 1e-4, with at least two digits (`7e-05`).

/// The text of a finite number.
pub(super) fn shortest(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if value == value.trunc() {
        return format!("{value:.0}");
    }
    let scientific = format!("{value:e}");
    match scientific.split_once("e-") {
        Some((digits, exponent)) if exponent.parse().is_ok_and(|e: u32| e > 4) => {
            format!("{digits}e-{exponent:0>2}")
        }
        _ => format!("{value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_python_writes_them() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (18.0, "18"),
            (-2.3, "-2.3"),
            (0.1 + 0.2, "0.30000000000000004"),
            (0.0001, "0.0001"),
            (0.00007, "7e-05"),
            (-4.9249137e-6, "-4.9249137e-06"),
            (1.5e-100, "1.5e-100"),
            (1872790.507, "1872790.507"),
            (1e22, "10000000000000000000000"),
        ] {
            assert_eq!(shortest(value), text);
            assert_eq!(text.parse::<f64>().unwrap(), value);
        }
    }
}
