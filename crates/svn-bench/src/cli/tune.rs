//! `--tune`: choose settings on validation rows, write them, print them.

use clap::Args;

use super::Outcome;
use super::progress::Progress;
use super::value::{count, positive_count};
use crate::engine::tune::{self, TuneOptions, Winner};
use crate::engine::{Asked, EngineError, Plan, Store, Study, Work};
use crate::report::number;
use crate::terminal::{DONE, FAILED, Grid, print, render};

/// Choice of settings.
#[derive(Debug, Args)]
#[command(next_help_heading = "Tuning")]
pub(super) struct Tuning {
    /// Choose settings on the validation rows instead of running the benchmark; OUT/tuned gets a file a data set, for
    /// --settings. What the command line sets is fixed. A rerun resumes
    #[arg(long, conflicts_with_all = ["settings", "untuned", "save_models"])]
    pub tune: bool,

    /// Configurations a method and data set
    #[arg(long, value_name = "N", value_parser = count::<1000>, default_value = "18", requires = "tune")]
    pub tune_budget: usize,

    /// Folds a configuration is tried on, the first ones [default: all]
    #[arg(long, value_name = "K", value_parser = positive_count, requires = "tune")]
    pub tune_folds: Option<usize>,
}

pub(super) fn run<S: Study>(
    arguments: &Tuning,
    plan: &Plan<'_, S>,
    asked: &Asked,
    work: &Work<'_>,
    progress: &Progress,
) -> Outcome {
    let options = TuneOptions {
        budget: arguments.tune_budget,
        folds: arguments.tune_folds,
        given: asked.settings.clone(),
    };
    let folder = work.folder.join("tuned");
    let mut store = Store::open(work.folder, S::NAME).map_err(EngineError::from)?;
    let winners = tune::tune(plan, &options, &mut store, work, &mut |winners| {
        if let [first, ..] = winners {
            tune::write_winners(&folder, &first.dataset, winners)?;
        }
        Ok(())
    })?;
    progress.clear();
    print::out(render(&grid(&winners)))?;
    print::out(folder.display())?;
    let (lost, all) = (plan.groups.len() - winners.len(), plan.groups.len());
    if lost == 0 {
        return Ok(DONE);
    }
    print::error(format_args!(
        "error: for {lost} of {all} methods and data sets every trial failed; tune.jsonl says why"
    ));
    Ok(FAILED)
}

fn grid(winners: &[Winner]) -> Grid {
    let header = ["dataset", "method", "validation NLL", "default"];
    let row = |winner: &Winner| {
        let default = winner.default_score;
        vec![
            winner.dataset.clone(),
            winner.method.to_string(),
            number(winner.score),
            default.map_or_else(|| "failed".to_owned(), number),
        ]
    };
    Grid::new(
        "Tuning",
        header.map(str::to_owned).to_vec(),
        winners.iter().map(row).collect(),
    )
}
