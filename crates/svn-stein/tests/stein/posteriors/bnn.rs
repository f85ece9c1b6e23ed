//! A network `1-10-1` with known noise against a long HMC run, in function space.
//!
//! ```text
//! f(x) = b₂ + Σ_j v_j tanh(w_j x + b_j),   y ~ N(f(x), σ²),   φ = (w, b, v, b₂) ~ N(0, I)
//! H = JᵀJ / σ² + I,   rows of J:  v_j (1 − h_j²) x,  v_j (1 − h_j²),  h_j,  1
//! ```
//!
//! Weights are not identified (units permute and change sign), predictions are: mean and standard deviation of `f` on a
//! grid over the data, the gap between them, and beyond.

use ndarray::{Array1, Array2, Array3, ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2, Axis};
use serde::Deserialize;
use svn_stein::linalg::{Cholesky, CholeskyParams, Factor as _, LowRank};
use svn_stein::target::{Curvature, Curved, Score, TargetError};
use svn_stein::*;

use super::reference::{Distance, Moments, Sums, print, read, sample};
use crate::common::normals;

const HIDDEN: usize = 10;
pub(crate) const DIM: usize = 3 * HIDDEN + 1;

#[derive(Deserialize)]
pub(crate) struct Reference {
    noise: f64,
    pub x: Vec<f64>,
    y: Vec<f64>,
    grid: Vec<f64>,
    #[serde(flatten)]
    pub moments: Moments,
}

/// `f(x)`, and its gradient with respect to the parameters where it is asked for.
fn predict(phi: ArrayView1<'_, f64>, x: f64, gradient: Option<ArrayViewMut1<'_, f64>>) -> f64 {
    let mut out = phi[3 * HIDDEN];
    let mut g = gradient;
    for j in 0..HIDDEN {
        let v = phi[2 * HIDDEN + j];
        let h = (phi[j] * x + phi[HIDDEN + j]).tanh();
        out += v * h;
        if let Some(g) = &mut g {
            let slope = v * (1.0 - h * h);
            g[j] = slope * x;
            g[HIDDEN + j] = slope;
            g[2 * HIDDEN + j] = h;
        }
    }
    if let Some(g) = &mut g {
        g[3 * HIDDEN] = 1.0;
    }
    out
}

pub(crate) struct Network {
    x: Vec<f64>,
    y: Vec<f64>,
    precision: f64,
    rows: Array3<f64>,
    /// Where functions are compared, and the Jacobians there.
    context: Vec<f64>,
    slopes: Array3<f64>,
}

impl Network {
    fn new(reference: &Reference) -> Self {
        Self::with_context(reference, reference.x.clone())
    }

    pub(crate) fn with_context(reference: &Reference, context: Vec<f64>) -> Self {
        Self {
            x: reference.x.clone(),
            y: reference.y.clone(),
            precision: reference.noise.powi(-2),
            rows: Array3::zeros((0, 0, 0)),
            context,
            slopes: Array3::zeros((0, 0, 0)),
        }
    }
}

/// `z = f(C) / σ`.
impl FunctionSpace for Network {
    fn images(&mut self, particles: ArrayView2<'_, f64>) -> Result<Array2<f64>, TargetError> {
        self.slopes = Array3::zeros((particles.nrows(), self.context.len(), DIM));
        let slopes = &mut self.slopes;
        let mut z = Array2::zeros((particles.nrows(), self.context.len()));
        for ((p, i), z) in z.indexed_iter_mut() {
            let mut rows = slopes.index_axis_mut(Axis(0), p);
            *z = predict(particles.row(p), self.context[i], Some(rows.row_mut(i)));
        }
        Ok(z * self.precision.sqrt())
    }

    fn pull_back_into(
        &mut self,
        cotangents: ArrayView2<'_, f64>,
        mut out: ArrayViewMut2<'_, f64>,
    ) -> Result<(), TargetError> {
        for (p, r) in cotangents.rows().into_iter().enumerate() {
            let slopes = self.slopes.index_axis(Axis(0), p);
            out.row_mut(p)
                .assign(&(slopes.t().dot(&r) * self.precision.sqrt()));
        }
        Ok(())
    }
}

impl Score for Network {
    fn dim(&self) -> usize {
        DIM
    }

