//! Input that is no density, no curvature or no set of particles: typed errors that name what to change.

use crate::common::{DenseMatrices, DiagonalMatrices, LowRank};
use ndarray::{Array2, Array3, ArrayView2, ArrayViewMut1, ArrayViewMut2, array};
use svn_stein::*;

/// `N(0, I)` in the plane with whatever curvature and log density are asked for.
struct Any {
    log_density: f64,
    curvature: fn(usize) -> Curvature<'static>,
}

impl Score for Any {
    fn dim(&self) -> usize {
        2
    }

    fn score_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        mut log_density: ArrayViewMut1<'_, f64>,
        mut score: ArrayViewMut2<'_, f64>,
    ) -> Result<(), TargetError> {
        log_density.fill(self.log_density);
        score.assign(&particles.mapv(|x| -x));
        Ok(())
    }
}

impl Curved for Any {
    fn curvature_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        log_density: ArrayViewMut1<'_, f64>,
        score: ArrayViewMut2<'_, f64>,
    ) -> Result<Curvature<'_>, TargetError> {
        self.score_into(particles, log_density, score)?;
        Ok((self.curvature)(particles.nrows()))
    }
}

fn first_step(
    newton: Newton,
    start: Array2<f64>,
    log_density: f64,
    curvature: fn(usize) -> Curvature<'static>,
) -> Result<Info, SteinError> {
    let mut sampler = Sampler::new(Method::Svn(newton)).unwrap();
    let mut state = sampler.init(start, 0).unwrap();
    let mut target = Any {
        log_density,
        curvature,
    };
    sampler.step(&mut state, &mut target)
}

fn start() -> Array2<f64> {
    array![[0.0, 1.0], [1.0, -0.5], [-1.0, 0.3]]
}

fn unit(n: usize) -> Curvature<'static> {
    Box::new(DiagonalMatrices::new(Array2::ones((n, 2))))
}

fn message(newton: Newton, curvature: fn(usize) -> Curvature<'static>) -> String {
    let error = first_step(newton, start(), 0.0, curvature).unwrap_err();
    error.to_string()
}

#[test]
fn a_shift_of_zero_names_the_prior_precision() {
    let rows = |n| -> Curvature<'static> {
        Box::new(LowRank {
            rows: Array3::<f64>::ones((n, 4, 2)),
            weight: 1.0,
            shift: 0.0,
        })
    };
    assert_eq!(
        message(Newton::default(), rows),
        "setting `curvature.shift (prior precision)` is 0, expected a positive number"
    );
}

#[test]
fn a_saddle_is_no_curvature() {
    let saddle = |n| -> Curvature<'static> {
        let mut h = Array3::zeros((n, 2, 2));
        for mut h in h.outer_iter_mut() {
            h.assign(&array![[1.0, 2.0], [2.0, 1.0]]);
        }
        Box::new(DenseMatrices::new(h))
    };
    // Also where the damping would hide it.
    for newton in [Newton::default(), Newton::plain()] {
        assert_eq!(
            message(newton, saddle),
            "curvature of particle 0 is not positive semi-definite (seen at coordinate 1); \
             give a Gauss-Newton or Fisher matrix, not a Hessian"
        );
    }
    let negative = |n| -> Curvature<'static> {
        Box::new(DiagonalMatrices::new(Array2::from_elem((n, 2), -1.0)))
    };
    assert!(message(Newton::default(), negative).contains("not positive semi-definite"));
}

#[test]
fn particles_that_coincide_without_a_ridge_name_the_ridge() {
    let coincide = Array2::from_elem((3, 2), 0.5);
    for coupling in [Coupling::Gram, Coupling::Exact, Coupling::BlockRepulsion] {
        let newton = |ridge| Newton {
            coupling,
            ridge,
            ..Newton::plain()
        };
        let error = first_step(newton(0.0), coincide.clone(), 0.0, unit).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("ridge"), "{coupling:?}: {text}");
        assert!(first_step(newton(1.0), coincide.clone(), 0.0, unit).is_ok());
    }
    // The default has one.
    assert!(first_step(Newton::default(), coincide, 0.0, unit).is_ok());
}

#[test]
fn a_density_that_is_not_finite_at_the_start_says_where() {
    for value in [f64::NEG_INFINITY, f64::NAN, f64::INFINITY] {
        let error = first_step(Newton::default(), start(), value, unit).unwrap_err();
        assert!(
            matches!(error, SteinError::NonFiniteStart { particle: 0, .. }),
            "{error}"
        );
        assert!(error.to_string().contains("log density"), "{error}");
    }
}

/// An iteration that is cut off far from the solution is no step, unless more damping brings it near.
#[test]
fn no_step_is_taken_from_an_unsolved_system() {
    let n = 60;
    let particles = crate::common::normals(3, (n, 2));
    let newton = Newton {
        solver: Solver::Cg {
            tolerance: 1e-10,
            max_iterations: 1,
        },
        damping: Damping::Constant(1e-3),
        ridge: 1e-8,
        ..Newton::plain()
    };
    let stiff = |n: usize| -> Curvature<'static> {
        let h = Array2::from_shape_fn((n, 2), |(p, i)| 10f64.powi(((p + i) % 7) as i32 - 3));
        Box::new(DiagonalMatrices::new(h))
    };
    let error = first_step(newton.clone(), particles.clone(), 0.0, stiff).unwrap_err();
    assert!(matches!(error, SteinError::Unsolved { .. }), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("conjugate gradients") && text.contains("iteration limit"),
        "{text}"
    );
    // Enough iterations are an inexact Newton step, and say so.
    let inexact = Newton {
        solver: Solver::Cg {
            tolerance: 1e-10,
            max_iterations: 40,
        },
        ridge: 1.0,
        damping: Damping::Constant(10.0),
        ..newton
    };
    let solve = first_step(inexact, particles, 0.0, stiff)
        .unwrap()
        .solve
        .unwrap();
    assert_eq!(solve.status, SolveStatus::IterationLimit);
    assert!(solve.relative_residual <= 0.1, "{solve:?}");
}
