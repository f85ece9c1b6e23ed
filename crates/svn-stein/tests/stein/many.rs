//! Many particles of few coordinates, a use of its own, and particles far from the origin or from each other.

use crate::common::{DiagonalMatrices, Owned, algebra, normals};
use ndarray::{Array2, Array3, Axis, array};
use svn_stein::*;

const COUPLINGS: [Coupling; 4] = [
    Coupling::Exact,
    Coupling::Gram,
    Coupling::BlockRepulsion,
    Coupling::BlockDiagonal,
];

fn relative_residual(system: &SvnSystem<'_>, alpha: &Array2<f64>, v: &Array2<f64>) -> f64 {
    let mut product = Array2::zeros(v.raw_dim());
    system.multiply_into(alpha.view(), product.view_mut());
    let norm = |a: &Array2<f64>| a.mapv(|x| x * x).sum().sqrt();
    norm(&(&product - v)) / norm(v)
}

/// 300 particles and more, where the small matrix of the repulsion alone would have `N²` rows.
#[test]
fn systems_of_many_particles_are_solved_for_every_coupling() {
    for (n, d) in [(129, 2), (300, 1), (300, 2)] {
        let x = normals(3, (n, d));
        let h = DiagonalMatrices::new(normals(4, (n, d)).mapv(|v| 0.5 + v * v));
        let mut gram = KernelGram::new(n, d);
        let settings = Newton::default().kernel;
        gram.update(&settings, x.view(), Some(&h)).unwrap();
        for coupling in COUPLINGS {
            let system = SvnSystem::new(gram.view(), &h, coupling, 1e-3, 1.0).unwrap();
            let v = normals(5, (n, d));
            let mut alpha = Array2::zeros((n, d));
            let scratch = &mut Scratch::default();
            let info = system.solve_into(v.view(), Solver::Auto, scratch, alpha.view_mut());
            let info = info.unwrap();
            assert_eq!(info.status, SolveStatus::Solved, "{coupling:?}: {info:?}");
            // ε times a condition of at most 1e5 or so.
            let residual = relative_residual(&system, &alpha, &v);
            assert!(residual < 1e-9, "{coupling:?} {n} {d}: {residual:e}");
        }
    }
}

/// `A` by the definition, for a few particles of few coordinates: the dense assembly is made by other products.
#[test]
fn the_assembled_matrix_is_the_operator() {
    let (n, d) = (6, 3);
    let x = normals(7, (n, d));
    let mut dense = Array3::zeros((n, d, d));
    for (p, mut h) in dense.outer_iter_mut().enumerate() {
        let root = normals(8 + p as u64, (d, d));
        h.assign(&(root.t().dot(&root) + Array2::<f64>::eye(d)));
    }
    let owned = Owned::dense(dense);
    let mut gram = KernelGram::new(n, d);
    let settings = Newton::default().kernel;
    gram.update(&settings, x.view(), Some(owned.view()))
        .unwrap();
    for coupling in COUPLINGS {
        let system = SvnSystem::new(gram.view(), owned.view(), coupling, 0.3, 0.1).unwrap();
        let matrix = system.assemble().unwrap();
        for column in 0..n * d {
            let mut alpha = Array2::zeros((n, d));
            alpha[(column / d, column % d)] = 1.0;
            let mut product = Array2::zeros((n, d));
            system.multiply_into(alpha.view(), product.view_mut());
            for (a, b) in product.iter().zip(matrix.column(column)) {
                // Sums of at most 6 · 6 products of numbers below 100.
                assert!((a - b).abs() < 1e-11, "{coupling:?} {column}: {a} {b}");
            }
        }
    }
}

/// `K̃ = (K² + ridge · I)^½` has the positive root, also where rounding leaves null eigenvalues of `K` negative.
#[test]
fn the_ridged_kernel_matrix_is_positive() {
    let (n, ridge) = (30, 1.0);
    let x = normals(6, (n, 1));
    let h = DiagonalMatrices::new(normals(7, (n, 1)).mapv(|v| 0.2 + v * v));
    let mut gram = KernelGram::new(n, 1);
    gram.update(&Newton::default().kernel, x.view(), Some(&h))
        .unwrap();
    // No repulsion: A = K̃ diag(h) K̃ / N.
    let none = Array2::zeros((n, n));
    let view = KernelView {
        slope: none.view(),
        ..gram.view()
    };
    let (values, vectors) = algebra::eigen(&gram.kernel().to_owned());
    assert!(values.iter().any(|v| v.abs() < 1e-12), "{values}");
    let roots = values.mapv(|v| (v * v + ridge).sqrt());
    let root = (&vectors * &roots).dot(&vectors.t());
    let entries: Vec<f64> = (0..n)
        .map(|p| svn_stein::linalg::ParticleOperators::diagonal(&h, p)[0])
        .collect();
    let expected = (&root * &ndarray::Array1::from(entries)).dot(&root) / n as f64;
    let system = SvnSystem::new(view, &h, Coupling::Gram, 0.0, ridge).unwrap();
    let found = system.assemble().unwrap();
    for (a, b) in found.iter().zip(&expected) {
        // Entries below 10, thirty products each, an eigendecomposition of norm 30 on either side.
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }
}

