//! Repulsion in function space against loops, against the same estimator between weights, and where there is nothing to repel by.

use crate::common::cases::{collect, gaussian};
use crate::common::{Gaussian, algebra, normals};
use ndarray::{Array2, Axis};
use svn_stein::{
    Bandwidth, Curved, DensityEstimator, FirstOrder, FunctionRepulsion, Info, KernelGram,
    KernelSettings, KernelWarning, Method, NewtonEnsemble, Sampler, Score, SteinError, TargetError,
};

/// `γ (K + ηI)⁻¹ G` by loops and an explicit inverse.
fn reference(settings: &FunctionRepulsion, z: &Array2<f64>, h: f64) -> Array2<f64> {
    let n = z.nrows();
    let kernel = |p: usize, m: usize| {
        let difference = &z.row(p) - &z.row(m);
        (-difference.dot(&difference) / h).exp()
    };
    let mut g = Array2::<f64>::zeros(z.dim());
    for m in 0..n {
        for p in 0..n {
            let away = &z.row(m) - &z.row(p);
            g.row_mut(m).scaled_add(2.0 / h * kernel(p, m), &away);
        }
    }
    let matrix = Array2::from_shape_fn((n, n), |(p, m)| {
        kernel(p, m) + if p == m { settings.ridge } else { 0.0 }
    });
    algebra::inverse(&matrix).dot(&g) * settings.strength
}

#[test]
fn directions_are_those_of_loops() {
    let z = normals(4, (6, 9)) * 3.0;
    let settings = FunctionRepulsion {
        strength: 0.7,
        ..FunctionRepulsion::default()
    };
    let mut squares = Vec::new();
    for p in 0..6 {
        for m in p + 1..6 {
            squares.push((&z.row(p) - &z.row(m)).mapv(|x| x * x).sum());
        }
    }
    squares.sort_by(f64::total_cmp);
    // Fifteen pairs.
    let expected = reference(&settings, &z, 2.0 * squares[7]);
    let found = settings
        .directions(&mut KernelGram::new(6, 9), z.view(), 0)
        .unwrap();
    let error = (&found - &expected).mapv(f64::abs).sum() / expected.mapv(f64::abs).sum();
    assert!(error < 1e-10, "{error}");
    // Each particle is pushed away from the middle of them.
    let outwards = (&z - &z.mean_axis(Axis(0)).unwrap()) * &found;
    assert!(outwards.sum() > 0.0);
}

/// Where the images are the particles themselves, it is the Stein gradient estimator of Wasserstein gradient descent.
#[test]
fn of_particles_that_are_their_own_images_it_is_that_between_weights() {
    let start = normals(2, (6, 3)) * 2.0;
    let ridge = 0.01;
    let step = FirstOrder::plain(0.05);
    let functions = Method::FunctionWgd {
        // Images are twice as large: the kernel is the same, `r` half as large, and `Jᵀr` the same.
        repulsion: FunctionRepulsion::default(),
        step,
    };
    let weights = Method::Wgd {
        kernel: KernelSettings {
            bandwidth: Bandwidth::Medians(2.0),
            ..KernelSettings::default()
        },
        estimator: DensityEstimator::Sge { ridge },
        step,
    };
    let (a, infos) = collect(&functions, &start, 12);
    let (b, others) = collect(&weights, &start, 12);
    let error = (&a.particles() - &b.particles()).mapv(f64::abs).sum();
    assert!(error < 1e-10, "{error}");
    let ratio = |infos: &[Info]| infos[11].kernel.unwrap().repulsion_ratio;
    assert!((ratio(&infos) / ratio(&others) - 1.0).abs() < 1e-8);
}

#[test]
fn without_strength_it_is_the_newton_ensemble_to_the_last_bit() {
    let start = normals(2, (6, 3)) * 2.0;
    let newton = NewtonEnsemble::default();
    let (plain, _) = collect(&Method::NewtonEnsemble(newton.clone()), &start, 8);
    let run = |strength| {
        let repulsion = FunctionRepulsion {
            strength,
            ..FunctionRepulsion::default()
        };
        let newton = newton.clone();
        collect(&Method::FunctionSvn { repulsion, newton }, &start, 8)
    };
    let (none, infos) = run(0.0);
    assert_eq!(plain.particles(), none.particles());
    assert_eq!(
        infos[7].kernel.unwrap().warning,
        Some(KernelWarning::Negligible)
    );
    let (one, infos) = run(1.0);
    assert_ne!(plain.particles(), one.particles());
    // Particles that climb apart all end in the one mode.
    assert!(infos[7].spread > 10.0 * plain_spread(&plain.particles().to_owned()));
}

