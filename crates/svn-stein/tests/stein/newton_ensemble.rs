//! Newton steps without a kernel: what the method is, against dense solves, against SVN with `K = I`, and alone.

use crate::common::*;
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut1, ArrayViewMut2, Axis, s};
use svn_linalg::{Cholesky, CholeskyParams, Factor as _};
use svn_stein::target::{Curvature, Curved, Score, TargetError};
use svn_stein::{
    Bandwidth, Damping, Info, KernelSettings, KernelWarning, Method, Newton, NewtonEnsemble, Rate,
    Sampler, Solver,
};

/// `log π = −Σ_i x_i⁴/4` with a curvature of its own for each particle, wherever it is.
struct Quartic<'a> {
    curvature: &'a dyn ParticleOperators,
    /// Only these coordinates of the curvature, and of the density.
    indices: Option<Vec<usize>>,
}

impl<'a> Quartic<'a> {
    fn new(curvature: &'a dyn ParticleOperators) -> Self {
        let indices = None;
        Self { curvature, indices }
    }
}

impl Score for Quartic<'_> {
    fn dim(&self) -> usize {
        let restricted = self.indices.as_ref().map(Vec::len);
        restricted.unwrap_or(self.curvature.dim())
    }

    fn score_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        mut log_density: ArrayViewMut1<'_, f64>,
        mut score: ArrayViewMut2<'_, f64>,
    ) -> Result<(), TargetError> {
        log_density.assign(&particles.mapv(|x| -0.25 * x.powi(4)).sum_axis(Axis(1)));
        score.assign(&particles.mapv(|x| -x.powi(3)));
        Ok(())
    }
}

impl Curved for Quartic<'_> {
    fn curvature_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        log_density: ArrayViewMut1<'_, f64>,
        score: ArrayViewMut2<'_, f64>,
    ) -> Result<Curvature<'_>, TargetError> {
        self.score_into(particles, log_density, score)?;
        Ok(match &self.indices {
            Some(indices) => self.curvature.restrict(indices),
            None => Box::new(self.curvature),
        })
    }
}

fn stepped(
    method: &Method,
    start: &Array2<f64>,
    target: &mut Quartic<'_>,
    steps: usize,
) -> (Array2<f64>, Vec<Info>) {
    let mut sampler = Sampler::new(method.clone()).unwrap();
    let mut state = sampler.init(start.clone(), 0).unwrap();
    let infos = (0..steps).map(|_| sampler.step(&mut state, target).unwrap());
    let infos = infos.collect();
    (state.particles().to_owned(), infos)
}

#[track_caller]
fn assert_close(found: &Array2<f64>, expected: &Array2<f64>, tolerance: f64, name: &str) {
    let size = expected.iter().fold(1.0, |m, x| f64::max(m, x.abs()));
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance * size, "{name}: {a} and {b}");
    }
}

/// More coordinates than particles and rows, and fewer than both.
const SHAPES: [(usize, usize); 2] = [(4, 7), (6, 3)];

const SOLVERS: [Solver; 6] = [
    Solver::Auto,
    Solver::Direct,
    Solver::Dense,
    Solver::Cg {
        tolerance: 1e-13,
        max_iterations: 200,
    },
    Solver::Preconditioned {
        tolerance: 1e-13,
        max_iterations: 200,
    },
    Solver::Minres {
        tolerance: 1e-13,
        max_iterations: 200,
    },
];

/// `φ_m + ε τ_m (H_m + λ I)⁻¹ s_m`, one dense factor a particle.
fn reference(
    settings: &NewtonEnsemble,
    lambda: f64,
    start: &Array2<f64>,
    matrices: &[Array2<f64>],
) -> Array2<f64> {
    let rate = settings.rate.at(0);
    let mut out = start.clone();
    for (mut row, h) in out.rows_mut().into_iter().zip(matrices) {
        let damped = h + &(Array2::<f64>::eye(h.nrows()) * lambda);
        let factor = Cholesky::factorize(damped.view(), &CholeskyParams::strict()).unwrap();
        let score: Array1<f64> = row.mapv(|x| -x.powi(3));
        let step = factor.solve_vec(score.view()).unwrap() * rate;
        let change = step.dot(&h.dot(&step));
        let scale = match settings.trust_region {
            Some(bound) if change > bound => (bound / change).sqrt(),
            _ => 1.0,
        };
        row.scaled_add(scale, &step);
    }
    out
}

fn damped() -> NewtonEnsemble {
    NewtonEnsemble {
        rate: Rate::constant(0.7),
        damping: Damping::Constant(0.3),
        trust_region: Some(2.0),
        ..NewtonEnsemble::plain()
    }
}

#[test]
fn each_particle_takes_its_own_damped_newton_step_by_every_solver() {
    for (n, d) in SHAPES {
        let start = normals(5, (n, d)) * 2.0;
        for (kind, curvature) in curvatures(7, n, d) {
            for solver in SOLVERS {
                let settings = NewtonEnsemble { solver, ..damped() };
                let expected = reference(&settings, 0.3, &start, &curvature.matrices());
                let mut target = Quartic::new(curvature.view());
                let method = Method::NewtonEnsemble(settings);
                let (found, infos) = stepped(&method, &start, &mut target, 1);
                let name = format!("{kind} {n} x {d} {solver}");
                // The condition number of the damped matrices is below 300.
                assert_close(&found, &expected, 1e-11, &name);
                let bound = infos[0].trust_scale.iter().any(|&scale| scale < 1.0);
                assert!(bound, "{name}: the trust region never binds");
                assert_eq!(infos[0].kernel, None, "{name}");
                assert_eq!(infos[0].damping, 0.3, "{name}");
            }
        }
    }
}

