//! Properties for arbitrary particles: of any scale, with duplicates.

use crate::common::*;
use ndarray::{Array2, Axis};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use svn_stein::{
    Bandwidth, Coupling, Kernel, KernelGram, KernelSettings, Metric, Scratch, Solver, SvnSystem,
    svgd_into,
};

fn particles() -> impl Strategy<Value = Array2<f64>> {
    (
        1_usize..6,
        1_usize..4,
        any::<u64>(),
        -120_i32..120,
        prop::collection::vec(0_usize..6, 6),
    )
        .prop_map(|(n, d, seed, exponent, copies)| {
            let mut x = normals(seed, (n, d)) * 10_f64.powi(exponent);
            for p in 0..n {
                let source = x.row(copies[p] % n).to_owned();
                if copies[p] % 2 == 0 {
                    x.row_mut(p).assign(&source);
                }
            }
            x
        })
}

fn kernels() -> impl Strategy<Value = KernelSettings> {
    let kernel = prop_oneof![Just(Kernel::Rbf), Just(Kernel::Imq), Just(Kernel::Delta)];
    let metric = prop_oneof![
        Just(Metric::Identity),
        Just(Metric::Curvature),
        Just(Metric::Diagonal)
    ];
    (kernel, metric).prop_map(|(kernel, metric)| KernelSettings {
        kernel,
        metric,
        bandwidth: Bandwidth::Median,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn kernels_are_finite_positive_semi_definite_and_their_repulsion_sums_to_zero(
        x in particles(), settings in kernels(), which in 0_usize..4,
    ) {
        let (n, d) = x.dim();
        let (_, curvature) = curvatures(1, n, d).swap_remove(which);
        let mut gram = KernelGram::new(n, d);
        gram.update(&settings, x.view(), Some(curvature.view())).unwrap();
        prop_assert!(gram.bandwidth() > 0.0 && gram.bandwidth().is_finite());
        prop_assert!(gram.kernel().iter().all(|k| (0.0..=1.0).contains(k)));
        let (eigenvalues, _) = algebra::eigen(&gram.kernel().to_owned());
        prop_assert!(eigenvalues[0] > -1e-12, "{eigenvalues}");

        let mut field = Array2::zeros((n, d));
        let zero = Array2::zeros((n, d));
        let _ = svgd_into(&gram, zero.view(), 1.0, field.view_mut());
        // Action and reaction: the repulsion moves no centre of mass, up to the rounding of its terms g_pm y_p.
        let largest = |a: ndarray::ArrayView2<'_, f64>| a.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        let scale = n as f64 * largest(gram.slope()) * largest(gram.transformed());
        for total in field.sum_axis(Axis(0)) {
            prop_assert!(total.abs() <= 1e-14 * scale, "{total} of {scale}");
        }
        if x.rows().into_iter().all(|row| row == x.row(0)) {
            prop_assert!(field.iter().all(|&v| v == 0.0), "identical particles repel: {field}");
        }
    }

    #[test]
    fn psd_couplings_have_no_negative_eigenvalue_and_solve_to_their_residual(
        seed in any::<u64>(), n in 1_usize..5, which in 0_usize..4, coupling in 1_usize..4, settings in kernels(),
    ) {
        let coupling: Coupling = COUPLINGS[coupling];
        let d = 3;
        let x = normals(seed, (n, d));
        let (_, curvature) = curvatures(seed ^ 5, n, d).swap_remove(which);
        let mut gram = KernelGram::new(n, d);
        gram.update(&settings, x.view(), Some(curvature.view())).unwrap();
        let system = SvnSystem::new(gram.view(), curvature.view(), coupling, 0.1, 1e-6).unwrap();
        let (eigenvalues, _) = algebra::eigen(&system.assemble().unwrap());
        prop_assert!(eigenvalues[0] > 0.0, "{eigenvalues}");
        let v = normals(seed ^ 9, (n, d));
        let mut alpha = Array2::zeros((n, d));
        let info = system.solve_into(v.view(), Solver::Auto, &mut Scratch::default(), alpha.view_mut()).unwrap();
        let mut product = Array2::zeros((n, d));
        system.multiply_into(alpha.view(), product.view_mut());
        let residual = (&product - &v).mapv(|x| x * x).sum().sqrt() / v.mapv(|x| x * x).sum().sqrt();
        prop_assert!((residual - info.relative_residual).abs() <= 1e-12 && residual < 1e-8, "{info:?} {residual}");
    }
}
