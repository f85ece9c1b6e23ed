//! Numbers in every disguise, and what only looks like one.

use super::*;

fn notation(cells: &[&str], decimal_commas: bool) -> Notation {
    let mut tally = Tally::new();
    for cell in cells {
        assert!(tally.add(cell), "{cell:?}");
    }
    assert_eq!(tally.numbers, cells.len());
    tally.notation(decimal_commas)
}

fn values(cells: &[&str], decimal_commas: bool) -> Vec<Option<f64>> {
    let notation = notation(cells, decimal_commas);
    cells.iter().map(|cell| notation.read(cell)).collect()
}

#[test]
fn one_notation_for_a_column() {
    for (cells, expected) in [
        (
            &["1", "-2.5", "+3e2", ".5", "5.", "1E-3"][..],
            &[1.0, -2.5, 300.0, 0.5, 5.0, 0.001][..],
        ),
        (
            &["3,25", "-2", "1.234,5", "1.234"],
            &[3.25, -2.0, 1234.5, 1234.0],
        ),
        (&["12.3%", "4 %", "-1%"], &[12.3, 4.0, -1.0]),
        (
            &["$12,345", "-$5", "$-6.50", "700"],
            &[12345.0, -5.0, -6.5, 700.0],
        ),
        (&["12 €", "1.000,50 €", "3,5 €"], &[12.0, 1000.5, 3.5]),
        (&["(45)", "66", "(1,234.5)"], &[-45.0, 66.0, -1234.5]),
        (&["\u{2212}0.744", "1.094"], &[-0.744, 1.094]),
        (&["1 234 567", "12"], &[1_234_567.0, 12.0]),
        (&["1'234.5", "2"], &[1234.5, 2.0]),
        (&["1\u{202f}234"], &[1234.0]),
        (&["1.234"], &[1.234]),
    ] {
        let expected: Vec<Option<f64>> = expected.iter().copied().map(Some).collect();
        assert_eq!(values(cells, false), expected, "{cells:?}");
    }
}

#[test]
fn commas_that_may_be_either_follow_the_file() {
    assert_eq!(values(&["1,234", "12"], false), [Some(1234.0), Some(12.0)]);
    assert_eq!(values(&["1,234", "12"], true), [Some(1.234), Some(12.0)]);
    assert_eq!(values(&["$1,234"], true), [Some(1234.0)]);
    // One cell decides for all.
    assert_eq!(values(&["1,234", "1,23"], false), [Some(1.234), Some(1.23)]);
    assert_eq!(
        values(&["1,234", "1,234,567"], true),
        [Some(1234.0), Some(1_234_567.0)]
    );
}

#[test]
fn what_the_column_has_not_is_no_number_of_it() {
    let plain = notation(&["1.5", "2"], false);
    assert_eq!(plain, Notation::PLAIN);
    for cell in [
        "1,234", "1,5", "5%", "$5", "1 000", "inf", "-inf", "nan", "1e400", "0x10", "", "-",
        "1.2.3",
    ] {
        assert_eq!(plain.read(cell), None, "{cell:?}");
    }
    let comma = notation(&["1,5"], false);
    assert_eq!((comma.read("1.5"), comma.read("1.234")), (None, None));
    let percent = notation(&["1%", "2%", "3"], false);
    assert_eq!((percent.read("2%"), percent.read("3")), (Some(2.0), None));
    let dollars = notation(&["$1", "€2"], false);
    assert_eq!((dollars.read("$1"), dollars.read("€2")), (Some(1.0), None));
}

#[test]
fn words_are_no_numbers() {
    for cell in [
        "inf",
        "NAN",
        "infinity",
        "iv",
        "",
        "-",
        "()",
        "B7",
        "1-2",
        "2021-01-04",
        "12 34",
        "1,2,3",
        "--5",
        "5%%",
        "($-5)",
        "1e",
        "e5",
        "٣",
    ] {
        assert!(!is_number(cell), "{cell:?}");
        assert!(!Tally::new().add(cell), "{cell:?}");
    }
    for cell in ["", "NA", "n/a", "NaN", "None", "?", "-", "NULL"] {
        assert!(is_missing(cell), "{cell:?}");
    }
    for cell in ["inf", "nano", "0", "missing", "Nan "] {
        assert!(!is_missing(cell), "{cell:?}");
    }
}

#[test]
fn codes_are_not_amounts() {
    let is_code = |cells: &[&str]| {
        let mut tally = Tally::new();
        assert!(cells.iter().all(|cell| tally.add(cell)), "{cells:?}");
        tally.is_code()
    };
    for cells in [
        &["007"][..],
        &["90210", "00501"],
        &["00", "1"],
        &["12345678901234567890"],
        &["-12345678901234567", "1"],
    ] {
        assert!(is_code(cells), "{cells:?}");
    }
    for cells in [
        &["0"][..],
        &["0.5", "00.5"],
        &["7", "-7"],
        &["123456789012345"],
        &["1E2"],
        &["007", "1.5"],
    ] {
        assert!(!is_code(cells), "{cells:?}");
    }
}
