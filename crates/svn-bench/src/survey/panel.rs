//! What the page is made of: sections of panels, each of which says where it is from.

use crate::report::Grid;

/// Where the contents of a panel are from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source {
    /// The command that makes them.
    pub command: String,
    /// Seeds of its runs.
    pub seeds: Vec<u64>,
    /// The commit that it was run at, where that was kept.
    pub commit: Option<String>,
    /// The file that they were read from, none where there is none yet.
    pub file: Option<String>,
}

impl Source {
    /// What is known, each with what it is.
    pub(super) fn lines(&self) -> impl Iterator<Item = (&'static str, String)> {
        let seeds: Vec<String> = self.seeds.iter().map(u64::to_string).collect();
        let lines = [
            ("command", Some(self.command.clone())),
            (
                "seeds",
                Some(seeds.join(" ")).filter(|seeds| !seeds.is_empty()),
            ),
            ("commit", self.commit.clone()),
            ("file", self.file.clone()),
        ];
        lines
            .into_iter()
            .filter_map(|(what, text)| Some((what, text?)))
    }
}

/// The contents of a panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// An SVG figure, and the name of its file.
    Figure {
        /// `NAME.svg`.
        name: String,
        /// The file.
        svg: String,
    },
    /// A table.
    Table(Grid),
    /// Nothing yet: the command of the source makes it.
    Missing,
}

/// A figure or a table, with one sentence on what it shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Panel {
    /// Its heading.
    pub title: String,
    /// What it shows.
    pub says: String,
    /// The figure or table.
    pub body: Body,
    /// Where it is from.
    pub source: Source,
}

impl Panel {
    /// A table under its own title.
    pub fn table(grid: Grid, says: impl Into<String>, source: &Source) -> Self {
        Self {
            title: grid.title.clone(),
            says: says.into(),
            body: Body::Table(grid),
            source: source.clone(),
        }
    }

    /// A figure; the name of its file is made different from those of other sections by `section`.
    pub fn figure(
        section: &str,
        figure: crate::report::Figure,
        (title, says): (&str, impl Into<String>),
        source: &Source,
    ) -> Self {
        Self {
            title: title.to_owned(),
            says: says.into(),
            body: Body::Figure {
                name: format!("{section}-{}", figure.name),
                svg: figure.svg,
            },
            source: source.clone(),
        }
    }

    /// What is not there yet.
    pub fn missing(title: &str, command: &str) -> Self {
        Self {
            title: title.to_owned(),
            says: String::new(),
            body: Body::Missing,
            source: Source {
                command: command.to_owned(),
                ..Source::default()
            },
        }
    }
}

/// Panels on one subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Anchor of the page and beginning of the names of its figures.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// What is asked, in a sentence or two.
    pub intro: &'static str,
    /// What was found.
    pub panels: Vec<Panel>,
}
