//! The one table of operators that the protocol tests run over, each with its matrix by explicit loops.

use ndarray::{Array2, concatenate, s};
use rand::rngs::ChaCha8Rng;
use svn_linalg::{
    BlockDiagonal, Damped, Dense, Diagonal, Factor, FactorError, FactorizeDamped, Kronecker,
    KroneckerEigen, LinearOperator, LowRankPlusShift, Scaled, SelfAdjoint, Symmetric,
    SymmetricEigen,
};

use crate::reference::*;

/// Any operator.
pub(crate) struct Case {
    pub name: &'static str,
    pub operator: Box<dyn LinearOperator>,
    pub dense: Array2<f64>,
}

type Factorize = Box<dyn Fn(f64) -> Result<Box<dyn Factor>, FactorError>>;

/// A self-adjoint operator, and how it is factored directly.
pub(crate) struct SelfAdjointCase {
    pub name: &'static str,
    pub operator: Box<dyn SelfAdjoint>,
    pub dense: Array2<f64>,
    pub factorize: Factorize,
}

fn positive(rng: &mut ChaCha8Rng, n: usize) -> Array2<f64> {
    let a = random(rng, n, n + 2);
    product(a.view(), a.t())
}

fn block_diagonal(blocks: &[Array2<f64>]) -> Array2<f64> {
    let rows = blocks.iter().map(Array2::nrows).sum();
    let columns = blocks.iter().map(Array2::ncols).sum();
    let mut out = Array2::zeros((rows, columns));
    let (mut i, mut j) = (0, 0);
    for block in blocks {
        let (r, c) = block.dim();
        out.slice_mut(s![i..i + r, j..j + c]).assign(block);
        (i, j) = (i + r, j + c);
    }
    out
}

/// Rectangular operators, and every self-adjoint one.
pub(crate) fn all() -> Vec<Case> {
    let mut rng = rng(1);
    let a = random(&mut rng, 5, 3);
    let (left, right) = (random(&mut rng, 4, 2), random(&mut rng, 3, 5));
    let dense = |a: &Array2<f64>| Dense::new(a.clone()).unwrap();
    let mut cases = vec![
        Case {
            name: "dense 5 × 3",
            operator: Box::new(dense(&a)),
            dense: a.clone(),
        },
        Case {
            name: "scaled 5 × 3",
            operator: Box::new(Scaled::new(-2.5, dense(&a)).unwrap()),
            dense: a.mapv(|v| -2.5 * v),
        },
        Case {
            name: "block diagonal of 5 × 3, 4 × 2, 3 × 5",
            operator: Box::new(
                BlockDiagonal::new(vec![dense(&a), dense(&left), dense(&right)]).unwrap(),
            ),
            dense: block_diagonal(&[a.clone(), left.clone(), right.clone()]),
        },
        Case {
            name: "Kronecker 4 × 2 ⊗ 3 × 5",
            dense: kronecker(left.view(), right.view()),
            operator: Box::new(Kronecker::new(left.clone(), right.clone()).unwrap()),
        },
        Case {
            name: "Kronecker 3 × 5 ⊗ 4 × 2",
            dense: kronecker(right.view(), left.view()),
            operator: Box::new(Kronecker::new(right.clone(), left.clone()).unwrap()),
        },
        Case {
            name: "Kronecker of column-major factors",
            dense: kronecker(left.t(), right.t()),
            operator: Box::new(
                Kronecker::new(left.reversed_axes(), right.reversed_axes()).unwrap(),
            ),
        },
    ];
    cases.extend(self_adjoint().into_iter().map(|case| Case {
        name: case.name,
        operator: Box::new(case.operator),
        dense: case.dense,
    }));
    cases
}

