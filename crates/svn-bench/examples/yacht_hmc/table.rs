//! Runs of the methods beside the posterior, as a Markdown table.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use svn_bench::metrics::Estimate;

use crate::chains::hmc::Failure;
use crate::fidelity::Errors;
use crate::methods::Run;
use crate::output::Points;

/// What is read of the result file.
#[derive(Debug, Deserialize)]
struct Reference {
    twenty_draws: Vec<Errors>,
    points: Points,
}

/// Errors of one ensemble, `[inside, outside]`.
type Sides = [Errors; 2];

/// Print the runs of a file, a line each, in the order in which their methods first occur.
pub(crate) fn print(reference: &str, runs: &Path) -> Result<(), Failure> {
    let reference: Reference = serde_json::from_str(reference)?;
    let text = std::fs::read_to_string(runs)?;
    let runs: Vec<Run> = text
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    let mut order = Vec::new();
    let mut methods: BTreeMap<&str, Vec<(Sides, &Run)>> = BTreeMap::new();
    for run in &runs {
        if !order.contains(&run.method.as_str()) {
            order.push(&run.method);
        }
        methods
            .entry(&run.method)
            .or_default()
            .push((sides(&reference.points, run), run));
    }
    println!(
        "| method | mean, inside | sd | interval | mean, outside | sd | interval | epochs | seconds |"
    );
    println!("|{}", "---|".repeat(9));
    println!(
        "| 20 HMC draws | {} | – | – |",
        cells(&[both(&reference.twenty_draws)])
    );
    for method in order {
        let runs = &methods[method];
        let errors: Vec<Sides> = runs.iter().map(|(sides, _)| *sides).collect();
        let mean = |of: &dyn Fn(&Run) -> f64| {
            runs.iter().map(|(_, run)| of(run)).sum::<f64>() / runs.len() as f64
        };
        let epochs = mean(&|run| run.epochs as f64);
        let seconds = mean(&|run| run.seconds);
        println!(
            "| {method} | {} | {epochs:.0} | {seconds:.0} |",
            cells(&errors)
        );
    }
    Ok(())
}

fn sides(points: &Points, run: &Run) -> Sides {
    let groups: Vec<Errors> = (0..points.moves.len())
        .map(|group| {
            let at = group * points.rows..(group + 1) * points.rows;
            run.function.errors(&points.function, at)
        })
        .collect();
    both(&groups)
}

/// The rows that are not moved, and all others together.
fn both(groups: &[Errors]) -> Sides {
    let (inside, outside) = groups.split_at(1);
    [Errors::together(inside), Errors::together(outside)]
}

/// Means over runs, with the standard error of several.
fn cells(runs: &[Sides]) -> String {
    let values = runs
        .iter()
        .map(|sides| sides.iter().flat_map(|side| side.values()).collect());
    let values: Vec<Vec<f64>> = values.collect();
    let cell = |i: usize| {
        let column: Vec<f64> = values.iter().map(|row| row[i]).collect();
        let mean = column.iter().sum::<f64>() / column.len() as f64;
        match Estimate::of(&column).and_then(|estimate| estimate.se) {
            Some(error) => format!("{mean:.2} ± {error:.2}"),
            None => format!("{mean:.2}"),
        }
    };
    (0..6).map(cell).collect::<Vec<_>>().join(" | ")
}