    fn function_space(&mut self) -> Option<&mut dyn FunctionSpace> {
        Some(self)
    }

    fn score_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        mut log_density: ArrayViewMut1<'_, f64>,
        mut score: ArrayViewMut2<'_, f64>,
    ) -> Result<(), TargetError> {
        self.rows = Array3::zeros((particles.nrows(), self.x.len(), DIM));
        for (p, phi) in particles.rows().into_iter().enumerate() {
            log_density[p] = -0.5 * phi.dot(&phi);
            score.row_mut(p).assign(&(-&phi));
            for (i, (&x, &y)) in self.x.iter().zip(&self.y).enumerate() {
                let mut row = self.rows.index_axis_mut(Axis(0), p);
                let residual = y - predict(phi, x, Some(row.row_mut(i)));
                log_density[p] -= 0.5 * self.precision * residual * residual;
                score
                    .row_mut(p)
                    .scaled_add(self.precision * residual, &row.row(i));
            }
        }
        Ok(())
    }
}

impl Curved for Network {
    fn curvature_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        log_density: ArrayViewMut1<'_, f64>,
        score: ArrayViewMut2<'_, f64>,
    ) -> Result<Curvature<'_>, TargetError> {
        self.score_into(particles, log_density, score)?;
        Ok(Box::new(LowRank {
            rows: &self.rows,
            weight: self.precision,
            shift: 1.0,
        }))
    }
}

/// Distance of the predictive moments from the reference after `method`, and of its members.
pub(crate) fn run_from(
    reference: &Reference,
    network: &mut Network,
    method: Method,
    (start, seed): (Array2<f64>, u64),
    (steps, keep): (u64, (u64, u64)),
) -> Distance {
    let mut sums = Sums::new(reference.grid.len());
    let mut collect = |particles: ArrayView2<'_, f64>| {
        sums.add(
            Array2::from_shape_fn((particles.nrows(), reference.grid.len()), |(p, i)| {
                predict(particles.row(p), reference.grid[i], None)
            })
            .view(),
        );
    };
    sample(method, network, start, seed, steps, keep, &mut collect);
    Distance::new(&sums, &reference.moments.mean, &reference.moments.sd)
}

/// [`run_from`] with `max(0, 1 − (N − 1)/d_eff)` of the mean Laplace variance of the members added to theirs,
/// `d_eff = tr (JᵀJ/σ²) (JᵀJ/σ² + I)⁻¹`.
pub(crate) fn laplace_fill(
    reference: &Reference,
    network: &mut Network,
    method: Method,
    (start, seed): (Array2<f64>, u64),
    steps: u64,
) -> Distance {
    let mut last = Array2::zeros((0, 0));
    let mut collect = |particles: ArrayView2<'_, f64>| last = particles.to_owned();
    sample(method, network, start, seed, steps, (0, 0), &mut collect);
    let n = last.nrows() as f64;
    let mut laplace = Array1::<f64>::zeros(reference.grid.len());
    let mut effective = 0.0;
    let values = Array2::from_shape_fn((last.nrows(), reference.grid.len()), |(p, i)| {
        predict(last.row(p), reference.grid[i], None)
    });
    for phi in last.rows() {
        let mut hessian = Array2::<f64>::eye(DIM);
        let mut row = Array1::<f64>::zeros(DIM);
        for &x in &reference.x {
            predict(phi, x, Some(row.view_mut()));
            let column = row.view().insert_axis(Axis(1));
            hessian.scaled_add(network.precision, &column.dot(&column.t()));
        }
        let factor = Cholesky::factorize(hessian.view(), &CholeskyParams::strict()).unwrap();
        let inverse = factor.solve(Array2::eye(DIM).view()).unwrap();
        effective += (DIM as f64 - inverse.diag().sum()) / n;
        for (v, &x) in laplace.iter_mut().zip(&reference.grid) {
            predict(phi, x, Some(row.view_mut()));
            *v += row.dot(&inverse.dot(&row)) / n;
        }
    }
    let share = (1.0 - (n - 1.0) / effective).max(0.0);
    let mut sums = Sums::new(reference.grid.len());
    // Two values a member, so that mean and population variance are those wanted.
    let root = laplace.mapv(|v| (share * v).sqrt());
    sums.add((&values + &root).view());
    sums.add((&values - &root).view());
    Distance::new(&sums, &reference.moments.mean, &reference.moments.sd)
}

