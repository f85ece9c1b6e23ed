//! The posterior that the methods are measured against, by a long Hamiltonian Monte Carlo run; see `experiments/toy/README.md`.

use serde::Deserialize;

const TEXT: &str = include_str!("../../../experiments/toy/hmc.json");

/// Mean and standard deviation of the function, without noise, at the points of the grid, in units of the target.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Posterior {
    /// Places.
    pub x: Vec<f64>,
    /// Means.
    pub mean: Vec<f64>,
    /// Standard deviations.
    pub sd: Vec<f64>,
}

#[derive(Deserialize)]
struct File {
    grid: Posterior,
}

/// The posterior at the grid.
///
/// # Errors
/// If the embedded file does not parse: a test keeps that from happening.
pub fn posterior() -> Result<Posterior, serde_json::Error> {
    let file: File = serde_json::from_str(TEXT)?;
    Ok(file.grid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::toy::data::{NOISE_SD, grid, is_inside, truth};

    /// Near the curve where there are rows, and sure of it; wide where there are none.
    #[test]
    fn it_is_of_the_grid_and_knows_where_the_rows_are() {
        let posterior = posterior().unwrap();
        let grid = grid();
        assert_eq!(posterior.x.len(), grid.nrows());
        for (i, &x) in grid.iter().enumerate() {
            assert!((posterior.x[i] - x).abs() < 1e-4);
            if is_inside(x) {
                assert!(posterior.sd[i] < 1.5 * NOISE_SD, "{x}: {}", posterior.sd[i]);
                let error = (posterior.mean[i] - truth(x)).abs();
                assert!(error < 3.0 * posterior.sd[i].max(NOISE_SD), "{x}: {error}");
            }
        }
        assert!(posterior.sd[0] > 1.0 && posterior.sd[199] > 1.0);
    }
}
