//! The BLAS and LAPACK routines that ndarray does not reach, behind safe functions; the only `unsafe` of this crate.
//!
//! | function | routine | does |
//! |---|---|---|
//! | [`syrk_lower`] | `cblas_dsyrk` | lower triangle of `α A Aᵀ`, half the flops of a product |
//! | [`solve_lower`] | `cblas_dtrsm`, `cblas_dtrsv` | `L⁻¹ B` or `L⁻ᵀ B` in place, all right-hand sides at once |
//! | [`cholesky_lower`] | `dpotrf` | `A = L Lᵀ` in place, the failing pivot as a number |
//! | [`eigen_rows`] | `dsyevd` | eigenvalues and eigenvectors, divide and conquer |
//! | [`indefinite_factor`], [`indefinite_solve`] | `dsytrf`, `dsytrs` | `L D Lᵀ` of a symmetric matrix of any signs |
//! | [`set_threads`], [`threads`], [`config`] | `openblas_*` | thread pool and description of OpenBLAS |
//!
//! The `cblas_` and `openblas_` names are OpenBLAS's own. libtorch exports the Fortran names (`dgemm_`, `dpotrf_`,
//! `dsyevd_`, …) of the library built into it with the same calling convention; whichever of the two the linker
//! chooses is right, and nothing here depends on the choice.
#![allow(
    unsafe_code,
    reason = "foreign functions; every call says why it is sound"
)]

use std::ffi::{CStr, c_char, c_int};

use cblas_sys::{
    CBLAS_DIAG::CblasNonUnit,
    CBLAS_LAYOUT::CblasRowMajor,
    CBLAS_SIDE::CblasLeft,
    CBLAS_TRANSPOSE::{CblasNoTrans, CblasTrans},
    CBLAS_UPLO::CblasLower,
    cblas_dsyrk, cblas_dtrsm, cblas_dtrsv,
};
use lapack_sys::{dpotrf_, dsyevd_, dsytrf_, dsytrs_};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2};
// Links OpenBLAS, and makes ndarray's own products use it.
use ndarray_linalg as _;

unsafe extern "C" {
    fn openblas_set_num_threads(n: c_int);
    fn openblas_get_num_threads() -> c_int;
    fn openblas_get_config() -> *mut c_char;
}

/// A dimension as BLAS counts it. A matrix whose side does not fit has at least 16 GiB per row or column.
fn blas_int(n: usize) -> c_int {
    c_int::try_from(n)
        .unwrap_or_else(|_| panic!("dimension {n} exceeds the 32-bit integers of BLAS"))
}

/// Row stride of a matrix whose columns are adjacent, if it has that layout.
fn leading_dimension(dim: (usize, usize), strides: &[isize]) -> Option<c_int> {
    let (rows, columns) = dim;
    let least = columns.max(1);
    let adjacent = columns <= 1 || strides[1] == 1;
    if rows <= 1 || columns == 0 {
        return adjacent.then(|| blas_int(least));
    }
    let stride = usize::try_from(strides[0]).ok()?;
    (adjacent && stride >= least).then(|| blas_int(stride))
}

/// Lower triangle (diagonal included) of `c = α A Aᵀ`; the strict upper triangle of `c` is left as it is.
///
/// `false`, and nothing done, if `a` is not row- or column-contiguous or `c` is not row-contiguous.
pub(crate) fn syrk_lower(
    alpha: f64,
    a: ArrayView2<'_, f64>,
    c: &mut ArrayViewMut2<'_, f64>,
) -> bool {
    let (n, k) = a.dim();
    assert_eq!(c.dim(), (n, n), "syrk: c must be {n} × {n}");
    if n == 0 {
        return true;
    }
    let Some(ldc) = leading_dimension(c.dim(), c.strides()) else {
        return false;
    };
    let (trans, lda) = if let Some(lda) = leading_dimension(a.dim(), a.strides()) {
        (CblasNoTrans, lda)
    } else if let Some(lda) = leading_dimension(a.t().dim(), a.t().strides()) {
        (CblasTrans, lda)
    } else {
        return false;
    };
    // SAFETY: `a` and `c` are live views of the dimensions and leading strides passed, checked just above; `c` is
    // borrowed mutably, so it does not overlap `a`.
    unsafe {
        cblas_dsyrk(
            CblasRowMajor,
            CblasLower,
            trans,
            blas_int(n),
            blas_int(k),
            alpha,
            a.as_ptr(),
            lda,
            0.0,
            c.as_mut_ptr(),
            ldc,
        );
    }
    true
}

