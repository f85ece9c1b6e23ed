//! Small densities with known moments, their scores and positive semi-definite curvature.

use ndarray::{Array1, Array2, Array3, ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2};
use svn_stein::linalg::DenseMatrices;
use svn_stein::target::{Curvature, Curved, Score, TargetError};

/// `log π`, its gradient, and a Gauss-Newton or Fisher matrix.
type Evaluation = (f64, Array1<f64>, Array2<f64>);

type Evaluate = dyn Fn(ArrayView1<'_, f64>) -> Evaluation;

/// A density, a linear function of it with known mean and standard deviation, and where particles start.
pub(crate) struct Density {
    pub name: &'static str,
    pub dim: usize,
    evaluate: Box<Evaluate>,
    /// Directions along which moments are compared: vector, mean, standard deviation.
    pub truths: Vec<(Array1<f64>, f64, f64)>,
    /// Standard deviation of the normal start.
    pub start: f64,
}

fn unit(dim: usize, i: usize) -> Array1<f64> {
    Array1::from_shape_fn(dim, |k| if k == i { 1.0 } else { 0.0 })
}

/// `N(0, I)`.
pub(crate) fn gaussian(dim: usize) -> Density {
    Density {
        name: "N(0, I)",
        dim,
        evaluate: Box::new(|x| (-0.5 * x.dot(&x), -x.to_owned(), Array2::eye(x.len()))),
        truths: (0..dim).map(|i| (unit(dim, i), 0.0, 1.0)).collect(),
        start: 1.0,
    }
}

/// `½ N(−2 e₁, ½ I) + ½ N(2 e₁, ½ I)`; the curvature is that of the components.
pub(crate) fn two_modes(dim: usize) -> Density {
    let evaluate = |x: ArrayView1<'_, f64>| {
        let rest = x.dot(&x) - x[0] * x[0];
        let log = |m: f64| -((x[0] - m).powi(2) + rest);
        let (a, b) = (log(-2.0), log(2.0));
        let top = a.max(b);
        let (wa, wb) = ((a - top).exp(), (b - top).exp());
        let mean = 2.0 * (wb - wa) / (wa + wb);
        let mut gradient = x.mapv(|v| -2.0 * v);
        gradient[0] += 2.0 * mean;
        (top + (wa + wb).ln(), gradient, Array2::eye(x.len()) * 2.0)
    };
    Density {
        name: "two modes",
        dim,
        evaluate: Box::new(evaluate),
        truths: vec![(unit(dim, 0), 0.0, 4.5_f64.sqrt())],
        start: 2.0,
    }
}

/// Neal's funnel: `v ~ N(0, 9)`, the others `N(0, e^v)`; the curvature is the Fisher information.
pub(crate) fn funnel(dim: usize) -> Density {
    let evaluate = |x: ArrayView1<'_, f64>| {
        let (v, d) = (x[0], x.len() as f64 - 1.0);
        let square = x.dot(&x) - v * v;
        let precision = (-v).exp();
        let mut gradient = x.mapv(|x| -x * precision);
        gradient[0] = -v / 9.0 + 0.5 * square * precision - 0.5 * d;
        let mut h = Array2::eye(x.len()) * precision;
        h[(0, 0)] = 1.0 / 9.0 + 0.5 * d;
        let value = -v * v / 18.0 - 0.5 * square * precision - 0.5 * d * v;
        (value, gradient, h)
    };
    Density {
        name: "funnel",
        dim,
        evaluate: Box::new(evaluate),
        truths: vec![(unit(dim, 0), 0.0, 3.0)],
        start: 1.0,
    }
}

