//! Dense products by every route at the shapes of this project, one thread: Gflop/s.
//!
//! `cargo bench -p svn-linalg --bench dense` prints one table. Columns of OpenBLAS are runs of this same program with
//! `OPENBLAS_CORETYPE` set, since the library chooses its kernels when it is loaded.

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, LinalgScalar};
use svn_linalg::dense::{self, Real};

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

type Multiply<T> = fn(ArrayView2<'_, T>, ArrayView2<'_, T>, ArrayViewMut2<'_, T>);

fn by_dense<T: Real>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>, c: ArrayViewMut2<'_, T>) {
    dense::multiply(T::one(), a, b, T::zero(), c);
}

fn by_ndarray<T: LinalgScalar>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    mut c: ArrayViewMut2<'_, T>,
) {
    general_mat_mul(T::one(), &a, &b, T::zero(), &mut c);
}

fn column<T: Real + From<f32>>(f: Multiply<T>) -> Vec<f64> {
    let measure = |&(m, n, k, kind): &(usize, usize, usize, Kind)| {
        let (a, b) = (filled::<T>(m, k), filled::<T>(k, n));
        let (at, bt) = (
            a.t().as_standard_layout().into_owned(),
            b.t().as_standard_layout().into_owned(),
        );
        let a = if kind == Tn { at.t() } else { a.view() };
        let b = if kind == Nt { bt.t() } else { b.view() };
        let mut c = Array2::zeros((m, n));
        speed(2.0 * (m * n * k) as f64, || {
            f(black_box(a), black_box(b), black_box(c.view_mut()));
        })
    };
    SHAPES.iter().map(measure).collect()
}

fn columns<T: Real + From<f32>>(core: Option<&str>) -> Vec<Vec<f64>> {
    match core {
        Some(_) => vec![column::<T>(by_ndarray)],
        None => vec![column::<T>(by_dense)],
    }
}

const CORES: [&str; 5] = ["", "Prescott", "Haswell", "SkylakeX", "Zen"];

fn main() {
    svn_linalg::threads::set_blas_threads(1);
    let precision = std::env::var("PRECISION").unwrap_or_else(|_| "f64".to_owned());
    let measure = |core: Option<&str>| match precision.as_str() {
        "f32" => columns::<f32>(core),
        _ => columns::<f64>(core),
    };
    if let Ok(core) = std::env::var("DENSE_BENCH_CORE") {
        let speeds = measure(Some(&core)).remove(0);
        speeds.iter().for_each(|s| println!("{s}"));
        return;
    }
    let mut table = measure(None);
    let this = std::env::current_exe().expect("a path of this program");
    for core in CORES {
        let mut command = Command::new(&this);
        command.env("DENSE_BENCH_CORE", core);
        if !core.is_empty() {
            command.env("OPENBLAS_CORETYPE", core);
        }
        let output = command.output().expect("this program runs");
        let text = String::from_utf8_lossy(&output.stdout);
        table.push(text.lines().filter_map(|s| s.parse().ok()).collect());
    }
    println!(
        "{precision}, Gflop/s; OpenBLAS: {}",
        svn_linalg::threads::blas_config()
    );
    println!("| m × n × k | dense | OpenBLAS | Prescott | Haswell | SkylakeX | Zen |");
    println!("|---|---|---|---|---|---|---|");
    for (i, (m, n, k, kind)) in SHAPES.iter().enumerate() {
        let cells: Vec<_> = table
            .iter()
            .map(|c| format!("{:.1}", c.get(i).unwrap_or(&f64::NAN)))
            .collect();
        println!("| {m} × {n} × {k} {kind:?} | {} |", cells.join(" | "));
    }
}