fn plain_spread(particles: &Array2<f64>) -> f64 {
    let mean = particles.mean_axis(Axis(0)).unwrap();
    let squares = (particles - &mean).mapv(|x| x * x).sum();
    (squares / particles.len() as f64).sqrt()
}

#[test]
fn a_repulsion_rises_after_its_warm_up() {
    let settings = FunctionRepulsion {
        strength: 2.0,
        warm_up: 10,
        ..FunctionRepulsion::default()
    };
    let found = [0, 10, 15, 20, 99].map(|step| settings.strength_at(step));
    assert_eq!(found, [0.0, 0.0, 1.0, 2.0, 2.0]);
    assert_eq!(FunctionRepulsion::default().strength_at(0), 1.0);
}

/// In a Gaussian posterior that is its own function space the particles end with its covariance.
#[test]
fn particles_get_the_width_of_a_gaussian() {
    let start = normals(5, (20, 3)) * 0.1;
    let method = Method::FunctionSvn {
        repulsion: FunctionRepulsion::default(),
        newton: NewtonEnsemble::default(),
    };
    let (state, _) = collect(&method, &start, 300);
    let particles = state.particles();
    let mean = particles.mean_axis(Axis(0)).unwrap();
    let target: Gaussian = gaussian();
    let covariance = algebra::inverse(&target.precision);
    for i in 0..3 {
        let deviation = (&particles.column(i) - mean[i]).mapv(|x| x * x);
        let sd = (deviation.sum() / 20.0).sqrt();
        let expected = covariance[(i, i)].sqrt();
        // Twenty independent draws would be off by a standard error of 0.22 in the mean and 0.16 in the deviation.
        assert!((mean[i] - target.mean[i]).abs() < 0.2 * expected, "{i}");
        assert!((sd / expected - 1.0).abs() < 0.25, "{i}: {sd}, {expected}");
    }
}

/// A density of which nothing is predicted.
struct Plain(Gaussian);

impl Score for Plain {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn score_into(
        &mut self,
        particles: ndarray::ArrayView2<'_, f64>,
        log_density: ndarray::ArrayViewMut1<'_, f64>,
        score: ndarray::ArrayViewMut2<'_, f64>,
    ) -> Result<(), TargetError> {
        self.0.score_into(particles, log_density, score)
    }
}

impl Curved for Plain {
    fn curvature_into(
        &mut self,
        particles: ndarray::ArrayView2<'_, f64>,
        log_density: ndarray::ArrayViewMut1<'_, f64>,
        score: ndarray::ArrayViewMut2<'_, f64>,
    ) -> Result<svn_stein::Curvature<'_>, TargetError> {
        self.0.curvature_into(particles, log_density, score)
    }
}

#[test]
fn a_target_without_functions_is_refused() {
    let method = Method::FunctionWgd {
        repulsion: FunctionRepulsion::default(),
        step: FirstOrder::plain(0.1),
    };
    let mut sampler = Sampler::new(method).unwrap();
    let mut state = sampler.init(normals(1, (3, 3)), 0).unwrap();
    let error = sampler
        .step(&mut state, &mut Plain(gaussian()))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "`f-wgd` repels particles by what they predict, and the target has no function space"
    );
    for (ridge, strength) in [(0.0, 1.0), (0.01, -1.0), (f64::NAN, 1.0)] {
        let method = Method::FunctionWgd {
            repulsion: FunctionRepulsion {
                ridge,
                strength,
                ..FunctionRepulsion::default()
            },
            step: FirstOrder::plain(0.1),
        };
        let error = Sampler::new(method).unwrap_err();
        assert!(matches!(error, SteinError::Setting { .. }), "{error}");
    }
}
