//! One thing to tell the user.

/// Bytes of a sentence.
const LONGEST: usize = 280;

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FindingKind {
    /// What stands around the table in the file.
    Reading,
    /// Which task was chosen, and why.
    Task,
    /// Rows that are left out.
    Rows,
    /// A column that is left out.
    LeftOut,
    /// Numbers or dates in disguise.
    Notation,
    /// Missing cells, and what became of them.
    Missing,
    /// Texts that became levels.
    Levels,
    /// Rows that are copies of others.
    Duplicates,
    /// Rows of equal features and different targets.
    Contradictions,
    /// How rows are kept together.
    Groups,
    /// A column that gives the target away.
    Leak,
    /// Something about the target.
    Target,
    /// Columns of a later file that are not used.
    Ignored,
    /// Levels that a later file has and the first had not.
    Unseen,
}

/// One thing to tell the user: a sentence without control characters, shorter than 300 bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is about.
    pub kind: FindingKind,
    /// The sentence.
    pub text: String,
}

impl Finding {
    /// Names and cells in `text` are [`shown`](super::super::shown::shown).
    pub(super) fn new(kind: FindingKind, text: impl Into<String>) -> Self {
        let mut text = text.into();
        if text.len() > LONGEST {
            let end = (0..=LONGEST).rev().find(|&end| text.is_char_boundary(end));
            text.truncate(end.unwrap_or_default());
            text.push('…');
        }
        Self { kind, text }
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}
