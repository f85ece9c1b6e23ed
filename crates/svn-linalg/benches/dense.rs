//! Dense products and decompositions by every route at the shapes of this project, one thread: Gflop/s.
//!
//! `cargo bench -p svn-linalg --bench dense` prints one table. Columns of OpenBLAS are runs of this same program with
//! `OPENBLAS_CORETYPE` set, since the library chooses its kernels when it is loaded.

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use ndarray::Array2;
use ndarray::linalg::general_mat_mul;
use ndarray_linalg::{Cholesky as _, Diag, Eigh, SolveTriangular, UPLO};
use svn_linalg::dense::{self, Real};
use svn_linalg::{Cholesky, SymmetricEigen, gram};

/// Which of the factors is transposed in memory.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Nn,
    Nt,
    Tn,
}

use Kind::{Nn, Nt, Tn};

/// `m × n × k`: layers of small networks, passes over rows, Gram matrices, and squares.
const SHAPES: &[(usize, usize, usize, Kind)] = &[
    (16, 50, 50, Nn),
    (50, 16, 50, Nn),
    (16, 50, 50, Nt),
    (50, 50, 16, Tn),
    (128, 50, 5, Nn),
    (16, 6, 50, Nn),
    (16, 50, 6, Nn),
    (32, 7, 50, Nt),
    (4, 4, 4, Nn),
    (1, 50, 50, Nn),
    (50, 1, 50, Nn),
    (1, 2951, 128, Nn),
    (128, 1, 2951, Nn),
    (20, 128, 2951, Nt),
    (20, 2951, 128, Nn),
    (128, 128, 2951, Nt),
    (640, 640, 2951, Nt),
    (64, 64, 64, Nn),
    (64, 64, 64, Nt),
    (100, 100, 100, Nn),
    (100, 100, 100, Nt),
    (128, 400, 120, Nn),
    (256, 256, 256, Nn),
    (256, 256, 256, Nt),
    (256, 256, 256, Tn),
    (1024, 400, 400, Nn),
    (1000, 1000, 1000, Nn),
];

fn filled<T: Real + From<f32>>(rows: usize, columns: usize) -> Array2<T> {
    Array2::from_shape_fn((rows, columns), |(i, j)| {
        T::from(((7 * i + 3 * j) % 17) as f32 / 17.0 - 0.5)
    })
}

/// Best of several timings of about a hundredth of a second, in Gflop/s.
fn speed(flops: f64, mut f: impl FnMut()) -> f64 {
    f();
    let start = Instant::now();
    f();
    let once = start.elapsed().as_secs_f64().max(1e-8);
    let repeats = (0.004 / once).ceil().max(1.0) as usize;
    let best = (0..7)
        .map(|_| {
            let start = Instant::now();
            (0..repeats).for_each(|_| f());
            start.elapsed().as_secs_f64() / repeats as f64
        })
        .fold(f64::INFINITY, f64::min);
    flops / best / 1e9
}

/// One line of the table: what, and Gflop/s.
type Line = (String, f64);

/// Whose routines.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Route {
    Own,
    OpenBlas,
}

fn products<T: Real + From<f32>>(route: Route) -> Vec<Line> {
    let measure = |&(m, n, k, kind): &(usize, usize, usize, Kind)| {
        let (a, b) = (filled::<T>(m, k), filled::<T>(k, n));
        let (at, bt) = (
            a.t().as_standard_layout().into_owned(),
            b.t().as_standard_layout().into_owned(),
        );
        let a = black_box(if kind == Tn { at.t() } else { a.view() });
        let b = black_box(if kind == Nt { bt.t() } else { b.view() });
        let mut c = Array2::zeros((m, n));
        let (one, zero) = (T::one(), T::zero());
        let found = speed(2.0 * (m * n * k) as f64, || match route {
            Route::Own => dense::multiply(one, a, b, zero, c.view_mut()),
            Route::OpenBlas => general_mat_mul(one, &a, &b, zero, &mut c),
        });
        (format!("{m} × {n} × {k} {kind:?}"), found)
    };
    SHAPES.iter().map(measure).collect()
}

