//! Small targets and an obviously right reference for kernels, fields and the Newton system: explicit loops, dense
//! matrices, every `G_pm` a vector.
#![allow(dead_code, unused_imports, reason = "each test uses a part of it")]

pub(crate) mod algebra;
pub(crate) mod cases;
pub(crate) mod planar;

use ndarray::{Array1, Array2, Array3, ArrayView2, ArrayViewMut1, ArrayViewMut2, Axis, s};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use svn_linalg::{Cholesky, CholeskyParams, Factor, FactorError, LinearOperator, SelfAdjoint};
pub(crate) use svn_linalg::{DenseMatrices, DiagonalMatrices, LowRank, ParticleOperators};
use svn_stein::target::{Curvature, Curved, Score, TargetError};
use svn_stein::{Coupling, FunctionSpace, Kernel, KernelSettings, Metric};

pub(crate) fn normals(seed: u64, shape: (usize, usize)) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn(shape, || StandardNormal.sample(&mut rng))
}

/// Curvature that owns its data, beside its matrices made by another route.
pub(crate) struct Owned {
    operators: Box<dyn ParticleOperators>,
    matrices: Vec<Array2<f64>>,
}

/// Dense matrices behind operators, as a Kronecker-factored family would be.
#[derive(Clone, Debug)]
pub(crate) struct Family(Vec<Array2<f64>>);

impl Family {
    pub(crate) fn new(matrices: &Array3<f64>) -> Self {
        Self(matrices.outer_iter().map(|h| h.to_owned()).collect())
    }
}

struct Matrix<'a>(&'a Array2<f64>);

impl LinearOperator for Matrix<'_> {
    fn nrows(&self) -> usize {
        self.0.nrows()
    }

    fn ncols(&self) -> usize {
        self.0.ncols()
    }

    fn apply_into(&self, x: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
        out.assign(&self.0.dot(&x));
    }

    fn apply_transpose_into(&self, x: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        self.apply_into(x, out);
    }
}

impl SelfAdjoint for Matrix<'_> {}

impl ParticleOperators for Family {
    fn particles(&self) -> usize {
        self.0.len()
    }

    fn dim(&self) -> usize {
        self.0[0].nrows()
    }

    fn operator(&self, particle: usize) -> Box<dyn SelfAdjoint + '_> {
        Box::new(Matrix(&self.0[particle]))
    }

    fn factor(&self, particle: usize, damping: f64) -> Result<Box<dyn Factor + '_>, FactorError> {
        let matrix = self.0[particle].view();
        Ok(Box::new(Cholesky::factorize_with_damping(
            matrix,
            damping,
            &CholeskyParams::strict(),
        )?))
    }

    fn diagonal(&self, particle: usize) -> Array1<f64> {
        self.0[particle].diag().to_owned()
    }

    fn factor_size(&self) -> usize {
        self.dim()
    }
}

impl Owned {
    pub(crate) fn low_rank(rows: Array3<f64>, weight: f64, shift: f64) -> Self {
        let matrix = |j: ndarray::ArrayView2<'_, f64>| {
            j.t().dot(&j) * weight + Array2::<f64>::eye(j.ncols()) * shift
        };
        Self {
            matrices: rows.outer_iter().map(matrix).collect(),
            operators: Box::new(LowRank {
                rows,
                weight,
                shift,
            }),
        }
    }

    pub(crate) fn diagonal(h: Array2<f64>) -> Self {
        Self {
            matrices: h.outer_iter().map(|h| Array2::from_diag(&h)).collect(),
            operators: Box::new(DiagonalMatrices::new(h)),
        }
    }

    pub(crate) fn dense(h: Array3<f64>) -> Self {
        Self {
            matrices: h.outer_iter().map(|h| h.to_owned()).collect(),
            operators: Box::new(DenseMatrices::new(h)),
        }
    }

    pub(crate) fn factored(h: &Array3<f64>) -> Self {
        Self {
            matrices: h.outer_iter().map(|h| h.to_owned()).collect(),
            operators: Box::new(Family::new(h)),
        }
    }

    pub(crate) fn view(&self) -> &dyn ParticleOperators {
        &*self.operators
    }

    pub(crate) fn matrices(&self) -> Vec<Array2<f64>> {
        self.matrices.clone()
    }
}

