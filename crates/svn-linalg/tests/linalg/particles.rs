//! What every family of curvature must do, checked by one function for all of them against explicit matrices.

use ndarray::{Array1, Array2, Array3, ArrayViewMut2, array, s};
use svn_linalg::{
    DenseMatrices, DiagonalMatrices, LinearOperator, LowRank, MatrixFault, ParticleOperators,
    ParticleRows, Rows, Shifted, multiply_each_into,
};

use crate::reference::*;

const N: usize = 3;
const D: usize = 5;
const DAMPING: f64 = 0.4;

type Family = (&'static str, Box<dyn ParticleOperators>, Vec<Array2<f64>>);

/// Rows whose inner products are said to be known, so that they are the side to factor with a few more than coordinates too.
#[derive(Debug)]
struct Kept(Array3<f64>);

impl ParticleRows for Kept {
    fn particles(&self) -> usize {
        self.0.particles()
    }

    fn count(&self) -> usize {
        self.0.count()
    }

    fn dim(&self) -> usize {
        ParticleRows::dim(&self.0)
    }

    fn rows(&self, particle: usize) -> Box<dyn Rows + '_> {
        self.0.rows(particle)
    }

    fn cross_gram_into(&self, p: usize, q: usize, out: ArrayViewMut2<'_, f64>) {
        self.0.cross_gram_into(p, q, out);
    }

    fn keeps_gram(&self) -> bool {
        true
    }

    fn non_finite(&self) -> Option<usize> {
        self.0.non_finite()
    }
}

/// Explicit matrices beside the family that stands for them.
fn families() -> Vec<Family> {
    let mut rng = rng(31);
    let mut out: Vec<Family> = Vec::new();
    // Fewer rows than coordinates, and more: the smaller side is factored.
    for (name, r) in [("flat rows", 2), ("tall rows", 8), ("no rows", 0)] {
        let mut rows = Array3::zeros((N, r, D));
        for mut j in rows.outer_iter_mut() {
            j.assign(&random(&mut rng, r, D));
        }
        let matrix =
            |j: ndarray::ArrayView2<'_, f64>| product(j.t(), j) * 1.7 + Array2::<f64>::eye(D) * 0.2;
        let matrices: Vec<_> = rows.outer_iter().map(matrix).collect();
        let (weight, shift) = (1.7, 0.2);
        let kept = LowRank {
            rows: Kept(rows.clone()),
            weight,
            shift,
        };
        let family = LowRank {
            rows,
            weight,
            shift,
        };
        assert_eq!((family.factor_size(), kept.factor_size()), (r.min(D), r));
        out.push((name, Box::new(family), matrices.clone()));
        out.push((name, Box::new(kept), matrices));
    }
    let diagonals = Array2::from_shape_fn((N, D), |(p, i)| 0.1 + (p + 2 * i) as f64);
    let matrices = diagonals.outer_iter().map(|h| Array2::from_diag(&h));
    let matrices: Vec<_> = matrices.collect();
    let family = DiagonalMatrices::new(diagonals.clone());
    out.push(("diagonal", Box::new(family), matrices.clone()));
    let mut dense = Array3::zeros((N, D, D));
    for mut h in dense.outer_iter_mut() {
        // Rank 4 of 5: semi-definite.
        let root = random(&mut rng, D, 4);
        h.assign(&product(root.view(), root.t()));
    }
    let matrices: Vec<_> = dense.outer_iter().map(|h| h.to_owned()).collect();
    let shifted = |h: &Array2<f64>| h * 2.5 + Array2::<f64>::eye(D) * 0.3;
    let expected = matrices.iter().map(shifted).collect();
    let inner = DenseMatrices::new(dense.clone());
    out.push(("dense", Box::new(DenseMatrices::new(dense)), matrices));
    out.push(("shifted", Box::new(Shifted::new(inner, 2.5, 0.3)), expected));
    let inner = DiagonalMatrices::new(diagonals);
    let nothing = Shifted::new(inner, 0.0, 0.3);
    let expected = vec![Array2::<f64>::eye(D) * 0.3; N];
    out.push(("shifted, weight 0", Box::new(nothing), expected));
    out
}

/// Sums of at most 50 products of numbers below 30, and solves of condition at most 30 / 0.4.
const ROUNDING: f64 = 1e-11;

