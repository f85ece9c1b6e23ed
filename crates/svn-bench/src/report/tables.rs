//! The tables: results, beside the baselines, beside the literature, convergence, kernel, cost.

use svn_models::stein::KernelHealth;

use super::grid::{mark, maybe, with_short_error};
use super::{Beside, Detail, Grid, Page, PaperCell, Row, Summary, dash, number, with_error};
use crate::data::Task;
use crate::engine::Design;

/// Columns of a terminal.
const TERMINAL: usize = 80;

/// Cells that say which row of its table one is: data set, method, columns of the design.
fn identity<P: Page>(row: &Row<P>) -> Vec<String> {
    let columns = row.design.columns().into_iter().map(|(_, cell)| cell);
    [row.dataset.clone(), row.label.clone()]
        .into_iter()
        .chain(columns)
        .collect()
}

/// A table whose rows begin with their identity.
pub fn grid<P: Page>(
    title: impl Into<String>,
    header: &[&str],
    rows: Vec<(&Row<P>, Vec<String>)>,
) -> Grid {
    let columns = rows
        .first()
        .map_or(Vec::new(), |(row, _)| row.design.columns());
    let names = columns.iter().map(|(name, _)| *name);
    let header = ["dataset", "method"]
        .into_iter()
        .chain(names)
        .chain(header.iter().copied());
    let rows = rows
        .into_iter()
        .map(|(row, cells)| [identity(row), cells].concat());
    Grid::new(title, header.map(str::to_owned).collect(), rows.collect())
}

/// The results, a table a task. [`Detail::Brief`] leaves out the columns that do not fit on a terminal.
pub fn results<P: Page>(rows: &[Row<P>], detail: Detail) -> Vec<Grid> {
    by_task(rows)
        .map(|(title, task, rows)| result(title, task, &rows, detail))
        .collect()
}

/// Tasks that have rows.
fn by_task<P: Page>(rows: &[Row<P>]) -> impl Iterator<Item = (&'static str, Task, Vec<&Row<P>>)> {
    let tasks = [
        ("Regression", Task::Regression),
        ("Classification", Task::Classification),
    ];
    tasks.into_iter().filter_map(|(title, task)| {
        let rows: Vec<&Row<P>> = rows.iter().filter(|row| row.task == task).collect();
        (!rows.is_empty()).then_some((title, task, rows))
    })
}

/// On a terminal the paper's cell stands behind the metric of its protocol; the full table has it in one of its own.
fn result<P: Page>(title: &str, task: Task, rows: &[&Row<P>], detail: Detail) -> Grid {
    let full = detail == Detail::Full;
    let shown = if full { with_error } else { with_short_error };
    let printed = P::beside(task).first().map(|beside| beside.printed);
    let printed = printed.filter(|_| !full && rows.iter().any(|row| row.paper.is_some()));
    let mut header = vec!["runs"];
    for &key in P::metrics(task, detail) {
        header.push(key);
        header.extend((printed == Some(key)).then_some("paper"));
    }
    if full {
        header.extend(["best epoch", "step ms"]);
    }
    let cells = rows.iter().map(|row| {
        let mut cells = vec![format!("{}/{}", row.runs, row.planned)];
        for &key in P::metrics(task, detail) {
            cells.push(shown(row.metric(key)));
            cells.extend((printed == Some(key)).then(|| paper(row, key)));
        }
        if full {
            cells.extend([best_epoch(row), maybe(row.cost.step_ms)]);
        }
        (*row, cells)
    });
    let grid = grid(title, &header, cells.collect());
    // Which row, how many runs and one metric stay.
    let least = grid.header.len() + 2 - header.len();
    let width = if full { usize::MAX } else { TERMINAL };
    grid.narrowed(width, least)
}

fn best_epoch<P: Page>(row: &Row<P>) -> String {
    let epoch = row.cost.best_epoch;
    epoch.map_or_else(dash, |epoch| format!("{:.1}", epoch.mean))
}

fn paper<P: Page>(row: &Row<P>, key: &str) -> String {
    let cell = row.paper.as_ref().and_then(|paper| paper.get(key));
    cell.map_or_else(dash, ToString::to_string)
}

/// All tables that have rows.
pub fn tables<P: Page>(summary: &Summary<P>) -> Vec<Grid> {
    let rows = &summary.results;
    let mut tables = results(rows, Detail::Full);
    for (title, task, rows) in by_task(rows) {
        tables.push(beside_baselines(title, task, &rows));
    }
    for (title, task, rows) in by_task(rows) {
        tables.push(beside_paper(title, task, &rows));
    }
    tables.push(beside_literature(rows));
    tables.push(convergence(rows));
    tables.extend(P::sections(rows));
    tables.push(kernel(rows));
    tables.push(cost(rows));
    tables.retain(|grid| !grid.rows.is_empty());
    tables
}

/// Paired differences; of an NLL they are less than 0 where the Newton method is better.
pub(crate) fn beside_baselines<P: Page>(title: &str, task: Task, rows: &[&Row<P>]) -> Grid {
    let metrics = P::metrics(task, Detail::Brief);
    let mut cells = Vec::new();
    for row in rows {
        for versus in &row.versus {
            let nll = versus.difference("nll");
            let verdict = nll.and_then(|d| Some(d.mean / d.se?)).map_or("", verdict);
            let mut line = vec![versus.baseline.to_string()];
            let differences = metrics.iter().map(|key| with_error(versus.difference(key)));
            line.extend(differences);
            line.push(verdict.to_owned());
            cells.push((*row, line));
        }
    }
    let header = [&["minus"], metrics, &["by nll"]].concat();
    let title = format!(
        "Paired differences to the baselines: {}",
        title.to_lowercase()
    );
    grid(title, &header, cells)
}

