//! Textbook linear algebra for references: Gaussian elimination, Jacobi rotations, Gram-Schmidt.

use ndarray::{Array1, Array2, ArrayView1, Axis};

/// `A⁻¹ B` by elimination with the largest pivot of each column.
fn eliminate(a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    let (n, mut a, mut b) = (a.nrows(), a.clone(), b.clone());
    for i in 0..n {
        let pivot = (i..n)
            .max_by(|&p, &q| a[(p, i)].abs().total_cmp(&a[(q, i)].abs()))
            .unwrap();
        assert!(a[(pivot, i)] != 0.0, "singular in column {i}");
        for j in 0..n {
            a.swap((i, j), (pivot, j));
        }
        for j in 0..b.ncols() {
            b.swap((i, j), (pivot, j));
        }
        for p in i + 1..n {
            let factor = a[(p, i)] / a[(i, i)];
            for matrix in [&mut a, &mut b] {
                let row = matrix.row(i).to_owned();
                matrix.row_mut(p).scaled_add(-factor, &row);
            }
        }
    }
    for i in (0..n).rev() {
        for p in i + 1..n {
            let row = b.row(p).to_owned();
            b.row_mut(i).scaled_add(-a[(i, p)], &row);
        }
        b.row_mut(i).mapv_inplace(|x| x / a[(i, i)]);
    }
    b
}

/// `A⁻¹`.
pub(crate) fn inverse(a: &Array2<f64>) -> Array2<f64> {
    eliminate(a, &Array2::eye(a.nrows()))
}

/// `A⁻¹ b`.
pub(crate) fn solve(a: &Array2<f64>, b: ArrayView1<'_, f64>) -> Array1<f64> {
    let b = b.insert_axis(Axis(1)).to_owned();
    eliminate(a, &b).remove_axis(Axis(1))
}

/// Eigenvalues, ascending, and eigenvectors in columns, of a symmetric matrix, by cyclic Jacobi rotations.
pub(crate) fn eigen(a: &Array2<f64>) -> (Array1<f64>, Array2<f64>) {
    let n = a.nrows();
    let mut a = (a + &a.t()) * 0.5;
    let mut v = Array2::<f64>::eye(n);
    let size = a.iter().map(|x| x * x).sum::<f64>().sqrt();
    for _ in 0..60 {
        let mut largest: f64 = 0.0;
        for p in 0..n {
            for q in p + 1..n {
                let off = a[(p, q)];
                largest = largest.max(off.abs());
                if off.abs() <= 1e-18 * size {
                    continue;
                }
                let theta = (a[(q, q)] - a[(p, p)]) / (2.0 * off);
                let sign = if theta < 0.0 { -1.0 } else { 1.0 };
                let t = sign / (theta.abs() + theta.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                let s = t * c;
                for k in 0..n {
                    let (x, y) = (a[(k, p)], a[(k, q)]);
                    (a[(k, p)], a[(k, q)]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..n {
                    let (x, y) = (a[(p, k)], a[(q, k)]);
                    (a[(p, k)], a[(q, k)]) = (c * x - s * y, s * x + c * y);
                    let (x, y) = (v[(k, p)], v[(k, q)]);
                    (v[(k, p)], v[(k, q)]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
        if largest <= 1e-17 * size {
            break;
        }
    }
    let mut order: Vec<_> = (0..n).collect();
    order.sort_by(|&p, &q| a[(p, p)].total_cmp(&a[(q, q)]));
    (a.diag().select(Axis(0), &order), v.select(Axis(1), &order))
}

/// The columns made orthonormal, twice over for rounding.
pub(crate) fn orthonormal(mut a: Array2<f64>) -> Array2<f64> {
    for j in 0..a.ncols() {
        for _ in 0..2 {
            for i in 0..j {
                let (other, own) = (a.column(i).to_owned(), a.column(j).to_owned());
                a.column_mut(j).scaled_add(-other.dot(&own), &other);
            }
        }
        let size = a.column(j).dot(&a.column(j)).sqrt();
        a.column_mut(j).mapv_inplace(|x| x / size);
    }
    a
}