#[track_caller]
fn close(name: &str, found: &Array2<f64>, expected: &Array2<f64>) {
    let size = expected.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= ROUNDING * size, "{name}: {a} {b}");
    }
}

#[test]
fn every_family_is_its_matrices() {
    for (name, family, matrices) in families() {
        assert_eq!((family.particles(), family.dim()), (N, D), "{name}");
        family
            .check()
            .unwrap_or_else(|fault| panic!("{name}: {fault}"));
        let mut rng = rng(32);
        let x = random(&mut rng, N, D);
        let eye = Array2::<f64>::eye(D);
        let mut mean = Array2::zeros((D, D));
        let mut each = Array2::zeros((N, D));
        multiply_each_into(&*family, DAMPING, x.view(), each.view_mut());
        for (p, h) in matrices.iter().enumerate() {
            mean += &(h / N as f64);
            let damped = h + &(&eye * DAMPING);
            close(name, &family.operator(p).to_dense(), h);
            let diagonal = Array2::from_diag(&family.diagonal(p));
            close(name, &diagonal, &Array2::from_diag(&h.diag()));
            // Twice, so that a damping that piles up would show.
            for _ in 0..2 {
                let factor = family.factor(p, DAMPING).unwrap();
                let (inverse, log_det) = eliminate(damped.view(), eye.view());
                close(name, &factor.solve(eye.view()).unwrap(), &inverse);
                let root = factor.inverse_sqrt(eye.view()).unwrap();
                close(name, &product(root.view(), root.t()), &inverse);
                assert!((factor.log_det() - log_det).abs() < 1e-10, "{name}");
                let quadratic = factor.inverse_quadratic(x.view());
                let expected = product(product(x.view(), inverse.view()).view(), x.t());
                for (a, b) in quadratic.iter().zip(expected.diag()) {
                    assert!(
                        (a - b).abs() < ROUNDING * b.abs().max(1.0),
                        "{name}: {a} {b}"
                    );
                }
            }
            let mut out = Array2::from_elem((N, D), f64::NAN);
            family.multiply_into(p, DAMPING, x.view(), out.view_mut());
            close(name, &out, &product(x.view(), damped.view()));
            let row = x.slice(s![p..=p, ..]);
            close(
                name,
                &each.slice(s![p..=p, ..]).to_owned(),
                &product(row, damped.view()),
            );
            let expected = product(product(row, h.view()).view(), row.t())[(0, 0)];
            assert!((family.quadratic(p, x.row(p)) - expected).abs() < ROUNDING * 100.0);
            let mut changed = x.row(p).to_vec();
            let mut sum = 0.0;
            let known = family.in_eigenbasis(p, &mut changed, &mut |x, s| {
                for (x, s) in x.iter_mut().zip(s) {
                    sum += s * *x * *x;
                    *x /= s + DAMPING;
                }
            });
            let elementwise = ["diagonal", "shifted, weight 0"].contains(&name);
            assert_eq!(known, elementwise, "{name}");
            let eigenvalues = family.eigenvalues(p);
            assert_eq!(eigenvalues.is_some(), elementwise, "{name}");
            if let Some(values) = eigenvalues {
                let (_, log_det) = eliminate(damped.view(), eye.view());
                let found: f64 = values.iter().map(|h| (h + DAMPING).ln()).sum();
                assert!((found - log_det).abs() < 1e-10, "{name}");
                assert!((values.sum() - h.diag().sum()).abs() < 1e-10, "{name}");
            }
            if known {
                let solved = family.factor(p, DAMPING).unwrap().solve(row.t()).unwrap();
                let changed = Array2::from_shape_vec((D, 1), changed).unwrap();
                close(name, &changed, &solved);
                assert!((sum - expected).abs() < ROUNDING * 100.0, "{name}");
            } else {
                assert_eq!(changed, x.row(p).to_vec(), "{name}");
            }
        }
        let mut out = Array2::from_elem((N, D), f64::NAN);
        family.multiply_mean_into(x.view(), out.view_mut());
        close(name, &out, &product(x.view(), mean.view()));
        let diagonal = Array2::from_diag(&family.mean_diagonal());
        close(name, &diagonal, &Array2::from_diag(&mean.diag()));
    }
}

