//! Activations on tensors.

use tch::{TchError, Tensor};

use crate::Activation;

impl Activation {
    /// The function's value.
    pub(crate) fn value(self, z: &Tensor) -> std::result::Result<Tensor, TchError> {
        match self {
            Self::Relu => z.f_relu(),
            Self::Tanh => z.f_tanh(),
            Self::Sigmoid => z.f_sigmoid(),
            Self::Gelu => z.f_gelu("none"),
        }
    }

    /// The derivative at `z`, where the value is `y`.
    pub(crate) fn derivative(
        self,
        z: &Tensor,
        y: &Tensor,
    ) -> std::result::Result<Tensor, TchError> {
        match self {
            Self::Relu => y.f_sign(),
            Self::Tanh => Tensor::f_tanh_backward(&z.f_ones_like()?, y),
            Self::Sigmoid => Tensor::f_sigmoid_backward(&z.f_ones_like()?, y),
            Self::Gelu => z.f_gelu_backward(&z.f_ones_like()?, "none"),
        }
    }
}
