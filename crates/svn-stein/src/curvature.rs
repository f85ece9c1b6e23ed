//! Products with the curvature matrices of all particles.
//!
//! ```text
//! low rank   H_p u = w J_pᵀ (J_p u) + δ u
//! diagonal   H_p u = h_p ∘ u
//! dense      H_p u
//! factored   H_p u by its operator
//! metric     M = (1/N) Σ_p H_p
//! ```

use ndarray::linalg::{general_mat_mul, general_mat_vec_mul};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, Zip, s};

use crate::error::SteinError;
use crate::target::{Curvature, LowRank};

impl Curvature<'_> {
    /// The same curvature for a shorter time (array views do not shorten by themselves).
    pub fn reborrow(&self) -> Curvature<'_> {
        match self {
            Self::LowRank(low) => Curvature::LowRank(*low),
            Self::Diagonal(h) => Curvature::Diagonal(h.view()),
            Self::Dense(h) => Curvature::Dense(h.view()),
            Self::Factored(f) => Curvature::Factored(*f),
        }
    }

    /// Number of particles `N` and dimension `d`.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Self::LowRank(low) => (low.rows.particles(), low.rows.dim()),
            Self::Diagonal(h) => h.dim(),
            Self::Dense(h) => (h.dim().0, h.dim().1),
            Self::Factored(f) => (f.particles(), f.dim()),
        }
    }

    /// Check shape, finiteness and the signs of weight and shift.
    ///
    /// # Errors
    /// [`SteinError::Shape`], [`SteinError::NonFinite`] naming the particle, or [`SteinError::Setting`] for a negative
    /// weight, shift or diagonal entry.
    pub fn validate(&self, particles: usize, dim: usize) -> Result<(), SteinError> {
        let (found, expected) = match self {
            Self::LowRank(low) => {
                let count = low.rows.count();
                (
                    vec![low.rows.particles(), count, low.rows.dim()],
                    vec![particles, count, dim],
                )
            }
            Self::Diagonal(h) => (h.shape().to_vec(), vec![particles, dim]),
            Self::Dense(h) => (h.shape().to_vec(), vec![particles, dim, dim]),
            Self::Factored(f) => (vec![f.particles(), f.dim()], vec![particles, dim]),
        };
        if found != expected {
            return Err(SteinError::Shape {
                what: "curvature",
                found,
                expected,
            });
        }
        let finite = |x: &f64| x.is_finite();
        let bad = match self {
            Self::LowRank(low) => low.rows.non_finite(),
            Self::Diagonal(h) => h.outer_iter().position(|h| !h.iter().all(finite)),
            Self::Dense(h) => h.outer_iter().position(|h| !h.iter().all(finite)),
            // Its operators were checked where they were made; a product that is not finite is caught later.
            Self::Factored(_) => None,
        };
        if let Some(particle) = bad {
            return Err(SteinError::NonFinite {
                what: "curvature",
                particle,
            });
        }
        match self {
            Self::LowRank(low) => {
                for (name, value) in [
                    ("curvature.weight", low.weight),
                    ("curvature.shift", low.shift),
                ] {
                    if !(value.is_finite() && value >= 0.0) {
                        return Err(SteinError::Setting {
                            name,
                            value: value.to_string(),
                            expected: "a non-negative number",
                        });
                    }
                }
            }
            Self::Diagonal(h) => {
                if let Some(&value) = h.iter().find(|&&x| x < 0.0) {
                    return Err(SteinError::Setting {
                        name: "curvature.diagonal",
                        value: value.to_string(),
                        expected: "non-negative entries",
                    });
                }
            }
            Self::Dense(_) | Self::Factored(_) => {}
        }
        Ok(())
    }

    /// `out_p = (H_p + damping · I) u_p` for all particles.
    ///
    /// # Shapes
    /// `u`, `out`: `N × d`.
    pub fn apply_into(
        &self,
        u: ArrayView2<'_, f64>,
        damping: f64,
        mut out: ArrayViewMut2<'_, f64>,
    ) {
        match self {
            Self::LowRank(low) => {
                let mut projected = Array2::zeros((1, low.rows.count()));
                out.assign(&u);
                for p in 0..u.nrows() {
                    let u = u.slice(s![p..=p, ..]);
                    let out = out.slice_mut(s![p..=p, ..]);
                    low.rows.project_into(p, u, projected.view_mut());
                    let shift = low.shift + damping;
                    low.rows
                        .combine_into(p, low.weight, projected.view(), shift, out);
                }
            }
            Self::Diagonal(h) => {
                Zip::from(&mut out)
                    .and(u)
                    .and(h)
                    .for_each(|o, &u, &h| *o = (h + damping) * u);
            }
            Self::Dense(h) => {
                for p in 0..u.nrows() {
                    out.row_mut(p).assign(&u.row(p));
                    general_mat_vec_mul(
                        1.0,
                        &h.index_axis(Axis(0), p),
                        &u.row(p),
                        damping,
                        &mut out.row_mut(p),
                    );
                }
            }
            Self::Factored(f) => {
                for p in 0..u.nrows() {
                    let mut row = out.row_mut(p);
                    f.operator(p).apply_into(
                        u.row(p).insert_axis(Axis(1)),
                        row.view_mut().insert_axis(Axis(1)),
                    );
                    row.scaled_add(damping, &u.row(p));
                }
            }
        }
    }

    /// `out_m = (H_p + damping · I) u_m`: the curvature of *one* particle times many vectors.
    ///
    /// # Shapes
    /// `u`, `out`: `k × d`.
    pub(crate) fn apply_one_into(
        &self,
        p: usize,
        u: ArrayView2<'_, f64>,
        damping: f64,
        mut out: ArrayViewMut2<'_, f64>,
    ) {
        match self {
            Self::LowRank(low) => {
                let mut projected = Array2::zeros((u.nrows(), low.rows.count()));
                low.rows.project_into(p, u, projected.view_mut());
                out.assign(&u);
                let shift = low.shift + damping;
                low.rows
                    .combine_into(p, low.weight, projected.view(), shift, out);
            }
            Self::Diagonal(h) => {
                for (mut out, u) in out.rows_mut().into_iter().zip(u.rows()) {
                    Zip::from(&mut out)
                        .and(&u)
                        .and(&h.row(p))
                        .for_each(|o, &u, &h| *o = (h + damping) * u);
                }
            }
            Self::Dense(h) => {
                out.assign(&u);
                general_mat_mul(1.0, &u, &h.index_axis(Axis(0), p), damping, &mut out);
            }
            Self::Factored(f) => {
                f.operator(p)
                    .apply_into(u.t(), out.view_mut().reversed_axes());
                out.scaled_add(damping, &u);
            }
        }
    }

    /// `u_pᵀ H_p u_p` of every particle, undamped.
    pub fn quadratic(&self, u: ArrayView2<'_, f64>) -> Array1<f64> {
        Array1::from_shape_fn(u.nrows(), |p| {
            let rows = u.slice(s![p..=p, ..]);
            let u = u.row(p);
            match self {
                Self::LowRank(low) => {
                    let mut projected = Array2::zeros((1, low.rows.count()));
                    low.rows.project_into(p, rows, projected.view_mut());
                    let square: f64 = projected.iter().map(|x| x * x).sum();
                    low.weight * square + low.shift * u.dot(&u)
                }
                Self::Diagonal(h) => h.row(p).iter().zip(u).map(|(&h, &u)| h * u * u).sum(),
                Self::Dense(h) => u.dot(&h.index_axis(Axis(0), p).dot(&u)),
                Self::Factored(f) => {
                    let mut product = Array2::zeros((u.len(), 1));
                    f.operator(p)
                        .apply_into(u.insert_axis(Axis(1)), product.view_mut());
                    u.dot(&product.column(0))
                }
            }
        })
    }

    /// `out = x M` with `M = (1/N) Σ_p H_p`; every row of `x` is one vector.
    pub fn mean_apply_into(&self, x: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        let (n, _) = self.shape();
        let inverse = 1.0 / n as f64;
        match self {
            Self::LowRank(low) => {
                Zip::from(&mut out)
                    .and(x)
                    .for_each(|o, &x| *o = low.shift * x);
                let mut projected = Array2::zeros((x.nrows(), low.rows.count()));
                for p in 0..n {
                    low.rows.project_into(p, x, projected.view_mut());
                    let weight = low.weight * inverse;
                    low.rows
                        .combine_into(p, weight, projected.view(), 1.0, out.view_mut());
                }
            }
            Self::Diagonal(_) => {
                let mean = self.mean_diagonal();
                Zip::from(out.rows_mut())
                    .and(x.rows())
                    .for_each(|mut o, x| {
                        Zip::from(&mut o)
                            .and(&x)
                            .and(&mean)
                            .for_each(|o, &x, &m| *o = x * m);
                    });
            }
            Self::Dense(h) => {
                out.fill(0.0);
                for p in 0..n {
                    general_mat_mul(inverse, &x, &h.index_axis(Axis(0), p), 1.0, &mut out);
                }
            }
            Self::Factored(f) => {
                out.fill(0.0);
                let mut product = Array2::zeros((x.ncols(), x.nrows()));
                for p in 0..n {
                    f.operator(p).apply_into(x.t(), product.view_mut());
                    out.scaled_add(inverse, &product.t());
                }
            }
        }
    }

    /// Diagonal of `M = (1/N) Σ_p H_p`.
    pub fn mean_diagonal(&self) -> Array1<f64> {
        let (n, d) = self.shape();
        let inverse = 1.0 / n as f64;
        let mut mean = Array1::zeros(d);
        match self {
            Self::LowRank(low) => {
                for p in 0..n {
                    mean.scaled_add(low.weight * inverse, &low.rows.squared_columns(p));
                }
                mean += low.shift;
            }
            Self::Diagonal(h) => {
                for row in h.rows() {
                    mean.scaled_add(inverse, &row);
                }
            }
            Self::Dense(h) => {
                for block in h.outer_iter() {
                    mean.scaled_add(inverse, &block.diag());
                }
            }
            Self::Factored(f) => {
                for p in 0..n {
                    mean.scaled_add(inverse, &f.diagonal(p));
                }
            }
        }
        mean
    }

    /// A typical eigenvalue of the part that is always there, `δ` for low rank, the mean diagonal otherwise: what a
    /// damping raised from zero is measured against.
    pub(crate) fn scale(&self) -> f64 {
        match self {
            Self::LowRank(LowRank { shift, .. }) => *shift,
            Self::Diagonal(_) | Self::Dense(_) | Self::Factored(_) => {
                self.mean_diagonal().mean().unwrap_or(0.0).abs()
            }
        }
    }
}
