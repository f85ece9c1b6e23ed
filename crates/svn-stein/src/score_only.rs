//! A target with a score and no curvature, for the methods that need none.

use ndarray::{ArrayView2, ArrayViewMut1, ArrayViewMut2};

use crate::error::SteinError;
use crate::function::FunctionSpace;
use crate::target::{Curvature, Curved, Score, TargetError};

/// Lets a [`Score`] run under the first-order methods with an identity metric.
///
/// Asking it for curvature is a fatal error that says so.
#[derive(Debug, Clone)]
pub struct ScoreOnly<T>(pub T);

impl<T: Score> Score for ScoreOnly<T> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn next_batch(&mut self) -> Result<(), TargetError> {
        self.0.next_batch()
    }

    fn is_stochastic(&self) -> bool {
        self.0.is_stochastic()
    }

    fn score_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        log_density: ArrayViewMut1<'_, f64>,
        score: ArrayViewMut2<'_, f64>,
    ) -> Result<(), TargetError> {
        self.0.score_into(particles, log_density, score)
    }

    fn function_space(&mut self) -> Option<&mut dyn FunctionSpace> {
        self.0.function_space()
    }
}

impl<T: Score> Curved for ScoreOnly<T> {
    fn curvature_into(
        &mut self,
        _: ArrayView2<'_, f64>,
        _: ArrayViewMut1<'_, f64>,
        _: ArrayViewMut2<'_, f64>,
    ) -> Result<Curvature<'_>, TargetError> {
        Err(TargetError::Fatal(Box::new(
            SteinError::CurvatureRequired {
                what: "this method or its kernel metric",
            },
        )))
    }
}
