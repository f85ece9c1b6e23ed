//! Kernel matrix, kernel slopes and metric-transformed particles: all the field and the Newton system need.
//!
//! ```text
//! X  centred particles                     N × d
//! Y  = X M                                 N × d
//! q  q_pm = (x_p − x_m)·(y_p − y_m)        N × N
//! K  K_pm = κ(q_pm)                        N × N
//! g  g_pm = 2 κ'(q_pm), symmetric          N × N
//! ∇_{φ_p} k(φ_p, φ_m) = G_pm = g_pm (y_p − y_m)
//! ```
//!
//! `M` is held constant in the gradient. No `N × N × d` array is formed.

use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Zip};
use serde::{Deserialize, Serialize};
use svn_linalg::{ParticleOperators, dense};

use crate::bandwidth::Bandwidth;
use crate::curvature::quadratic;
use crate::error::SteinError;
use crate::kernel::Kernel;
use crate::passes::{Scales, centre, difference_products, field};
use crate::subnormal::flush;

/// Metric `M` in which distances between particles are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Metric {
    /// `M = I`.
    Identity,
    /// `M = (1/N) Σ_p H_p`, undamped: the anisotropic kernel of Stein variational Newton.
    Curvature,
    /// The diagonal of `(1/N) Σ_p H_p`.
    Diagonal,
}

impl Metric {
    /// Whether the metric is built from the target's curvature.
    pub fn needs_curvature(self) -> bool {
        !matches!(self, Self::Identity)
    }
}

/// Kernel of a particle method: shape, metric, bandwidth.
///
/// | Name | Default | Purpose | Range |
/// |---|---|---|---|
/// | `kernel` | `rbf` | radial profile | `rbf`, `imq`, `none`, `sum` |
/// | `metric` | `identity` | distance between particles | `identity`, `curvature`, `diagonal` |
/// | `bandwidth` | `median` | unit of the squared distance | `fixed` > 0, `dimension`, `median` |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KernelSettings {
    /// Radial profile.
    pub kernel: Kernel,
    /// Metric of the distance.
    pub metric: Metric,
    /// Bandwidth rule.
    pub bandwidth: Bandwidth,
}

impl Default for KernelSettings {
    fn default() -> Self {
        Self {
            kernel: Kernel::Rbf,
            metric: Metric::Identity,
            bandwidth: Bandwidth::Median,
        }
    }
}

impl KernelSettings {
    /// Check all parts.
    ///
    /// # Errors
    /// [`SteinError::Setting`].
    pub fn validate(&self) -> Result<(), SteinError> {
        self.kernel.validate()?;
        self.bandwidth.validate()
    }

    /// Whether evaluating the kernel needs the target's curvature.
    pub fn needs_curvature(&self) -> bool {
        self.kernel.couples() && self.metric.needs_curvature()
    }
}

/// Views of what the Newton system needs of a kernel: `K` and `g` (`N × N`) and `Y` (`N × d`).
#[derive(Debug, Clone, Copy)]
pub struct KernelView<'a> {
    /// `K_pm`.
    pub kernel: ArrayView2<'a, f64>,
    /// `g_pm = 2 κ'(q_pm)`.
    pub slope: ArrayView2<'a, f64>,
    /// `Y = X M`.
    pub transformed: ArrayView2<'a, f64>,
}

/// The kernel at one set of particles; see the module for the symbols.
#[derive(Debug, Clone)]
pub struct KernelGram {
    kernel: Array2<f64>,
    slope: Array2<f64>,
    transformed: Array2<f64>,
    centred: Array2<f64>,
    /// As they were given: differences of close particles far from all others would drown in centred ones.
    particles: Array2<f64>,
    /// Whether the metric is the identity, so that `y_p − y_m = x_p − x_m`.
    identity: bool,
    /// See [`KernelGram::laplace_spread`].
    laplace_spread: Option<f64>,
    bandwidth: f64,
    couples: bool,
}