/// Logistic regression of 60 rows on `dim` identical columns with prior precision 1/9: the data speak of the sum of the
/// coefficients alone, along all differences the prior is all there is.
pub(crate) fn identical_columns(dim: usize) -> Density {
    let rows = crate::common::normals(77, (60, 2));
    let data: Vec<(f64, f64)> = rows
        .rows()
        .into_iter()
        .map(|r| (r[0], if r[1] < 1.2 * r[0] { 1.0 } else { -1.0 }))
        .collect();
    let along = data.clone();
    // The log likelihood, its slope and curvature along the sum s of the coefficients.
    let profile = move |s: f64| {
        along
            .iter()
            .fold((0.0, 0.0, 0.0), |(value, slope, h), (x, t)| {
                let margin = t * x * s;
                let miss = 1.0 / (1.0 + margin.exp());
                let softplus = (-margin).max(0.0) + (-margin.abs()).exp().ln_1p();
                let weight = miss * (1.0 - miss) * x * x;
                (value - softplus, slope + miss * t * x, h + weight)
            })
    };
    // Moments of the sum by quadrature; its prior is N(0, 9 dim).
    let variance = 9.0 * dim as f64;
    let grid = (0..4000).map(|i| -20.0 + 0.01 * f64::from(i));
    let weights: Vec<(f64, f64)> = grid
        .map(|s| (s, (profile(s).0 - 0.5 * s * s / variance).exp()))
        .collect();
    let mass: f64 = weights.iter().map(|w| w.1).sum();
    let mean = weights.iter().map(|(s, w)| s * w).sum::<f64>() / mass;
    let second = weights.iter().map(|(s, w)| s * s * w).sum::<f64>() / mass;
    let evaluate = move |x: ArrayView1<'_, f64>| {
        let (value, slope, h) = profile(x.sum());
        let gradient = x.mapv(|x| slope - x / 9.0);
        let h = Array2::from_elem((dim, dim), h) + Array2::<f64>::eye(dim) / 9.0;
        (value - x.dot(&x) / 18.0, gradient, h)
    };
    let mut difference = Array1::zeros(dim);
    (difference[0], difference[1]) = (1.0, -1.0);
    Density {
        name: "identical columns",
        dim,
        evaluate: Box::new(evaluate),
        truths: vec![
            (Array1::ones(dim), mean, (second - mean * mean).sqrt()),
            (difference, 0.0, 18.0_f64.sqrt()),
        ],
        start: 1.0,
    }
}

/// The hybrid Rosenbrock density: `x ~ N(1, 1)`, `y | x ~ N(x², 1)`.
pub(crate) fn banana() -> Density {
    let evaluate = |x: ArrayView1<'_, f64>| {
        let (a, b) = (x[0] - 1.0, x[1] - x[0] * x[0]);
        let h = ndarray::array![[1.0 + 4.0 * x[0] * x[0], -2.0 * x[0]], [-2.0 * x[0], 1.0]];
        let gradient = ndarray::array![-a + 2.0 * x[0] * b, -b];
        (-0.5 * (a * a + b * b), gradient, h)
    };
    Density {
        name: "banana",
        dim: 2,
        evaluate: Box::new(evaluate),
        truths: vec![(unit(2, 0), 1.0, 1.0), (unit(2, 1), 2.0, 7.0_f64.sqrt())],
        start: 1.0,
    }
}

/// A [`Density`] as a target.
pub(crate) struct Target<'a> {
    density: &'a Density,
    curvature: Array3<f64>,
}

impl<'a> Target<'a> {
    pub(crate) fn new(density: &'a Density) -> Self {
        Self {
            density,
            curvature: Array3::zeros((0, density.dim, density.dim)),
        }
    }
}

impl Score for Target<'_> {
    fn dim(&self) -> usize {
        self.density.dim
    }

    fn score_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        mut log_density: ArrayViewMut1<'_, f64>,
        mut score: ArrayViewMut2<'_, f64>,
    ) -> Result<(), TargetError> {
        let (n, d) = particles.dim();
        self.curvature = Array3::zeros((n, d, d));
        for (p, x) in particles.rows().into_iter().enumerate() {
            let (value, gradient, h) = (self.density.evaluate)(x);
            log_density[p] = value;
            score.row_mut(p).assign(&gradient);
            self.curvature
                .index_axis_mut(ndarray::Axis(0), p)
                .assign(&h);
        }
        Ok(())
    }
}

impl Curved for Target<'_> {
    fn curvature_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        log_density: ArrayViewMut1<'_, f64>,
        score: ArrayViewMut2<'_, f64>,
    ) -> Result<Curvature<'_>, TargetError> {
        self.score_into(particles, log_density, score)?;
        Ok(Box::new(DenseMatrices::new(self.curvature.view())))
    }
}
