//! The same bytes for any number of threads, on matrices large enough to be shared out.

use crate::common::*;
use ndarray::Array2;
use svn_stein::{
    Bandwidth, Coupling, Kernel, KernelSettings, Method, Metric, Newton, Sampler, Stop, run,
};

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    // So many rows that the factors of every coupling are shared out among the threads.
    let (n, d, r) = (4, 700, 320);
    let start = normals(1, (n, d));
    let step = |threads: usize, coupling: Coupling, kernel: Kernel, bandwidth: Bandwidth| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let rows = normals(2, (r, d));
            let mut target = Gaussian::new(ndarray::Array1::zeros(d), rows, Kind::LowRank);
            let kernel = KernelSettings {
                kernel,
                metric: Metric::Curvature,
                bandwidth,
            };
            let mut sampler = Sampler::new(Method::Svn(Newton {
                coupling,
                kernel,
                ..Newton::plain()
            }))
            .unwrap();
            let mut state = sampler.init(start.clone(), 0).unwrap();
            run(
                &mut sampler,
                &mut state,
                &mut target,
                Stop::after(2),
                &mut [],
            )
            .unwrap();
            state.particles().to_owned()
        })
    };
    // The second bandwidth is far too large, and its kernel matrix nearly singular.
    for (kernel, bandwidth) in [
        (Kernel::Rbf, Bandwidth::Median),
        (Kernel::Rbf, Bandwidth::Fixed(1e10)),
        (Kernel::Delta, Bandwidth::Median),
    ] {
        for coupling in COUPLINGS {
            let one: Array2<f64> = step(1, coupling, kernel.clone(), bandwidth);
            for threads in [2, 4] {
                assert_eq!(
                    one,
                    step(threads, coupling, kernel.clone(), bandwidth),
                    "{coupling:?} {kernel:?}"
                );
            }
        }
    }
}