#[test]
fn sums_of_particles_are_factored_where_a_family_can() {
    let eye = Array2::<f64>::eye(D);
    for weights in [array![0.5, 0.2, 0.1], array![0.0, 0.3, 0.0]] {
        for (name, family, matrices) in families() {
            let mut sum = &eye * (DAMPING * weights.sum());
            for (h, &weight) in matrices.iter().zip(&weights) {
                sum += &(h * weight);
            }
            let factor = family.factor_sum(weights.view(), DAMPING);
            let factor = factor
                .unwrap_or_else(|| panic!("{name} has a sum"))
                .unwrap();
            let (inverse, _) = eliminate(sum.view(), eye.view());
            close(name, &factor.solve(eye.view()).unwrap(), &inverse);
        }
    }
}

#[test]
fn some_coordinates_have_the_principal_minors() {
    let chosen = [1, 2, 4];
    for (name, family, matrices) in families() {
        let part = family.restrict(&chosen);
        assert_eq!((part.particles(), part.dim()), (N, 3), "{name}");
        for (p, h) in matrices.iter().enumerate() {
            let minor = h
                .select(ndarray::Axis(0), &chosen)
                .select(ndarray::Axis(1), &chosen);
            close(name, &part.operator(p).to_dense(), &minor);
        }
    }
}

#[test]
fn what_is_no_curvature_is_named() {
    let rows = || Array3::<f64>::ones((2, 1, 2));
    let low_rank = |weight, shift| {
        let rows = rows();
        LowRank {
            rows,
            weight,
            shift,
        }
        .check()
        .unwrap_err()
        .to_string()
    };
    assert_eq!(
        low_rank(1.0, 0.0),
        "shift of the curvature is 0, expected a positive number"
    );
    assert_eq!(
        low_rank(-1.0, 1.0),
        "weight of the curvature is -1, expected a non-negative number"
    );
    assert!(low_rank(1.0, f64::NAN).contains("shift"));
    let mut poisoned = rows();
    poisoned[(1, 0, 1)] = f64::INFINITY;
    let family = LowRank {
        rows: poisoned,
        weight: 1.0,
        shift: 1.0,
    };
    assert_eq!(family.check(), Err(MatrixFault::NonFinite { particle: 1 }));
    let diagonal = DiagonalMatrices::new(array![[1.0, 2.0], [0.0, -1e-3]]);
    let fault = MatrixFault::Indefinite {
        particle: 1,
        coordinate: 1,
    };
    assert_eq!(diagonal.check(), Err(fault.clone()));
    let dense = |h: Array2<f64>| {
        let mut both = Array3::zeros((2, 2, 2));
        both.slice_mut(s![1, .., ..]).assign(&h);
        DenseMatrices::new(both).check()
    };
    // A saddle: eigenvalues 3 and −1.
    assert_eq!(dense(array![[1.0, 2.0], [2.0, 1.0]]), Err(fault));
    let fault = MatrixFault::NotSymmetric { particle: 1 };
    assert_eq!(dense(array![[1.0, 0.2], [0.1, 1.0]]), Err(fault));
    let fault = MatrixFault::NonFinite { particle: 1 };
    assert_eq!(dense(array![[f64::NAN, 0.0], [0.0, 1.0]]), Err(fault));
    // Semi-definite up to rounding is curvature.
    assert_eq!(dense(array![[1.0, 1.0], [1.0, 1.0]]), Ok(()));
    let shifted = Shifted::new(DiagonalMatrices::new(array![[1.0]]), 1.0, 0.0);
    assert!(shifted.check().is_err());
}

#[test]
fn a_factor_that_does_not_exist_is_an_error() {
    let zero = DiagonalMatrices::new(Array2::zeros((1, 2)));
    assert!(zero.factor(0, 0.0).is_err() && zero.factor(0, 0.1).is_ok());
    let family = LowRank {
        rows: Array3::<f64>::ones((1, 1, 2)),
        weight: 1.0,
        shift: 0.0,
    };
    assert!(family.factor(0, 0.0).is_err() && family.factor(0, 0.1).is_ok());
    let weights = Array1::zeros(1);
    let sum = zero.factor_sum(weights.view(), 1.0);
    assert!(sum.is_none_or(|factor| factor.is_err()));
}
