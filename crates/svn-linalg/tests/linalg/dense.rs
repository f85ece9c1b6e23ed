//! Products against plain loops, for all layouts.

use ndarray::{Array1, Array2, ArrayView2, ShapeBuilder, s};
use proptest::prelude::*;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use svn_linalg::dense::{self, Real};

/// Numbers that are exact in both precisions, so that a reference in `f64` holds for `f32` too.
fn number(rng: &mut ChaCha8Rng) -> f64 {
    f64::from(rng.random_range(-64_i32..=64)) / 64.0
}

trait Precision: Real + From<f32> + Into<f64> {
    const EPSILON: f64;
    fn of(x: f64) -> Self;
}

impl Precision for f64 {
    const EPSILON: f64 = f64::EPSILON;
    fn of(x: f64) -> Self {
        x
    }
}

impl Precision for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the numbers here are exact"
    )]
    fn of(x: f64) -> Self {
        x as Self
    }
}

/// Ways in which a matrix can lie in memory.
#[derive(Debug, Clone, Copy)]
enum Layout {
    Rows,
    Columns,
    PaddedRows,
    PaddedColumns,
    Every2,
    Backwards,
}

const LAYOUTS: [Layout; 6] = [
    Layout::Rows,
    Layout::Columns,
    Layout::PaddedRows,
    Layout::PaddedColumns,
    Layout::Every2,
    Layout::Backwards,
];

/// A buffer whose [`Layout::view`] is the matrix; NaN wherever the view does not reach.
fn buffer<T: Precision>(rng: &mut ChaCha8Rng, (m, n): (usize, usize), layout: Layout) -> Array2<T> {
    let nan = T::of(f64::NAN);
    let mut a = match layout {
        Layout::Rows | Layout::Backwards => Array2::from_elem((m, n), nan),
        Layout::Columns => Array2::from_elem((m, n).f(), nan),
        Layout::PaddedRows => Array2::from_elem((m + 1, n + 3), nan),
        Layout::PaddedColumns => Array2::from_elem((m + 3, n + 1).f(), nan),
        Layout::Every2 => Array2::from_elem((2 * m, 2 * n), nan),
    };
    layout
        .view_mut(&mut a, (m, n))
        .mapv_inplace(|_| T::of(number(rng)));
    a
}

impl Layout {
    fn view<T>(self, a: &Array2<T>, (m, n): (usize, usize)) -> ArrayView2<'_, T> {
        match self {
            Self::Every2 => a.slice(s![..2 * m;2, ..2 * n;2]),
            Self::Backwards => a.slice(s![..m;-1, ..n;-1]),
            _ => a.slice(s![..m, ..n]),
        }
    }

    fn view_mut<T>(
        self,
        a: &mut Array2<T>,
        (m, n): (usize, usize),
    ) -> ndarray::ArrayViewMut2<'_, T> {
        match self {
            Self::Every2 => a.slice_mut(s![..2 * m;2, ..2 * n;2]),
            Self::Backwards => a.slice_mut(s![..m;-1, ..n;-1]),
            _ => a.slice_mut(s![..m, ..n]),
        }
    }
}

/// `α A B + β C` by three loops.
fn reference<T: Precision>(
    alpha: f64,
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    beta: f64,
    c: ArrayView2<'_, T>,
) -> Array2<f64> {
    Array2::from_shape_fn(c.dim(), |(i, j)| {
        let sum: f64 = (0..a.ncols())
            .map(|p| a[[i, p]].into() * b[[p, j]].into())
            .sum();
        let before = if beta == 0.0 {
            0.0
        } else {
            beta * c[[i, j]].into()
        };
        alpha * sum + before
    })
}