fn case<A>(name: &'static str, operator: A, dense: Array2<f64>) -> SelfAdjointCase
where
    A: FactorizeDamped + Clone + 'static,
    A::Factor: 'static,
{
    let copy = operator.clone();
    SelfAdjointCase {
        name,
        operator: Box::new(operator),
        dense,
        factorize: Box::new(move |damping| Ok(Box::new(copy.factorize_damped(damping)?))),
    }
}

/// A factor that owns its eigendecomposition, to stand in the table.
struct OwnedEigen(SymmetricEigen, f64);

impl Factor for OwnedEigen {
    fn dim(&self) -> usize {
        self.0.values().len()
    }
    fn solve_into(&self, b: ndarray::ArrayView2<'_, f64>, out: ndarray::ArrayViewMut2<'_, f64>) {
        self.0.damped(self.1).unwrap().solve_into(b, out);
    }
    fn inverse_sqrt_into(
        &self,
        z: ndarray::ArrayView2<'_, f64>,
        out: ndarray::ArrayViewMut2<'_, f64>,
    ) {
        self.0.damped(self.1).unwrap().inverse_sqrt_into(z, out);
    }
    fn log_det(&self) -> f64 {
        self.0.damped(self.1).unwrap().log_det()
    }
}

/// `A⁻¹` of a factored `A`, a preconditioner.
pub(crate) struct Inverse<F>(pub F);

impl<F: Factor> LinearOperator for Inverse<F> {
    fn nrows(&self) -> usize {
        self.0.dim()
    }
    fn ncols(&self) -> usize {
        self.0.dim()
    }
    fn apply_into(&self, x: ndarray::ArrayView2<'_, f64>, out: ndarray::ArrayViewMut2<'_, f64>) {
        self.0.solve_into(x, out);
    }
    fn apply_transpose_into(
        &self,
        x: ndarray::ArrayView2<'_, f64>,
        out: ndarray::ArrayViewMut2<'_, f64>,
    ) {
        self.0.solve_into(x, out);
    }
}

impl<F: Factor> SelfAdjoint for Inverse<F> {}

/// Positive semi-definite self-adjoint operators.
pub(crate) fn self_adjoint() -> Vec<SelfAdjointCase> {
    let mut rng = rng(2);
    let (a, b) = (positive(&mut rng, 6), positive(&mut rng, 6));
    let (small, tall) = (positive(&mut rng, 3), positive(&mut rng, 4));
    let diagonal = random_vector(&mut rng, 6).mapv(|v| v.abs() + 0.1);
    let diagonal_matrix = Array2::from_diag(&diagonal);
    let rows = random(&mut rng, 3, 6);
    let dependent = concatenate![ndarray::Axis(0), rows, rows, rows];
    let low_rank = |rows: &Array2<f64>, w: f64| {
        let mut dense = product(rows.t(), rows.view()) * w;
        for i in 0..6 {
            dense[[i, i]] += 0.3;
        }
        (LowRankPlusShift::new(rows.clone(), w, 0.3).unwrap(), dense)
    };
    let (thin, thin_dense) = low_rank(&rows, 0.7);
    let (fat, fat_dense) = low_rank(&dependent, 1.3);
    let (empty, empty_dense) = low_rank(&Array2::zeros((0, 6)), 1.0);
    let kron_dense = kronecker(small.view(), tall.view());
    let eigen = KroneckerEigen::factorize(small.view(), tall.view()).unwrap();
    let symmetric = |a: &Array2<f64>| Symmetric::new(a.clone()).unwrap();
    let mut shifted = a.clone();
    shifted.diag_mut().mapv_inplace(|v| v + 0.5);

    let deficient_left = product(random(&mut rng, 4, 2).view(), random(&mut rng, 2, 4).view());
    let deficient_left = product(deficient_left.view(), deficient_left.t());
    let deficient_dense = kronecker(deficient_left.view(), small.view());

    let mut cases = vec![
        case("symmetric", symmetric(&a), a.clone()),
        case(
            "diagonal",
            Diagonal::new(diagonal.clone()).unwrap(),
            diagonal_matrix,
        ),
        case(
            "scaled",
            Scaled::new(3.0, symmetric(&a)).unwrap(),
            a.mapv(|v| 3.0 * v),
        ),
        case("damped", Damped::new(symmetric(&a), 0.5).unwrap(), shifted),
        case(
            "block diagonal",
            BlockDiagonal::new(vec![symmetric(&a), symmetric(&small), symmetric(&tall)]).unwrap(),
            block_diagonal(&[a.clone(), small.clone(), tall.clone()]),
        ),
        case("low rank plus diagonal", thin, thin_dense),
        case("more, and dependent, rows than columns", fat, fat_dense),
        case("no rows plus diagonal", empty, empty_dense),
        case("Kronecker in its eigenbasis", eigen, kron_dense),
        case(
            "Kronecker with a rank-deficient factor",
            KroneckerEigen::factorize(deficient_left.view(), small.view()).unwrap(),
            deficient_dense,
        ),
    ];
    let decomposed = SymmetricEigen::factorize(b.view()).unwrap();
    cases.push(SelfAdjointCase {
        name: "eigendecomposition",
        factorize: Box::new({
            let decomposed = decomposed.clone();
            move |damping| {
                decomposed.damped(damping)?;
                Ok(Box::new(OwnedEigen(decomposed.clone(), damping)))
            }
        }),
        operator: Box::new(decomposed),
        dense: b.clone(),
    });
    cases
}
