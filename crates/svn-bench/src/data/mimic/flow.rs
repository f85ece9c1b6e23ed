//! How many stays each rule leaves out.

use serde::{Deserialize, Serialize};

/// A rule of the cohort, in the order they are applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Rule {
    NoPatient,
    NoAdmission,
    NoEnd,
    ImpossibleTimes,
    Minor,
    NotFirst,
    Short,
    Dead,
    DiedInHospital,
}

impl Rule {
    pub(super) const ALL: [Self; 9] = [
        Self::NoPatient,
        Self::NoAdmission,
        Self::NoEnd,
        Self::ImpossibleTimes,
        Self::Minor,
        Self::NotFirst,
        Self::Short,
        Self::Dead,
        Self::DiedInHospital,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::NoPatient => "no such patient",
            Self::NoAdmission => "no such admission",
            Self::NoEnd => "no end of the stay",
            Self::ImpossibleTimes => "impossible times",
            Self::Minor => "under 18, or age unknown",
            Self::NotFirst => "not the patient's first stay",
            Self::Short => "under 24 h in the unit",
            Self::Dead => "dead by the prediction hour",
            Self::DiedInHospital => "died in hospital",
        }
    }
}

/// Stays that a rule has left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Removal {
    /// The rule.
    pub rule: String,
    /// How many stays.
    pub stays: usize,
}

/// From all stays to the cohort: each stay is counted once, under the first rule that leaves it out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Rows of `icustays`.
    pub stays: usize,
    /// Rules, in the order they are applied.
    pub removed: Vec<Removal>,
    /// Stays in the cohort.
    pub kept: usize,
    /// Of these, patients who died in hospital.
    pub died: usize,
    /// Of these, admissions whose discharge lies before their begin.
    pub odd_discharges: usize,
}

impl Flow {
    /// Of the rule that leaves each stay out, none for those that are kept.
    pub(super) fn new(outcomes: &[Option<Rule>]) -> Self {
        let count = |outcome| outcomes.iter().filter(|&&other| other == outcome).count();
        let removal = |rule: Rule| Removal {
            rule: rule.name().to_owned(),
            stays: count(Some(rule)),
        };
        Self {
            stays: outcomes.len(),
            removed: Rule::ALL.map(removal).to_vec(),
            kept: count(None),
            died: 0,
            odd_discharges: 0,
        }
    }

    /// Rules that left something out, in a line.
    pub fn rules(&self) -> String {
        let rules = self.removed.iter().filter(|removal| removal.stays > 0);
        let rules: Vec<String> = rules
            .map(|removal| format!("{} {}", removal.stays, removal.rule))
            .collect();
        rules.join(", ")
    }

    /// Lines of a table: what, and how many stays are left behind it.
    pub fn lines(&self) -> Vec<(String, usize, usize)> {
        let mut left = self.stays;
        let mut lines = vec![("stays".to_owned(), 0, left)];
        for removal in &self.removed {
            left = left.saturating_sub(removal.stays);
            lines.push((removal.rule.clone(), removal.stays, left));
        }
        lines
    }
}
