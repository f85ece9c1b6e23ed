//! Networks of any layers on libtorch, with the particles as a batch dimension, on the CPU or CUDA, in f64 or f32.
//!
//! Tensors stay inside: arrays go in, arrays come out.

mod activation;
mod affine;
mod convert;
mod finite;
mod linearization;
mod maxima;
mod moments;
mod pass;
mod samples;
mod tape;

use ndarray::ArrayView2;
use tch::Kind;

use crate::{Backend, Device, Precision, Result, Samples, Sequential};
use samples::TorchSamples;

/// Takes in samples, checked, on a device that is there.
pub(crate) fn samples(
    backend: &Backend,
    network: &Sequential,
    x: ArrayView2<'_, f64>,
) -> Result<Box<dyn Samples>> {
    let values = convert::tensor(x, kind(backend.precision), device(backend.device))?;
    let shape: Vec<i64> = [1, x.nrows()]
        .iter()
        .chain(network.input_shape())
        .map(|&side| side as i64)
        .collect();
    Ok(Box::new(TorchSamples::new(
        values.f_view(shape.as_slice())?,
    )))
}

fn kind(precision: Precision) -> Kind {
    match precision {
        Precision::Double => Kind::Double,
        Precision::Single => Kind::Float,
    }
}

fn device(device: Device) -> tch::Device {
    match device {
        Device::Cpu => tch::Device::Cpu,
        Device::Cuda(index) => tch::Device::Cuda(index),
    }
}

/// `[a, b]` as libtorch's integers.
fn pair(values: [usize; 2]) -> [i64; 2] {
    values.map(|v| v as i64)
}
