//! Gram matrices against the plain product.

use ndarray::{Array2, Array3, ShapeBuilder, array, s};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use svn_linalg::{InputError, gram, gram_into};

use crate::reference::*;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64, rng_seed: RngSeed::Fixed(70), failure_persistence: None, ..ProptestConfig::default()
    })]

    /// Both triangles, every layout of the rows and of the result, sizes around the tile of the transposition.
    #[test]
    fn gram_equals_the_product_for_every_layout(seed in any::<u64>(), r in 0_usize..70, d in 0_usize..9, alpha in -2.0..2.0_f64) {
        let mut rng = rng(seed);
        let a = random(&mut rng, r, d);
        let expected = product(a.view(), a.t()) * alpha;
        let mut column_major = Array2::zeros((r, d).f());
        column_major.assign(&a);
        let mut wide = Array2::from_elem((r, d + 3), f64::NAN);
        wide.slice_mut(s![.., 2..d + 2]).assign(&a);
        let mut spread = Array2::from_elem((2 * r, 3 * d), f64::NAN);
        spread.slice_mut(s![..;2, ..;3]).assign(&a);
        let reversed = a.slice(s![..;-1, ..;-1]).as_standard_layout().into_owned();
        for view in [
            a.view(), column_major.view(), wide.slice(s![.., 2..d + 2]), spread.slice(s![..;2, ..;3]),
            reversed.slice(s![..;-1, ..;-1]),
        ] {
            let found = gram(alpha, view);
            assert_close(found.view(), expected.view(), rounding(d.max(1)), "gram");
            prop_assert!(found == found.t(), "both triangles are the same bits");
            let mut out = Array2::from_elem((2 * r, 2 * r), f64::NAN);
            gram_into(alpha, view, out.slice_mut(s![r.., ..r])).unwrap();
            assert_close(out.slice(s![r.., ..r]), expected.view(), rounding(d.max(1)), "block of a larger matrix");
            gram_into(alpha, view, out.slice_mut(s![..;2, ..;2])).unwrap();
            assert_close(out.slice(s![..;2, ..;2]), expected.view(), rounding(d.max(1)), "strided result");
        }
    }
}

#[test]
fn rows_of_one_particle_in_a_batch_are_read_in_place() {
    let mut rng = rng(71);
    let batch = Array3::from_shape_fn((3, 4, 50), |_| {
        rand::RngExt::random_range(&mut rng, -1.0..1.0)
    });
    for p in 0..3 {
        let rows = batch.slice(s![p, .., ..]);
        assert_close(
            gram(1.0, rows).view(),
            product(rows, rows.t()).view(),
            rounding(50),
            "particle",
        );
    }
}

#[test]
fn wrong_result_shape_is_an_error_and_nothing_is_written() {
    let a = array![[1.0, 2.0], [3.0, 4.0]];
    let mut out = Array2::from_elem((3, 3), 7.0);
    let error = gram_into(1.0, a.view(), out.view_mut()).unwrap_err();
    assert_eq!(
        error,
        InputError::Shape {
            what: "out",
            expected: (2, 2),
            found: (3, 3)
        }
    );
    assert!(out.iter().all(|&v| v == 7.0));
}
