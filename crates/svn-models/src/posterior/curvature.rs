//! Rows kept by layer as what `svn-stein` wants of curvature rows.

use ndarray::{Array1, ArrayView2, ArrayViewMut2};
use svn_curvature::LayeredRows;
use svn_stein::CurvatureRows;

/// [`LayeredRows`] as [`CurvatureRows`].
#[derive(Debug)]
pub(super) struct RowsByLayer(pub LayeredRows);

impl CurvatureRows for RowsByLayer {
    fn particles(&self) -> usize {
        self.0.particles()
    }

    fn count(&self) -> usize {
        self.0.rows()
    }

    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn project_into(&self, particle: usize, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.0.project_into(particle, x, out);
    }

    fn combine_into(
        &self,
        particle: usize,
        scale: f64,
        z: ArrayView2<'_, f64>,
        beta: f64,
        out: ArrayViewMut2<'_, f64>,
    ) {
        self.0.combine_into(particle, scale, z, beta, out);
    }

    fn gram_into(&self, p: usize, q: usize, mut out: ArrayViewMut2<'_, f64>) {
        if p == q {
            out.assign(&self.0.gram(p));
        } else {
            out.assign(&self.0.cross_gram(p, q));
        }
    }

    fn squared_columns(&self, particle: usize) -> Array1<f64> {
        self.0.squared_columns(particle)
    }

    /// Rows that are not finite are refused when they are written.
    fn non_finite(&self) -> Option<usize> {
        None
    }
}