/// Which of the two triangular systems of a Cholesky factor to solve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Triangle {
    /// `L y = b`.
    Lower,
    /// `Lᵀ y = b`.
    Transposed,
}

/// Overwrite `b` (`n × k`) with `L⁻¹ b` or `L⁻ᵀ b`; only the lower triangle of `l` is read.
pub(crate) fn solve_lower(
    l: ArrayView2<'_, f64>,
    triangle: Triangle,
    b: &mut ArrayViewMut2<'_, f64>,
) {
    let (n, k) = b.dim();
    assert_eq!(l.dim(), (n, n), "trsm: the factor must be {n} × {n}");
    if n == 0 || k == 0 {
        return;
    }
    let l = l.as_standard_layout();
    let trans = match triangle {
        Triangle::Lower => CblasNoTrans,
        Triangle::Transposed => CblasTrans,
    };
    if k == 1
        && let Ok(stride) = c_int::try_from(b.strides()[0])
        && (stride > 0 || n == 1)
    {
        // SAFETY: `l` is n × n in standard layout; `b` is one column of n entries with the stride passed, borrowed
        // mutably, so it does not overlap `l`.
        unsafe {
            cblas_dtrsv(
                CblasRowMajor,
                CblasLower,
                trans,
                CblasNonUnit,
                blas_int(n),
                l.as_ptr(),
                blas_int(n),
                b.as_mut_ptr(),
                stride.max(1),
            );
        }
        return;
    }
    let Some(ldb) = leading_dimension(b.dim(), b.strides()) else {
        let mut copy = b.to_owned();
        if !copy.is_standard_layout() {
            copy = copy.as_standard_layout().into_owned();
        }
        solve_lower(l.view(), triangle, &mut copy.view_mut());
        b.assign(&copy);
        return;
    };
    // SAFETY: `l` is n × n in standard layout, `b` is n × k with leading stride `ldb`, checked just above; `b` is
    // borrowed mutably, so it does not overlap `l`.
    unsafe {
        cblas_dtrsm(
            CblasRowMajor,
            CblasLeft,
            CblasLower,
            trans,
            CblasNonUnit,
            blas_int(n),
            blas_int(k),
            1.0,
            l.as_ptr(),
            blas_int(n),
            b.as_mut_ptr(),
            ldb,
        );
    }
}

/// Overwrite the lower triangle of `a` (standard layout) with its Cholesky factor and the upper one with zeros.
///
/// `Err` is LAPACK's `info`: positive, the 1-based order of the first minor that is not positive definite; negative,
/// the argument it refused.
pub(crate) fn cholesky_lower(a: &mut Array2<f64>) -> Result<(), c_int> {
    let n = a.nrows();
    assert!(
        n > 0 && a.is_square() && a.is_standard_layout(),
        "potrf: square, standard layout"
    );
    let (order, mut info) = (blas_int(n), 0);
    // SAFETY: `a` is an n × n contiguous buffer. LAPACK counts columns first, so its upper triangle is our lower.
    unsafe {
        dpotrf_(c"U".as_ptr(), &order, a.as_mut_ptr(), &order, &mut info);
    }
    if info != 0 {
        return Err(info);
    }
    for (i, mut row) in a.rows_mut().into_iter().enumerate() {
        row.iter_mut().skip(i + 1).for_each(|v| *v = 0.0);
    }
    Ok(())
}

