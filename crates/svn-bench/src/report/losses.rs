//! Where the Newton methods are not the better choice, in sentences.

use super::{Page, Row, dash, number, with_error};

/// Coverage of 90 % intervals that is as it should be.
const COVERAGE: std::ops::RangeInclusive<f64> = 0.86..=0.94;

/// A sentence for each loss: to a baseline, in epochs, in coverage, to the paper.
pub fn losses<P: Page>(rows: &[Row<P>]) -> Vec<String> {
    let newton = rows.iter().filter(|row| row.method.is_newton());
    newton.flat_map(losses_of).collect()
}

fn losses_of<P: Page>(row: &Row<P>) -> Vec<String> {
    let name = row.name();
    let mut losses = Vec::new();
    for versus in &row.versus {
        if let Some(nll) = versus.difference("nll")
            && nll.mean > 0.0
        {
            let (baseline, difference) = (versus.baseline, with_error(Some(nll)));
            losses.push(format!("{name}: nll above {baseline}'s by {difference}"));
        }
    }
    if let Some(convergence) = &row.convergence
        && convergence.share.is_none_or(|share| share > 1.0)
    {
        losses.push(format!(
            "{name}: no sooner at the ensemble's best validation NLL (epoch {} against {}, {} of {} runs get there)",
            convergence.epochs.map_or_else(dash, number),
            number(convergence.ensemble_epochs),
            convergence.reached,
            convergence.runs,
        ));
    }
    if let Some(coverage) = row.metric("coverage90")
        && !COVERAGE.contains(&coverage.mean)
    {
        let coverage = with_error(Some(coverage));
        losses.push(format!("{name}: 90 % intervals cover {coverage}"));
    }
    // The NLL of the paper's protocol.
    let key = P::beside(row.task).iter().find_map(|beside| {
        let same = beside.printed == beside.ours && beside.ours.starts_with("nll");
        same.then_some(beside.ours)
    });
    if let Some(key) = key
        && let Some(cell) = row.paper.as_ref().and_then(|paper| paper.get(key))
        && let Some(ours) = row.metric(key)
        && ours.mean > cell.mean
    {
        let ours = with_error(Some(ours));
        losses.push(format!("{name}: {key} {ours} above the paper's {cell}"));
    }
    losses
}