/// A kernel so narrow that it is the identity: safeguards, adaptive damping and the control of the step are the same too.
#[test]
fn it_is_svn_with_the_identity_kernel_for_every_curvature_and_coupling() {
    let narrow = KernelSettings {
        bandwidth: Bandwidth::Fixed(1e-9),
        ..KernelSettings::default()
    };
    let plain = Newton {
        rate: Rate::constant(0.5),
        damping: Damping::Constant(0.1),
        trust_region: Some(1.0),
        ..Newton::plain()
    };
    for (n, d) in SHAPES {
        let start = normals(15, (n, d)) * 2.0;
        for (kind, curvature) in curvatures(17, n, d) {
            for newton in [Newton::default(), plain.clone()] {
                let apart = Method::NewtonEnsemble(newton.clone().into());
                let mut target = Quartic::new(curvature.view());
                let (expected, own) = stepped(&apart, &start, &mut target, 5);
                for coupling in COUPLINGS {
                    let svn = Method::Svn(Newton {
                        kernel: narrow.clone(),
                        coupling,
                        ..newton.clone()
                    });
                    let (found, infos) = stepped(&svn, &start, &mut target, 5);
                    let name = format!("{kind} {n} x {d} {coupling:?}");
                    assert_close(&found, &expected, 1e-12, &name);
                    for (svn, own) in infos.iter().zip(&own) {
                        assert_eq!(own.kernel, None, "{name}");
                        let warning = svn.kernel.unwrap().warning;
                        assert_eq!(warning, Some(KernelWarning::Identity), "{name}");
                        assert_eq!(
                            (svn.rate, svn.damping, svn.solve.unwrap().route),
                            (own.rate, own.damping, own.solve.unwrap().route),
                            "{name}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn no_particle_knows_of_another() {
    let (n, d) = (4, 7);
    let start = normals(25, (n, d)) * 2.0;
    let flat = normals(26, (n, 2 * d));
    let rows = flat.into_shape_with_order((n, 2, d)).unwrap();
    let method = Method::NewtonEnsemble(damped());
    let together = Owned::low_rank(rows.clone(), 1.3, 0.2);
    let (all, _) = stepped(&method, &start, &mut Quartic::new(together.view()), 6);
    for p in 0..n {
        let own = Owned::low_rank(rows.slice(s![p..=p, .., ..]).to_owned(), 1.3, 0.2);
        let start = start.slice(s![p..=p, ..]).to_owned();
        let (alone, _) = stepped(&method, &start, &mut Quartic::new(own.view()), 6);
        let expected = all.slice(s![p..=p, ..]).to_owned();
        assert_close(&alone, &expected, 1e-12, &format!("particle {p}"));
    }
}

#[test]
fn curvature_restricted_to_some_coordinates_serves_as_well() {
    let (n, d, indices) = (4, 7, vec![1, 2, 5, 6]);
    let start = normals(35, (n, indices.len())) * 2.0;
    for (kind, curvature) in curvatures(37, n, d) {
        let matrices = curvature.matrices();
        let blocks = matrices.iter().map(|h| {
            let columns = h.select(Axis(1), &indices);
            columns.select(Axis(0), &indices)
        });
        let expected = reference(&damped(), 0.3, &start, &blocks.collect::<Vec<_>>());
        let mut target = Quartic {
            curvature: curvature.view(),
            indices: Some(indices.clone()),
        };
        let method = Method::NewtonEnsemble(damped());
        let (found, _) = stepped(&method, &start, &mut target, 1);
        assert_close(&found, &expected, 1e-11, kind);
    }
}

#[test]
fn settings_out_of_range_are_named_and_those_of_a_kernel_unknown() {
    let bad = NewtonEnsemble {
        trust_region: Some(-1.0),
        ..NewtonEnsemble::default()
    };
    let error = Sampler::new(Method::NewtonEnsemble(bad)).unwrap_err();
    assert!(error.to_string().contains("trust_region"), "{error}");
    let method = Method::NewtonEnsemble(NewtonEnsemble::default());
    let text = serde_json::to_string(&method).unwrap();
    assert!(text.contains(r#""name":"newton-ensemble""#), "{text}");
    for unknown in ["kernel", "coupling", "ridge", "lift"] {
        let text = text.replace("\"solver\"", &format!("\"{unknown}\""));
        let error = serde_json::from_str::<Method>(&text).unwrap_err();
        assert!(error.to_string().contains(unknown), "{error}");
    }
}

#[test]
fn a_limit_of_the_step_size_is_a_schedule_that_is_lower() {
    let start = normals(3, (4, 7));
    let (_, family) = curvatures(7, 4, 7).swap_remove(0);
    let moved = |rate: f64, limits: &[f64]| {
        let settings = NewtonEnsemble {
            rate: Rate::constant(rate),
            ..damped()
        };
        let mut sampler = Sampler::new(Method::NewtonEnsemble(settings)).unwrap();
        let mut state = sampler.init(start.clone(), 0).unwrap();
        for &limit in limits {
            state.limit_newton_rate(limit);
        }
        let info = sampler
            .step(&mut state, &mut Quartic::new(family.view()))
            .unwrap();
        (state.particles().to_owned(), info.rate)
    };
    let low = moved(0.2, &[]);
    assert_ne!(low, moved(0.7, &[]));
    assert_eq!(low, moved(0.7, &[0.2]));
    // What is no limit leaves the one before, and a high one the schedule.
    assert_eq!(low, moved(0.7, &[0.2, f64::NAN, -1.0, 0.0]));
    assert_eq!(low, moved(0.2, &[5.0]));
}