/// Sides of the matrices that are factored.
const SIDES: [usize; 6] = [16, 50, 128, 256, 400, 640];

fn decompositions(route: Route) -> Vec<Line> {
    let mut lines = Vec::new();
    for n in SIDES {
        let cubed = (n as f64).powi(3);
        let rows = filled::<f64>(n, n + 7);
        let mut a = gram(1.0, rows.view());
        a.diag_mut().mapv_inplace(|x| x + 1.0);
        let cholesky = speed(cubed / 3.0, || match route {
            Route::Own => drop(black_box(Cholesky::factorize_owned(a.clone()))),
            Route::OpenBlas => drop(black_box(a.cholesky(UPLO::Lower))),
        });
        lines.push((format!("Cholesky {n}"), cholesky));
        let lower = a.cholesky(UPLO::Lower).expect("positive definite");
        for k in [1, 128] {
            let b = filled::<f64>(n, k);
            let flops = (n * n * k) as f64;
            let solve = speed(flops, || match route {
                Route::Own => {
                    let mut b = b.clone();
                    dense::solve_lower(lower.view(), b.view_mut());
                    black_box(b);
                }
                Route::OpenBlas => {
                    let solved = lower.solve_triangular(UPLO::Lower, Diag::NonUnit, &b);
                    black_box(solved.expect("shapes fit"));
                }
            });
            lines.push((format!("L⁻¹ B {n}, {k} columns"), solve));
        }
        // Of the four thirds for the tridiagonal form; vectors cost several times as much.
        let eigen = speed(4.0 / 3.0 * cubed, || match route {
            Route::Own => drop(black_box(SymmetricEigen::factorize(a.view()))),
            Route::OpenBlas => drop(black_box(a.eigh(UPLO::Lower))),
        });
        lines.push((format!("eigenvectors {n}"), eigen));
    }
    lines
}

fn measured(precision: &str, route: Route) -> Vec<Line> {
    match precision {
        "f32" => products::<f32>(route),
        _ => [products::<f64>(route), decompositions(route)].concat(),
    }
}

const CORES: [&str; 5] = ["", "Prescott", "Haswell", "SkylakeX", "Zen"];

fn main() {
    svn_linalg::threads::set_blas_threads(1);
    let precision = std::env::var("PRECISION").unwrap_or_else(|_| "f64".to_owned());
    if std::env::var_os("DENSE_BENCH_CORE").is_some() {
        for (_, speed) in measured(&precision, Route::OpenBlas) {
            println!("{speed}");
        }
        return;
    }
    let own = measured(&precision, Route::Own);
    let this = std::env::current_exe().expect("a path of this program");
    let others = CORES.map(|core| {
        let mut command = Command::new(&this);
        command.env("DENSE_BENCH_CORE", core);
        if !core.is_empty() {
            command.env("OPENBLAS_CORETYPE", core);
        }
        let output = command.output().expect("this program runs");
        let text = String::from_utf8_lossy(&output.stdout);
        let numbers = text.lines().filter_map(|s| s.parse().ok());
        numbers.collect::<Vec<f64>>()
    });
    let config = svn_linalg::threads::blas_config().unwrap_or_default();
    println!("{precision}, Gflop/s; OpenBLAS: {config}");
    println!("| operation | own | OpenBLAS | Prescott | Haswell | SkylakeX | Zen |");
    println!("|---|---|---|---|---|---|---|");
    for (i, (name, speed)) in own.iter().enumerate() {
        let numbers = others.iter().map(|c| c.get(i).unwrap_or(&f64::NAN));
        let cells: Vec<_> = std::iter::once(speed)
            .chain(numbers)
            .map(|speed| format!("{speed:.1}"))
            .collect();
        println!("| {name} | {} |", cells.join(" | "));
    }
}
