//! From the device that was asked for to one that is there.

use tch::{Cuda, Device};

use crate::experiment::RunError;
use crate::experiment::vision::{DeviceChoice, DeviceKind};

/// Where networks are evaluated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Site {
    device: Device,
}

impl Site {
    /// The device of a choice.
    ///
    /// # Errors
    /// [`RunError::Unsupported`] for a CUDA device that is not there.
    pub fn choose(choice: DeviceChoice) -> Result<Self, RunError> {
        let found = if Cuda::is_available() {
            Cuda::device_count().max(0) as usize
        } else {
            0
        };
        let device = match choice {
            DeviceChoice::Cpu => Device::Cpu,
            DeviceChoice::Auto if found > 0 => Device::Cuda(0),
            DeviceChoice::Auto => Device::Cpu,
            DeviceChoice::Cuda(index) if index < found => Device::Cuda(index),
            DeviceChoice::Cuda(_) => {
                let devices = match found {
                    0 => "libtorch sees no CUDA device".to_owned(),
                    1 => "libtorch sees the one CUDA device cuda:0".to_owned(),
                    _ => format!(
                        "libtorch sees the CUDA devices cuda:0 to cuda:{}",
                        found - 1
                    ),
                };
                return Err(RunError::Unsupported(format!(
                    "--device {choice}: {devices}; use --device cpu or auto"
                )));
            }
        };
        Ok(Self { device })
    }

    /// What it is to libtorch.
    pub fn device(&self) -> Device {
        self.device
    }

    /// What it is to a record.
    pub fn kind(&self) -> DeviceKind {
        match self.device {
            Device::Cuda(_) => DeviceKind::Cuda,
            _ => DeviceKind::Cpu,
        }
    }
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.device {
            Device::Cuda(index) => write!(f, "cuda:{index}"),
            _ => f.write_str("cpu"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_that_are_not_there_are_refused_and_auto_always_works() {
        assert_eq!(
            Site::choose(DeviceChoice::Cpu).unwrap().kind(),
            DeviceKind::Cpu
        );
        assert!(Site::choose(DeviceChoice::Auto).is_ok());
        let error = Site::choose(DeviceChoice::Cuda(999))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("--device cuda:999: libtorch sees "),
            "{error}"
        );
        assert!(error.ends_with("; use --device cpu or auto"), "{error}");
    }
}
