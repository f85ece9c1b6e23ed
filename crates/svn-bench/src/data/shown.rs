//! Text of strangers in messages: control characters as escapes, long text cut.

/// Characters and bytes of a cell or a name that a message shows.
const CELL: usize = 40;
const BYTES: usize = 60;
/// Bytes of a list of names that a message shows.
const LIST: usize = 100;
/// Bytes of a name that is repeated in advice.
const ARGUMENT: usize = 20;

/// A cell or a name: one short piece of a line that moves no cursor.
pub(super) fn shown(text: &str) -> String {
    let mut short = String::new();
    for (place, c) in text.chars().enumerate() {
        let before = short.len();
        short.extend(escaped(c));
        if place == CELL || short.len() > BYTES {
            short.truncate(before);
            short.push('…');
            break;
        }
    }
    short
}

/// A name as an argument of an option, if it is short and plain.
pub(super) fn argument(name: &str) -> &str {
    let plain = |c: char| c.is_alphanumeric() || "_-.:/%".contains(c);
    match name.len() <= ARGUMENT && name.chars().all(plain) {
        true => name,
        false => "NAME",
    }
}

/// Names, comma separated, as many as fit, and how many more there are.
pub(super) fn listed<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> String {
    let (mut list, mut more) = (String::new(), 0);
    for name in names {
        let name = shown(name.as_ref());
        if more > 0 || (!list.is_empty() && list.len() + name.len() > LIST) {
            more += 1;
            continue;
        }
        if !list.is_empty() {
            list.push_str(", ");
        }
        list.push_str(&name);
    }
    match more {
        0 => list,
        more => format!("{list} and {more} more"),
    }
}

/// Control characters, and those that change the direction of text, as escapes.
fn escaped(c: char) -> impl Iterator<Item = char> {
    let moves = matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    let (escape, plain) = match c.is_control() || moves {
        true => (Some(c.escape_default()), None),
        false => (None, Some(c)),
    };
    escape.into_iter().flatten().chain(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_cell_reaches_the_terminal_but_its_characters() {
        assert_eq!(shown("a\u{1b}[2J\r\nµ"), "a\\u{1b}[2J\\r\\nµ");
        assert_eq!(shown("\u{9b}\u{202e}x"), "\\u{9b}\\u{202e}x");
        assert_eq!(shown(&"x".repeat(41)), format!("{}…", "x".repeat(40)));
        assert!(shown(&"\u{202e}".repeat(1000)).len() < 90);
    }

    #[test]
    fn a_name_is_an_argument_if_it_can_be_typed() {
        for (name, expected) in [
            ("zip", "zip"),
            ("a b", "NAME"),
            ("\u{1b}", "NAME"),
            ("größe", "größe"),
        ] {
            assert_eq!(argument(name), expected);
        }
        assert_eq!(argument(&"x".repeat(21)), "NAME");
    }

    #[test]
    fn lists_end() {
        assert_eq!(listed(["a", "b"]), "a, b");
        assert_eq!(listed::<&str>([]), "");
        let many: Vec<String> = (0..1000).map(|i| format!("column{i}")).collect();
        let list = listed(&many);
        assert!(
            list.len() < 130 && list.ends_with(" and 989 more"),
            "{list}"
        );
    }
}
