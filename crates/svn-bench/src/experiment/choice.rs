//! Settings that are a choice among names, and the bandwidth.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A choice by name: the enum, its names in serde and on the command line, `Display` and `FromStr`.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $text)] $variant),+
        }

        impl $name {
            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => Err(format!("expected {}", [$($text),+].join(", "))),
                }
            }
        }
    };
}

choice! {
    /// Noise of a Gaussian likelihood.
    Noise {
        /// One variance for all rows.
        Homoscedastic = "homoscedastic",
        /// The network's second output is the log variance of what lies above the floor.
        Heteroscedastic = "heteroscedastic",
    }
}
choice! {
    /// Family of the curvature `H_p`.
    Hessian {
        /// Full Gauss-Newton or Fisher matrix.
        Full = "full",
        /// Its diagonal.
        Diag = "diag",
        /// Kronecker-factored blocks, one a layer.
        Kfac = "kfac",
        /// The exact diagonal in the eigenbases of these blocks.
        Ekfac = "ekfac",
    }
}
choice! {
    /// Repulsion term of the SVN Hessian and the blocks that are kept.
    Coupling {
        /// `G_pn G_pmᵀ`: the second variation, often indefinite.
        Exact = "exact",
        /// `G_pm G_pnᵀ`.
        Gram = "gram",
        /// Repulsion in the diagonal blocks only.
        BlockRepulsion = "block-repulsion",
        /// Diagonal blocks only.
        BlockDiagonal = "block-diagonal",
    }
}
choice! {
    /// Radial profile of the kernel.
    Kernel {
        /// Gaussian.
        Rbf = "rbf",
        /// Inverse multiquadric.
        Imq = "imq",
    }
}
choice! {
    /// Metric in which the kernel measures distance.
    KernelMetric {
        /// `I`.
        Identity = "identity",
        /// `(1/N) Σ_p H_p`.
        Curvature = "curvature",
    }
}
choice! {
    /// How the Newton system is solved.
    Solver {
        /// Directly while the matrices are small, else by an iterative method.
        Auto = "auto",
        /// To working precision, through a factorisation.
        Direct = "direct",
        /// By conjugate gradients, matrix-free.
        Cg = "cg",
    }
}

choice! {
    /// Likelihood of two classes.
    Binary {
        /// One logit `ln p₁/p₀`.
        Bernoulli = "bernoulli",
        /// A logit a class.
        Softmax = "softmax",
    }
}
choice! {
    /// What the predictive density is made of. The prior precision of Laplace variances is chosen on validation rows.
    Predictive {
        /// Spread of the members and noise.
        Moments = "moments",
        /// The same; the members' Laplace variances are computed for `nll_epistemic` alone, regression only.
        Epistemic = "epistemic",
        /// Spread, noise and the mean of the members' Laplace variances: a mixture of Laplace approximations. For classes
        /// the mean of their probabilities, by the probit approximation.
        Laplace = "laplace",
    }
}
choice! {
    /// How the step size falls.
    Schedule {
        /// Along half a cosine to zero at the last step.
        Cosine = "cosine",
        /// Not at all.
        Constant = "constant",
    }
}

/// Length scale of the kernel. A number, `2d` or `median`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Bandwidth {
    /// This squared length.
    Fixed(f64),
    /// Twice the dimension of a particle: the paper's.
    Dimension,
    /// `median / ln(N + 1)` of the squared distances between the `N` particles.
    Median,
}

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(value) => write!(f, "{value}"),
            Self::Dimension => f.write_str("2d"),
            Self::Median => f.write_str("median"),
        }
    }
}

impl From<Bandwidth> for String {
    fn from(bandwidth: Bandwidth) -> Self {
        bandwidth.to_string()
    }
}

impl FromStr for Bandwidth {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "2d" => Ok(Self::Dimension),
            "median" => Ok(Self::Median),
            number => match number.parse() {
                Ok(value) if f64::is_finite(value) && value > 0.0 => Ok(Self::Fixed(value)),
                _ => Err("expected median, 2d or a positive number".to_owned()),
            },
        }
    }
}

impl TryFrom<String> for Bandwidth {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}
