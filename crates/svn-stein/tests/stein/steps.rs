//! What single methods promise: Newton steps, trust region, rejection, damping, last-layer steps.

use crate::common::cases::*;
use crate::common::*;
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut1, ArrayViewMut2, Axis, array};
use svn_stein::Bandwidth;
use svn_stein::target::{Curvature, Curved, Score, TargetError};
use svn_stein::{
    Coordinates, Coupling, Damping, FirstOrder, Kernel, KernelGram, KernelSettings, Lift, Method,
    Metric, Newton, Rate, Sampler, SteinError, svgd_into,
};

#[test]
fn one_newton_particle_lands_on_the_mode() {
    for kind in [Kind::LowRank, Kind::Dense] {
        for coupling in COUPLINGS {
            for kernel in [Kernel::Rbf, Kernel::Imq, Kernel::Delta] {
                let mut target = gaussian();
                target.kind = kind;
                let mut settings = newton(coupling, Metric::Curvature);
                settings.kernel.kernel = kernel;
                settings.ridge = 0.0;
                let mut sampler = Sampler::new(Method::Svn(settings)).unwrap();
                let mut state = sampler.init(array![[7.0, 8.0, -9.0]], 0).unwrap();
                sampler.step(&mut state, &mut target).unwrap();
                let error = (&state.particles().row(0) - &target.mean)
                    .mapv(f64::abs)
                    .sum();
                assert!(error < 1e-12 * 20.0, "{kind:?} {coupling:?}: {error}");
            }
        }
    }
}

#[test]
fn the_trust_region_bounds_the_predicted_change_of_every_particle() {
    let start = normals(12, (5, 3)) * 10.0;
    let bound = 0.25;
    let mut settings = newton(Coupling::Gram, Metric::Curvature);
    settings.trust_region = Some(bound);
    settings.rate = Rate::constant(0.8);
    let mut sampler = Sampler::new(Method::Svn(settings)).unwrap();
    let mut state = sampler.init(start.clone(), 0).unwrap();
    let mut target = gaussian();
    let info = sampler.step(&mut state, &mut target).unwrap();
    for p in 0..5 {
        let delta = &state.particles().row(p) - &start.row(p);
        let change = delta.dot(&target.precision.dot(&delta));
        assert!(change <= bound * (1.0 + 1e-9), "particle {p}: {change}");
        // Where it binds it is met, not merely obeyed.
        if info.trust_scale[p] < 1.0 {
            assert!((change - bound).abs() < 1e-9, "particle {p}: {change}");
        }
    }
    assert!(info.trust_scale.iter().any(|&t| t < 1.0));
}

/// Finite only inside a box; the score points out of it.
struct Walled {
    wall: f64,
    curvature: Array2<f64>,
}

impl Score for Walled {
    fn dim(&self) -> usize {
        1
    }

    fn score_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        mut log_density: ArrayViewMut1<'_, f64>,
        mut score: ArrayViewMut2<'_, f64>,
    ) -> Result<(), TargetError> {
        for (p, x) in particles.column(0).iter().enumerate() {
            log_density[p] = if x.abs() < self.wall { *x } else { f64::NAN };
            score[(p, 0)] = 1.0;
        }
        Ok(())
    }
}

impl Curved for Walled {
    fn curvature_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        log_density: ArrayViewMut1<'_, f64>,
        score: ArrayViewMut2<'_, f64>,
    ) -> Result<Curvature<'_>, TargetError> {
        self.score_into(particles, log_density, score)?;
        self.curvature = Array2::from_elem(particles.dim(), 0.1);
        Ok(Box::new(DiagonalMatrices::new(self.curvature.view())))
    }
}

