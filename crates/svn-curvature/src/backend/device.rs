//! Where networks are evaluated, by a name that settings can hold; nothing falls back to another device.

use crate::{CurvatureError, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The CPU or one CUDA device. As text, and in settings: `cpu`, `cuda` (the first), `cuda:1`.
///
/// `auto` is read as the first CUDA device where there is one and as the CPU elsewhere; what it stood for is what is
/// written down.
///
/// # Examples
/// ```
/// use svn_curvature::Device;
///
/// assert_eq!("cuda:1".parse::<Device>()?, Device::Cuda(1));
/// assert_eq!(Device::Cuda(0).to_string(), "cuda:0");
/// assert!(Device::Cpu.check().is_ok());
/// # Ok::<(), svn_curvature::CurvatureError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Device {
    /// The processor.
    #[default]
    Cpu,
    /// The CUDA device of this index.
    Cuda(usize),
}

impl Device {
    /// The first CUDA device, or the CPU where there is none.
    pub fn auto() -> Self {
        match cuda_devices() {
            0 => Self::Cpu,
            _ => Self::Cuda(0),
        }
    }

    /// Whether the device is there.
    ///
    /// # Errors
    /// [`CurvatureError::NoSuchDevice`] for a CUDA device that is not there or that this libtorch cannot use,
    /// [`CurvatureError::TorchNotBuilt`] for any in a build without libtorch.
    pub fn check(self) -> Result<()> {
        match self {
            Self::Cpu => Ok(()),
            Self::Cuda(index) if index < cuda_devices() => Ok(()),
            Self::Cuda(_) if cfg!(not(feature = "torch")) => Err(CurvatureError::TorchNotBuilt {
                what: format!("device {self}"),
            }),
            Self::Cuda(_) => Err(CurvatureError::NoSuchDevice {
                asked: self,
                cuda_devices: cuda_devices(),
            }),
        }
    }

    /// Whether this is the CPU.
    pub fn is_cpu(&self) -> bool {
        *self == Self::Cpu
    }
}

/// CUDA devices that can be used: none without libtorch.
#[cfg(not(feature = "torch"))]
fn cuda_devices() -> usize {
    0
}

/// CUDA devices that this libtorch can use.
#[cfg(feature = "torch")]
fn cuda_devices() -> usize {
    if !tch::Cuda::is_available() {
        return 0;
    }
    usize::try_from(tch::Cuda::device_count()).unwrap_or(0)
}

impl FromStr for Device {
    type Err = CurvatureError;

    fn from_str(text: &str) -> Result<Self> {
        let unknown = || CurvatureError::Setting {
            name: "device",
            found: text.into(),
            expected: "cpu, cuda, cuda:INDEX or auto",
        };
        match text {
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            "auto" => Ok(Self::auto()),
            other => {
                let index = other.strip_prefix("cuda:").ok_or_else(unknown)?;
                Ok(Self::Cuda(index.parse().map_err(|_| unknown())?))
            }
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => write!(f, "cpu"),
            Self::Cuda(index) => write!(f, "cuda:{index}"),
        }
    }
}

impl TryFrom<String> for Device {
    type Error = CurvatureError;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Device> for String {
    fn from(device: Device) -> Self {
        device.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_device_are_the_same_thing() {
        for device in [Device::Cpu, Device::Cuda(0), Device::Cuda(3)] {
            assert_eq!(device.to_string().parse::<Device>().unwrap(), device);
            let json = serde_json::to_string(&device).unwrap();
            assert_eq!(json, format!("\"{device}\""));
            assert_eq!(serde_json::from_str::<Device>(&json).unwrap(), device);
        }
        assert_eq!("cuda".parse::<Device>().unwrap(), Device::Cuda(0));
        for text in ["gpu", "cuda:", "cuda:-1", "cuda:x", "CPU", ""] {
            assert_eq!(
                text.parse::<Device>().unwrap_err().to_string(),
                format!("device is {text}; expected cpu, cuda, cuda:INDEX or auto")
            );
        }
    }

    #[cfg(feature = "torch")]
    #[test]
    fn a_device_that_is_not_there_is_an_error_with_what_is() {
        let present = cuda_devices();
        let absent = Device::Cuda(present);
        assert_eq!(
            absent.check().unwrap_err().to_string(),
            format!(
                "device {absent} was asked for; libtorch finds {present} CUDA devices here; ask for another, or for cpu or auto"
            )
        );
        assert!(Device::auto().check().is_ok());
        assert_eq!(Device::auto().is_cpu(), present == 0);
    }
}