/// Eigenvalues of a symmetric `a` (standard layout, lower triangle read), ascending; row `i` of `a` becomes the
/// `i`-th eigenvector.
pub(crate) fn eigen_rows(a: &mut Array2<f64>) -> Result<Array1<f64>, c_int> {
    let n = a.nrows();
    assert!(
        n > 0 && a.is_square() && a.is_standard_layout(),
        "syevd: square, standard layout"
    );
    let order = blas_int(n);
    let mut values = Array1::zeros(n);
    let mut call = |work: &mut [f64], lwork: c_int, iwork: &mut [c_int], liwork: c_int| {
        let mut info = 0;
        // SAFETY: `a` is an n × n contiguous buffer, `values` has n elements, and `work`, `iwork` have at least the
        // lengths passed (−1 asks for the lengths and writes one element each).
        unsafe {
            dsyevd_(
                c"V".as_ptr(),
                c"U".as_ptr(),
                &order,
                a.as_mut_ptr(),
                &order,
                values.as_mut_ptr(),
                work.as_mut_ptr(),
                &lwork,
                iwork.as_mut_ptr(),
                &liwork,
                &mut info,
            );
        }
        if info == 0 { Ok(()) } else { Err(info) }
    };
    let (mut lwork, mut liwork) = ([0.0], [0]);
    call(&mut lwork, -1, &mut liwork, -1)?;
    // LAPACK returns the length as a float; its documented minimum guards against one that rounded down.
    let length = (lwork[0] as usize).max(1 + 6 * n + 2 * n * n);
    let integers = usize::try_from(liwork[0]).unwrap_or(0).max(3 + 5 * n);
    call(
        &mut vec![0.0; length],
        blas_int(length),
        &mut vec![0; integers],
        blas_int(integers),
    )?;
    Ok(values)
}

/// Overwrite a symmetric `a` (standard layout, lower triangle read) with its Bunch-Kaufman factor; gives the pivots.
///
/// `Err` is LAPACK's `info`: positive, the 1-based order of a block that is exactly zero.
pub(crate) fn indefinite_factor(a: &mut Array2<f64>) -> Result<Vec<c_int>, c_int> {
    let n = a.nrows();
    assert!(
        n > 0 && a.is_square() && a.is_standard_layout(),
        "sytrf: square, standard layout"
    );
    let (order, mut info) = (blas_int(n), 0);
    let mut pivots = vec![0; n];
    // A block of 64 columns, as LAPACK itself would ask for.
    let mut work = vec![0.0; n.saturating_mul(64)];
    let lwork = blas_int(work.len());
    // SAFETY: `a` is an n × n contiguous buffer, `pivots` has n elements and `work` the length passed. LAPACK counts
    // columns first, so its upper triangle is our lower.
    unsafe {
        dsytrf_(
            c"U".as_ptr(),
            &order,
            a.as_mut_ptr(),
            &order,
            pivots.as_mut_ptr(),
            work.as_mut_ptr(),
            &lwork,
            &mut info,
        );
    }
    if info == 0 { Ok(pivots) } else { Err(info) }
}

/// Overwrite `b` with `A⁻¹ b` for a factor by [`indefinite_factor`].
pub(crate) fn indefinite_solve(factor: &Array2<f64>, pivots: &[c_int], b: &mut Array1<f64>) {
    let n = factor.nrows();
    assert!(
        b.len() == n && pivots.len() == n && b.is_standard_layout(),
        "sytrs: {n} elements"
    );
    let (order, columns, mut info) = (blas_int(n), 1, 0);
    // SAFETY: `factor` is an n × n contiguous buffer with its n pivots, `b` has n contiguous elements.
    unsafe {
        dsytrs_(
            c"U".as_ptr(),
            &order,
            &columns,
            factor.as_ptr(),
            &order,
            pivots.as_ptr(),
            b.as_mut_ptr(),
            &order,
            &mut info,
        );
    }
    debug_assert_eq!(info, 0, "arguments are checked above");
}

pub(crate) fn set_threads(n: usize) {
    let n = c_int::try_from(n).unwrap_or(c_int::MAX).max(1);
    // SAFETY: takes any positive integer and clamps it to what OpenBLAS was built for.
    unsafe { openblas_set_num_threads(n) }
}

pub(crate) fn threads() -> usize {
    // SAFETY: reads one integer.
    usize::try_from(unsafe { openblas_get_num_threads() }).unwrap_or(1)
}

pub(crate) fn config() -> String {
    // SAFETY: OpenBLAS returns a pointer to a static, NUL-terminated string.
    unsafe {
        let text = openblas_get_config();
        if text.is_null() {
            String::new()
        } else {
            CStr::from_ptr(text).to_string_lossy().trim().to_owned()
        }
    }
}
