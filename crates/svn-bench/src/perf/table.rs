//! Tables on the terminal.

use crate::terminal::Grid;

use super::figures::Figure;
use super::peers::Peer;

use super::result::CaseResult;

/// One line a case and number of threads, then one for each result of another implementation.
pub(super) fn cases(cases: &[CaseResult], peers: &[Peer]) -> Grid {
    let header = ["case", "thr", "ms", "min", "max", "allocs", "route", "iter"];
    let own = cases.iter().map(|case| {
        let (step, solve) = (case.step_ms, case.operations.map(|o| o.solve));
        vec![
            case.id.clone(),
            case.threads.to_string(),
            ms(Some(step.median)),
            ms(Some(step.min)),
            ms(Some(step.max)),
            cell(case.allocations),
            cell(solve.map(|s| format!("{:?} {}", s.route, s.size))),
            cell(solve.map(|s| s.iterations)),
        ]
    });
    let others = peers.iter().map(|peer| {
        let name = format!("{}/{} ({})", peer.shape, peer.name, peer.dtype);
        let mut row = vec![name, "1".to_owned()];
        row.extend([Some(peer.median_ms), peer.min_ms, peer.max_ms].map(ms));
        row.resize(header.len(), cell::<f64>(None));
        row
    });
    grid(&header, own.chain(others).collect())
}

/// The figures that were measured.
pub(super) fn figures(figures: &[Figure]) -> Grid {
    let rows = figures.iter().filter_map(|figure| {
        let wanted = cell(figure.wanted.map(|wanted| format!("≤ {wanted}")));
        Some(vec![
            figure.name.clone(),
            format!("{:.3}", figure.found?),
            wanted,
        ])
    });
    grid(&["figure", "found", "wanted"], rows.collect())
}

fn grid(header: &[&str], rows: Vec<Vec<String>>) -> Grid {
    let header = header.iter().map(|&name| name.to_owned());
    Grid::new("", header.collect(), rows)
}

fn ms(value: Option<f64>) -> String {
    cell(value.map(|value| format!("{value:.3}")))
}

fn cell<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| value.to_string())
}
