//! What can go wrong between a network and its curvature, with the numbers inside.

use svn_linalg::LayoutError;

use crate::Device;

/// Error of every fallible call of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CurvatureError {
    /// A layer that has no hand-written derivative here.
    #[error("layer {layer} is not supported: {reason}; supported are {SUPPORTED}")]
    UnsupportedLayer {
        /// Index and name of the layer, such as `2 (BatchNorm1d)`.
        layer: String,
        /// What about it is not supported.
        reason: String,
    },
    /// A setting of a layer that makes no sense.
    #[error("layer {layer}: {setting} must be {expected}, found {found:?}")]
    LayerSetting {
        /// Index and name of the layer.
        layer: String,
        /// Name of the setting, such as `stride`.
        setting: &'static str,
        /// What it must satisfy.
        expected: &'static str,
        /// The value found.
        found: Vec<usize>,
    },
    /// Two neighbouring layers do not fit.
    #[error(
        "layer {layer} takes inputs of shape {expected}, but what comes before it gives {found:?} per sample"
    )]
    LayerInput {
        /// Index and name of the layer.
        layer: String,
        /// The shape it takes, in words.
        expected: String,
        /// The shape per sample that reaches it.
        found: Vec<usize>,
    },
    /// The network has no parameters, or does not start or end in a shape it can.
    #[error("a network must {expected}, found {found:?} per sample")]
    Network {
        /// What is missing.
        expected: &'static str,
        /// Shape per sample, of the inputs or the outputs.
        found: Vec<usize>,
    },
    /// An array has the wrong shape.
    #[error("{what} must have shape {expected}, found {found:?}")]
    Shape {
        /// Which argument.
        what: &'static str,
        /// The shape expected, in words and numbers.
        expected: String,
        /// The shape found.
        found: Vec<usize>,
    },
    /// NaN or infinity, found before anything was decomposed.
    #[error("{quantity} of particle {particle} not finite at layer {layer}")]
    NonFinite {
        /// What is not finite: `parameter`, `output`, `gradient`, `curvature factor`.
        quantity: &'static str,
        /// Index of the particle.
        particle: usize,
        /// Index and name of the layer.
        layer: String,
    },
    /// NaN or infinity among the network's inputs.
    #[error("input row {row} of the batch is not finite")]
    NonFiniteInput {
        /// Row within the batch, from 0.
        row: usize,
    },
    /// A target that the loss cannot take.
    #[error("target in row {row} is {value}, must be {expected}")]
    Target {
        /// Row within the batch, from 0.
        row: usize,
        /// The value found.
        value: f64,
        /// What it must be.
        expected: String,
    },
    /// Curvatures of different networks, layers or particles that were to be combined.
    #[error("{what} is about {found}, expected {expected}")]
    Subject {
        /// Which argument.
        what: &'static str,
        /// Particles, parameters and layers it must be about.
        expected: String,
        /// Particles, parameters and layers it is about.
        found: String,
    },
    /// Eigenvalue corrections in two different sets of eigenbases that were to be merged.
    #[error("eigenvalue corrections can be merged only in the same eigenbases")]
    OtherEigenbases,
    /// A number outside its range.
    #[error("{name} must be {range}, found {found}")]
    OutOfRange {
        /// Name of the setting.
        name: &'static str,
        /// The values allowed, in words.
        range: &'static str,
        /// The value found.
        found: f64,
    },
    /// A curvature was to be finished before any batch was accumulated.
    #[error("no batch was accumulated, so there is no curvature to finish")]
    NothingAccumulated,
    /// A decomposition failed.
    #[error("curvature factor {factor} of particle {particle} at layer {layer}: {source}")]
    Factor {
        /// `A` (inputs) or `G` (cotangents).
        factor: &'static str,
        /// Index of the particle.
        particle: usize,
        /// Index and name of the layer.
        layer: String,
        /// What the linear algebra says.
        source: svn_linalg::FactorError,
    },
    /// A damped curvature could not be factored.
    #[error(transparent)]
    Damping(#[from] svn_linalg::FactorError),
    /// Numbers the linear algebra cannot work with.
    #[error(transparent)]
    Input(#[from] svn_linalg::InputError),
    /// A noise level that is no standard deviation.
    #[error("noise standard deviation must be positive and finite, found {found}")]
    Noise {
        /// The value found.
        found: f64,
    },
    /// The parameters have no layout, as when a layer has more of them than fit in memory.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// Something that only libtorch can do, in a build without it.
    #[error("{what} needs libtorch, which is not built in; build with `--features torch`")]
    TorchNotBuilt {
        /// What was asked for.
        what: String,
    },
    /// A network that the chosen backend cannot evaluate.
    #[error("the native backend has no layer {layer}; take the backend torch, or auto")]
    NotNative {
        /// Index and name of the layer.
        layer: String,
    },
    /// The native backend was asked for on another device than the CPU.
    #[error("the native backend is on the CPU; for device {found} take the backend torch, or auto")]
    NotOnCpu {
        /// The device asked for.
        found: Device,
    },
    /// A name that is none of a setting's.
    #[error("{name} is {found}; expected {expected}")]
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// The text found.
        found: String,
        /// The names there are.
        expected: &'static str,
    },
    /// A CUDA device that is not there, or that this libtorch was built without.
    #[error(
        "device {asked} was asked for; libtorch finds {cuda_devices} CUDA devices here; ask for another, or for cpu or auto"
    )]
    NoSuchDevice {
        /// The device asked for.
        asked: Device,
        /// Number of CUDA devices that can be used.
        cuda_devices: usize,
    },
    /// libtorch reported an error.
    #[cfg(feature = "torch")]
    #[error("libtorch: {0}")]
    Torch(#[from] tch::TchError),
}

const SUPPORTED: &str = "Linear, Conv2d (groups = 1), Scale, Flatten, ReLU, Tanh, Sigmoid, GELU (exact), MaxPool2d, AvgPool2d";

/// Checks one shape against another, naming the argument.
pub(crate) fn check_shape(
    what: &'static str,
    found: &[usize],
    expected: &[usize],
    words: &str,
) -> crate::Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(CurvatureError::Shape {
        what,
        expected: format!("{words} = {expected:?}"),
        found: found.to_vec(),
    })
}