impl KernelGram {
    /// Storage for `N` particles of `d` coordinates; the identity kernel until [`KernelGram::update`].
    pub fn new(particles: usize, dim: usize) -> Self {
        Self {
            kernel: Array2::eye(particles),
            slope: Array2::zeros((particles, particles)),
            transformed: Array2::zeros((particles, dim)),
            centred: Array2::zeros((particles, dim)),
            particles: Array2::zeros((particles, dim)),
            identity: true,
            laplace_spread: None,
            bandwidth: 1.0,
            couples: false,
        }
    }

    /// Evaluate at `particles` (`N × d`), reusing the storage.
    ///
    /// # Errors
    /// [`SteinError::CurvatureRequired`] if the metric needs curvature and there is none; [`SteinError::NonFinite`] if
    /// a distance overflows; [`SteinError::Shape`].
    pub fn update(
        &mut self,
        settings: &KernelSettings,
        particles: ArrayView2<'_, f64>,
        curvature: Option<&dyn ParticleOperators>,
    ) -> Result<(), SteinError> {
        let (n, d) = particles.dim();
        if self.centred.dim() != (n, d) {
            *self = Self::new(n, d);
        }
        self.couples = settings.kernel.couples();
        self.identity = !settings.metric.needs_curvature();
        self.particles.assign(&particles);
        centre(particles, &mut self.centred);
        self.laplace_spread = None;
        if !self.couples {
            self.kernel = Array2::eye(n);
            self.slope.fill(0.0);
            self.transformed.assign(&self.centred);
            self.identity = true;
            return Ok(());
        }
        match (settings.metric, curvature) {
            (Metric::Identity, _) => self.transformed.assign(&self.centred),
            (Metric::Curvature, Some(c)) => {
                c.multiply_mean_into(self.centred.view(), self.transformed.view_mut());
            }
            (Metric::Diagonal, Some(c)) => {
                let diagonal = c.mean_diagonal();
                scale_columns(self.centred.view(), &diagonal, self.transformed.view_mut());
            }
            (Metric::Curvature | Metric::Diagonal, None) => {
                return Err(SteinError::CurvatureRequired {
                    what: "kernel metric",
                });
            }
        }
        let squares = match (settings.metric, curvature) {
            // Against the mean curvature, which is there already.
            (Metric::Curvature, _) => {
                let pairs = self.centred.rows().into_iter().zip(self.transformed.rows());
                Some(pairs.map(|(x, y)| dense::dot(x, y)).sum::<f64>())
            }
            (_, Some(curvature)) => Some(quadratic(curvature, self.centred.view()).sum()),
            (_, None) => None,
        };
        self.laplace_spread = squares.map(|squares| squares / (n * d) as f64);
        // `slope` holds the squared distances until they are turned into slopes.
        let mut slope = std::mem::take(&mut self.slope);
        difference_products(particles, self.images(), &mut slope);
        self.slope = slope;
        self.evaluate(settings, d)
    }

    /// Kernel and slopes with the identity metric from squared distances that are known. Particles are not kept: of
    /// [`KernelGram::images`] and what is made of particles nothing may be asked.
    ///
    /// # Errors
    /// As for [`KernelGram::update`].
    pub(crate) fn update_squares(
        &mut self,
        settings: &KernelSettings,
        squares: &Array2<f64>,
        dim: usize,
    ) -> Result<(), SteinError> {
        self.couples = settings.kernel.couples();
        self.identity = true;
        self.laplace_spread = None;
        if !self.couples {
            self.kernel = Array2::eye(squares.nrows());
            self.slope = Array2::zeros(squares.dim());
            return Ok(());
        }
        self.kernel = Array2::eye(squares.nrows());
        self.slope.clone_from(squares);
        self.evaluate(settings, dim)
    }