/// Around one draw of the prior, for a kernel between weights sees nothing across permutations of the units.
pub(crate) fn around_one_draw(seed: u64, n: usize) -> Array2<f64> {
    normals(seed, (n, DIM)) * 0.1 + normals(seed + 1000, (1, DIM))
}

fn distance(
    reference: &Reference,
    method: Method,
    n: usize,
    steps: u64,
    keep: (u64, u64),
) -> Distance {
    // Settings were chosen with seed 1.
    let seed = 2;
    let start = (around_one_draw(seed, n), seed);
    let mut network = Network::new(reference);
    run_from(reference, &mut network, method, start, (steps, keep))
}

#[test]
fn newton_widens_the_predictive_towards_hmc() {
    let reference: Reference = read("bnn.json");
    reference.moments.check(0.02);
    let kernel = |bandwidth| KernelSettings {
        bandwidth,
        ..KernelSettings::default()
    };
    let svgd = |bandwidth, rate| Method::Svgd {
        kernel: kernel(bandwidth),
        step: FirstOrder::adam(rate),
    };
    let ensemble = Method::Ensemble {
        step: FirstOrder::adam(0.02),
    };
    // Prior and likelihood differ by orders of magnitude in curvature: without damping the prior's flat directions move by
    // more than the quadratic model holds for. Weights of the prior are 1 apart, so the kernel's metric is the identity.
    let newton = |bandwidth, rate| Newton {
        kernel: kernel(bandwidth),
        coupling: Coupling::Gram,
        rate,
        ridge: 1e-3,
        damping: Damping::Constant(100.0),
        trust_region: Some(10.0),
        ..Newton::plain()
    };
    let svn = |bandwidth| Method::Svn(newton(bandwidth, Rate::cosine(1.0, 200)));
    let ssvn = Method::Ssvn(newton(Bandwidth::Dimension, Rate::constant(0.1)));
    let last = (0, 0);
    let (wide, widest) = (Bandwidth::Dimension, Bandwidth::Fixed(200.0));
    let rows = [
        ("ensemble, 2000", ensemble, 20, 2000, last),
        (
            "svgd median, 2000",
            svgd(Bandwidth::Median, 0.02),
            20,
            2000,
            last,
        ),
        ("svgd 2d, 200", svgd(wide, 0.05), 20, 200, last),
        ("svgd 2d, 2000", svgd(wide, 0.02), 20, 2000, last),
        ("svgd h = 200, 200", svgd(widest, 0.05), 20, 200, last),
        ("svgd h = 200, 2000", svgd(widest, 0.02), 20, 2000, last),
        ("svn 2d, 200", svn(wide), 20, 200, last),
        ("svn h = 200, 200", svn(widest), 20, 200, last),
        ("ssvn 2d, 6 x 1500", ssvn, 6, 1500, (300, 4)),
    ]
    .map(|(name, method, n, steps, keep)| (name, distance(&reference, method, n, steps, keep)));
    print("network 1-10-1, predictive moments on a grid", &rows);
    let [
        ensemble,
        median,
        early,
        _,
        early_widest,
        _,
        svn,
        svn_widest,
        ssvn,
    ] = rows.map(|(_, found)| found);
    for (name, found, early) in [("2d", svn, early), ("h = 200", svn_widest, early_widest)] {
        // Better than what a converged ensemble and SVGD with its usual bandwidth can do, and than SVGD with the same
        // kernel in as many steps. (In ten times as many it gets to the same place: the fixed points are the same.)
        for (other, bound) in [
            ("ensemble", ensemble),
            ("svgd median", median),
            ("svgd", early),
        ] {
            assert!(
                found.rms_sd < 0.9 * bound.rms_sd,
                "{name} and {other}: {found:?}, {bound:?}"
            );
        }
        assert!(found.rms_mean < 0.5, "{name}: {found:?}");
    }
    // Noise finds the width that twenty particles at rest cannot hold.
    assert!(ssvn.rms_sd < svn.rms_sd && ssvn.rms_mean < 0.5, "{ssvn:?}");
}
