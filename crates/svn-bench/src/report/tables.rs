//! The tables: results, beside the baselines, beside the literature, convergence, kernel, cost.

use super::grid::{mark, maybe, with_short_error};
use super::{Detail, Grid, Page, Row, Summary, dash, number, with_error};
use crate::data::Task;
use crate::engine::Design;

/// Columns of a terminal.
const TERMINAL: usize = 80;

/// Share of the drive below which repulsion moves nothing.
const NO_REPULSION: f64 = 0.01;

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
        .map(|(title, task, rows)| match detail {
            Detail::Full => full(title, P::metrics(task, detail), &rows),
            Detail::Brief => brief(title, task, &rows),
        })
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

fn full<P: Page>(title: &str, metrics: &[&str], rows: &[&Row<P>]) -> Grid {
    let header = [&["runs"], metrics, &["best epoch", "step ms"]].concat();
    let cells = rows.iter().map(|row| {
        let mut cells = vec![runs(row)];
        cells.extend(metrics.iter().map(|key| with_error(row.metric(key))));
        cells.extend([best_epoch(row), maybe(row.cost.step_ms)]);
        (*row, cells)
    });
    grid(title, &header, cells.collect())
}

/// The paper's cell stands behind the metric that follows its protocol.
fn brief<P: Page>(title: &str, task: Task, rows: &[&Row<P>]) -> Grid {
    let printed = P::beside(task).first().map(|beside| beside.printed);
    let printed = printed.filter(|_| rows.iter().any(|row| row.paper.is_some()));
    let metrics = P::metrics(task, Detail::Brief);
    let mut header = vec!["runs"];
    for &key in metrics {
        header.push(key);
        header.extend((printed == Some(key)).then_some("paper"));
    }
    let cells = rows.iter().map(|row| {
        let mut cells = vec![runs(row)];
        for &key in metrics {
            cells.push(with_short_error(row.metric(key)));
            cells.extend((printed == Some(key)).then(|| paper(row, key)));
        }
        (*row, cells)
    });
    let grid = grid(title, &header, cells.collect());
    // Which row, how many runs and one metric stay.
    let least = grid.header.len() + 2 - header.len();
    grid.narrowed(TERMINAL, least)
}

fn runs<P: Page>(row: &Row<P>) -> String {
    format!("{}/{}", row.runs, row.planned)
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
fn beside_baselines<P: Page>(title: &str, task: Task, rows: &[&Row<P>]) -> Grid {
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
    let mut header = Vec::new();
    let mut printed = "";
    for beside in P::beside(task) {
        if beside.printed != printed {
            header.push(format!("paper: {}", beside.printed));
            printed = beside.printed;
        }
        header.push(beside.title.to_owned());
    }
    let cells = rows.iter().filter_map(|row| {
        let cells = row.paper.as_ref()?;
        let mut line = Vec::new();
        let mut printed = "";
        for beside in P::beside(task) {
            if beside.printed != printed {
                line.push(paper(row, beside.printed));
                printed = beside.printed;
            }
            let ours = row.metric(beside.ours).map(|mut ours| {
                ours.mean -= beside.less;
                ours
            });
            let both = ours.zip(cells.get(beside.printed));
            let mark = both.map_or("", |(ours, cell)| mark(ours, *cell));
            line.push(with_error(ours) + mark);
        }
        Some((*row, line))
    });
    let title = format!(
        "Beside the paper: {} (▼ below, ▲ above its cell beyond two standard errors)",
        title.to_lowercase()
    );
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    grid(title, &header, cells.collect())
}

/// The best published cell of each metric that the literature has.
fn beside_literature<P: Page>(rows: &[Row<P>]) -> Grid {
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
        let verdict = if share < NO_REPULSION {
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

fn cost<P: Page>(rows: &[Row<P>]) -> Grid {
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