/// One curvature of each kind; the low-rank one has zero rows, a different number for each particle.
pub(crate) fn curvatures(seed: u64, n: usize, d: usize) -> Vec<(&'static str, Owned)> {
    let r = 3;
    let flat = normals(seed, (n, r * d));
    let mut rows = flat.into_shape_with_order((n, r, d)).unwrap();
    for p in 0..n {
        rows.slice_mut(s![p, r - p % (r + 1).., ..]).fill(0.0);
    }
    let diagonal = normals(seed + 1, (n, d)).mapv(|x| 0.3 + x * x);
    let mut dense = Array3::zeros((n, d, d));
    for p in 0..n {
        let root = normals(seed + 2 + p as u64, (d, d));
        dense
            .index_axis_mut(Axis(0), p)
            .assign(&(root.t().dot(&root) + Array2::<f64>::eye(d) * 0.2));
    }
    vec![
        ("low rank", Owned::low_rank(rows, 1.7, 0.4)),
        ("diagonal", Owned::diagonal(diagonal)),
        ("factored", Owned::factored(&dense)),
        ("dense", Owned::dense(dense)),
    ]
}

pub(crate) fn metric_matrix(metric: Metric, hessians: &[Array2<f64>], d: usize) -> Array2<f64> {
    let mean = hessians
        .iter()
        .fold(Array2::zeros((d, d)), |sum, h| sum + h)
        / hessians.len() as f64;
    match metric {
        Metric::Curvature => mean,
        Metric::Diagonal => Array2::from_diag(&mean.diag()),
        _ => Array2::eye(d),
    }
}

/// `k(x, y)` between two different particles, written out.
pub(crate) fn kernel_value(
    kernel: &Kernel,
    h: f64,
    m: &Array2<f64>,
    x: &Array1<f64>,
    y: &Array1<f64>,
) -> f64 {
    let delta = x - y;
    let q = delta.dot(&m.dot(&delta));
    match kernel {
        Kernel::Rbf => (-q / h).exp(),
        Kernel::Imq => 1.0 / (1.0 + q / h).sqrt(),
        Kernel::Delta => 0.0,
        Kernel::Sum(terms) => {
            let total: f64 = terms.iter().map(|t| t.weight).sum();
            terms
                .iter()
                .map(|t| t.weight / total * kernel_value(&t.kernel, h * t.bandwidth_scale, m, x, y))
                .sum()
        }
        _ => unreachable!("kernel without a reference"),
    }
}

/// `∇ₓ k(x, y)` by central differences of [`kernel_value`].
pub(crate) fn kernel_gradient(
    kernel: &Kernel,
    h: f64,
    m: &Array2<f64>,
    x: &Array1<f64>,
    y: &Array1<f64>,
) -> Array1<f64> {
    let step = 1e-5;
    Array1::from_shape_fn(x.len(), |i| {
        let (mut up, mut down) = (x.clone(), x.clone());
        up[i] += step;
        down[i] -= step;
        (kernel_value(kernel, h, m, &up, y) - kernel_value(kernel, h, m, &down, y)) / (2.0 * step)
    })
}

/// `K` and every `G_pm` by explicit formulas.
pub(crate) struct Reference {
    pub k: Array2<f64>,
    pub g: Vec<Vec<Array1<f64>>>,
}

impl Reference {
    pub(crate) fn new(
        settings: &KernelSettings,
        h: f64,
        m: &Array2<f64>,
        x: ArrayView2<'_, f64>,
    ) -> Self {
        let n = x.nrows();
        let row = |p: usize| x.row(p).to_owned();
        let k = Array2::from_shape_fn((n, n), |(p, q)| {
            if p == q {
                1.0
            } else {
                kernel_value(&settings.kernel, h, m, &row(p), &row(q))
            }
        });
        let slope = |q: f64| match &settings.kernel {
            Kernel::Rbf => -(-q / h).exp() / h,
            Kernel::Imq => -0.5 * (1.0 + q / h).powf(-1.5) / h,
            _ => 0.0,
        };
        let g = (0..n)
            .map(|p| {
                (0..n)
                    .map(|q| {
                        let delta = row(p) - row(q);
                        let md = m.dot(&delta);
                        let distance = delta.dot(&md);
                        md * (2.0 * slope(distance))
                    })
                    .collect()
            })
            .collect();
        Self { k, g }
    }