/// Differences are taken of the particles as given: a close pair repels wherever it is.
#[test]
fn close_pairs_far_away_repel() {
    let kernel = KernelSettings {
        kernel: Kernel::Rbf,
        metric: Metric::Identity,
        bandwidth: Bandwidth::Fixed(1.0),
    };
    let tiny = |power: i32| 2.0_f64.powi(power);
    let cases = [
        (
            vec![-1e6, -1e6 + tiny(-20), 1e6, 1e6 + tiny(-20)],
            -1.907_348_6e-6,
        ),
        (vec![0.0, tiny(-30), tiny(40)], -1.862_645_15e-9),
    ];
    for (particles, expected) in cases {
        let n = particles.len();
        let particles = Array2::from_shape_vec((n, 1), particles).unwrap();
        let mut gram = KernelGram::new(n, 1);
        gram.update(&kernel, particles.view(), None).unwrap();
        let mut repulsion = Array2::zeros((n, 1));
        gram.repulsion_into(repulsion.view_mut());
        let found: f64 = repulsion[(0, 0)];
        assert!(((found - expected) / expected).abs() < 1e-7, "{found:e}");
        // Newton's third law.
        assert_eq!(repulsion.sum(), 0.0);
    }
}

#[test]
fn a_collapse_is_told() {
    let tight = normals(9, (20, 2)) * 1e-3;
    let settings = Newton::default().kernel;
    let h = DiagonalMatrices::new(Array2::ones((20, 2)));
    let mut gram = KernelGram::new(20, 2);
    let mut field = Array2::zeros((20, 2));
    for (particles, expected) in [
        (tight.clone(), Some(KernelWarning::Collapsed)),
        (tight * 1e3, None),
    ] {
        gram.update(&settings, particles.view(), Some(&h)).unwrap();
        let norms = svgd_into(&gram, particles.view(), 1.0, field.view_mut());
        let health = KernelHealth::new(&gram, norms);
        assert_eq!(health.warning, expected, "{health:?}");
        let mean = particles.mean_axis(Axis(0)).unwrap();
        let spread = (&particles - &mean).mapv(|x| x * x).mean().unwrap();
        let found = health.laplace_spread.unwrap();
        assert!((found / spread - 1.0).abs() < 1e-12, "{found} {spread}");
    }
}

#[test]
fn particles_that_run_away_end_the_run() {
    // A slope that never ends, for which no curvature is an excuse.
    struct Slope(Array2<f64>);
    impl Score for Slope {
        fn dim(&self) -> usize {
            1
        }
        fn score_into(
            &mut self,
            particles: ndarray::ArrayView2<'_, f64>,
            mut log_density: ndarray::ArrayViewMut1<'_, f64>,
            mut score: ndarray::ArrayViewMut2<'_, f64>,
        ) -> Result<(), TargetError> {
            log_density.assign(&particles.column(0));
            score.fill(1.0);
            Ok(())
        }
    }
    impl Curved for Slope {
        fn curvature_into(
            &mut self,
            particles: ndarray::ArrayView2<'_, f64>,
            log_density: ndarray::ArrayViewMut1<'_, f64>,
            score: ndarray::ArrayViewMut2<'_, f64>,
        ) -> Result<Curvature<'_>, TargetError> {
            self.score_into(particles, log_density, score)?;
            self.0 = Array2::from_elem(particles.dim(), 1e-9);
            Ok(Box::new(DiagonalMatrices::new(self.0.view())))
        }
    }
    let newton = Newton {
        trust_region: None,
        ..Newton::default()
    };
    let mut sampler = Sampler::new(Method::Svn(newton)).unwrap();
    let mut state = sampler.init(array![[0.0], [1.0]], 0).unwrap();
    let mut target = Slope(Array2::zeros((0, 1)));
    let error = (0..1000).find_map(|_| sampler.step(&mut state, &mut target).err());
    let error = error.expect("it runs away");
    // The last good positions are there to go on from.
    assert!(
        state.particles().iter().all(|x| x.abs() < 1e8),
        "{}",
        state.particles()
    );
    assert!(matches!(error, SteinError::Diverged { .. }), "{error}");
    assert!(error.to_string().contains("trust region"), "{error}");
}
