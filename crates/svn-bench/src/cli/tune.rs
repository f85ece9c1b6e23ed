//! `svn bench-uci --tune`: choose settings on validation rows, write them, print them.

use super::args::BenchUci;
use super::progress::Progress;
use super::{DONE, FAILED, Outcome, print, table};
use crate::experiment::FoldRunner;
use crate::experiment::tune::{self, TrialStore, TuneOptions, Winner};
use crate::experiment::uci::{Plan, UciOptions};
use crate::report::{Grid, number};

pub(super) fn run(
    arguments: &BenchUci,
    plan: &Plan,
    options: &UciOptions,
    runner: &dyn FoldRunner,
) -> Outcome {
    let tuning = TuneOptions {
        budget: arguments.tuning.tune_budget,
        folds: arguments.tuning.tune_folds,
        given: options.settings.clone(),
        jobs: options.jobs,
    };
    let folder = arguments.out.join("tuned");
    let mut store = TrialStore::open(&arguments.out)?;
    let progress = Progress::new(arguments.quiet);
    let winners = tune::tune(
        plan,
        &tuning,
        runner,
        &mut store,
        &progress,
        &mut |winners| {
            if let [first, ..] = winners {
                tune::write_winners(&folder, &first.dataset, winners)?;
            }
            Ok(())
        },
    )?;
    progress.clear();
    print::out(format_args!("{}", table::render(&grid(&winners))));
    print::out(format_args!("{}", folder.display()));
    let lost = plan.groups.len() - winners.len();
    if lost == 0 {
        return Ok(DONE);
    }
    print::error(format_args!(
        "error: for {lost} of {} methods and data sets every trial failed; tune.jsonl says why",
        plan.groups.len()
    ));
    Ok(FAILED)
}

fn grid(winners: &[Winner]) -> Grid {
    let header = ["dataset", "method", "validation NLL", "default"];
    let row = |winner: &Winner| {
        vec![
            winner.dataset.clone(),
            winner.method.to_string(),
            number(winner.score),
            winner
                .default_score
                .map_or_else(|| "failed".to_owned(), number),
        ]
    };
    Grid {
        title: "Tuning",
        header: header.map(str::to_owned).to_vec(),
        rows: winners.iter().map(row).collect(),
    }
}