    /// `(K² + ridge I)^½`, by the Denman-Beavers iteration `Y ← (Y + Z⁻¹) / 2`, `Z ← (Z + Y⁻¹) / 2` from `Y = K² + ridge I`,
    /// `Z = I`; `K` itself for independent particles.
    fn mixing(&self, coupling: Coupling, ridge: f64) -> Array2<f64> {
        let n = self.k.nrows();
        let apart = (0..n).all(|p| (0..n).all(|m| p == m || self.k[(p, m)] == 0.0));
        if coupling == Coupling::BlockDiagonal || ridge == 0.0 || apart {
            return self.k.clone();
        }
        let eye = Array2::<f64>::eye(n);
        let square = self.k.dot(&self.k) + &eye * ridge;
        let (mut y, mut z) = (square, eye);
        for _ in 0..40 {
            let (next_y, next_z) = (&y + &algebra::inverse(&z), &z + &algebra::inverse(&y));
            (y, z) = (next_y * 0.5, next_z * 0.5);
        }
        y
    }

    /// Dense `A` by the definition of `h_mn`.
    pub(crate) fn system(
        &self,
        hessians: &[Array2<f64>],
        coupling: Coupling,
        damping: f64,
        ridge: f64,
    ) -> Array2<f64> {
        let n = self.k.nrows();
        let d = hessians[0].nrows();
        let k = self.mixing(coupling, ridge);
        let mut a = Array2::<f64>::zeros((n * d, n * d));
        for m in 0..n {
            for q in 0..n {
                if coupling == Coupling::BlockDiagonal && m != q {
                    continue;
                }
                let mut block = Array2::<f64>::zeros((d, d));
                for p in 0..n {
                    block = block
                        + (&hessians[p] + &(Array2::<f64>::eye(d) * damping))
                            * (k[(p, m)] * k[(p, q)]);
                    let outer = |a: &Array1<f64>, b: &Array1<f64>| {
                        Array2::from_shape_fn((d, d), |(i, j)| a[i] * b[j])
                    };
                    block = block
                        + match coupling {
                            Coupling::Exact => outer(&self.g[p][q], &self.g[p][m]),
                            Coupling::Gram => outer(&self.g[p][m], &self.g[p][q]),
                            _ if m == q => outer(&self.g[p][m], &self.g[p][m]),
                            _ => Array2::zeros((d, d)),
                        };
                }
                block /= n as f64;
                a.slice_mut(s![m * d..(m + 1) * d, q * d..(q + 1) * d])
                    .assign(&block);
            }
        }
        a
    }
}

pub(crate) const COUPLINGS: [Coupling; 4] = [
    Coupling::Exact,
    Coupling::Gram,
    Coupling::BlockRepulsion,
    Coupling::BlockDiagonal,
];
pub(crate) const METRICS: [Metric; 3] = [Metric::Identity, Metric::Curvature, Metric::Diagonal];

pub(crate) fn flatten(x: ArrayView2<'_, f64>) -> Array1<f64> {
    Array1::from_iter(x.iter().copied())
}

/// `N(mean, precision⁻¹)`, its curvature handed out as the kind asked for.
pub(crate) struct Gaussian {
    pub mean: Array1<f64>,
    pub precision: Array2<f64>,
    pub kind: Kind,
    low: Array3<f64>,
    dense: Array3<f64>,
    diagonal: Array2<f64>,
    pub evaluations: usize,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Kind {
    LowRank,
    Diagonal,
    Dense,
}

/// Part of the precision that the low-rank form keeps as its shift.
const SHIFT: f64 = 0.5;

impl Gaussian {
    /// `precision = rowsᵀ rows + ½ I`, so that the low-rank form is exact.
    pub(crate) fn new(mean: Array1<f64>, rows: Array2<f64>, kind: Kind) -> Self {
        let precision = rows.t().dot(&rows) + Array2::<f64>::eye(mean.len()) * SHIFT;
        let low = rows.insert_axis(Axis(0));
        Self {
            mean,
            precision,
            kind,
            low,
            dense: Array3::zeros((0, 0, 0)),
            diagonal: Array2::zeros((0, 0)),
            evaluations: 0,
        }
    }