#[test]
fn a_step_to_where_the_target_is_not_finite_is_taken_back() {
    let start = array![[0.0], [0.9]];
    let independent = KernelSettings {
        kernel: Kernel::Delta,
        ..KernelSettings::default()
    };
    let base = Newton {
        kernel: independent,
        rate: Rate::constant(0.02),
        ..Newton::plain()
    };
    let adaptive = Damping::Adaptive {
        initial: 1e-3,
        min: 1e-6,
        max: 1e9,
    };
    for (name, method) in [
        (
            "ensemble",
            Method::Ensemble {
                step: FirstOrder::plain(0.2),
            },
        ),
        ("constant", Method::Svn(base.clone())),
        (
            "adaptive",
            Method::Svn(Newton {
                damping: adaptive,
                ..base
            }),
        ),
    ] {
        let mut sampler = Sampler::new(method).unwrap();
        let mut state = sampler.init(start.clone(), 0).unwrap();
        let mut target = Walled {
            wall: 1.0,
            curvature: Array2::zeros((0, 0)),
        };
        let damping = state.damping();
        let first = sampler.step(&mut state, &mut target).unwrap();
        let second = sampler.step(&mut state, &mut target).unwrap();
        let rejected: Vec<usize> = first
            .rejected
            .iter()
            .chain(&second.rejected)
            .copied()
            .collect();
        assert!(
            rejected.contains(&1) && !rejected.contains(&0),
            "{name}: {rejected:?}"
        );
        assert!(
            state.particles()[(0, 0)] > 0.1,
            "{name}: the good particle was held back"
        );
        if name != "ensemble" {
            assert!(
                state.damping() > damping,
                "{name}: the damping was not raised"
            );
        }
    }
    // Nowhere to go back to: a fatal error naming the particle.
    let mut sampler = Sampler::new(Method::Ensemble {
        step: FirstOrder::plain(0.2),
    })
    .unwrap();
    let mut state = sampler.init(array![[0.0], [5.0]], 0).unwrap();
    let error = sampler
        .step(
            &mut state,
            &mut Walled {
                wall: 1.0,
                curvature: Array2::zeros((0, 0)),
            },
        )
        .unwrap_err();
    assert!(
        matches!(error, SteinError::NonFiniteStart { particle: 1, .. }),
        "{error}"
    );
    assert!(!error.is_recoverable());
}

#[test]
fn adaptive_damping_falls_where_the_model_is_exact() {
    let mut settings = newton(Coupling::Gram, Metric::Curvature);
    settings.damping = Damping::Adaptive {
        initial: 100.0,
        min: 1e-3,
        max: 1e6,
    };
    let mut sampler = Sampler::new(Method::Svn(settings)).unwrap();
    let mut state = sampler.init(normals(1, (4, 3)) * 5.0, 0).unwrap();
    let info = sampler.step(&mut state, &mut gaussian()).unwrap();
    assert!(
        (info.gain.unwrap() - 1.0).abs() < 1e-9,
        "a quadratic is its own model: {:?}",
        info.gain
    );
    assert!((state.damping() - 100.0 / 3.0).abs() < 1e-9);
}

#[test]
fn block_diagonal_overshoots_for_close_particles_unless_lifted_per_particle() {
    // Five identical particles: h_mm is the full curvature, so α_m is the Newton step and Σ_n K_mn α_n five times it.
    let start = Array2::from_elem((5, 3), 4.0);
    for (lift, times) in [(Lift::Kernel, 5.0), (Lift::Particle, 1.0)] {
        let settings = Newton {
            lift,
            ridge: 0.0,
            ..newton(Coupling::BlockDiagonal, Metric::Curvature)
        };
        let (state, _) = collect(&Method::Svn(settings), &start, 1);
        let newton_step = &gaussian().mean - &start.row(0);
        let error = (&state.particles().row(0) - &start.row(0) - &newton_step * times)
            .mapv(f64::abs)
            .sum();
        assert!(error < 1e-10, "{lift:?}: {error}");
    }
}