    /// Slopes and kernel from the distances in `slope`.
    fn evaluate(&mut self, settings: &KernelSettings, d: usize) -> Result<(), SteinError> {
        let n = self.slope.nrows();
        for p in 0..n {
            for m in p + 1..n {
                let q = self.slope[(p, m)];
                if !q.is_finite() {
                    return Err(SteinError::NonFinite {
                        what: "kernel distance",
                        particle: m,
                    });
                }
                let q = q.max(0.0);
                self.slope[(p, m)] = q;
                self.slope[(m, p)] = q;
            }
        }
        self.bandwidth = settings.bandwidth.evaluate(self.slope.view(), d);
        for p in 0..n {
            self.kernel[(p, p)] = 1.0;
            self.slope[(p, p)] = 0.0;
            for m in p + 1..n {
                let profile = settings.kernel.profile(self.slope[(p, m)], self.bandwidth);
                // Below the rounding of the one on the diagonal particles are apart, and their systems as well.
                let apart = profile.value < f64::EPSILON;
                let (value, slope) = match apart {
                    true => (0.0, 0.0),
                    false => (profile.value, flush(2.0 * profile.slope)),
                };
                for pair in [(p, m), (m, p)] {
                    self.kernel[pair] = value;
                    self.slope[pair] = slope;
                }
            }
        }
        Ok(())
    }

    /// What `y_p − y_m` is the difference of.
    pub(crate) fn images(&self) -> ArrayView2<'_, f64> {
        if self.identity {
            self.particles.view()
        } else {
            self.transformed.view()
        }
    }

    /// The images, or those given.
    pub(crate) fn images_or<'a>(
        &'a self,
        given: Option<ArrayView2<'a, f64>>,
    ) -> ArrayView2<'a, f64> {
        given.unwrap_or_else(|| self.images())
    }

    /// `K`, `N × N`.
    pub fn kernel(&self) -> ArrayView2<'_, f64> {
        self.kernel.view()
    }

    /// `g_pm = 2 κ'(q_pm)`, `N × N`, zero on the diagonal (where `y_p − y_m = 0`).
    pub fn slope(&self) -> ArrayView2<'_, f64> {
        self.slope.view()
    }

    /// `Y = X M`, `N × d`.
    pub fn transformed(&self) -> ArrayView2<'_, f64> {
        self.transformed.view()
    }

    /// All three at once.
    pub fn view(&self) -> KernelView<'_> {
        KernelView {
            kernel: self.kernel(),
            slope: self.slope(),
            transformed: self.transformed(),
        }
    }

    /// Bandwidth `h` that was used.
    pub fn bandwidth(&self) -> f64 {
        self.bandwidth
    }

    /// Whether the particles interact.
    pub fn couples(&self) -> bool {
        self.couples
    }

    /// Number of particles.
    pub fn particles(&self) -> usize {
        self.kernel.nrows()
    }

    /// Root mean squared distance of the particles from their mean, per coordinate.
    pub fn spread(&self) -> f64 {
        (self.centred.iter().map(|x| x * x).sum::<f64>() / self.centred.len().max(1) as f64).sqrt()
    }

    /// Mean of `x_pᵀ H_p x_p / d` over the particles `x_p` from their mean, where curvature is known (with the curvature metric of
    /// `x_pᵀ M x_p / d`, with the mean curvature `M`): about one where they are spread like the normal density of that
    /// curvature, near zero where they have collapsed.
    pub fn laplace_spread(&self) -> Option<f64> {
        self.laplace_spread
    }

    /// `out_m = Σ_p G_pm = Σ_p g_pm (y_p − y_m)`: the unscaled repulsion.
    ///
    /// Pair by pair: a product with a Laplacian matrix loses close pairs that are far from the others.
    pub fn repulsion_into(&self, out: ArrayViewMut2<'_, f64>) {
        self.repulsion_of(self.images(), out);
    }

    /// [`KernelGram::repulsion_into`] with `y`, what differences are taken of.
    pub(crate) fn repulsion_of(&self, y: ArrayView2<'_, f64>, out: ArrayViewMut2<'_, f64>) {
        let scales = Scales {
            drive: 0.0,
            repulsion: 1.0,
        };
        let _ = field((self.kernel(), self.slope()), (y, y), scales, out);
    }
}

fn scale_columns(x: ArrayView2<'_, f64>, scale: &Array1<f64>, mut out: ArrayViewMut2<'_, f64>) {
    Zip::from(out.rows_mut())
        .and(x.rows())
        .for_each(|mut o, x| {
            Zip::from(&mut o)
                .and(&x)
                .and(scale)
                .for_each(|o, &x, &s| *o = x * s)
        });
}
