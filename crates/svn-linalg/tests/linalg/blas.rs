//! The BLAS in this process: its threads, its description, and that products really use it.

use svn_linalg::threads::{blas_config, blas_threads, set_blas_threads};

use crate::reference::*;

#[test]
fn threads_are_set_and_read_back_and_products_do_not_depend_on_them() {
    let before = blas_threads();
    let mut rng = rng(80);
    let (a, b) = (random(&mut rng, 200, 150), random(&mut rng, 150, 90));
    let expected = product(a.view(), b.view());
    for n in [1, 2] {
        set_blas_threads(n);
        assert_eq!(blas_threads(), n);
        assert_close(a.dot(&b).view(), expected.view(), rounding(150), "product");
    }
    set_blas_threads(0);
    assert_eq!(blas_threads(), 1, "at least one");
    set_blas_threads(before);
}

#[test]
fn description_names_openblas_and_its_version() {
    let config = blas_config();
    assert!(
        config.starts_with("OpenBLAS ") && config.contains(|c: char| c.is_ascii_digit()),
        "{config}"
    );
}