/// Last-layer SVN against its two halves: SVGD outside, the Newton system of the selected coordinates inside, whether
/// the target hands out all of its curvature or that of the selected coordinates alone.
#[test]
fn ll_svn_is_svgd_outside_and_newton_inside() {
    struct Partial(Gaussian, Vec<usize>, Array2<f64>);
    impl Score for Partial {
        fn dim(&self) -> usize {
            self.0.dim()
        }
        fn score_into(
            &mut self,
            particles: ArrayView2<'_, f64>,
            log_density: ArrayViewMut1<'_, f64>,
            score: ArrayViewMut2<'_, f64>,
        ) -> Result<(), TargetError> {
            self.0.score_into(particles, log_density, score)
        }
    }
    impl Curved for Partial {
        fn curvature_into(
            &mut self,
            particles: ArrayView2<'_, f64>,
            log_density: ArrayViewMut1<'_, f64>,
            score: ArrayViewMut2<'_, f64>,
        ) -> Result<Curvature<'_>, TargetError> {
            self.0.score_into(particles, log_density, score)?;
            let diagonal = self.0.precision.diag().select(Axis(0), &self.1);
            self.2 = diagonal
                .broadcast((particles.nrows(), diagonal.len()))
                .unwrap()
                .to_owned();
            Ok(Box::new(DiagonalMatrices::new(self.2.view())))
        }
    }
    let start = normals(31, (4, 3));
    let indices = vec![0, 2];
    let rest = FirstOrder::plain(0.1);
    let settings = Newton {
        ridge: 1e-3,
        ..newton(Coupling::Gram, Metric::Identity)
    };
    let method = Method::LlSvn {
        newton: settings.clone(),
        coordinates: Coordinates::Indices(indices.clone()),
        rest,
    };
    let mut sampler = Sampler::new(method).unwrap();
    let mut whole = gaussian();
    whole.kind = Kind::Diagonal;
    let mut state = sampler.init(start.clone(), 0).unwrap();
    sampler.step(&mut state, &mut whole).unwrap();
    let mut partial = sampler.init(start.clone(), 0).unwrap();
    let mut target = Partial(gaussian(), indices.clone(), Array2::zeros((0, 0)));
    sampler.step(&mut partial, &mut target).unwrap();
    assert_eq!(state.particles(), partial.particles());

    let (svgd, _) = collect(
        &Method::Svgd {
            kernel: settings.kernel.clone(),
            step: rest,
        },
        &start,
        1,
    );
    assert_eq!(state.particles().column(1), svgd.particles().column(1));

    let mut gram = KernelGram::new(4, 3);
    gram.update(&settings.kernel, start.view(), None).unwrap();
    let (mut log_density, mut score) = (Array1::zeros(4), Array2::zeros((4, 3)));
    whole
        .score_into(start.view(), log_density.view_mut(), score.view_mut())
        .unwrap();
    let mut field = Array2::zeros((4, 3));
    let _ = svgd_into(&gram, score.view(), 1.0, field.view_mut());
    let reference = Reference::new(
        &settings.kernel,
        gram.bandwidth(),
        &Array2::eye(3),
        start.view(),
    );
    let diagonal = whole.precision.diag().select(Axis(0), &indices);
    let hessians = vec![Array2::from_diag(&diagonal); 4];
    let restricted = Reference {
        k: reference.k.clone(),
        g: reference
            .g
            .iter()
            .map(|g| g.iter().map(|g| g.select(Axis(0), &indices)).collect())
            .collect(),
    };
    let a = restricted.system(&hessians, Coupling::Gram, 0.0, 1e-3);
    let alpha = algebra::solve(&a, flatten(field.select(Axis(1), &indices).view()).view());
    let step = reference
        .k
        .dot(&alpha.into_shape_with_order((4, 2)).unwrap());
    let expected = start.select(Axis(1), &indices) + step;
    let error = (&state.particles().select(Axis(1), &indices) - &expected)
        .mapv(f64::abs)
        .sum();
    // Solved to a residual of 1e-13 with a condition number of at most N² / ridge ~ 1e4.
    assert!(error < 1e-8, "{error}");
}

/// `log π = −x⁴` with curvature reported a hundred times too small: a full step overshoots by far.
struct Quartic(Array2<f64>);

impl Score for Quartic {
    fn dim(&self) -> usize {
        1
    }

    fn score_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        mut log_density: ArrayViewMut1<'_, f64>,
        mut score: ArrayViewMut2<'_, f64>,
    ) -> Result<(), TargetError> {
        for (p, x) in particles.column(0).iter().enumerate() {
            log_density[p] = -x.powi(4);
            score[(p, 0)] = -4.0 * x.powi(3);
        }
        Ok(())
    }
}

impl Curved for Quartic {
    fn curvature_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        log_density: ArrayViewMut1<'_, f64>,
        score: ArrayViewMut2<'_, f64>,
    ) -> Result<Curvature<'_>, TargetError> {
        self.score_into(particles, log_density, score)?;
        self.0 = particles.mapv(|x| 0.12 * x * x);
        Ok(Box::new(DiagonalMatrices::new(self.0.view())))
    }
}

