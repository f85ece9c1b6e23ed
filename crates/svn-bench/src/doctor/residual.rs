//! Numeric self-check of the matrix routines in use: the project's own, and those of the native libraries that are built
//! in, of which old OpenBLAS builds compute wrong results on some processors.
//!
//! ```text
//! GEMM   ‖A B − (A B)_loops‖_max / (n ‖A‖_max ‖B‖_max)
//! eigh   ‖A V − V Λ‖_max / (n ‖A‖_max)        and   ‖Vᵀ V − I‖_max
//! ```
//!
//! Both libraries export the same BLAS names, so each is asked through its own door: `ndarray-linalg` for OpenBLAS and
//! tensors for libtorch, in one process.

use ndarray::{Array1, Array2};
use rand::{RngExt, SeedableRng, rngs::ChaCha12Rng};
use svn_linalg::{SymmetricEigen, dense};

/// Order of the test matrices: large enough for the blocked kernels of every BLAS.
const ORDER: usize = 200;
/// Residuals are a few units in the last place times the growth of a blocked sum; a broken kernel is off by whole digits.
const TOLERANCE: f64 = 1e-13;

/// One residual of one library.
#[derive(Debug, Clone)]
pub struct Check {
    /// Library and operation, such as `OpenBLAS GEMM`.
    pub name: &'static str,
    /// Relative residual.
    pub residual: f64,
}

impl Check {
    /// Whether the residual is within rounding.
    pub fn passed(&self) -> bool {
        self.residual <= TOLERANCE
    }
}

/// All residuals, those of the project's own routines first.
///
/// # Errors
/// What a library reports of its own accord.
pub fn self_check() -> anyhow::Result<Vec<Check>> {
    let mut rng = ChaCha12Rng::seed_from_u64(1);
    let mut random =
        || Array2::from_shape_simple_fn((ORDER, ORDER), || rng.random_range(-1.0..1.0));
    let (a, b): (Array2<f64>, Array2<f64>) = (random(), random());
    let symmetric = &a + &a.t();
    let reference = product_by_loops(&a, &b);

    let gemm = |name, product: Array2<f64>| Check {
        name,
        residual: largest(&(product - &reference)) / ORDER as f64,
    };
    let eigh = |name, values: Array1<f64>, vectors: Array2<f64>| Check {
        name,
        residual: eigen_residual(&symmetric, &values, &vectors),
    };
    let own = SymmetricEigen::factorize(symmetric.view())?;
    let (values, vectors) = (own.values().to_owned(), own.vectors().to_owned());
    let checks = [
        gemm("own GEMM", dense::product(a.view(), b.view())),
        eigh("own eigh", values, vectors),
    ];
    #[cfg(feature = "lapack")]
    let checks = {
        use ndarray_linalg::{Eigh, UPLO};
        let (values, vectors) = symmetric.eigh(UPLO::Lower)?;
        let of_lapack = eigh("OpenBLAS eigh", values, vectors);
        [
            checks.as_slice(),
            &[gemm("OpenBLAS GEMM", a.dot(&b)), of_lapack],
        ]
        .concat()
    };
    #[cfg(feature = "torch")]
    let checks = {
        let (values, vectors) = tensor(&symmetric)?.f_linalg_eigh("L")?;
        let product = tensor(&a)?.f_matmul(&tensor(&b)?)?;
        let product = gemm("libtorch GEMM", matrix(&product, ORDER)?);
        let values = matrix(&values, 1)?.remove_axis(ndarray::Axis(1));
        let eigen = eigh("libtorch eigh", values, matrix(&vectors, ORDER)?);
        [checks.as_slice(), &[product, eigen]].concat()
    };
    Ok(checks.to_vec())
}

#[cfg(feature = "torch")]
fn tensor(matrix: &Array2<f64>) -> anyhow::Result<tch::Tensor> {
    let values: Vec<f64> = matrix.iter().copied().collect();
    Ok(tch::Tensor::f_from_slice(&values)?.f_view([ORDER as i64, -1])?)
}

/// A tensor of [`ORDER`] rows.
#[cfg(feature = "torch")]
fn matrix(tensor: &tch::Tensor, columns: usize) -> anyhow::Result<Array2<f64>> {
    let mut values = vec![0.0; ORDER * columns];
    let count = values.len();
    tensor.f_contiguous()?.f_copy_data(&mut values, count)?;
    Ok(Array2::from_shape_vec((ORDER, columns), values)?)
}

fn product_by_loops(a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    Array2::from_shape_fn((ORDER, ORDER), |(i, j)| {
        (0..ORDER).map(|k| a[[i, k]] * b[[k, j]]).sum()
    })
}

fn eigen_residual(a: &Array2<f64>, values: &Array1<f64>, vectors: &Array2<f64>) -> f64 {
    let times = product_by_loops(a, vectors) - vectors * values;
    let orthogonality =
        product_by_loops(&vectors.t().to_owned(), vectors) - Array2::<f64>::eye(ORDER);
    (largest(&times) / (ORDER as f64 * largest(a))).max(largest(&orthogonality))
}

/// Largest magnitude; NaN counts as infinite.
fn largest(a: &Array2<f64>) -> f64 {
    a.iter().fold(0.0, |m: f64, v| {
        if v.is_nan() {
            f64::INFINITY
        } else {
            m.max(v.abs())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_routines_agree_with_plain_loops_in_one_process() {
        for check in self_check().unwrap() {
            assert!(check.passed(), "{}: {:e}", check.name, check.residual);
        }
    }

    #[test]
    fn a_wrong_residual_fails() {
        assert!(
            !Check {
                name: "x",
                residual: f64::INFINITY
            }
            .passed()
        );
        assert_eq!(largest(&ndarray::array![[0.0, f64::NAN]]), f64::INFINITY);
    }
}
