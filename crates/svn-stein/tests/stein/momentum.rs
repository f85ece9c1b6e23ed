//! Newton steps of a field that is averaged over batches, against the average written out and one dense solve a particle.

use crate::common::*;
use ndarray::{Array2, ArrayView2, ArrayViewMut1, ArrayViewMut2};
use svn_linalg::{Cholesky, CholeskyParams, Factor as _};
use svn_stein::target::{Curvature, Curved, Score, TargetError};
use svn_stein::{
    Coordinates, Damping, FirstOrder, Method, Newton, NewtonEnsemble, Rate, Sampler, State,
};

const BETA: f64 = 0.6;
const LAMBDA: f64 = 0.3;
const RATE: f64 = 0.2;
const STEPS: usize = 4;

/// `s_t(x) = b_t − x`: the scores of batches that say different things.
struct Batches<'a> {
    curvature: &'a dyn ParticleOperators,
    offsets: &'a [f64],
    batch: usize,
    stochastic: bool,
}

fn score(offset: f64, particles: ArrayView2<'_, f64>) -> Array2<f64> {
    particles.mapv(|x| offset - x)
}

impl Score for Batches<'_> {
    fn dim(&self) -> usize {
        self.curvature.dim()
    }

    fn is_stochastic(&self) -> bool {
        self.stochastic
    }

    fn next_batch(&mut self) -> Result<(), TargetError> {
        self.batch += 1;
        Ok(())
    }

    fn score_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        mut log_density: ArrayViewMut1<'_, f64>,
        mut out: ArrayViewMut2<'_, f64>,
    ) -> Result<(), TargetError> {
        log_density.fill(0.0);
        out.assign(&score(self.offsets[self.batch - 1], particles));
        Ok(())
    }
}

impl Curved for Batches<'_> {
    fn curvature_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        log_density: ArrayViewMut1<'_, f64>,
        out: ArrayViewMut2<'_, f64>,
    ) -> Result<Curvature<'_>, TargetError> {
        self.score_into(particles, log_density, out)?;
        Ok(Box::new(self.curvature))
    }
}

fn method(momentum: f64) -> Method {
    Method::NewtonEnsemble(NewtonEnsemble {
        rate: Rate::constant(RATE),
        damping: Damping::Constant(LAMBDA),
        momentum,
        ..NewtonEnsemble::plain()
    })
}

fn run(
    method: &Method,
    target: &mut Batches<'_>,
    start: &Array2<f64>,
    between: impl Fn(State) -> State,
) -> Array2<f64> {
    let mut sampler = Sampler::new(method.clone()).unwrap();
    let mut state = sampler.init(start.clone(), 0).unwrap();
    for _ in 0..STEPS {
        sampler.step(&mut state, target).unwrap();
        state = between(state);
    }
    state.particles().to_owned()
}

#[test]
fn a_step_is_that_of_the_weighted_mean_of_all_fields() {
    let (n, d) = (3, 5);
    let start = normals(5, (n, d));
    let offsets = [3.0, -2.0, 0.5, 1.0];
    for (kind, family) in curvatures(7, n, d) {
        let target = |stochastic| Batches {
            curvature: family.view(),
            offsets: &offsets,
            batch: 0,
            stochastic,
        };
        let mut expected = start.clone();
        let mut scores: Vec<Array2<f64>> = Vec::new();
        for (t, &offset) in offsets.iter().enumerate() {
            scores.push(score(offset, expected.view()));
            let weights: Vec<f64> = (0..=t).map(|s| BETA.powi((t - s) as i32)).collect();
            let sum: f64 = weights.iter().sum();
            for (p, h) in family.matrices().iter().enumerate() {
                let damped = h + &(Array2::<f64>::eye(d) * LAMBDA);
                let factor = Cholesky::factorize(damped.view(), &CholeskyParams::strict()).unwrap();
                let terms = weights.iter().zip(&scores);
                let mean = terms
                    .map(|(w, s)| s.row(p).to_owned() * (w / sum))
                    .reduce(|a, b| a + b)
                    .unwrap();
                let step = factor.solve_vec(mean.view()).unwrap();
                expected.row_mut(p).scaled_add(RATE, &step);
            }
        }
        let found = run(&method(BETA), &mut target(true), &start, |state| state);
        for (a, b) in found.iter().zip(&expected) {
            // Solves of condition at most some hundred.
            assert!((a - b).abs() < 1e-11, "{kind}: {a} {b}");
        }
        // What it remembers is in the state.
        let through_text = |state: State| {
            let text = serde_json::to_string(&state).unwrap();
            serde_json::from_str(&text).unwrap()
        };
        assert_eq!(
            found,
            run(&method(BETA), &mut target(true), &start, through_text),
            "{kind}"
        );
        // There is nothing to average where each batch is all there is.
        let alone = run(&method(0.0), &mut target(false), &start, |state| state);
        assert_eq!(
            alone,
            run(&method(BETA), &mut target(false), &start, |state| state)
        );
        assert_ne!(found, alone, "{kind}");
    }
}

/// The same steps of the coordinates that SVN moves alone, beside first-order ones.
#[test]
fn selected_coordinates_have_it_as_well() {
    let (n, d) = (1, 5);
    let start = normals(5, (n, d));
    let offsets = [3.0, -2.0, 0.5, 1.0];
    let (_, family) = curvatures(7, n, d).swap_remove(0);
    let moved = |momentum, coordinates: Option<Coordinates>| {
        let newton = Newton {
            rate: Rate::constant(RATE),
            damping: Damping::Constant(LAMBDA),
            momentum,
            ..Newton::plain()
        };
        let method = match coordinates {
            Some(coordinates) => Method::LlSvn {
                newton,
                coordinates,
                rest: FirstOrder::plain(0.1),
            },
            None => Method::Svn(newton),
        };
        let mut target = Batches {
            curvature: family.view(),
            offsets: &offsets,
            batch: 0,
            stochastic: true,
        };
        run(&method, &mut target, &start, |state| state)
    };
    let all = Coordinates::Range { start: 0, end: d };
    let (whole, selected) = (moved(BETA, None), moved(BETA, Some(all)));
    for (a, b) in whole.iter().zip(&selected) {
        assert!((a - b).abs() < 1e-11, "{a} {b}");
    }
    assert_ne!(
        selected,
        moved(0.0, Some(Coordinates::Range { start: 0, end: d }))
    );
}

#[test]
fn out_of_range_and_with_noise_it_is_refused() {
    for beta in [-0.1, 1.0, f64::NAN] {
        let error = Sampler::new(method(beta)).unwrap_err().to_string();
        assert!(error.contains("momentum"), "{error}");
    }
    let noisy = Newton {
        momentum: 0.5,
        ..Newton::plain()
    };
    let error = Sampler::new(Method::Ssvn(noisy.clone())).unwrap_err();
    assert!(error.to_string().contains("momentum"), "{error}");
    assert!(Sampler::new(Method::Svn(noisy)).is_ok());
}