#[test]
fn adaptive_damping_backtracks_and_converges_on_an_underestimated_curvature() {
    let adaptive = Damping::Adaptive {
        initial: 1e-3,
        min: 1e-8,
        max: 1e8,
    };
    let settings = Newton {
        damping: adaptive,
        kernel: KernelSettings {
            kernel: Kernel::Delta,
            ..KernelSettings::default()
        },
        ..Newton::plain()
    };
    let mut sampler = Sampler::new(Method::Svn(settings)).unwrap();
    let mut state = sampler.init(array![[1.0], [-2.0]], 0).unwrap();
    let mut target = Quartic(Array2::zeros((0, 0)));
    let mut last = f64::NEG_INFINITY;
    let mut shortened = false;
    for _ in 0..40 {
        let info = sampler.step(&mut state, &mut target).unwrap();
        last = info.mean_log_density;
        shortened |= info.trust_scale.iter().any(|&t| t < 1.0);
    }
    assert!(shortened, "the case is meant to need backtracking");
    assert!(last > -1e-3, "not converged: {last}");
}

/// A rotating score, `s(x, y) = (−y, x)`, with hardly any curvature: the field of a rotation is where `exact` is most
/// negative (its part `tr (∇w)²` is −2 for an infinitesimal rotation `w`).
struct Swirl(Array2<f64>);

impl Score for Swirl {
    fn dim(&self) -> usize {
        2
    }

    fn score_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        mut log_density: ArrayViewMut1<'_, f64>,
        mut score: ArrayViewMut2<'_, f64>,
    ) -> Result<(), TargetError> {
        log_density.fill(0.0);
        score.column_mut(0).assign(&(-&particles.column(1)));
        score.column_mut(1).assign(&particles.column(0));
        Ok(())
    }
}

impl Curved for Swirl {
    fn curvature_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        log_density: ArrayViewMut1<'_, f64>,
        score: ArrayViewMut2<'_, f64>,
    ) -> Result<Curvature<'_>, TargetError> {
        self.score_into(particles, log_density, score)?;
        self.0 = Array2::from_elem(particles.dim(), 0.01);
        Ok(Box::new(DiagonalMatrices::new(self.0.view())))
    }
}

/// Where `exact` is indefinite its solution can lead uphill in KL divergence; the damping is raised until it does not.
#[test]
fn exact_coupling_takes_descent_directions_only() {
    let n = 6;
    let kernel = KernelSettings {
        metric: Metric::Identity,
        bandwidth: Bandwidth::Fixed(4.0),
        ..KernelSettings::default()
    };
    let rate = 1e-6;
    let mut raised = 0;
    for seed in 0..10 {
        let x = normals(seed, (n, 2));
        let settings = Newton {
            coupling: Coupling::Exact,
            kernel: kernel.clone(),
            rate: Rate::constant(rate),
            ..Newton::plain()
        };
        let mut sampler = Sampler::new(Method::Svn(settings)).unwrap();
        let mut state = sampler.init(x.clone(), 0).unwrap();
        let info = sampler
            .step(&mut state, &mut Swirl(Array2::zeros((0, 0))))
            .unwrap();
        raised += usize::from(info.damping > 0.0);
        // V = K α, so α = K⁻¹ V, and the change of the KL divergence per unit step is −Σ α·v.
        let mut gram = KernelGram::new(n, 2);
        gram.update(&kernel, x.view(), None).unwrap();
        let score = ndarray::stack![Axis(1), -&x.column(1), x.column(0)];
        let mut field = Array2::zeros((n, 2));
        let _ = svgd_into(&gram, score.view(), 1.0, field.view_mut());
        let step = (&state.particles() - &x) / rate;
        let slope: f64 = (0..2)
            .map(|i| {
                let alpha = algebra::solve(&gram.kernel().to_owned(), step.column(i));
                alpha.dot(&field.column(i))
            })
            .sum();
        assert!(slope > 0.0, "seed {seed}: {slope}");
    }
    assert!(
        raised > 0,
        "the cases are meant to be indefinite now and then"
    );
}
