//! What goes with each way to choose the weights that are kept.

use super::{Head, LastLayerMode, Predictive, Recipe, Selection};
use crate::ModelError;

impl Recipe {
    /// Whether nothing in it asks for rows that this way to choose does not set aside.
    pub fn goes_with(&self, by: Selection) -> bool {
        let recipe = Self {
            select: Some(by),
            ..self.clone()
        };
        check(&recipe).is_ok()
    }
}

/// What is chosen on rows that are set aside has no place where there are none.
pub(super) fn check(recipe: &Recipe) -> Result<(), ModelError> {
    let Some(by) = recipe.select.filter(|&by| by != Selection::Validation) else {
        return Ok(());
    };
    let tails = recipe.predictive == Some(Predictive::StudentT);
    let laplace = !tails
        && recipe
            .predictive
            .is_some_and(|kind| kind != Predictive::Moments);
    let warmup = recipe.warmup.is_some_and(|epochs| epochs > 0);
    let evidence = by.is_evidence();
    let others = [
        (
            recipe.temperature == Some(true) && evidence,
            "a temperature",
        ),
        (tails && evidence, "tails that are chosen afterwards"),
        (laplace, "a Laplace approximation"),
        (
            recipe.ll_mode == Some(LastLayerMode::Pretrained),
            "a pretrained last layer",
        ),
        (warmup && !evidence, "a warm-up"),
        (recipe.patience.is_some() && evidence, "patience"),
    ];
    if let Some((_, what)) = others.into_iter().find(|(asked, _)| *asked) {
        return Err(beside(by, what));
    }
    match recipe.likelihood {
        Some(head @ (Head::Auto | Head::Mixture | Head::Ordinal)) if evidence => {
            let expected = "gaussian or student-t, or select = validation or kfold";
            let found = format!("{} beside select = {}", named(&head), named(&by));
            Err(ModelError::setting("likelihood", found, expected))
        }
        _ => Ok(()),
    }
}

/// For whoever asks for what rows that are set aside would have to choose.
pub(crate) fn beside(by: Selection, what: &str) -> ModelError {
    let found = format!("{} beside {what}", named(&by));
    ModelError::setting("select", found, "validation")
}

/// As in a file.
fn named(value: &impl serde::Serialize) -> String {
    let name = serde_json::to_value(value).unwrap_or_default();
    name.as_str().unwrap_or_default().to_owned()
}
