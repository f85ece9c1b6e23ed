//! Who evaluates a network: plain Rust for multilayer perceptrons, libtorch for any network and any device.
//!
//! ```text
//! Backend::samples(network, x)  →  Samples  →  forward, linearize  →  outputs, Linearized
//! ```
//!
//! A backend is chosen once, when samples are taken in; they know from then on where they lie and who works on them.

mod device;
mod precision;
mod threads;

use std::fmt::{self, Debug};
use std::str::FromStr;

use ndarray::{Array3, ArrayView2};
use serde::{Deserialize, Serialize};

pub use device::Device;
pub use precision::Precision;
pub use threads::set_torch_threads;

use crate::network::label;
use crate::{CurvatureError, Linearized, Result, Sequential, native};
use svn_linalg::dense::first_non_finite;

/// Which code evaluates networks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum BackendKind {
    /// [`Self::Native`] where it can, else [`Self::Torch`].
    #[default]
    Auto,
    /// Plain Rust on the CPU, for Linear layers and activations.
    Native,
    /// libtorch: all layers, on the CPU or CUDA; with the feature `torch`.
    Torch,
}

impl BackendKind {
    /// Whether nothing was chosen.
    pub fn is_auto(&self) -> bool {
        *self == Self::Auto
    }
}

impl FromStr for BackendKind {
    type Err = CurvatureError;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "auto" => Ok(Self::Auto),
            "native" => Ok(Self::Native),
            "torch" => Ok(Self::Torch),
            other => Err(CurvatureError::Setting {
                name: "backend",
                found: other.into(),
                expected: "auto, native or torch",
            }),
        }
    }
}

impl fmt::Display for BackendKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Native => "native",
            Self::Torch => "torch",
        })
    }
}

/// How and where networks are evaluated. What goes in and comes out is f64 on the CPU in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backend {
    /// By which code.
    pub kind: BackendKind,
    /// In which numbers.
    pub precision: Precision,
    /// On which device.
    pub device: Device,
}

impl Backend {
    /// Plain Rust, f64.
    pub fn native() -> Self {
        Self {
            kind: BackendKind::Native,
            ..Self::default()
        }
    }

    /// libtorch on the CPU, f64.
    pub fn torch() -> Self {
        Self {
            kind: BackendKind::Torch,
            ..Self::default()
        }
    }

    /// The code that evaluates `network`: [`BackendKind::Native`] or [`BackendKind::Torch`].
    ///
    /// # Errors
    /// A layer or device that the chosen code does not have; libtorch where it is needed and not built in; a CUDA device
    /// that is not there.
    pub fn resolve(&self, network: &Sequential) -> Result<BackendKind> {
        let other = native::first_unsupported(network).map(|(index, layer)| label(index, layer));
        let kind = match (self.kind, &other, self.device) {
            (BackendKind::Torch, ..) => BackendKind::Torch,
            (BackendKind::Auto, None, Device::Cpu) => BackendKind::Native,
            (BackendKind::Auto, ..) => BackendKind::Torch,
            (BackendKind::Native, Some(layer), _) => {
                let layer = layer.clone();
                return Err(CurvatureError::NotNative { layer });
            }
            (BackendKind::Native, None, Device::Cpu) => BackendKind::Native,
            (BackendKind::Native, None, found) => return Err(CurvatureError::NotOnCpu { found }),
        };
        if kind == BackendKind::Torch {
            if cfg!(not(feature = "torch")) {
                let what = match (other, self.device) {
                    (_, device @ Device::Cuda(_)) => format!("device {device}"),
                    (Some(layer), _) => format!("layer {layer}"),
                    (None, _) => "backend torch".into(),
                };
                return Err(CurvatureError::TorchNotBuilt { what });
            }
            self.device.check()?;
        }
        Ok(kind)
    }

    /// Takes in samples that all particles see, one a row, each flat in row-major order (channels slowest).
    ///
    /// # Shapes
    /// `x`: `b × inputs`, `b` ≥ 1.
    ///
    /// # Errors
    /// As for [`Self::resolve`]; a wrong width or no row; NaN or infinity (row).
    pub fn samples(
        &self,
        network: &Sequential,
        x: ArrayView2<'_, f64>,
    ) -> Result<Box<dyn Samples>> {
        if x.ncols() != network.inputs() || x.nrows() == 0 {
            return Err(CurvatureError::Shape {
                what: "x",
                expected: format!(
                    "rows ≥ 1 × values of a sample = [1.., {}]",
                    network.inputs()
                ),
                found: x.shape().to_vec(),
            });
        }
        if let Some(row) = first_non_finite(x.outer_iter()) {
            return Err(CurvatureError::NonFiniteInput { row });
        }
        match self.resolve(network)? {
            #[cfg(feature = "torch")]
            BackendKind::Torch => crate::torch::samples(self, network, x),
            _ => Ok(native::samples(self.precision, x)),
        }
    }
}

/// Samples that a backend holds, the same for all particles or one set for each.
pub trait Samples: Debug + Send {
    /// Number of samples `b`.
    fn rows(&self) -> usize;

    /// Some of the samples, in the order given.
    ///
    /// # Errors
    /// A row that is not there.
    fn select(&self, rows: &[usize]) -> Result<Box<dyn Samples>>;

    /// Outputs of all particles, `N × b × c`.
    ///
    /// # Shapes
    /// `particles`: `N × d`.
    ///
    /// # Errors
    /// A wrong shape; samples for each of another number of particles, or of another width than the network's; NaN or
    /// infinity in the parameters or in what the layers give (particle and layer).
    fn forward(&self, network: &Sequential, particles: ArrayView2<'_, f64>) -> Result<Array3<f64>>;

    /// Outputs, and what is needed for products with the Jacobians `J_i = ∂f(φ_p, x_i)/∂φ_p`.
    ///
    /// # Errors
    /// As for [`Self::forward`].
    fn linearize(
        &self,
        network: &Sequential,
        particles: ArrayView2<'_, f64>,
    ) -> Result<Box<dyn Linearized>>;

    /// What a network makes of the samples, as samples that each particle has for itself: features of frozen layers.
    ///
    /// # Errors
    /// As for [`Self::forward`].
    fn through(
        &self,
        network: &Sequential,
        particles: ArrayView2<'_, f64>,
    ) -> Result<Box<dyn Samples>>;
}

/// Refuses a row that is not among `rows`.
pub(crate) fn check_selection(selection: &[usize], rows: usize) -> Result<()> {
    match selection.iter().find(|&&row| row >= rows) {
        None => Ok(()),
        Some(&row) => Err(CurvatureError::OutOfRange {
            name: "selected row",
            range: "below the number of samples",
            found: row as f64,
        }),
    }
}

/// Checks particles and samples (`samples`: sets of samples, 1 or one for each particle; `width`: values of a sample).
pub(crate) fn check_evaluation(
    network: &Sequential,
    particles: ArrayView2<'_, f64>,
    (sets, width): (usize, usize),
) -> Result<()> {
    network.check_particles(particles)?;
    if sets != 1 && sets != particles.nrows() {
        return Err(CurvatureError::Shape {
            what: "particles beside samples of their own",
            expected: format!("sets of samples × parameters, sets = {sets}"),
            found: particles.shape().to_vec(),
        });
    }
    if width != network.inputs() {
        return Err(CurvatureError::Shape {
            what: "samples",
            expected: format!("values of the network's samples = {}", network.inputs()),
            found: vec![width],
        });
    }
    Ok(())
}