    pub(crate) fn standard(d: usize) -> Self {
        let root = (1.0 - SHIFT).sqrt();
        Self::new(
            Array1::zeros(d),
            Array2::<f64>::eye(d) * root,
            Kind::LowRank,
        )
    }
}

/// Particles are their own images, twice as large.
impl FunctionSpace for Gaussian {
    fn images(&mut self, particles: ArrayView2<'_, f64>) -> Result<Array2<f64>, TargetError> {
        Ok(&particles * 2.0)
    }

    fn pull_back_into(
        &mut self,
        cotangents: ArrayView2<'_, f64>,
        mut out: ArrayViewMut2<'_, f64>,
    ) -> Result<(), TargetError> {
        out.assign(&(&cotangents * 2.0));
        Ok(())
    }
}

impl Score for Gaussian {
    fn dim(&self) -> usize {
        self.mean.len()
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
        self.evaluations += 1;
        for p in 0..particles.nrows() {
            let delta = &particles.row(p) - &self.mean;
            let gradient = self.precision.dot(&delta);
            log_density[p] = -0.5 * delta.dot(&gradient);
            score.row_mut(p).assign(&(-gradient));
        }
        Ok(())
    }
}

impl Curved for Gaussian {
    fn curvature_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        log_density: ArrayViewMut1<'_, f64>,
        score: ArrayViewMut2<'_, f64>,
    ) -> Result<Curvature<'_>, TargetError> {
        self.score_into(particles, log_density, score)?;
        let n = particles.nrows();
        let repeat = |a: &Array3<f64>| a.broadcast((n, a.dim().1, a.dim().2)).unwrap().to_owned();
        Ok(match self.kind {
            Kind::LowRank => {
                if self.low.dim().0 != n {
                    let one = self.low.slice(s![0..1, .., ..]).to_owned();
                    self.low = repeat(&one);
                }
                Box::new(LowRank {
                    rows: &self.low,
                    weight: 1.0,
                    shift: SHIFT,
                })
            }
            Kind::Dense => {
                self.dense = repeat(&self.precision.clone().insert_axis(Axis(0)));
                Box::new(DenseMatrices::new(self.dense.view()))
            }
            Kind::Diagonal => {
                let diagonal = self.precision.diag().to_owned();
                self.diagonal = diagonal.broadcast((n, diagonal.len())).unwrap().to_owned();
                Box::new(DiagonalMatrices::new(self.diagonal.view()))
            }
        })
    }
}

/// Constant density everywhere; curvature is a small multiple of the identity.
pub(crate) struct Flat {
    pub dim: usize,
    pub curvature: Array2<f64>,
}

/// Particles are their own images.
impl FunctionSpace for Flat {
    fn images(&mut self, particles: ArrayView2<'_, f64>) -> Result<Array2<f64>, TargetError> {
        Ok(particles.to_owned())
    }

    fn pull_back_into(
        &mut self,
        cotangents: ArrayView2<'_, f64>,
        mut out: ArrayViewMut2<'_, f64>,
    ) -> Result<(), TargetError> {
        out.assign(&cotangents);
        Ok(())
    }
}

impl Score for Flat {
    fn function_space(&mut self) -> Option<&mut dyn FunctionSpace> {
        Some(self)
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn score_into(
        &mut self,
        _: ArrayView2<'_, f64>,
        mut log_density: ArrayViewMut1<'_, f64>,
        mut score: ArrayViewMut2<'_, f64>,
    ) -> Result<(), TargetError> {
        log_density.fill(0.0);
        score.fill(0.0);
        Ok(())
    }
}

impl Curved for Flat {
    fn curvature_into(
        &mut self,
        particles: ArrayView2<'_, f64>,
        log_density: ArrayViewMut1<'_, f64>,
        score: ArrayViewMut2<'_, f64>,
    ) -> Result<Curvature<'_>, TargetError> {
        self.score_into(particles, log_density, score)?;
        self.curvature = Array2::ones(particles.dim());
        Ok(Box::new(DiagonalMatrices::new(self.curvature.view())))
    }
}

pub(crate) fn variance(x: ArrayView2<'_, f64>) -> Array1<f64> {
    x.var_axis(Axis(0), 0.0)
}
