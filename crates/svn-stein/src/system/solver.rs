//! The choice of a way to solve the Newton system, and its name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Relative residual and iterations where none are named: those of the paper's conjugate gradients.
const TOLERANCE: f64 = 1e-6;
const MAX_ITERATIONS: usize = 50;

/// How the Newton system is solved.
///
/// As text its name; an iterative one may be followed by tolerance and iteration limit, `cg 1e-8 200`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
#[non_exhaustive]
pub enum Solver {
    /// [`Solver::Direct`] while the matrices are small, else [`Solver::Preconditioned`], or CG or MINRES where even the factors
    /// are too large.
    Auto,
    /// To working precision, through one factor of `H_p + λ I` a particle (block-diagonal coupling: one of each block), or
    /// through the whole matrix where that takes less: many particles of few coordinates.
    Direct,
    /// Dense assembly of the `N d × N d` matrix; for small `d`.
    Dense,
    /// Conjugate gradients, matrix-free. Stops with a status at negative curvature.
    Cg {
        /// Relative residual to reach.
        tolerance: f64,
        /// Iteration limit.
        max_iterations: usize,
    },
    /// Krylov method preconditioned by one factor of `H_p + λ I` a particle: CG for PSD couplings, MINRES for `exact`.
    Preconditioned {
        /// Relative residual to reach.
        tolerance: f64,
        /// Iteration limit.
        max_iterations: usize,
    },
    /// Minimum residual method, matrix-free; for symmetric indefinite systems.
    Minres {
        /// Relative residual to reach.
        tolerance: f64,
        /// Iteration limit.
        max_iterations: usize,
    },
}

impl fmt::Display for Solver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, tolerance, max_iterations) = match *self {
            Self::Auto => return f.write_str("auto"),
            Self::Direct => return f.write_str("direct"),
            Self::Dense => return f.write_str("dense"),
            Self::Cg {
                tolerance,
                max_iterations,
            } => ("cg", tolerance, max_iterations),
            Self::Preconditioned {
                tolerance,
                max_iterations,
            } => ("preconditioned", tolerance, max_iterations),
            Self::Minres {
                tolerance,
                max_iterations,
            } => ("minres", tolerance, max_iterations),
        };
        f.write_str(name)?;
        if (tolerance, max_iterations) != (TOLERANCE, MAX_ITERATIONS) {
            write!(f, " {tolerance:e} {max_iterations}")?;
        }
        Ok(())
    }
}

impl FromStr for Solver {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || "expected auto, direct, dense, cg, preconditioned or minres".to_owned();
        let words: Vec<_> = text.split_whitespace().collect();
        let (tolerance, max_iterations) = match words.as_slice() {
            [_] => (TOLERANCE, MAX_ITERATIONS),
            [_, tolerance, limit] => (
                tolerance.parse().map_err(|_| expected())?,
                limit.parse().map_err(|_| expected())?,
            ),
            _ => return Err(expected()),
        };
        match (words[0], words.len()) {
            ("auto", 1) => Ok(Self::Auto),
            ("direct", 1) => Ok(Self::Direct),
            ("dense", 1) => Ok(Self::Dense),
            ("cg", _) => Ok(Self::Cg {
                tolerance,
                max_iterations,
            }),
            ("preconditioned", _) => Ok(Self::Preconditioned {
                tolerance,
                max_iterations,
            }),
            ("minres", _) => Ok(Self::Minres {
                tolerance,
                max_iterations,
            }),
            _ => Err(expected()),
        }
    }
}

impl From<Solver> for String {
    fn from(solver: Solver) -> Self {
        solver.to_string()
    }
}

impl TryFrom<String> for Solver {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for (text, solver) in [
            ("auto", Solver::Auto),
            ("direct", Solver::Direct),
            ("dense", Solver::Dense),
            (
                "cg",
                Solver::Cg {
                    tolerance: 1e-6,
                    max_iterations: 50,
                },
            ),
            (
                "minres 1e-8 200",
                Solver::Minres {
                    tolerance: 1e-8,
                    max_iterations: 200,
                },
            ),
        ] {
            assert_eq!(text.parse(), Ok(solver));
            assert_eq!(solver.to_string(), text);
        }
        for text in ["", "lu", "auto 1e-6 10", "cg 1e-6", "cg x 10", "cg 1e-6 -1"] {
            assert!(text.parse::<Solver>().is_err(), "{text}");
        }
    }
}
