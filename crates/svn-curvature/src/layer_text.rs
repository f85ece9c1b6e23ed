//! Layers from and to text, in the form in which PyTorch prints a network.
//!
//! ```text
//! Linear(in_features=6, out_features=50, bias=True)      Conv2d(1, 6, kernel_size=(5, 5), stride=(1, 1), padding=(2, 2))
//! ReLU()  Tanh()  Sigmoid()  GELU(approximate='none')    MaxPool2d(kernel_size=2, stride=2, padding=0)    Flatten()
//! Scale(factor=0.5)                                      as PyTorch would print it
//! ```
//!
//! A layer that is not supported, or a setting that changes its meaning (`groups`, `ceil_mode`, …), is an error that
//! names it: nothing is dropped silently.

use std::fmt;
use std::str::FromStr;

use crate::{Activation, Conv2d, CurvatureError, Layer, Pool2d};

impl fmt::Display for Layer {
    /// As PyTorch prints it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        let flag = |bias: bool| if bias { "True" } else { "False" };
        let tuple = |[a, b]: [usize; 2]| format!("({a}, {b})");
        match self {
            Self::Linear {
                inputs,
                outputs,
                bias,
            } => {
                write!(
                    f,
                    "{name}(in_features={inputs}, out_features={outputs}, bias={})",
                    flag(*bias)
                )
            }
            Self::Activation(Activation::Gelu) => write!(f, "{name}(approximate='none')"),
            Self::Scale(factor) => write!(f, "{name}(factor={factor})"),
            Self::Activation(_) | Self::Flatten => write!(f, "{name}()"),
            Self::Conv2d(c) => {
                write!(
                    f,
                    "{name}({}, {}, kernel_size={}",
                    c.inputs,
                    c.outputs,
                    tuple(c.kernel)
                )?;
                write!(
                    f,
                    ", stride={}, padding={}",
                    tuple(c.stride),
                    tuple(c.padding)
                )?;
                write!(
                    f,
                    ", dilation={}, bias={})",
                    tuple(c.dilation),
                    flag(c.bias)
                )
            }
            Self::MaxPool2d(p) | Self::AvgPool2d(p) => {
                write!(f, "{name}(kernel_size={}", tuple(p.kernel))?;
                write!(
                    f,
                    ", stride={}, padding={})",
                    tuple(p.stride),
                    tuple(p.padding)
                )
            }
        }
    }
}

impl FromStr for Layer {
    type Err = CurvatureError;

    /// Reads what PyTorch prints.
    ///
    /// # Errors
    /// [`CurvatureError::UnsupportedLayer`] naming the layer and the reason.
    ///
    /// # Examples
    /// ```
    /// use svn_curvature::{Conv2d, Layer};
    ///
    /// let layer: Layer = "Conv2d(1, 6, kernel_size=(5, 5), stride=(1, 1), padding=(2, 2))".parse()?;
    /// assert_eq!(layer, Layer::Conv2d(Conv2d::new(1, 6, [5, 5]).padding([2, 2])));
    /// let error = "BatchNorm1d(50)".parse::<Layer>().unwrap_err();
    /// assert!(error.to_string().starts_with("layer BatchNorm1d is not supported"));
    /// # Ok::<(), svn_curvature::CurvatureError>(())
    /// ```
    fn from_str(text: &str) -> Result<Self, CurvatureError> {
        let text = text.trim();
        let (name, rest) = text.split_once('(').unwrap_or((text, ")"));
        let mut arguments = Arguments::new(name, rest)?;
        let layer = match name {
            "Linear" => Self::Linear {
                inputs: arguments.number("in_features")?,
                outputs: arguments.number("out_features")?,
                bias: arguments.flag("bias", true)?,
            },
            "ReLU" => Self::Activation(Activation::Relu),
            "Tanh" => Self::Activation(Activation::Tanh),
            "Sigmoid" => Self::Activation(Activation::Sigmoid),
            "GELU" => Self::Activation(Activation::Gelu),
            "Flatten" => Self::Flatten,
            "Scale" => Self::Scale(arguments.number("factor")?),
            "Conv2d" => {
                let (inputs, outputs) = (
                    arguments.number("in_channels")?,
                    arguments.number("out_channels")?,
                );
                Self::Conv2d(Conv2d {
                    inputs,
                    outputs,
                    kernel: arguments.required_pair("kernel_size")?,
                    stride: arguments.pair("stride", [1, 1])?,
                    padding: arguments.pair("padding", [0, 0])?,
                    dilation: arguments.pair("dilation", [1, 1])?,
                    bias: arguments.flag("bias", true)?,
                })
            }
            "MaxPool2d" | "AvgPool2d" => {
                let kernel = arguments.required_pair("kernel_size")?;
                let (stride, padding) = (
                    arguments.pair("stride", kernel)?,
                    arguments.pair("padding", [0, 0])?,
                );
                let pool = Pool2d {
                    kernel,
                    stride,
                    padding,
                };
                if name == "MaxPool2d" {
                    Self::MaxPool2d(pool)
                } else {
                    Self::AvgPool2d(pool)
                }
            }
            _ => return Err(arguments.unsupported("it has no derivative here")),
        };
        arguments.finish()?;
        Ok(layer)
    }
}