fn check<T: Precision>(
    seed: u64,
    (m, n, k): (usize, usize, usize),
    layouts: (Layout, Layout, Layout),
    (alpha, beta): (f64, f64),
) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let a = buffer::<T>(&mut rng, (m, k), layouts.0);
    let b = buffer::<T>(&mut rng, (k, n), layouts.1);
    let mut c = buffer::<T>(&mut rng, (m, n), layouts.2);
    if beta == 0.0 {
        c.fill(T::of(f64::NAN));
    }
    let before = c.clone();
    let (a, b) = (layouts.0.view(&a, (m, k)), layouts.1.view(&b, (k, n)));
    let expected = reference(alpha, a, b, beta, layouts.2.view(&before, (m, n)));
    let view = layouts.2.view_mut(&mut c, (m, n));
    dense::multiply(T::of(alpha), a, b, T::of(beta), view);
    // Each sum has at most `k` roundings of terms below 1, and two more.
    let tolerance = (k + 4) as f64 * T::EPSILON * (alpha.abs() + beta.abs()).max(1.0);
    let what = format!("{m} × {n} × {k}, {layouts:?}, {alpha} {beta}");
    for ((i, j), expected) in expected.indexed_iter() {
        let found: f64 = layouts.2.view(&c, (m, n))[[i, j]].into();
        assert!(
            (found - expected).abs() <= tolerance,
            "{what}: ({i}, {j}) is {found}, expected {expected}"
        );
    }
    // What lies between the elements of the view is as it was.
    layouts.2.view_mut(&mut c, (m, n)).fill(T::zero());
    let mut untouched = before;
    layouts.2.view_mut(&mut untouched, (m, n)).fill(T::zero());
    for (found, before) in c.iter().zip(&untouched) {
        let (found, before): (f64, f64) = ((*found).into(), (*before).into());
        assert_eq!(
            found.to_bits(),
            before.to_bits(),
            "{what}: written past the view"
        );
    }
}

fn layout() -> impl Strategy<Value = Layout> {
    (0..LAYOUTS.len()).prop_map(|i| LAYOUTS[i])
}

fn scale() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0), Just(-0.5), Just(2.0)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn products_are_those_of_three_loops(
        seed: u64,
        size in (0_usize..40, 0_usize..60, 0_usize..40),
        layouts in (layout(), layout(), layout()),
        scales in (scale(), scale()),
        double: bool,
    ) {
        if double {
            check::<f64>(seed, size, layouts, scales);
        } else {
            check::<f32>(seed, size, layouts, scales);
        }
    }

    #[test]
    fn vectors_are_products_of_one_column(
        seed: u64,
        (m, k) in (0_usize..80, 0_usize..200),
        layouts in (layout(), layout(), layout()),
        scales in (scale(), scale()),
        double: bool,
    ) {
        if double {
            check::<f64>(seed, (m, 1, k), layouts, scales);
            check::<f64>(seed, (1, m, k), layouts, scales);
        } else {
            check::<f32>(seed, (m, 1, k), layouts, scales);
            check::<f32>(seed, (1, m, k), layouts, scales);
        }
    }
}

#[test]
fn large_products_of_all_layouts() {
    for (case, &a) in LAYOUTS.iter().enumerate() {
        for &b in &LAYOUTS {
            for &c in &LAYOUTS {
                check::<f64>(case as u64, (67, 83, 91), (a, b, c), (0.5, 0.0));
                check::<f32>(case as u64, (67, 83, 91), (a, b, c), (1.0, -2.0));
            }
        }
    }
}

#[test]
fn inner_products_are_sums() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for n in (0..70).chain([1000, 4097]) {
        let x = Array1::from_shape_simple_fn(2 * n, || number(&mut rng));
        let y = Array1::from_shape_simple_fn(2 * n, || number(&mut rng));
        for step in [1, 2, -1, -2] {
            let (x, y) = (x.slice(s![..;step]), y.slice(s![..;step]));
            let sum: f64 = x.iter().zip(y).map(|(x, y)| x * y).sum();
            // Multiples of 2⁻¹² below 2²⁰: exact in any order.
            assert_eq!(dense::dot(x, y), sum, "{n}, every {step}");
            let (x, y) = (x.mapv(f32::of), y.mapv(f32::of));
            assert!((f64::from(dense::dot(x.view(), y.view())) - sum).abs() <= 1e-2);
        }
    }
}

#[test]
fn vectorized_gives_what_the_closure_gives() {
    let x: Vec<f64> = (0..1001).map(f64::from).collect();
    let sum = dense::vectorized(|| x.iter().map(|x| 2.0 * x).sum::<f64>());
    assert_eq!(sum, 1001.0 * 1000.0);
}

/// What is compiled in decides which registers there are: the widest that this processor has must be among them.
#[test]
#[cfg(target_arch = "x86_64")]
fn the_widest_registers_of_the_processor_are_used() {
    let operations = dense::register_operations::<f64>;
    // So many sums of a multiplication and an addition on two numbers a register.
    let narrow = 12 * 2 * 2;
    let expected = if std::is_x86_feature_detected!("avx512f") {
        4 * narrow
    } else if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
        2 * narrow
    } else {
        narrow
    };
    assert_eq!(operations(1), expected);
    assert_eq!(dense::register_operations::<f32>(1), 2 * expected);
}
