//! Several right-hand sides at once.

use super::*;

#[test]
fn columns_are_solved_as_if_alone() {
    let mut rng = rng(42);
    let a = with_spectrum(&mut rng, &log_spaced(15, 1e3));
    // Columns that finish at different times: zero, an eigenvector, generic ones.
    let mut b = random(&mut rng, 15, 5);
    b.column_mut(1).fill(0.0);
    let eigen = svn_linalg::SymmetricEigen::factorize(a.view()).unwrap();
    b.column_mut(3).assign(&eigen.vectors().column(7));
    let operator = Symmetric::new(a).unwrap();
    for (solver, solve) in SOLVERS {
        let together = solve(&operator, b.view(), None, None, 1e-9, 500).unwrap();
        assert!(together.converged.iter().all(|&c| c), "{solver}");
        for j in 0..5 {
            let column = b.column(j).insert_axis(Axis(1));
            let alone = solve(&operator, column, None, None, 1e-9, 500).unwrap();
            let expected = alone.x;
            let found = together.x.column(j).insert_axis(Axis(1));
            assert!(
                frobenius((&found - &expected).view())
                    <= 1e-9 * 1e3 * (1e-300 + frobenius(expected.view())),
                "{solver}, column {j}"
            );
            assert!(
                together.iterations[j].abs_diff(alone.iterations[0]) <= 1,
                "{solver}, column {j}"
            );
        }
        assert_eq!(together.iterations[1], 0, "{solver}");
        assert!(
            together.iterations[3] <= 2,
            "{solver}: {:?}",
            together.iterations
        );
    }
}

#[test]
fn columns_share_their_products() {
    struct Counting<'a>(&'a dyn SelfAdjoint, Cell<usize>);
    impl LinearOperator for Counting<'_> {
        fn nrows(&self) -> usize {
            self.0.nrows()
        }
        fn ncols(&self) -> usize {
            self.0.ncols()
        }
        fn apply_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
            self.1.set(self.1.get() + 1);
            self.0.apply_into(x, out);
        }
        fn apply_transpose_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
            self.apply_into(x, out);
        }
    }
    impl SelfAdjoint for Counting<'_> {}

    let mut rng = rng(43);
    let dense = Symmetric::new(with_spectrum(&mut rng, &log_spaced(15, 1e2))).unwrap();
    let b = random(&mut rng, 15, 6);
    for (solver, solve) in SOLVERS {
        let operator = Counting(&dense, Cell::new(0));
        let outcome = solve(&operator, b.view(), None, None, 1e-8, 500).unwrap();
        let longest = outcome.iterations.iter().max().copied().unwrap();
        // One a round, one true residual at the start, and at most one at the end of each column.
        assert!(
            operator.1.get() <= longest + 1 + 6,
            "{solver}: {} products, {longest} iterations",
            operator.1.get()
        );
    }
}