/// Arguments still to be read, each with its name or, if positional, none.
struct Arguments {
    layer: String,
    left: Vec<(Option<String>, String)>,
}

/// Settings that PyTorch prints at their default values, with which they change nothing.
const NEUTRAL: &[(&str, &str)] = &[
    ("approximate", "'none'"),
    ("ceil_mode", "False"),
    ("count_include_pad", "True"),
    ("dilation", "1"),
    ("end_dim", "-1"),
    ("groups", "1"),
    ("inplace", "True"),
    ("inplace", "False"),
    ("padding_mode", "'zeros'"),
    ("padding_mode", "zeros"),
    ("start_dim", "1"),
];

impl Arguments {
    fn new(layer: &str, rest: &str) -> Result<Self, CurvatureError> {
        let mut arguments = Self {
            layer: layer.to_owned(),
            left: Vec::new(),
        };
        let Some(list) = rest.strip_suffix(')') else {
            return Err(arguments.unsupported("the closing bracket is missing"));
        };
        // Commas inside brackets do not separate.
        let (mut depth, mut start) = (0i32, 0);
        let mut pieces = Vec::new();
        for (at, c) in list.char_indices() {
            match c {
                '(' | '[' => depth += 1,
                ')' | ']' => depth -= 1,
                ',' if depth == 0 => {
                    pieces.push(&list[start..at]);
                    start = at + 1;
                }
                _ => {}
            }
        }
        pieces.push(&list[start..]);
        for piece in pieces
            .into_iter()
            .map(str::trim)
            .filter(|piece| !piece.is_empty())
        {
            arguments.left.push(match piece.split_once('=') {
                Some((name, value)) => (Some(name.trim().to_owned()), value.trim().to_owned()),
                None => (None, piece.to_owned()),
            });
        }
        Ok(arguments)
    }

    /// The argument of this name, or else the first positional one.
    fn take(&mut self, name: &str) -> Option<String> {
        let named = self
            .left
            .iter()
            .position(|(n, _)| n.as_deref() == Some(name));
        let index = named.or_else(|| self.left.iter().position(|(n, _)| n.is_none()))?;
        Some(self.left.remove(index).1)
    }

    fn number<T: FromStr>(&mut self, name: &str) -> Result<T, CurvatureError> {
        let value = self.take(name).unwrap_or_default();
        value
            .parse()
            .map_err(|_| self.unsupported(&format!("{name} must be a number, found {value:?}")))
    }

    fn flag(&mut self, name: &str, default: bool) -> Result<bool, CurvatureError> {
        match self.take(name).as_deref() {
            None => Ok(default),
            Some("True" | "true") => Ok(true),
            Some("False" | "false") => Ok(false),
            Some(value) => {
                Err(self.unsupported(&format!("{name} must be True or False, found {value:?}")))
            }
        }
    }

    fn pair(&mut self, name: &str, default: [usize; 2]) -> Result<[usize; 2], CurvatureError> {
        let Some(value) = self.take(name) else {
            return Ok(default);
        };
        let inner = value.trim_matches(|c| matches!(c, '(' | ')' | '[' | ']'));
        let numbers: Result<Vec<usize>, _> =
            inner.split(',').map(|part| part.trim().parse()).collect();
        match numbers.as_deref() {
            Ok([a]) => Ok([*a, *a]),
            Ok([a, b]) => Ok([*a, *b]),
            _ => Err(self.unsupported(&format!(
                "{name} must be one or two numbers, found {value:?}"
            ))),
        }
    }

    fn required_pair(&mut self, name: &str) -> Result<[usize; 2], CurvatureError> {
        if self
            .left
            .iter()
            .any(|(n, _)| n.is_none() || n.as_deref() == Some(name))
        {
            return self.pair(name, [0, 0]);
        }
        Err(self.unsupported(&format!("{name} is missing")))
    }

    /// Refuses what is left, unless it changes nothing.
    fn finish(self) -> Result<(), CurvatureError> {
        let changes = |(name, value): &&(Option<String>, String)| {
            let name = name.as_deref().unwrap_or_default();
            !NEUTRAL.iter().any(|(n, v)| *n == name && *v == value)
        };
        match self.left.iter().find(changes) {
            Some((Some(name), value)) => {
                Err(self.unsupported(&format!("{name}={value} has no derivative here")))
            }
            Some((None, value)) => {
                Err(self.unsupported(&format!("argument {value:?} is not known")))
            }
            None => Ok(()),
        }
    }

    fn unsupported(&self, reason: &str) -> CurvatureError {
        CurvatureError::UnsupportedLayer {
            layer: self.layer.clone(),
            reason: reason.to_owned(),
        }
    }
}