/// A difference of an NLL in standard errors in words.
fn verdict(errors: f64) -> &'static str {
    match errors {
        e if e <= -2.0 => "better beyond 2 se",
        e if e < -1.0 => "better beyond 1 se",
        e if e >= 2.0 => "worse beyond 2 se",
        e if e > 1.0 => "worse beyond 1 se",
        _ => "within 1 se",
    }
}

/// Ours behind the printed cells, marked where they differ beyond two standard errors of the difference.
fn beside_paper<P: Page>(title: &str, task: Task, rows: &[&Row<P>]) -> Grid {
    let groups = || P::beside(task).chunk_by(|a, b| a.printed == b.printed);
    let header = groups().flat_map(|group| {
        let printed = format!("paper: {}", group[0].printed);
        let ours = group.iter().map(|beside| beside.title.to_owned());
        [printed].into_iter().chain(ours)
    });
    let header: Vec<String> = header.collect();
    let ours = |row: &Row<P>, beside: &Beside, cell: Option<&PaperCell>| {
        let mut ours = row.metric(beside.ours)?;
        ours.mean -= beside.less;
        let mark = cell.map_or("", |cell| mark(ours, *cell));
        Some(with_error(Some(ours)) + mark)
    };
    let cells = rows.iter().filter_map(|row| {
        let printed = row.paper.as_ref()?;
        let line = groups().flat_map(|group| {
            let cell = printed.get(group[0].printed);
            let ours = group.iter().map(move |beside| ours(row, beside, cell));
            let cell = cell.map(ToString::to_string);
            [cell]
                .into_iter()
                .chain(ours)
                .map(|text| text.unwrap_or_else(dash))
        });
        Some((*row, line.collect()))
    });
    let title = format!(
        "Beside the paper: {} (▼ below, ▲ above its cell beyond two standard errors)",
        title.to_lowercase()
    );
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    grid(title, &header, cells.collect())
}

/// The best published cell of each metric that the literature has.
pub(crate) fn beside_literature<P: Page>(rows: &[Row<P>]) -> Grid {
    let cells = rows.iter().flat_map(|row| {
        row.published.iter().map(move |(key, anchor)| {
            let best = format!("{} ({})", anchor.cell, anchor.method);
            (row, vec![key.clone(), with_error(row.metric(key)), best])
        })
    });
    let header = ["metric", "ours", "best published"];
    grid("Beside the literature", &header, cells.collect())
}

fn convergence<P: Page>(rows: &[Row<P>]) -> Grid {
    let cells = rows.iter().filter_map(|row| {
        let convergence = row.convergence.as_ref()?;
        let shown = |value: Option<f64>| value.map_or_else(|| "never".to_owned(), number);
        // No time is not known, unless there is no epoch.
        let seconds = match (convergence.epochs, convergence.seconds) {
            (None, _) => shown(None),
            (_, seconds) => maybe(seconds),
        };
        let line = vec![
            shown(convergence.epochs),
            number(convergence.ensemble_epochs),
            shown(convergence.share),
            seconds,
            maybe(convergence.ensemble_seconds),
            format!("{}/{}", convergence.reached, convergence.runs),
        ];
        Some((row, line))
    });
    let header = [
        "epochs",
        "the ensemble's",
        "ratio",
        "seconds",
        "the ensemble's",
        "runs",
    ];
    let title = "Epochs and seconds to the ensemble's best validation NLL, medians";
    grid(title, &header, cells.collect())
}

fn kernel<P: Page>(rows: &[Row<P>]) -> Grid {
    let cells = rows.iter().filter_map(|row| {
        let kernel = row.kernel.as_ref()?;
        let share = kernel.repulsion.mean;
        let verdict = if share < KernelHealth::NEGLIGIBLE {
            "the kernel does nothing here"
        } else {
            ""
        };
        let line = vec![
            number(kernel.mean.mean),
            format!("{:.2} %", 100.0 * share),
            verdict.to_owned(),
        ];
        Some((row, line))
    });
    let header = ["mean off-diagonal K", "repulsion over drive", ""];
    grid("Kernel", &header, cells.collect())
}

pub(crate) fn cost<P: Page>(rows: &[Row<P>]) -> Grid {
    let cells = rows.iter().map(|row| {
        let (cost, runs) = (&row.cost, row.runs.max(1));
        let line = vec![
            maybe(cost.step_ms),
            (cost.steps / runs).to_string(),
            maybe(cost.fit_s),
            best_epoch(row),
            maybe(cost.best_s),
            number(cost.wall_s / runs as f64),
            number(cost.wall_s),
        ];
        (row, line)
    });
    let header = [
        "step ms",
        "steps a run",
        "s of the fit",
        "best epoch",
        "s to it",
        "s a run",
        "s in all",
    ];
    grid("Cost", &header, cells.collect())
}

#[cfg(test)]
#[path = "tables_tests.rs"]
mod tests;
